"""What every solver returns, and what it reports on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .adversary import optimal_attack
from .problem import Method, Missing, Solver

__all__ = ["Callback", "Factors", "Fit", "Progress"]

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]


class Factors(Protocol):
    """Anything with factors: a fit, a frame of its film, or what was cached of it."""

    @property
    def W(self) -> Array: ...

    @property
    def H(self) -> Array: ...


@dataclass(frozen=True)
class Progress:
    """Where a running fit stands.

    Attributes
    ----------
    iteration : outer iterations (paper) or sweeps (fast) done.
    loss : the adversarial loss now (the squared error for NMF).
    seconds : since the fit began.
    share : how much of the work is done, from 0 to 1, at least: a fit may converge before its last allowed
        iteration.
    factors : call it for a copy of (W, H) as they are now.
    """

    iteration: int
    loss: float
    seconds: float
    share: float
    factors: Callable[[], tuple[Array, Array]] = field(repr=False)


Callback = Callable[[Progress], bool | None]


@dataclass(frozen=True, eq=False)
class Fit:
    """A factorization V ~ W H, with the record of how it was found.

    Attributes
    ----------
    W, H : nonnegative factors, F x K and K x N.
    history : "squared_error" over observed entries, "adversarial_loss" and "seconds": one value per outer
        iteration (paper) or sweep (fast), the first of them at the start.
    converged : whether the stopping rule was met, rather than the iteration limit or a callback's stop.
    n_iter : steps on W and H taken: inner iterations in all (paper) or sweeps (fast).
    seconds : wall time of the fit.
    V : the data as given, not copied.
    observed : which of its entries counted as observed; None for all of them.
    leash : the most that the adversary could add to an entry, as a multiple of it; None for no limit.
    """

    W: Array = field(repr=False)
    H: Array = field(repr=False)
    history: dict[str, npt.NDArray[np.float64]] = field(repr=False)
    converged: bool
    n_iter: int
    seconds: float
    method: Method
    lam: float | None
    missing: Missing
    solver: Solver
    seed: int
    V: Array = field(repr=False)
    observed: Mask | None = field(repr=False)
    leash: float | None = None

    @cached_property
    def V_hat(self) -> Array:
        """The prediction W H."""
        return self.W @ self.H

    @cached_property
    def R(self) -> Array:
        """The adversary's best attack R* on this fit; zero on unobserved entries and where there is no
        adversary.
        """
        if self.lam is None:
            return np.zeros_like(self.V_hat)
        return optimal_attack(self.V, self.V_hat, self.lam, self.observed, self.leash)
