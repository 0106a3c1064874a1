"""How far predictions are off: deviations of single entries, and the error to expect of what was restored.

Both are told by entries that the span is learned without: single ones or, for marked losses, gaps of the
shape of the real ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..datasets.dataset import Layout
from ..model.problem import Array, Mask
from .faces import WITHIN_ONE
from .holdout import hold_out_entries, hold_out_gaps
from .lines import offset_error
from .prediction import Prediction
from .span import STEPS, explain

WITHIN_TWO = 0.954
FAR = 6.0
"""Errors beyond so many deviations count as so many in the expected error."""
CHECKED = 200_000
"""Deviations are calibrated by so many entries."""


def expected_error(model: Prediction, told: Mask, kept: Mask | None, root: float, layout: Layout) -> float:
    """The root mean square error of what was predicted and, if some of what is seen may be wrong, of wrong
    entries that were kept, and of entries whose offset was taken off; 0 if there are none.
    """
    squares = np.square(root * model.deviation[told], dtype=np.float64)
    total, count = float(squares.sum()), float(squares.size)
    if kept is not None:
        wrong = np.where(kept, 1 - model.sound, 0).astype(np.float64)
        apart = np.square(model.columns.V - model.others, dtype=np.float64)
        total += float((wrong * (apart + np.square(model.reach))).sum())
        count += float(wrong.sum())
        if layout.kind != "faces":  # whose deviations know that suspects may be sound
            total += float((model.sound * apart)[told & (model.sound > 0)].sum())
        if model.offsets is not None:
            moved = kept & (model.offsets != 0)
            off = offset_error(model.columns.V - model.others, kept, layout)
            total += float((np.square(off) * moved).sum())
            count += int(moved.sum())
    return float(np.sqrt(total / count)) if count >= 1 else 0.0


def calibrated(
    model: Prediction, seen: Mask, use: Mask, layout: Layout, at_gaps: float | None, seed: int
) -> tuple[float, float]:
    """Factors for deviations: with the first, 68 % and 95 % of errors lie within one and two of them; with
    the second they are root mean square errors. `at_gaps` is the error at held-out gaps of marked losses.
    """
    if model.is_smoothed:
        return 1.0, 1.0
    ratios = model.ratios
    if ratios is None and at_gaps is not None and not seen.all():
        ratios = _at_gaps(model, seen, layout, at_gaps)
    if ratios is None:
        ratios = _at_entries(model, use, seed)
    ratios = ratios[:: max(1, ratios.size // CHECKED)].astype(np.float64)
    ratios = ratios[np.isfinite(ratios)]
    within = calibration(ratios)
    # A few that are off by far more are wrong, if some are.
    usual = np.minimum(ratios, FAR * within) if at_gaps is None else ratios
    return within, float(np.sqrt(np.square(usual).mean())) if ratios.size else 1.0


def _at_entries(model: Prediction, use: Mask, seed: int) -> Array:
    """|error| / deviation at single entries that the span is learned without."""
    held = hold_out_entries(use, seed=seed)
    columns, span = model.columns, model.span
    seen = columns.seen & ~held
    odds = None if columns.odds is None else columns.odds.of(columns.V, seen)
    columns = replace(columns, seen=seen, sound=np.where(held, 0, columns.sound), odds=odds)
    for _ in range(STEPS):
        columns.look(span, learn=False)
        span = columns.learn(span)
    columns.look(span, learn=False)
    assert columns.explained is not None
    deviation = span.noise[:, None] * np.sqrt(np.square(columns.loudness) + columns.explained.leverage)
    return np.asarray((np.abs(columns.V - columns.explained.predicted) / deviation)[held])


def _at_gaps(model: Prediction, seen: Mask, layout: Layout, error: float) -> Array | None:
    """|error| / deviation at gaps that are moved to where the data is sound.

    The span was learned from what is held out here, and misses it by too little; it did not know it when it
    was chosen, and missed it by `error`.
    """
    columns = model.columns
    held = hold_out_gaps(seen, layout)
    some = np.flatnonzero(held.any(axis=0))
    if not some.size:
        return None
    shown = seen[:, some] & ~held[:, some]
    made = explain(model.span, columns.V[:, some], columns.weights[:, some] * shown)
    loudness = np.square(columns.loudness[some])
    deviation = model.span.noise[:, None] * np.sqrt(loudness + made.leverage)
    missed = np.abs(columns.V[:, some] - made.predicted)
    learned = float(np.sqrt(np.square(missed[held[:, some]]).mean()))
    return np.asarray((missed / deviation)[held[:, some]] * max(1.0, error / max(learned, 1e-30)))


def calibration(ratios: Array) -> float:
    """The factor with which |error| / scale comes closest to the shares of a normal within one and two
    deviations.

    Examples
    --------
    >>> errors = 3 * np.abs(np.random.default_rng(0).normal(size=100_000))
    >>> round(calibration(errors), 1)
    3.0
    """
    found = np.sort(ratios[np.isfinite(ratios)])
    if found.size == 0:
        return 1.0
    candidates = np.unique(np.quantile(found, np.linspace(0.5, 0.85, 141)))
    one = np.searchsorted(found, candidates, side="right") / found.size
    two = np.searchsorted(found, 2 * candidates, side="right") / found.size
    return float(candidates[np.argmin((one - WITHIN_ONE) ** 2 + (two - WITHIN_TWO) ** 2)])
