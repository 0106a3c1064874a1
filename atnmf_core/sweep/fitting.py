"""One fit of a sweep, as a worker process makes it."""

from __future__ import annotations

import signal
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ..datasets import Dataset, paper_mask
from ..factorization import factorize
from ..hiding import hide_entries
from ..metrics import rmse
from ..problem import InputError
from .grid import Grid, Point
from .records import Measures
from .starts import paper_start

__all__ = ["fit_point", "ignore_interrupt", "masks"]

Array = npt.NDArray[np.floating]
Packed = npt.NDArray[np.uint8]
Outcome = Measures | str


def masks(data: Dataset, grid: Grid) -> Mapping[float, Packed]:
    """What is observed at each alpha, one bit per entry: small enough to be sent to every worker."""
    packed = {}
    for alpha in grid.alphas:
        if grid.masks == "paper":
            observed = paper_mask(data.name, alpha)
        else:
            observed = hide_entries(
                data.shape,
                alpha,
                grid.mask_seed,
                grid.pattern,
                image_shape=data.image_shape,
                order=data.order,
            )
        packed[alpha] = np.packbits(observed)
    return packed


def fit_point(V: Array, packed: Packed, key: str, point: Point) -> tuple[str, Outcome]:
    """Make one fit on one BLAS thread; its key with what was measured, or with what went wrong."""
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            return key, _measure(V, packed, point)
        except (InputError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            return key, f"{type(error).__name__}: {error}"


def ignore_interrupt() -> None:
    """Ctrl-C reaches every process of a terminal; the one that leads ends the workers, in its own way."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _measure(V: Array, packed: Packed, point: Point) -> Measures:
    observed = np.unpackbits(packed, count=V.size).reshape(V.shape).astype(bool)
    paper = point.draws == "paper"
    fit = factorize(
        V,
        observed,
        K=point.K,
        method=point.method,
        lam=point.lam,
        missing=point.missing,
        solver=point.solver,
        seed=0 if paper else point.seed + point.start,
        init=paper_start((V.shape[0], V.shape[1]), point.K, point.alpha, point.start) if paper else None,
        max_outer=point.max_outer,
        max_inner=point.max_inner,
        tol_inner=point.tol_inner,
        tol_outer=point.tol_outer,
        dtype=point.dtype,
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
