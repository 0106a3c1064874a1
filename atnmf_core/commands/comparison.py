"""Published and measured numbers side by side, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..reference import Measured, Published, published
from ..solvers import anmf

__all__ = ["comparison"]


def comparison(name: str, cells: Mapping[str, Sequence[Measured]]) -> str:
    """A line for each cell of the paper's table `name` that was measured.

    `cells` are the measurements by treatment of hidden entries, "zero" and "ignore".
    """
    digits = 2 if name == "synthetic" else 3
    found = {
        treatment: {(cell.alpha, cell.method, cell.lam): cell for cell in some}
        for treatment, some in cells.items()
    }
    lines = [
        f"{'alpha':5}  {'method':22}{'published':>16}{'measured':>18}{'difference':>13}{'hidden ignored':>18}"
    ]
    for row in published(name):
        place = (row.alpha, row.method, row.lam)
        zero, ignore = (found.get(treatment, {}).get(place) for treatment in ("zero", "ignore"))
        if zero or ignore:
            lines.append(
                f"{row.alpha:<5g}  {_title(row):22}{_spread(row.mean, row.deviation, digits):>16}"
                f"{_shown(zero, digits):>18}{_difference(row, zero):>13}{_small(ignore):>18}"
            )
    starts = sorted({cell.starts for some in cells.values() for cell in some})
    counted = (
        " to ".join(str(number) for number in dict.fromkeys((starts[0], starts[-1]))) if starts else "none"
    )
    lines.append(f"RMSE on hidden entries, mean ± standard deviation; starts: {counted}.")
    if any(cell.method == "anmf" for some in cells.values() for cell in some):
        lines.append(f"{anmf.LABEL}: {anmf.NOTE}")
    return "\n".join(lines)


def _title(row: Published) -> str:
    if row.lam is not None:
        return f"AT-NMF ({row.lam:g})"
    return anmf.LABEL if row.method == "anmf" else "NMF"


def _shown(cell: Measured | None, digits: int) -> str:
    return "" if cell is None else _spread(cell.mean, cell.deviation, digits)


def _small(cell: Measured | None) -> str:
    """Errors that differ by orders of magnitude, to three digits."""
    if cell is None:
        return ""
    return f"{cell.mean:.3g}" + ("" if cell.deviation is None else f" ± {cell.deviation:.1g}")


def _spread(mean: float, deviation: float | None, digits: int) -> str:
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def _difference(row: Published, cell: Measured | None) -> str:
    return "" if cell is None else f"{100 * (cell.mean / row.mean - 1):+.1f} %"
