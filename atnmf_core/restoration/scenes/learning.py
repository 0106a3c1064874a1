"""The model of a scene: learned from a sample, checked on other pixels, refined with those that it misses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...datasets.scene_file import SceneFile
from ...problem import Array, InputError
from ..choice import ChoiceCallback, Losses
from ..defects import BEYOND, thresholds
from ..holdout import hold_out_entries
from ..path import MapTrials
from ..restore import Restoration, restore
from .pixels import SceneModel, model_of, restore_pixels
from .sampling import two_samples

Index = npt.NDArray[np.intp]

SAMPLE_ENTRIES, LEAST_PIXELS = 500_000, 500
"""Of the sample. With n pixels, each row of W is as exact as n - K degrees of freedom make it: K / n of the
noise is added by learning from so few. What the sample does not show is found later, in the blocks.
"""
FEWEST_FAR = 10
"""Fewer pixels unlike the sample are outliers, from which nothing is learned."""
MAX_EXTRA = 0.25
"""Pixels unlike the sample that are learned from, as a share of the sample."""
MORE_PARTS = (0, 1, 2, 4)
"""How many more parts to try, to describe pixels that the model misses."""


@dataclass(frozen=True)
class SceneSettings:
    """What the user asked for, in the words of `restore`."""

    losses: Losses
    K: int | tuple[int, ...] | None
    lam: float | None
    leash: float | None
    seed: int


def sample_size(scene: SceneFile) -> int:
    """Pixels of the sample."""
    return min(max(SAMPLE_ENTRIES // scene.bands, LEAST_PIXELS), scene.rows * scene.cols // 2)


def sampled(scene: SceneFile, seed: int) -> tuple[Array, Array]:
    """The pixels of a sample, and others to check by what is learned from it; both bands x pixels."""
    if min(scene.rows, scene.cols) < 2:
        raise InputError(f"{scene.path.name}: a scene of {scene.rows} x {scene.cols} pixels is too small.")
    drawn, others = two_samples((scene.rows, scene.cols), sample_size(scene), seed)
    return scene.pixels(*drawn), scene.pixels(*others)


def with_far(V: Array, check: Array, far: Index) -> Array:
    """A sample, and some of those pixels outside of it that it is unlike."""
    return np.concatenate([V, check[:, _some(far, MAX_EXTRA * V.shape[1])]], axis=1)


def learn(
    scene: SceneFile,
    wish: SceneSettings,
    callback: ChoiceCallback | None = None,
    map_trials: MapTrials | None = None,
) -> SceneModel:
    """Choose and fit a model on a sample; add the pixels outside of it that it describes worst; check it."""
    V, check = sampled(scene, wish.seed)
    how: dict[str, Any] = {"seed": wish.seed, "callback": callback, "map_trials": map_trials}
    restored = restore(V, wish.losses, K=wish.K, lam=wish.lam, leash=wish.leash, **how)
    model = first = _model(V, restored, wish.losses)
    words = first.words
    far = np.flatnonzero(restore_pixels(check, model).scale > model.far)
    if far.size >= FEWEST_FAR:
        V = with_far(V, check, far)
        model = _model(V, _refit(V, model, wish, how), wish.losses)
        words += (
            f" {far.size} pixels outside of the sample were unlike it, and the model was fitted to them too."
        )
    inside, outside = (_error(part, model, wish.seed) for part in (V, np.delete(check, far, axis=1)))
    words += f" Entries held out are predicted to within {inside:.3g} in the sample, {outside:.3g} elsewhere."
    return replace(model, choice=first.choice, words=words)


def refine(
    scene: SceneFile, model: SceneModel, far: Index, wish: SceneSettings, map_trials: MapTrials | None = None
) -> SceneModel:
    """A model of the sample and of pixels (counted row by row) that the first one misses."""
    drawn, _ = two_samples((scene.rows, scene.cols), sample_size(scene), wish.seed)
    extra = _some(far, MAX_EXTRA * drawn[0].size)
    rows, cols = np.divmod(extra, scene.cols)
    V = np.concatenate([scene.pixels(*drawn), scene.pixels(rows, cols)], axis=1)
    restored = _refit(V, model, wish, {"seed": wish.seed, "map_trials": map_trials})
    return _model(V, restored, wish.losses)


def _refit(V: Array, model: SceneModel, wish: SceneSettings, how: dict[str, Any]) -> Restoration:
    """As before, but for K, which is chosen anew among a few more parts where it was not given."""
    most = min(V.shape) - 1
    K = wish.K if isinstance(wish.K, int) else tuple(min(model.K + more, most) for more in MORE_PARTS)
    lam = np.inf if model.lam is None else model.lam
    return restore(V, wish.losses, K=K, lam=lam, leash=model.leash, **how)


def _model(V: Array, restored: Restoration, losses: Losses) -> SceneModel:
    limits = (BEYOND, BEYOND)
    if losses == "unmarked":
        seen = ~np.isnan(V)
        known = np.where(seen, V, 0)
        limits = thresholds(known, restored.fit.V_hat, seen, seen & ~restored.defects)
    return model_of(V, restored, losses, limits)


def _error(V: Array, model: SceneModel, seed: int) -> float:
    """A robust standard deviation of predictions from entries that were held out."""
    held = hold_out_entries(~np.isnan(V), seed=seed)
    predicted = restore_pixels(np.where(held, np.nan, V), model).predicted
    return float(1.4826 * np.median(np.abs(V - predicted)[held]))


def _some(places: Index, most: float) -> Index:
    """At most this many of them, evenly spread."""
    return places[:: max(1, int(np.ceil(places.size / max(most, 1))))]
