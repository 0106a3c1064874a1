"""Which observed entries to hold out, to see how well a model predicts what it did not see.

Single entries show how well scattered defects are predicted. Real gaps are lines, blocks or ranges of bands,
and are harder: a model that predicts single entries to 1 % may be 25 times worse there. So for marked losses
the data's own gaps are moved to where the data is sound, and held out there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..problem import InputError, check_seed
from .layout import Layout

__all__ = ["hold_out_entries", "hold_out_gaps", "spare"]

Mask = npt.NDArray[np.bool_]

SHARE = 0.1
"""The share of the observed entries that is held out."""
LEAST_LEFT = 0.25
"""A row or column keeps at least this share of what was observed in it, and at least one entry."""
IN_SOUND_PLACES = 0.6
"""Of the moved gaps, at most this share is held out, where the data is soundest."""
FEWEST = 0.01
"""If less than this share of the data can be held out as gaps, they are not used."""
TRIES = 24
"""How many moves of the gaps are tried, to find the one that meets the most sound entries."""


def hold_out_entries(observed: npt.ArrayLike, share: float = SHARE, seed: int = 0) -> Mask:
    """Hold out a share of the observed entries, drawn at random.

    Parameters
    ----------
    observed : bool F x N.
    share : of the observed entries, strictly between 0 and 1.
    seed : the same seed gives the same draw; other seeds are replicates.

    Returns
    -------
    held_out : bool F x N, a part of `observed`. No row or column that had data is emptied.

    Examples
    --------
    >>> held = hold_out_entries(np.ones((30, 40), dtype=bool), share=0.1, seed=3)
    >>> int(held.sum())
    120
    """
    seen = np.asarray(observed, dtype=bool)
    _check_share(share)
    rng = np.random.default_rng(check_seed(seed))
    places = np.flatnonzero(seen)
    held = np.zeros(seen.size, dtype=bool)
    held[rng.choice(places, round(share * places.size), replace=False)] = True
    return spare(seen, held.reshape(seen.shape))


def hold_out_gaps(
    observed: npt.ArrayLike, layout: Layout | None = None, share: float = 2 * SHARE, seed: int = 0
) -> Mask:
    """Hold out gaps of the shape of the real ones, moved in the image and along the bands.

    Of several random moves, the one that meets the most observed entries is taken. If there are many gaps,
    they are held out only in some columns of V, so that `share` of the observed entries is not exceeded: in
    those with the fewest gaps of their own, which then resemble columns with real gaps.

    Parameters
    ----------
    observed : bool F x N, False at the real gaps. If there are none, single entries are held out.
    layout : how entries lie in images; by default V is a plain matrix.
    share, seed : as in `hold_out_entries`.

    Returns
    -------
    held_out : bool F x N, a part of `observed`. No row or column that had data is emptied.
    """
    seen = np.asarray(observed, dtype=bool)
    _check_share(share)
    layout = layout or Layout()
    layout.check((seen.shape[0], seen.shape[1]))
    gaps = _movable(seen)
    if not gaps.any():
        return hold_out_entries(seen, SHARE, seed)
    rng = np.random.default_rng(check_seed(seed))
    moved = max((_moved(gaps, layout, rng) for _ in range(TRIES)), key=lambda held: int((held & seen).sum()))
    most = min(share * seen.sum(), IN_SOUND_PLACES * (moved & seen).sum())
    held = spare(seen, _thinned(moved & seen, (~seen).sum(axis=0), most, rng))
    # Gaps that cover almost everything leave no column with enough data to predict the rest from.
    return held if held.sum() >= FEWEST * seen.sum() else hold_out_entries(seen, SHARE, seed)


def _movable(seen: Mask) -> Mask:
    """The gaps, without rows and columns that have no data at all, which cannot be predicted."""
    return np.asarray(~seen & seen.any(axis=1, keepdims=True) & seen.any(axis=0, keepdims=True))


def _moved(gaps: Mask, layout: Layout, rng: np.random.Generator) -> Mask:
    stack = layout.unfold(gaps)
    by = [int(rng.integers(length)) for length in stack.shape]
    moved: Mask = layout.fold(np.roll(stack, by, axis=(0, 1, 2)))
    return moved


def _thinned(held: Mask, gaps: npt.NDArray[np.intp], most: float, rng: np.random.Generator) -> Mask:
    """Whole columns of the held-out entries, those with the fewest gaps first, up to the allowed number of
    entries.
    """
    counts = held.sum(axis=0)
    if counts.sum() <= most:
        return held
    drawn = np.lexsort((rng.random(gaps.size), gaps))
    kept = drawn[: max(1, int(np.searchsorted(np.cumsum(counts[drawn]), most)))]
    thinned = np.zeros_like(held)
    thinned[:, kept] = held[:, kept]
    return thinned


def spare(seen: Mask, held: Mask) -> Mask:
    """Do not hold out entries in rows and columns that would keep too little."""
    held = held.copy()
    for axis in (0, 1):
        had = seen.sum(axis=axis)
        left = had - held.sum(axis=axis)
        poor = left < np.maximum(1, LEAST_LEFT * had)
        held &= ~np.expand_dims(poor, axis)
    return held


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise InputError(f"share={share!r}: the held-out share lies strictly between 0 and 1.")
