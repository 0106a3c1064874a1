"""A scene that is too large to upload is opened by its path, and only on a server for this machine alone."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.scenes import damaged_scene

SECONDS = 120


def opened(repository: Path, path: str | None = None, **query: str) -> AppTest:
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS)
    page.switch_page("pages/restore.py")
    for name, value in {"data": "upload", **query}.items():
        page.query_params[name] = value
    page.run()
    if path is not None:
        page.text_input(key="restore_scene_path").set_value(path).run()
    assert not page.exception
    return page


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    np.save(tmp_path / "scene.npy", damaged_scene(40, 40, 12).cube)
    return tmp_path / "scene.npy"


def test_a_scene_is_looked_at_without_being_read(repository: Path, scene: Path) -> None:
    page = opened(repository, str(scene))

    assert "40 × 40 pixels, 12 bands" in "\n".join(one.value for one in page.main.markdown)
    assert "Restore block by block" in [button.label for button in page.button]
    assert any(f"restore {scene} --out" in code.value and "--blocks" in code.value for code in page.code)


@pytest.mark.parametrize("name", ["nowhere.npy", "."])
def test_a_path_that_leads_nowhere_is_told(repository: Path, tmp_path: Path, name: str) -> None:
    page = opened(repository, str(tmp_path / name))

    assert len(page.error) == 1
    assert "Errno" not in page.error[0].value


def test_others_are_told_the_command_and_open_no_path(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATNMF_HOSTED", "1")

    page = opened(repository)

    assert not [one for one in page.text_input if one.key == "restore_scene_path"]
    assert any("atnmf_core restore FILE" in code.value for code in page.code)


@pytest.mark.slow
def test_it_is_restored_beside_the_dashboard_and_shown(repository: Path, scene: Path) -> None:
    page = opened(repository, str(scene), by="hand", K="4", lam="1.1")
    out = scene.with_name("scene-restored.npy")

    next(button for button in page.button if button.label == "Restore block by block").click().run()
    assert page.session_state["restore_scene_started"][1].wait(SECONDS) == 0
    page.run()

    assert not page.exception
    assert "Restore it again" in [button.label for button in page.button]
    assert len(page.get("image")) == 2
    assert {file.name for file in scene.parent.iterdir()} == {scene.name, out.name}


def test_a_run_of_a_process_that_is_gone_can_be_resumed(repository: Path, scene: Path) -> None:
    folder = scene.with_name("scene-restored.npy.blocks")
    folder.mkdir()
    (folder / "process.json").write_text('{"pid": 4194304, "created": 0.0, "blocks": 7}')
    (folder / "block-000000.npz").touch()

    page = opened(repository, str(scene))

    assert "Resume" in [button.label for button in page.button]
    assert "1 of 7 blocks are done." in [one.value for one in page.main.markdown]
