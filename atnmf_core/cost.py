"""How long a fit will take, roughly: enough to choose between solving at once and on request."""

from __future__ import annotations

from .problem import Missing, Solver

__all__ = ["expected_seconds"]

# Seconds per multiply-add and per iteration, and typical iterations: measured with one BLAS thread on the
# bundled faces, CBCL and the simulated scene.
_PER_FLOP = 1.0e-10
_PER_PASS = 1.2e-9
_PER_ITERATION = 1.5e-3
_SWEEPS_SMALL_K, _SWEEPS_LARGE_K, _SMALL_K = 60, 22, 12
_INNER_ITERATIONS, _PER_INNER = 70_000, 1.5e-4


def expected_seconds(
    shape: tuple[int, int], K: int, *, solver: Solver = "fast", missing: Missing = "ignore"
) -> float:
    """Seconds that one fit of an F x N matrix with K parts takes on a machine of our day.

    For "paper" it is what a run takes that meets no stopping rule early, as is usual at the default limits.
    """
    entries = shape[0] * shape[1]
    if solver == "paper":
        products = 4 * entries * K * (1.5 if missing == "ignore" else 1.0)
        return _INNER_ITERATIONS * (_PER_INNER + _PER_FLOP / 2 * products)
    sweeps = _SWEEPS_SMALL_K if K <= _SMALL_K else _SWEEPS_LARGE_K
    pairs = K * (K + 1) if missing == "ignore" and K < 20 else 6 * K
    return sweeps * (_PER_ITERATION + entries * (_PER_FLOP * pairs + 3 * _PER_PASS))
