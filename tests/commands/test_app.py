"""`atnmf app` starts the dashboard from anywhere: installed from a wheel, or in the source tree."""

import os
import subprocess
import sys
import tempfile
from contextlib import closing

import pytest

from atnmf_core.__main__ import main
from atnmf_core.commands import app
from tests.benchmarks.person import Person
from tests.browser.server import LOOPBACK, free_port, wait_for_health

PAGES = ("", "hyperspectral", "restore", "curves", "reproduce", "learn")


@pytest.fixture(scope="module")
def installed(repository, tmp_path_factory):
    """A folder with the wheel of this tree, and nothing else that the tests have not installed."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run(
        [*pip, "--no-deps", "--no-index", "--no-build-isolation", "--target", target, repository], check=True
    )
    return target


@pytest.fixture
def address(installed, tmp_path):
    """Started in a folder that has pages of its own."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "__init__.py").write_text("raise AssertionError('not the dashboard')")
    port = free_port()
    options = ["--port", str(port), "--", f"--server.address={LOOPBACK}", "--server.headless=true"]
    with tempfile.TemporaryFile(mode="w+") as log:
        server = subprocess.Popen(
            [sys.executable, installed / "bin" / "atnmf", "app", *options],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(installed)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for_health(server, f"http://{LOOPBACK}:{port}", log)
            yield f"http://{LOOPBACK}:{port}"
        finally:
            server.terminate()
            assert server.wait(timeout=30) in (0, -15)


def test_the_installed_dashboard_shows_every_page_from_any_folder(address):
    for page in PAGES:
        with closing(Person(address, "K", page=page)) as person:
            answer = person.open()

            assert not answer.exceptions, page
            assert answer.words, page


def test_the_wheel_holds_no_name_that_others_may_want_and_its_command_goes_by_its_own(installed, tmp_path):
    held = {file.name for file in installed.iterdir() if not file.name.endswith(".dist-info")}
    assert held == {"atnmf_core", "atnmf_dashboard", "bin"}

    command, environment = [installed / "bin" / "atnmf", "fit", "--help"], {"PYTHONPATH": str(installed)}
    said = subprocess.check_output([sys.executable, *command], cwd=tmp_path, env=os.environ | environment)
    assert said.startswith(b"usage: atnmf fit ")


def test_in_the_source_tree_its_own_script_is_run_with_the_options(repository, monkeypatch):
    run: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["atnmf"])
    monkeypatch.setattr("runpy.run_module", lambda name, **how: run.append([name, *sys.argv[1:]]))

    assert main(["app", "--port", "8600", "--", "--server.headless", "true"]) == 0

    script = str(repository / "app.py")
    assert run == [["streamlit", "run", script, "--server.port=8600", "--server.headless", "true"]]


def test_without_streamlit_or_the_dashboard_it_says_what_is_lacking(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(app, "find_spec", lambda name: None)

    assert main(["app"]) == 2

    assert "the dashboard needs Streamlit" in capsys.readouterr().err
    with pytest.raises(app.InputError, match="there is no dashboard"):
        app.script(tmp_path)
