"""The progress line says how far it is and how long it will take, and only where somebody watches."""

import io

from atnmf_core.commands.progress import ProgressLine
from atnmf_core.sweep import Tally


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_line_is_rewritten() -> None:
    screen = Terminal()
    line = ProgressLine("faces", stream=screen)

    line(Tally(total=10, done=1, fresh=1, seconds=60.0))
    line(Tally(total=10, done=10, fresh=10, seconds=600.0))
    line.close()

    first, second, end = screen.getvalue().removeprefix("\r").replace("\n", "\r").split("\r")
    assert first.endswith("1/10, 9 min left")
    assert second.rstrip().endswith("10/10")
    assert len(second) >= len(first)
    assert end == ""


def test_nobody_is_told_where_nobody_watches() -> None:
    log = io.StringIO()
    line = ProgressLine("faces", stream=log)

    line(Tally(total=10, done=1, fresh=1, seconds=60.0))
    line.close()

    assert log.getvalue() == ""


def test_a_log_gets_lines_where_asked_for() -> None:
    log = io.StringIO()
    line = ProgressLine("faces", shown=True, stream=log)

    line(Tally(total=4, done=2, fresh=1, seconds=5.0))
    line.close()

    assert log.getvalue() == "faces [############............] 2/4, 10 s left\n"


def test_what_an_earlier_run_made_does_not_count_for_the_pace() -> None:
    assert Tally(total=100, done=91, fresh=1, seconds=3.0).seconds_left == 27.0
    assert Tally(total=100, done=90, fresh=0, seconds=3.0).seconds_left is None
