"""A bar on the terminal that says how far a long command is, and how long it will still take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(label: str, shown: bool | None, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """What it gives is called with how much is done, and of how much; `shown` None means: on a terminal.

    What was done at the first call was done by an earlier run, and does not count for the pace. The total may
    grow.
    """
    with tqdm(
        desc=label, disable=None if shown is None else not shown, unit=unit, unit_scale=bool(unit)
    ) as bar:

        def show(done: int, total: int) -> None:
            if bar.total is None:
                bar.n = bar.initial = done
            bar.total = total
            bar.update(done - bar.n)

        yield show
