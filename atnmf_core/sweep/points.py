"""One fit of a sweep: what identifies it, and how it is computed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..datasets import PAPER_ALPHAS, Dataset, paper_mask
from ..factorization import SOLVER_VERSIONS, factorize
from ..hiding import hide_entries
from ..metrics import rmse
from ..problem import Array, InputError, Mask, Method, Missing, Solver

PAPER_STARTS = 10
_PASSED_ON = (
    *("K", "method", "lam", "missing", "solver", "dtype"),
    *("max_outer", "max_inner", "tol_inner", "tol_outer"),
)
"""The fields that mean the same to `factorize`."""

Draw = Literal["seeded", "paper"]


@dataclass(frozen=True)
class Measures:
    """What is measured for one fit.

    Attributes
    ----------
    rmse_hidden, rmse_observed : RMSE over the hidden and over the observed entries.
    squared_error, adversarial_loss : the last values of the fit's history.
    n_iter, converged, seconds : as in `Fit`.
    """

    rmse_hidden: float
    rmse_observed: float
    squared_error: float
    adversarial_loss: float
    n_iter: int
    converged: bool
    seconds: float


@dataclass(frozen=True)
class Point:
    """One fit of a sweep: everything that determines its result, apart from the data itself.

    Attributes
    ----------
    masks : "paper" for the authors' own mask at this alpha, "seeded" for `hide_entries` with mask_seed and
        pattern.
    start : number of the start, from 0.
    draws : "seeded" draws start factors from seed + start; "paper" takes them from `paper_start`.
    """

    alpha: float
    K: int
    method: Method
    lam: float | None
    missing: Missing
    solver: Solver
    start: int
    masks: Draw
    mask_seed: int
    pattern: str
    draws: Draw
    seed: int
    dtype: str
    max_outer: int
    max_inner: int
    tol_inner: float
    tol_outer: float

    @property
    def version(self) -> str:
        """The version of the solver, which is part of the identity of its results."""
        return SOLVER_VERSIONS[self.solver]

    def measure(self, V: Array, packed: npt.NDArray[np.uint8]) -> Measures:
        """Compute the fit; `packed` has a bit for each entry of V, set where it is observed."""
        observed = np.unpackbits(packed, count=V.size).reshape(V.shape).astype(bool)
        start: dict[str, Any] = {"seed": self.seed + self.start}
        if self.draws == "paper":
            start = {"init": paper_start((V.shape[0], V.shape[1]), self.K, self.alpha, self.start)}
        fit = factorize(V, observed, **start, **{name: getattr(self, name) for name in _PASSED_ON})
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


def drawn_mask(
    data: Dataset, alpha: float, masks: Draw = "seeded", seed: int = 0, pattern: str = "entries"
) -> Mask:
    """Which entries are not hidden: by the authors' own mask of their data, or by `hide_entries`."""
    if masks == "paper":
        return paper_mask(data.name, alpha)
    return hide_entries(data.shape, alpha, seed, pattern, data.image_shape, data.order)


def identify(point: Point, content_hash: str) -> tuple[str, str]:
    """A short key for a point's result, the same in every process and store, and what it stands for: the
    point's fields, the data and the version, as JSON.
    """
    identity = json.dumps({**vars(point), "data": content_hash, "version": point.version}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:32], identity


def paper_start(
    shape: tuple[int, int], K: int, alpha: float, start: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The W (F x K) and H (K x N) that the authors drew for one of their alphas and ten starts.

    Their released program seeds NumPy once with 1 and then, for alpha = 0.3, 0.4 ... 0.9 and ten starts each,
    draws W and then H as |N(0, 1)|; every start serves all methods. Start s at the a-th alpha is therefore
    number 10 a + s of one stream; to get there, the earlier ones are drawn and discarded.
    """
    if alpha not in PAPER_ALPHAS:
        raise InputError(
            f"alpha={alpha!r}: the authors' starts are for alpha = {', '.join(map(str, PAPER_ALPHAS))}."
        )
    if not 0 <= start < PAPER_STARTS:
        raise InputError(f"start={start}: the authors made {PAPER_STARTS} starts, numbered from 0.")
    F, N = shape
    stream = np.random.RandomState(1)
    for _ in range(PAPER_STARTS * PAPER_ALPHAS.index(alpha) + start):
        stream.standard_normal(F * K + K * N)
    return np.abs(stream.standard_normal((F, K))), np.abs(stream.standard_normal((K, N)))
