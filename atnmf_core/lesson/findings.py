"""The paper's tables and ours side by side, for one hidden share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..reference import NAMES, Published, measured, published
from ..sweep.measurements import Measurement

PUBLISHED_STARTS = 10


@dataclass(frozen=True)
class Error:
    """RMSE on hidden entries, averaged over `starts` starts; `lam` is None for NMF."""

    mean: float
    lam: float | None
    starts: int


@dataclass(frozen=True)
class Finding:
    """One data set at one hidden share. Published, AT-NMF has the best of its lambdas; rerun, the one that
    was best as published.

    Attributes
    ----------
    published_nmf, published_atnmf : as in the paper.
    zero_nmf, zero_atnmf : measured by us in the same way, hidden entries as zeros; None if not run.
    ignore_nmf, ignore_atnmf : measured by us with hidden entries left out; None if not run.
    """

    name: str
    alpha: float
    published_nmf: Error
    published_atnmf: Error
    zero_nmf: Error | None
    zero_atnmf: Error | None
    ignore_nmf: Error | None
    ignore_atnmf: Error | None

    @property
    def published_gain(self) -> float:
        """By what share AT-NMF's published error is below NMF's."""
        return 1 - self.published_atnmf.mean / self.published_nmf.mean

    @property
    def repeated_within(self) -> float | None:
        """The largest relative difference between published and rerun errors."""
        pairs = ((self.zero_nmf, self.published_nmf), (self.zero_atnmf, self.published_atnmf))
        apart = [abs(ours.mean / theirs.mean - 1) for ours, theirs in pairs if ours is not None]
        return max(apart, default=None)

    @property
    def ignored_share(self) -> float | None:
        """NMF's error with hidden entries left out, as a share of its published one."""
        return None if self.ignore_nmf is None else self.ignore_nmf.mean / self.published_nmf.mean

    @property
    def ignored_gain(self) -> float | None:
        """By what share AT-NMF's error is below NMF's where both leave hidden entries out."""
        if self.ignore_nmf is None or self.ignore_atnmf is None:
            return None
        return 1 - self.ignore_atnmf.mean / self.ignore_nmf.mean


def findings(alpha: float) -> tuple[Finding, ...]:
    """All four data sets at one of the paper's hidden shares (0.3 to 0.9).

    Examples
    --------
    >>> [finding.name for finding in findings(0.5)]
    ['synthetic', 'cbcl', 'moffet', 'madonna']
    """
    return tuple(_finding(name, alpha) for name in NAMES)


def _finding(name: str, alpha: float) -> Finding:
    here = [cell for cell in published(name) if cell.alpha == alpha]
    ours = [cell for cell in measured(name) if cell.alpha == alpha]
    published_nmf, published_atnmf = _best(here, "nmf"), _best(here, "atnmf")
    assert published_nmf is not None
    assert published_atnmf is not None
    zero = [cell for cell in ours if cell.missing == "zero"]
    ignore = [cell for cell in ours if cell.missing == "ignore"]
    return Finding(
        name=name,
        alpha=alpha,
        published_nmf=published_nmf,
        published_atnmf=published_atnmf,
        zero_nmf=_best(zero, "nmf"),
        zero_atnmf=_best((cell for cell in zero if cell.lam == published_atnmf.lam), "atnmf"),
        ignore_nmf=_best(ignore, "nmf"),
        ignore_atnmf=_best(ignore, "atnmf"),
    )


def _best(cells: Iterable[Published | Measurement], method: str) -> Error | None:
    """The lowest mean among the cells of a method."""
    found = [
        Error(cell.mean, cell.lam, cell.starts if isinstance(cell, Measurement) else PUBLISHED_STARTS)
        for cell in cells
        if cell.method == method
    ]
    return min(found, key=lambda error: error.mean, default=None)
