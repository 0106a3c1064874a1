"""Published and measured numbers side by side, as text."""

from __future__ import annotations

from collections.abc import Sequence

from ..reference import Measured
from ..reference.compare import Cell, compare, method_title, percent, small_spread, spread
from ..solvers import anmf

__all__ = ["comparison"]

MARKS = {"within": "=", "near": "~", "outside": "!", None: ""}
LEGEND = "= within the published spread, ~ within three deviations or 1 %, ! outside."


def comparison(name: str, cells: Sequence[Measured]) -> str:
    """A line for each cell of the paper's table `name` that was measured, under either treatment."""
    head = f"{'alpha':5}  {'method':22}{'published':>16}{'measured':>18}{'difference':>13}"
    lines = [f"{head}  {'hidden ignored':>17}"]
    lines += [_line(cell) for cell in compare(name, cells) if cell.zero or cell.ignore]
    starts = sorted({cell.starts for cell in cells})
    counted = (
        " to ".join(str(number) for number in dict.fromkeys((starts[0], starts[-1]))) if starts else "none"
    )
    lines.append(f"RMSE on hidden entries, mean ± standard deviation; starts: {counted}.")
    if any(cell.missing == "zero" for cell in cells):
        lines.append(LEGEND)
    if any(cell.method == "anmf" for cell in cells):
        lines.append(f"{anmf.LABEL}: {anmf.NOTE}")
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
