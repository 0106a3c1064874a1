"""Applying a fitted model to new data: columns of H for columns of V that were not in the fit."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from .problem import Array, InputError, Missing, check_one_of, observed_entries, pose
from .solvers.columns import solve_columns


def transform(
    V: npt.ArrayLike,
    W: npt.ArrayLike,
    observed: npt.ArrayLike | None = None,
    *,
    lam: float | None = None,
    leash: float | None = None,
    missing: Missing = "ignore",
    start: Array | None = None,
) -> Array:
    """How much of each part of W is in each column of V: H for a fixed W.

    Each column h minimises the loss of `factorize` over h >= 0, given W: the squared error over the column's
    observed entries or, with `lam`, what an attacker leaves of it. That problem is convex; it is solved to
    convergence, in double precision, and no column depends on the others.

    Parameters
    ----------
    V : F x N, nonnegative; any number of columns. NaN is "not observed".
    W : F x K, the parts, nonnegative; usually `fit.W`.
    observed : bool F x N, True where observed; all by default.
    lam, leash, missing : as in the fit; see `factorize`. Without lam there is no adversary.
    start : K x N, nonnegative: an H to begin with, such as that of nearly the same V, which
        saves time. Where several H are equally good, one near it is found.

    Returns
    -------
    H : K x N, nonnegative, in the precision of W; NaN in columns of which nothing is observed. Where the
        observed entries of a column are too few to determine h, the best h of least norm (with parts scaled
        to equal norm); a part of which next to nothing is observed gets 0.

    Examples
    --------
    >>> W = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> transform([[3.0], [np.nan], [2.0]], W)
    array([[3.],
           [1.]])
    """
    parts = _checked_parts(W)
    data, seen = observed_entries(V, observed)
    if len(parts) != len(data):
        raise InputError(f"W has {len(parts)} rows, V has {len(data)}: they must be alike.")
    check_one_of("missing", missing, ("ignore", "zero"))
    begin = None if start is None else _checked_start(start, (parts.shape[1], data.shape[1]))
    unknown = np.zeros(data.shape[1], dtype=bool)
    if seen is not None:
        data = np.where(seen, data, 0)
        if missing == "ignore":
            unknown = np.logical_not(seen.any(axis=0))
        # Columns without any observed entry are solved as zeros.
        seen = None if missing == "zero" else seen | unknown
    method = "nmf" if lam is None else "atnmf"
    # Here K may exceed the number of columns: it plays no role in V and its loss.
    problem = pose(data, seen, K=1, method=method, lam=lam, leash=leash, missing=missing, dtype="float64")
    scale = 2.0 ** np.ceil(np.log2(parts.max(initial=0.0) or 1.0))
    H, converged = solve_columns(
        problem.V,
        problem.observed,
        parts.astype(np.float64) / scale,
        problem.lam,
        problem.leash,
        None if begin is None else begin * (scale / problem.scale),
    )
    if not converged.all():
        warnings.warn(f"{(~converged).sum()} columns of H did not converge.", RuntimeWarning, stacklevel=2)
    H *= problem.scale / scale
    H[:, unknown] = np.nan
    return H.astype(parts.dtype, copy=False)


def _checked_parts(W: npt.ArrayLike) -> Array:
    parts = np.asarray(W)
    if parts.ndim != 2 or parts.size == 0 or parts.dtype.kind not in "fiub":
        raise InputError(
            f"W has shape {parts.shape} and type {parts.dtype}: a matrix of real numbers, F x K, is needed."
        )
    if not (np.isfinite(parts).all() and parts.min() >= 0):
        raise InputError("W: an entry is negative, infinite or NaN; nonnegative parts are needed.")
    return parts if parts.dtype == np.float32 else parts.astype(np.float64, copy=False)


def _checked_start(start: npt.ArrayLike, shape: tuple[int, int]) -> Array:
    H = np.asarray(start, dtype=np.float64)
    if H.shape != shape:
        raise InputError(f"start has shape {H.shape}: H of W and V has {shape}.")
    if not (np.isfinite(H).all() and H.min(initial=0) >= 0):
        raise InputError("start: an entry is negative, infinite or NaN; a nonnegative H is needed.")
    return H
