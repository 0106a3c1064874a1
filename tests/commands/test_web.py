"""The page without a server: what `atnmf web` writes, and the pages on what stands in for Streamlit."""

import json
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.__main__ import main

IN_A_BROWSER = """
import json, sys, threading, time, types

absent = 'plotly skimage streamlit joblib threadpoolctl psutil pooch requests rasterio spectral h5py tqdm'

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent.split():
            raise ImportError(f"{name} is not in a browser")

sys.meta_path.insert(0, Absent())
sys.path.insert(0, ".")
from pages.web import browser

def no_thread(*_):
    raise RuntimeError("can't start new thread")

threading.Thread.start = no_thread
shown, meanwhile = {}, []
now = lambda *_: None
told = types.SimpleNamespace(show=lambda text: shown.update(json.loads(text)), run_sync=now)
vars(told).update(rest=now, can_rest=True, is_waiting=lambda: False)
told.let_others = lambda: meanwhile and browser.handle(json.dumps(meanwhile.pop()))
told.save = lambda name, *_: shown.update(saved=name)
browser.start(told)
for events in json.loads(sys.argv[1]):
    if events[0] == "meanwhile":
        meanwhile.append(events[1:])
        continue
    if events == ["rest"]:
        time.sleep(1)
        events = [{"fragment": name} for name in list(browser._fragments)]
    browser.handle(json.dumps(events))
    while browser.work():
        pass
    print(json.dumps(shown))
"""
OPEN_EXPLORE = {"page": "", "query": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("web") / "lab"
    assert main(["web", "--out", str(out)]) == 0
    with ZipFile(out / "lab.zip") as archive:
        archive.extractall(out / "python")
    return out


def happens(folder: Path, *events: dict | list[dict]) -> list[dict]:
    """What the page shows after each of these events."""
    listed = json.dumps([event if isinstance(event, list) else [event] for event in events])
    run = subprocess.run(
        [sys.executable, "-c", IN_A_BROWSER, listed],
        cwd=folder / "python",
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def nodes(node: dict) -> list[dict]:
    return [node, *(one for child in node["in"] for one in nodes(child))]


def on_page(shown: dict) -> list[dict]:
    return nodes(shown["main"]) + nodes(shown["side"])


def curve(node: dict) -> dict[str, dict[float, float]]:
    """The errors over lambda that are drawn, by the names of the lines."""
    drawn = next(node for node in nodes(node) if node.get("key") == "lambda_curve")["figure"]["data"]
    return {one["name"]: dict(zip(one["x"], one["y"], strict=True)) for one in drawn if "name" in one}


def test_the_folder_is_complete_and_names_the_public_python(folder):
    for page, up in (("index.html", "./"), ("learn/index.html", "../")):
        text = (folder / page).read_text("utf-8")
        linked = re.findall(rf'(?:src|href)="{re.escape(up)}([^"]+)"', text)
        assert {"lab.js", "lab.css", "theme.css"} <= set(linked)
        assert all((folder / name).is_file() for name in linked)
        assert 'data-pyodide="https://cdn.jsdelivr.net/pyodide/v314' in text
    assert "export{" in (folder / "katex.js").read_text("utf-8")
    for named in re.findall(r'new URL\("([\w.]+)", root', (folder / "lab.js").read_text("utf-8")):
        assert (folder / named).is_file()


def test_the_colours_are_the_dashboards(folder, repository):
    theme = (folder / "theme.css").read_text("utf-8")
    used = {
        name
        for kind in ("css", "js")
        for file in repository.glob(f"pages/**/*.{kind}")
        for name in re.findall(r"var\((--st-[\w-]+)\)", file.read_text("utf-8"))
    }

    assert used <= set(re.findall(r"--st-[\w-]+(?=:)", theme))
    assert "--st-orange-color: light-dark(#E08A00, #F0A232);" in theme


def test_a_folder_with_something_else_is_left_alone_and_an_incomplete_python_is_named(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("")

    assert main(["web", "--out", str(tmp_path)]) == 2
    assert "something else" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    assert main(["web", "--out", str(tmp_path / "lab"), "--pyodide", str(tmp_path)]) == 2
    assert "pyodide.asm.wasm" in capsys.readouterr().err


def test_explore_is_there_with_the_numbers_of_the_core(folder):
    first, moved, back = happens(
        folder,
        OPEN_EXPLORE,
        {"key": "lam", "value": 2},
        {"page": "", "query": "K=10&alpha=0.5&missing=ignore"},
    )

    for shown, lam, alpha, K, missing in (
        (first, 2.0, 0.2, 25, "zero"),
        (moved, 1.05, 0.2, 25, "zero"),
        (back, 2.0, 0.5, 10, "ignore"),
    ):
        V = load_dataset("lfw").V
        observed = hide_entries(V.shape, alpha, 0)
        fit = factorize(V, observed, K=K, method="atnmf", lam=lam, missing=missing)
        measured = rmse(V, fit.V_hat, ~observed)
        assert curve(shown["main"])["AT-NMF"][lam] == pytest.approx(measured, abs=1e-6)
    assert moved["query"] == {"lam": "1.05"}
    assert back["query"] == {"alpha": "0.5", "K": "10", "missing": "ignore"}


def test_the_curve_grows_while_nobody_does_anything(folder):
    opened, asked, rested = happens(folder, OPEN_EXPLORE, ["rest"], ["rest"])

    assert len(curve(opened["main"])["AT-NMF"]) == 1
    assert "AT-NMF, marked" not in curve(asked["main"])
    grown = curve(rested["main"])
    assert len(grown["AT-NMF, unmarked"]) == len(grown["AT-NMF, marked"]) > 8
    assert grown["AT-NMF, unmarked"][2.0] == curve(opened["main"])["AT-NMF"][2.0]


def test_what_is_computed_for_later_ends_where_somebody_moves_on(folder):
    elsewhere = {"page": "", "query": "K=10&seed=3"}
    *_, shown = happens(folder, OPEN_EXPLORE, ["meanwhile", elsewhere], *[["rest"]] * 3)

    assert not [node["words"] for node in on_page(shown) if "Traceback" in str(node["words"])]
    assert shown["query"] == {"K": "10", "seed": "3"}
    assert len(curve(shown["main"])["AT-NMF, unmarked"]) > 8


def test_every_view_of_explore_and_every_chapter_is_drawn(folder, repository):
    views = [{"page": "", "query": f"detail={detail}"} for detail in ("film", "take")]
    chapters = [{"page": "learn", "query": f"chapter={number}"} for number in range(1, 9)]
    notes = {"page": "learn", "query": "notes=1"}
    clicks = [OPEN_EXPLORE, {"key": "part", "trigger": "chosen", "value": 2}]

    drawn = happens(folder, *views, *chapters, notes, *clicks)

    known = (repository / "pages/web/lab.js").read_text("utf-8")
    for shown in drawn:
        assert not [node["words"] for node in on_page(shown) if "Traceback" in str(node["words"])]
        for kind in {node["is"] for node in on_page(shown)}:
            assert kind in PLAIN or re.search(rf"\b{kind}\b[,:(]", known), kind
    titles = [next(n["words"][0] for n in on_page(shown) if n["is"] == "title") for shown in drawn]
    assert len(set(titles[2:11])) == 9
    assert {node["words"][0] for node in on_page(drawn[1]) if node["is"] == "download_button"} >= {
        "(a)",
        "(f)",
    }


PLAIN = {"markdown", "caption", "info", "warning", "error"}
"""Elements that are nothing but their text."""


def test_what_a_component_reports_takes_effect(folder):
    opened, chosen, _, saved = happens(
        folder,
        OPEN_EXPLORE,
        {"key": "strip", "trigger": "chosen", "value": 3},
        {"page": "", "query": "detail=take"},
        {"key": "take_lfw-alpha0.2-lam2-K25-zero.csv"},
    )

    def original(shown):
        return next(n for n in on_page(shown) if n.get("key") == "given")["data"]["panels"][0]["src"]

    assert chosen["query"] == {"image": "3"}
    assert original(chosen) != original(opened)
    assert saved["saved"] == "lfw-alpha0.2-lam2-K25-zero.csv"
