"""Which observed entries to hold out, to see how well a model predicts what it did not see.

Single entries show how well scattered defects are predicted. Real gaps are lines, blocks or ranges of bands,
and are harder: a model that predicts single entries to 1 % may be 25 times worse there. So for marked losses
the data's own gaps are moved to where the data is sound, and held out there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..datasets.dataset import Layout
from ..model.problem import InputError, Mask, check_seed

SHARE = 0.1
"""The share of the observed entries that is held out."""
LEAST_LEFT = 0.25
"""A row or column keeps at least this share of what was observed in it, and at least one entry."""
TOO_FEW_SEEN = 0.05
"""The gaps of columns of which less than this share is observed are not moved: nothing predicts them well."""
IN_SOUND_PLACES = 0.6
"""Of the moved gaps, at most this share is held out, where they fit best."""
LEAST_GAPS, ENOUGH_GAPS = 0.005, 0.03
"""If less than the one share of the data can be held out as gaps, they are not used; the other is enough."""
TRIES = 24
"""How many moves of the gaps are tried."""


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
    return limit_holdout(seen, held.reshape(seen.shape))


def hold_out_gaps(
    observed: npt.ArrayLike, layout: Layout | None = None, share: float = SHARE, seed: int = 0
) -> Mask:
    """Hold out gaps of the shape of the real ones, moved in the image or, if that does not lead to sound
    places, along the bands too.

    A column then looks like another one with its real gaps, if its own gaps lie within those that were moved
    there. Such columns are held out first, and others only as far as they come close. Of several random moves
    the one with the most of them is taken and, where gaps are few, further ones.

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
    rng = np.random.default_rng(check_seed(seed))
    poorest = int(seen.sum(axis=0)[gaps.any(axis=0)].min(initial=len(seen)))
    for along_bands in (False, True) if gaps.any() else ():
        held = np.zeros_like(seen)
        moves = [_move(layout, gaps, along_bands, rng) for _ in range(TRIES)]
        for move in sorted(moves, key=lambda by: _fitting(seen, _moved(gaps, layout, by)), reverse=True):
            fresh = _moved(gaps, layout, move) & ~held.any(axis=0)
            held |= limit_holdout(seen, _thinned(seen, fresh, share, rng), poorest)
            if held.sum() >= min(share, ENOUGH_GAPS) * seen.sum():
                break
        held = limit_holdout(seen, held, poorest)
        if held.sum() >= LEAST_GAPS * seen.sum():
            return held
    # Without gaps, or where they cover almost everything, so that no column has enough to predict the rest.
    return hold_out_entries(seen, SHARE, seed)


def _movable(seen: Mask) -> Mask:
    """The gaps, without rows that have no data at all and columns that have next to none: these cannot be
    predicted.
    """
    enough = seen.sum(axis=0) > TOO_FEW_SEEN * len(seen)
    return np.asarray(~seen & seen.any(axis=1, keepdims=True) & enough)


def _move(layout: Layout, gaps: Mask, along_bands: bool, rng: np.random.Generator) -> tuple[int, ...]:
    """How far to move the gaps along images, image rows and image columns, as `Layout.unfold` has them."""
    by = tuple(int(rng.integers(length)) for length in layout.unfold(gaps).shape)
    if along_bands:
        return by
    # The rows of V stay: bands of a cube, pixels of faces.
    return (by[0], 0, 0) if layout.kind == "faces" else (0, *by[1:])


def _moved(gaps: Mask, layout: Layout, by: tuple[int, ...]) -> Mask:
    moved: Mask = layout.fold(np.roll(layout.unfold(gaps), by, axis=(0, 1, 2)))
    return moved


def _misfit(seen: Mask, moved: Mask) -> npt.NDArray[np.intp]:
    """For each column, how many gaps of its own it has besides those that were moved there."""
    count: npt.NDArray[np.intp] = (~seen & ~moved).sum(axis=0)
    return count


def _fitting(seen: Mask, moved: Mask) -> int:
    """How many entries a move would hold out, less what does not fit in their columns."""
    return int(np.maximum((moved & seen).sum(axis=0) - _misfit(seen, moved), 0).sum())


def _thinned(seen: Mask, moved: Mask, share: float, rng: np.random.Generator) -> Mask:
    """The moved gaps in whole columns, those that they fit best first, up to the allowed share of entries."""
    held = moved & seen
    most = min(share * seen.sum(), IN_SOUND_PLACES * held.sum())
    counts = held.sum(axis=0)
    drawn = np.lexsort((rng.random(counts.size), _misfit(seen, moved)))
    drawn = drawn[counts[drawn] > 0]
    held[:, drawn[max(1, int(np.searchsorted(np.cumsum(counts[drawn]), most))) :]] = False
    return held


def limit_holdout(seen: Mask, held: Mask, column_keeps: int | None = None) -> Mask:
    """Do not hold out entries in rows and columns that would keep too little; for columns, `column_keeps`
    entries are enough, if given.
    """
    held = held.copy()
    for axis in (0, 1):
        had = seen.sum(axis=axis)
        left = had - held.sum(axis=axis)
        least = np.maximum(1, LEAST_LEFT * had)
        if axis == 0 and column_keeps is not None:
            least = np.minimum(least, column_keeps)
        held &= ~np.expand_dims(left < least, axis)
    return held


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise InputError(f"share={share!r}: the held-out share lies strictly between 0 and 1.")
