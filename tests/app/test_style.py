"""What every run of a page needs from files is read once."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest


def test_a_page_is_drawn_again_without_a_file_handle_to_spare(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=120).run()
    assert not page.exception

    def refuse(*args: object, **options: object) -> None:
        raise OSError(24, "Too many open files")

    for opening in ("builtins.open", "io.open"):
        monkeypatch.setattr(opening, refuse)
    page.run()
    monkeypatch.undo()

    assert not page.exception
