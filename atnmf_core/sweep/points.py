"""One fit of a sweep: what identifies it, and how it is computed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..factorization import SOLVER_VERSIONS, factorize
from ..metrics import rmse
from ..problem import Method, Missing, Solver
from .kinds import identity_of, key_of
from .records import Measures
from .starts import paper_start

__all__ = ["Draw", "Point"]

Draw = Literal["seeded", "paper"]
Array = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Point:
    """One fit of a sweep: everything that decides its result, apart from the data itself.

    Attributes
    ----------
    masks : "paper" for the authors' own mask at this alpha, "seeded" for `hide_entries` with mask_seed and
        pattern.
    start : number of the start, from 0.
    draws : "seeded" draws start factors from seed + start; "paper" takes them from the authors' stream, see
        `atnmf_core.sweep.starts`.
    """

    alpha: float
    K: int
    method: Method
    lam: float | None
    missing: Missing
    solver: Solver
    start: int
    masks: Draw = "seeded"
    mask_seed: int = 0
    pattern: str = "entries"
    draws: Draw = "seeded"
    seed: int = 0
    dtype: str = "float32"
    max_outer: int = 100
    max_inner: int = 1000
    tol_inner: float = 1e-2
    tol_outer: float = 1e-2

    @property
    def version(self) -> str:
        """The version of the solver, which is part of the identity of its results."""
        return SOLVER_VERSIONS[self.solver]

    def key(self, content_hash: str) -> str:
        """What identifies this fit's result in a store; see `key_of`."""
        return key_of(identity_of(self, content_hash))

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """The names, in `Grid.inputs`, of the arrays that `measure` takes."""
        return "V", self.alpha

    def measure(self, V: Array, packed: npt.NDArray[np.uint8]) -> Measures:
        """Make the fit; `packed` has a bit for each entry of V, set where it is observed."""
        observed = np.unpackbits(packed, count=V.size).reshape(V.shape).astype(bool)
        fit = factorize(
            V,
            observed,
            K=self.K,
            method=self.method,
            lam=self.lam,
            missing=self.missing,
            solver=self.solver,
            max_outer=self.max_outer,
            max_inner=self.max_inner,
            tol_inner=self.tol_inner,
            tol_outer=self.tol_outer,
            dtype=self.dtype,
            **self._start((V.shape[0], V.shape[1])),
        )
        if not np.isfinite(fit.V_hat).all():
            raise ArithmeticError("the factors left the range of numbers, and W H is not finite")
        return Measures(
            rmse_hidden=rmse(V, fit.V_hat, ~observed),
            rmse_observed=rmse(V, fit.V_hat, observed),
            squared_error=float(fit.history["squared_error"][-1]),
            adversarial_loss=float(fit.history["adversarial_loss"][-1]),
            n_iter=fit.n_iter,
            converged=fit.converged,
            seconds=fit.seconds,
        )

    def _start(self, shape: tuple[int, int]) -> dict[str, Any]:
        if self.draws == "paper":
            return {"init": paper_start(shape, self.K, self.alpha, self.start)}
        return {"seed": self.seed + self.start}
