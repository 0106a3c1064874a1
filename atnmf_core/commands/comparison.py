"""Published and measured numbers side by side, as text."""

from __future__ import annotations

from collections.abc import Sequence

from ..problem import ANMF_NOTE, METHOD_NAMES
from ..reference.compare import (
    AGREEMENTS,
    Cell,
    agreement_counts,
    compare,
    method_title,
    percent,
    small_spread,
    spread,
)
from ..sweep import Measurement

__all__ = ["comparison"]

MARKS = {"within": "=", "near": "~", "outside": "!", None: ""}


def comparison(name: str, rows: Sequence[Measurement]) -> str:
    """A line for each cell of the paper's table `name` that was measured, under either treatment."""
    head = f"{'alpha':5}  {'method':22}{'published':>16}{'measured':>18}{'difference':>13}"
    cells = compare(name, rows)
    lines = [f"{head}  {'hidden marked':>17}"]
    lines += [_line(cell) for cell in cells if cell.zero or cell.ignore]
    starts = [row.starts for row in rows]
    counted = " to ".join(dict.fromkeys((str(min(starts)), str(max(starts))))) if starts else "none"
    lines.append(f"RMSE on hidden entries, mean ± standard deviation; starts: {counted}.")
    if any(row.missing == "zero" for row in rows):
        lines.append(
            ", ".join(f"{MARKS[agreement]} {words}" for agreement, words in AGREEMENTS.items()) + "."
        )
        lines += [f"{group}: {counts}" for group, counts in agreement_counts(cells).items()]
    if any(row.method == "anmf" for row in rows):
        lines.append(f"{METHOD_NAMES['anmf']}: {ANMF_NOTE}")
    return "\n".join(lines)


def _line(cell: Cell) -> str:
    row = cell.published
    measured = "" if cell.zero is None else spread(cell.zero.mean, cell.zero.deviation, cell.digits)
    difference = "" if cell.difference is None else percent(cell.difference)
    ignored = "" if cell.ignore is None else small_spread(cell.ignore.mean, cell.ignore.deviation)
    return (
        f"{row.alpha:<5g}  {method_title(row.method, row.lam):22}"
        f"{spread(row.mean, row.deviation, cell.digits):>16}"
        f"{measured:>18}{difference:>13} {MARKS[cell.agreement]:1}{ignored:>17}"
    )
