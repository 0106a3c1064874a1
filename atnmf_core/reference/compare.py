"""The paper's cells beside ours: how far apart they are, and whether that is within the published spread."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..solvers import anmf
from ..sweep.starts import PAPER_STARTS
from .tables import Measured, Published, published

__all__ = [
    "PAPER_OUTER",
    "TITLES",
    "Agreement",
    "Cell",
    "Place",
    "compare",
    "exception_reason",
    "method_title",
    "percent",
    "provenance",
    "small_spread",
    "spread",
]

Agreement = Literal["within", "near", "outside"]
Place = tuple[float, str, float | None]
"""alpha, method and lambda of a cell."""
TITLES = {
    "synthetic": "Synthetic",
    "cbcl": "CBCL faces",
    "moffet": "Moffett Field",
    "madonna": "Madonna",
}
SMALLEST = 0.001
"""Errors below this are as good as none beside those of the tables."""
PAPER_OUTER = 100
"""Outer iterations that the authors allowed."""


@dataclass(frozen=True)
class Cell:
    """A published cell, and what was measured for it.

    Attributes
    ----------
    zero : measured as the authors did, hidden entries fitted as zeros; None where it was not.
    ignore : measured with hidden entries left out of the loss.
    digits : decimals that the paper prints.
    """

    published: Published
    zero: Measured | None
    ignore: Measured | None
    digits: int

    @property
    def place(self) -> Place:
        return self.published.alpha, self.published.method, self.published.lam

    @property
    def difference(self) -> float | None:
        """Measured over published, less one."""
        return None if self.zero is None else self.zero.mean / self.published.mean - 1

    @property
    def agreement(self) -> Agreement | None:
        """Whether the measured mean agrees with the paper.

        "within" : it lies within the published deviation of the published mean, where both are known only to
            the printed digit.
        "near" : within three deviations, or 1 %.
        "outside" : beyond both.
        """
        if self.zero is None:
            return None
        distance = abs(self.zero.mean - self.published.mean)
        rounding = 10.0**-self.digits
        if distance <= self.published.deviation + rounding + 1e-12:
            return "within"
        near = max(3 * self.published.deviation, 0.01 * self.published.mean)
        return "near" if distance <= near else "outside"


def compare(name: str, cells: Iterable[Measured]) -> tuple[Cell, ...]:
    """Every cell of the paper's table `name`, with those of the measured ones that belong to it."""
    found = {(cell.alpha, cell.method, cell.lam, cell.missing): cell for cell in cells}
    digits = 2 if name == "synthetic" else 3
    return tuple(
        Cell(
            row,
            found.get((row.alpha, row.method, row.lam, "zero")),
            found.get((row.alpha, row.method, row.lam, "ignore")),
            digits,
        )
        for row in published(name)
    )


def method_title(method: str, lam: float | None) -> str:
    """What a column of a table is called."""
    if lam is not None:
        return f"AT-NMF ({lam:g})"
    return anmf.LABEL if method == "anmf" else "NMF"


def spread(mean: float, deviation: float | None, digits: int) -> str:
    """Mean and, where there is one, deviation, as the paper prints them."""
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def small_spread(mean: float, deviation: float | None) -> str:
    """The same for errors that differ by orders of magnitude: three digits of the mean.

    Examples
    --------
    >>> small_spread(0.0084149, 0.00063), small_spread(157.8, 439.4), small_spread(2.6e-5, 1e-5)
    ('0.00841 ± 0.00063', '158 ± 439', '< 0.001')
    """
    if mean < SMALLEST:
        return f"< {SMALLEST:g}"
    return spread(mean, deviation, max(0, 2 - math.floor(math.log10(mean))))


def percent(share: float) -> str:
    """A difference with its sign, to a tenth of a per cent.

    Examples
    --------
    >>> percent(0.1071), percent(-0.004), percent(-0.0001)
    ('+10.7 %', '−0.4 %', '0.0 %')
    """
    rounded = round(100 * share, 1)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return f"{sign}{abs(rounded):.1f} %"


def provenance(cell: Measured) -> str:
    """From what a measurement was made, in one line."""
    starts = f"{cell.starts} of {PAPER_STARTS} starts"
    if cell.solver == "paper":
        how = f"Algorithm 1, {cell.max_outer} of {PAPER_OUTER} outer iterations allowed"
    else:
        how = "its own descent" if cell.method == "anmf" else "fast solver"
    return f"{starts}, {how}, {cell.dtype}, solver version {cell.version}, {cell.date}"


def exception_reason(cell: Cell) -> str:
    """Why a measurement may lie outside the published spread: what differs from the authors' run."""
    assert cell.zero is not None
    if cell.zero.method == "anmf":
        return anmf.NOTE
    reasons = []
    if cell.zero.max_outer < PAPER_OUTER:
        reasons.append(f"it was ended after {cell.zero.max_outer} of {PAPER_OUTER} outer iterations")
    if cell.zero.starts < PAPER_STARTS:
        reasons.append(f"it is the mean of {cell.zero.starts} of the authors' {PAPER_STARTS} starts")
    if cell.zero.lam is not None and cell.zero.lam <= 2:
        reasons.append("at this λ Algorithm 1 oscillates, and ends wherever the last iteration finds it")
    return "; ".join(reasons) or "the reason is not known"
