"""Series of lambda for a curve."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["lambda_series", "rounded_lambda"]


def lambda_series(low: float, high: float, count: int) -> tuple[float, ...]:
    """At most `count` values from low to high, above 1, evenly spaced in the logarithm of lambda - 1.

    That is where the adversary's strength changes evenly. Values that round to the same are one.

    Examples
    --------
    >>> lambda_series(1.1, 11, 3), lambda_series(2, 5, 1)
    ((1.1, 2.0, 11.0), (2.0,))
    """
    steps = np.geomspace(low - 1, high - 1, count)
    return tuple(dict.fromkeys(rounded_lambda(1 + step) for step in steps))


def rounded_lambda(lam: float) -> float:
    """To four digits, or as many as keep two of lambda - 1, which is what the adversary feels.

    Examples
    --------
    >>> rounded_lambda(12.3456), rounded_lambda(1.00041234)
    (12.35, 1.00041)
    """
    decimals = max(3 - math.floor(math.log10(lam)), 1 - math.floor(math.log10(lam - 1)))
    return round(float(lam), decimals)
