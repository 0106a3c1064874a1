"""The progress bar says how far a command is, and only where somebody watches."""

import pytest

from atnmf_core.commands.running import progress_bar


@pytest.mark.parametrize(("shown", "is_shown"), [(True, True), (False, False), (None, False)])
def test_the_bar_shows_how_much_is_done_where_it_was_asked_for(
    shown: bool | None, is_shown: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar("faces", shown) as show:
        show(90, 100)
        show(100, 100)

    said = capsys.readouterr().err
    assert ("faces: 100%" in said and "100/100" in said) == is_shown
    assert bool(said) == is_shown
