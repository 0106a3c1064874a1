"""The candidates: numbers of parts and adversaries to try, depending on the shape of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
ENTRIES_PER_UNKNOWN = 4
"""A model with fewer observed entries per entry of W and H overfits; see `solvers.fast`."""

SHORTEST_LEASH = 0.5
"""On a shorter one the adversary reaches its wall on sound entries too, and a column with a third of its
entries wrong is no longer told from a sound one.
"""


@dataclass(frozen=True)
class Treatment:
    """How to deal with entries that may be wrong.

    Attributes
    ----------
    lam, leash : the adversary's price and leash, as in `factorize`; no adversary if lam is None.
    leave_out : whether suspects are left out of the fit.
    """

    lam: float | None = None
    leash: float | None = None
    leave_out: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """The adversary as arguments of `factorize`."""
        return {} if self.lam is None else {"method": "atnmf", "lam": self.lam, "leash": self.leash}

    @property
    def strength(self) -> tuple[float, ...]:
        """A sort key from no adversary to a strong one: the simpler model first."""
        if self.lam is None:
            return (0.0, 0.0, self.leave_out)
        return (1 / (self.lam - 1), 0.0 if self.leash is None else 1 / (1 + self.leash), self.leave_out)

    def __str__(self) -> str:
        if self.lam is None:
            return "NMF without suspects" if self.leave_out else "NMF"
        return f"AT-NMF with λ = {self.lam:g}" + ("" if self.leash is None else f" and leash {self.leash:g}")


PLAIN = Treatment(leave_out=False)
"""Standard NMF of all observed entries."""


@dataclass(frozen=True)
class Candidate:
    """A model that can be chosen."""

    K: int
    treatment: Treatment

    @property
    def complexity(self) -> tuple[float, ...]:
        """A sort key from simple to complex."""
        return (self.K, *self.treatment.strength)

    def __str__(self) -> str:
        return f"{self.treatment}, K = {self.K}"


def default_Ks(shape: tuple[int, int], observed: int) -> tuple[int, ...]:
    """The rungs of the ladder 1, 2, 3, 4, 6, 8, 12 ... that this many observed entries can support.

    Examples
    --------
    >>> default_Ks((165, 2500), observed=412500)
    (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
    """
    most = max(1, min(min(shape) - 1, observed // (ENTRIES_PER_UNKNOWN * sum(shape))))
    return tuple(K for K in LADDER if most >= K)


def coarse(Ks: tuple[int, ...]) -> tuple[int, ...]:
    """Every second rung, starting at 2 if possible."""
    from_two = tuple(K for K in Ks if K > 1) or Ks
    return from_two[::2]


def neighbours(K: int, Ks: tuple[int, ...]) -> tuple[int, ...]:
    """K and the rungs below and above."""
    place = Ks.index(K)
    return Ks[max(place - 1, 0) : place + 2]


def first_treatments() -> tuple[Treatment, ...]:
    """One treatment for each case: nothing wrong, few or many dark entries, dark and bright ones."""
    return (
        PLAIN,
        Treatment(),
        Treatment(1.3),
        Treatment(1.1),
        Treatment(1.03),
        Treatment(1.1, 1.0),
        Treatment(1.1, 0.5),
    )


def treatments_around(treatment: Treatment) -> tuple[Treatment, ...]:
    """The treatment, and slightly weaker and stronger ones."""
    lam, leash = treatment.lam, treatment.leash
    if lam is None:
        return (Treatment(), Treatment(1.3), Treatment(1.3, 0.5))
    excess = lam - 1
    near = [treatment, Treatment(round(1 + 2 * excess, 4), leash), Treatment(round(1 + excess / 2, 4), leash)]
    if leash is not None:
        near += [Treatment(lam, g) for g in (leash * 2, leash / 2) if g >= SHORTEST_LEASH]
    return tuple(near)
