"""The start factors that the paper's authors drew.

Their released program seeds NumPy once with 1 and then, for alpha = 0.3, 0.4 ... 0.9 and ten starts each,
draws W and then H as |N(0, 1)|. Every start serves NMF and AT-NMF alike. Start s at the a-th alpha is
therefore number 10 a + s of one stream, and is found here by drawing, and dropping, those before it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..datasets import PAPER_ALPHAS
from ..problem import InputError

__all__ = ["PAPER_STARTS", "paper_start"]

PAPER_STARTS = 10
Factors = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def paper_start(shape: tuple[int, int], K: int, alpha: float, start: int) -> Factors:
    """The authors' W (F x K) and H (K x N) of one of their alphas and ten starts, at the data's scale."""
    if alpha not in PAPER_ALPHAS:
        raise InputError(
            f"alpha={alpha!r}: the authors' starts are for alpha = {', '.join(map(str, PAPER_ALPHAS))}."
        )
    if not 0 <= start < PAPER_STARTS:
        raise InputError(f"start={start}: the authors made {PAPER_STARTS} starts, numbered from 0.")
    F, N = shape
    before = PAPER_STARTS * PAPER_ALPHAS.index(alpha) + start
    stream = np.random.RandomState(1)
    for _ in range(before):
        stream.standard_normal(F * K + K * N)
    W = np.abs(stream.standard_normal((F, K)))
    H = np.abs(stream.standard_normal((K, N)))
    return W, H
