"""Where W and H start."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .problem import Array, Factors, InputError, Problem

ROWS = 16
"""W H is computed about this many rows at a time, so that it is never in memory as a whole."""


def half_normal(problem: Problem, rng: np.random.RandomState) -> Factors:
    """|N(0, 1)| entries, W drawn before H, as in the authors' code.

    The legacy generator is deliberate: `np.random.RandomState(1)` replays the authors' runs.
    """
    F, N = problem.V.shape
    W = np.abs(rng.standard_normal((F, problem.K)))
    H = np.abs(rng.standard_normal((problem.K, N)))
    return W.astype(problem.V.dtype), H.astype(problem.V.dtype)


def given_start(problem: Problem, init: tuple[npt.ArrayLike, npt.ArrayLike]) -> Factors:
    """Copies of the given W and H, in the problem's scale."""
    if not isinstance(init, tuple | list) or len(init) != 2:
        raise InputError("init: a pair (W, H) of start factors is needed.")
    F, N = problem.V.shape
    dtype = problem.V.dtype
    checked = []
    for name, factor, shape in (("W", init[0], (F, problem.K)), ("H", init[1], (problem.K, N))):
        start = np.asarray(factor)
        if start.shape != shape:
            raise InputError(f"init: {name} has shape {start.shape}, the problem needs {shape}.")
        if start.dtype.kind not in "fiub":
            raise InputError(f"init: {name} has entries of type {start.dtype}: real numbers are needed.")
        with np.errstate(over="ignore"):
            start = (start / (problem.scale if name == "W" else 1.0)).astype(dtype)
        if not np.isfinite(start).all() or (start < 0).any():
            raise InputError(f"init: {name} must hold finite numbers of at least 0 that {dtype} can hold.")
        checked.append(start)
    return checked[0], checked[1]


def rescaled(problem: Problem, W: Array, H: Array) -> Factors:
    """W and H, each multiplied by one number, so that W H has the scale that fits V best where the loss
    looks.
    """
    overlap = size = 0.0
    for rows in np.array_split(np.arange(len(W)), max(1, len(W) // ROWS)):
        product = W[rows] @ H
        if problem.mask is not None:
            product *= problem.mask[rows]
        overlap += float(np.vdot(problem.V[rows], product))
        size += float(np.vdot(product, product))
    factor = overlap / size if size > 0 else 1.0
    root = W.dtype.type(np.sqrt(factor)) if factor > 0 else W.dtype.type(1)
    return W * root, H * root
