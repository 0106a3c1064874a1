"""One line on the terminal that says how far a long command is, and how long it will still take."""

from __future__ import annotations

import sys
from typing import TextIO

from ..running.duration import in_words
from ..sweep import Tally

__all__ = ["ProgressLine"]

WIDTH = 24


class ProgressLine:
    """Draws itself on standard error, over and over in the same place; silent where nobody watches."""

    def __init__(self, label: str, shown: bool | None = None, stream: TextIO | None = None) -> None:
        """`shown` None means: only on a terminal."""
        self._label = label
        self._stream = stream or sys.stderr
        self._rewrites = self._stream.isatty()
        self._shown = self._rewrites if shown is None else shown
        self._length = 0

    def __call__(self, tally: Tally) -> None:
        if not self._shown:
            return
        filled = WIDTH * tally.done // max(tally.total, 1)
        left = tally.seconds_left
        rest = "" if left is None or tally.done == tally.total else f", {in_words(left)} left"
        line = f"{self._label} [{'#' * filled}{'.' * (WIDTH - filled)}] {tally.done}/{tally.total}{rest}"
        if self._rewrites:
            print(f"\r{line:{self._length}}", end="", file=self._stream, flush=True)
        else:
            print(line, file=self._stream, flush=True)
        self._length = len(line)

    def close(self) -> None:
        """Leave the line as it stands, so that what is printed next begins on its own."""
        if self._shown and self._rewrites and self._length:
            print(file=self._stream, flush=True)
            self._length = 0
