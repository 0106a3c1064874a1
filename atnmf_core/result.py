"""What every solver returns, and what it reports while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .adversary import optimal_attack
from .problem import Array, Mask, Method, Missing, Solver


class HasFactors(Protocol):
    """Anything with factors: a fit, a frame of its film, or a cached run."""

    @property
    def W(self) -> Array: ...

    @property
    def H(self) -> Array: ...


@dataclass(frozen=True)
class Progress:
    """The state of a running fit.

    Attributes
    ----------
    iteration : outer iterations (paper) or sweeps (fast) done.
    loss : the current adversarial loss (for NMF, the squared error).
    seconds : since the fit began.
    share : a lower bound on the share of the work done, from 0 to 1: a fit may converge before its iteration
        limit.
    factors : call it for a copy of the current (W, H).
    """

    iteration: int
    loss: float
    seconds: float
    share: float
    factors: Callable[[], tuple[Array, Array]] = field(repr=False)


FitCallback = Callable[[Progress], bool | None]


@dataclass(frozen=True, eq=False)
class Fit:
    """A factorization V ~ W H and its history.

    Attributes
    ----------
    W, H : nonnegative factors, F x K and K x N.
    history : "squared_error" over observed entries, "adversarial_loss" and "seconds": one value per outer
        iteration (paper) or sweep (fast), the first of them at the start.
    converged : whether the stopping rule was met, rather than the iteration limit or a callback's stop.
    n_iter : steps on W and H: the total of inner iterations (paper) or sweeps (fast).
    seconds : wall time of the fit.
    V : the data as given, not copied.
    observed : which entries counted as observed; None for all.
    leash : the most that the adversary may add to an entry, as a multiple of it; None for no limit.
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
