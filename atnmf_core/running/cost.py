"""Rough cost of a fit: enough to choose between solving at once and on request."""

from __future__ import annotations

from ..problem import Missing, Solver
from ..pure_pixels import ROUNDS, sample_size

# Fitted to CPU seconds, one BLAS thread, on the bundled faces, CBCL, Moffett and the simulated scene.
_SWEEPS = 36
_PER_PART, _PER_ENTRY, _PER_PRODUCT, _PER_PAIR = 3e-5, 1.2e-9, 2.2e-10, 3e-10
_PAIRS_BELOW_K = 20
# Peak memory of a fit's process, measured on the simulated scene of 307 x 307 pixels.
_BYTES, _BYTES_PER_ENTRY = 50_000_000, 34
_PER_LOOK, _PER_PLACE, _PER_INVERSE, _PER_PAIR_OF_PARTS = 8e-8, 2e-6, 1e-9, 1e-10
_INNER_ITERATIONS, _PER_INNER, _PER_INNER_PRODUCT = 70_000, 1.5e-4, 2e-10


def expected_seconds(
    shape: tuple[int, int],
    K: int,
    *,
    solver: Solver = "fast",
    missing: Missing = "ignore",
    start: str = "random",
) -> float:
    """Seconds that one fit of an F x N matrix with K parts takes on a current machine.

    For "paper", the time of a run that meets no stopping rule early, as is usual with the default limits.
    """
    if start == "pure-pixels":
        return _seconds_of_start(shape, K) + expected_seconds(shape, K, solver=solver, missing=missing)
    entries = shape[0] * shape[1]
    if solver == "paper":
        products = entries * K * (1.5 if missing == "ignore" else 1.0)
        return _INNER_ITERATIONS * (_PER_INNER + _PER_INNER_PRODUCT * products)
    # A Gram matrix per column for few parts; for more, hidden entries are filled in and one serves all.
    pairs = K * (K + 1) / 2 if missing == "ignore" and K < _PAIRS_BELOW_K else 0
    per_entry = _PER_ENTRY + _PER_PRODUCT * K + _PER_PAIR * pairs
    return _SWEEPS * (_PER_PART * K + per_entry * entries)


def _seconds_of_start(shape: tuple[int, int], K: int) -> float:
    """A K x K inverse for each pixel of the sample in each round, then one for every pixel."""
    pixels = ROUNDS * min(sample_size(K), shape[1]) + shape[1]
    per_pixel = _PER_PLACE + _PER_INVERSE * K**3 + _PER_PAIR_OF_PARTS * shape[0] * K**2
    return _PER_LOOK * shape[0] * shape[1] + per_pixel * pixels


def expected_bytes(shape: tuple[int, int]) -> int:
    """Memory that one fit of an F x N matrix takes in a process of its own."""
    return _BYTES + _BYTES_PER_ENTRY * shape[0] * shape[1]
