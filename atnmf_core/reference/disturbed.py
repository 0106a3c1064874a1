"""How far Algorithm 1 moves when its start is disturbed by a millionth; bundled as CSV."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

NEGLIGIBLE = 0.001
"""An error that moves by less than this share of itself is said to stay."""


@dataclass(frozen=True)
class Disturbed:
    """RMSE on hidden entries of a cell, from the authors' first start and from the same start disturbed.

    Attributes
    ----------
    undisturbed : from the start as it is.
    disturbed : from that start with noise of 1e-6 of each entry, once for each draw of the noise.
    """

    undisturbed: float
    disturbed: tuple[float, ...]

    @property
    def farthest(self) -> float:
        """The largest move of the error, as a share of it."""
        return max(abs(error / self.undisturbed - 1) for error in self.disturbed)

    def in_words(self, digits: int) -> str:
        """Where the start ends with and without noise.

        Examples
        --------
        >>> Disturbed(5.278, (5.459, 5.176)).in_words(2)
        'With 10⁻⁶ of noise, 2 draws, the first start ends at 5.18 to 5.46, up to 3.4% from its 5.28.'
        """
        ends = dict.fromkeys(f"{end:.{digits}f}" for end in (min(self.disturbed), max(self.disturbed)))
        return (
            f"With 10⁻⁶ of noise, {len(self.disturbed)} draws, the first start ends at {' to '.join(ends)}, "
            f"{_share(self.farthest)} from its {self.undisturbed:.{digits}f}."
        )


@cache
def disturbed_starts(name: str) -> dict[tuple[float, float], Disturbed]:
    """What was measured for a table, by alpha and lambda, with `python -m tests.benchmarks.chaos`.

    Examples
    --------
    >>> round(disturbed_starts("synthetic")[0.3, 2.0].farthest, 3)
    0.066
    """
    text = (files(__package__) / "disturbed_starts.csv").read_text()
    errors: dict[tuple[float, float], list[float]] = defaultdict(list)
    for row in csv.DictReader(text.splitlines()):
        if row["table"] == name:
            errors[float(row["alpha"]), float(row["lam"])].append(float(row["rmse"]))
    return {cell: Disturbed(first, tuple(others)) for cell, (first, *others) in errors.items()}


def moves_in_words(found: Mapping[float, Disturbed]) -> str:
    """How far the error moves at each alpha.

    Examples
    --------
    >>> stays = Disturbed(7.0, (7.0, 7.001))
    >>> moves_in_words({0.3: Disturbed(5.0, (5.1,)), 0.8: stays, 0.9: stays})
    'up to 2.0% at α = 0.3, less than 0.1% at α = 0.8, 0.9'
    """
    alphas: dict[str, list[float]] = defaultdict(list)
    for alpha, disturbed in found.items():
        alphas[_share(disturbed.farthest)].append(alpha)
    return ", ".join(f"{share} at α = {', '.join(map(str, some))}" for share, some in alphas.items())


def _share(share: float) -> str:
    if share < NEGLIGIBLE:
        return f"less than {100 * NEGLIGIBLE:g}%"
    return f"up to {100 * share:.1f}%"
