"""Applying a model to pixels outside its sample: each on its own, independent of its neighbours.

As W is given, a pixel's column of H follows from its own entries and, where these are few, from what the
pixels of the sample contain. So do its defects, as the scales of bands are those of the sample. Nothing here
depends on how a scene was cut into blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...problem import Array, Mask
from ...solvers.columns import solve_columns
from ..choice import Choice, Losses
from ..defects import BEYOND, Spread, beyond_limits, spread
from ..holdout import LEAST_LEFT
from ..packed import choice_from_json, choice_to_json
from ..path import BOUND, PASSES, SETTLED
from ..prediction import Population, fitted_to, tell_too_little
from ..restore import BEYOND_REASON, Restoration

AT_ONCE = 1 << 18
"""Entries that are worked on at a time; they take about 100 bytes each."""
FAR_ABOVE_MOST, FAR_ABOVE_MIDDLE, MOST = 2.0, 3.0, 0.99
"""A pixel is unlike the sample when its residuals are so many times those of `MOST` of the sample's pixels,
and of the middle one.
"""
MOSTLY_SHOWN = 0.75
"""A pixel of which a smaller share of the entries is sound is predicted with the help of pixels like it."""


@dataclass(frozen=True, eq=False)
class SceneModel:
    """Everything needed to restore a pixel.

    Attributes
    ----------
    W, mean, precision, noise : the population of the sample's pixels; see `Population`.
    lam, leash : the adversary; None if there is none.
    losses : "marked" or "unmarked".
    by_row, middle : the scales of the sample's residuals; see `Spread`.
    limits : the suspicion that makes a defect, below and above; see `thresholds`.
    top : F, the largest sound value of each band in the sample.
    poor : bool F, bands with too little in the sample to say anything.
    far : pixels whose residuals are larger are unlike the sample.
    choice : how K, lam and leash were chosen; None where they were given.
    words : on how the model was found and checked.
    """

    W: Array = field(repr=False)
    mean: Array = field(repr=False)
    precision: Array = field(repr=False)
    noise: Array = field(repr=False)
    lam: float | None
    leash: float | None
    losses: Losses
    by_row: Array = field(repr=False)
    middle: float
    limits: tuple[float, float]
    top: Array = field(repr=False)
    poor: Mask = field(repr=False)
    far: float
    choice: Choice | None = field(default=None, repr=False)
    words: str = ""

    @property
    def K(self) -> int:
        return int(self.W.shape[1])

    @property
    def fields(self) -> dict[str, Any]:
        """All of it, as arrays and what JSON can hold."""
        return vars(self) | {"choice": choice_to_json(self.choice)}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> SceneModel:
        """The model that has these `fields`."""
        kept = {"choice": choice_from_json(fields["choice"]), "limits": tuple(fields["limits"])}
        return cls(**fields | kept)

    @property
    def population(self) -> Population:
        return Population(self.W.astype(np.float64), self.mean, self.precision, self.noise)

    @property
    def scales(self) -> Spread:
        """Of the sample's residuals, without those of its columns."""
        return Spread(self.by_row, np.empty(0), self.middle)


@dataclass(frozen=True, eq=False)
class Pixels:
    """Pixels restored: F x n but for `scale`.

    Attributes
    ----------
    predicted : what the model predicts, within what the bands justify.
    defects : observed entries that look wrong.
    unknown : missing entries and defects that cannot be predicted.
    scale : n, the size of each pixel's residuals.
    """

    predicted: Array
    defects: Mask
    unknown: Mask
    scale: Array


def model_of(V: Array, restored: Restoration, losses: Losses, limits: tuple[float, float]) -> SceneModel:
    """The model behind the restoration of a sample V (F x n, NaN where missing)."""
    fit = restored.fit
    use = ~np.isnan(V) & ~restored.defects
    known = np.where(use, V, 0)
    scales = spread(np.where(use, V, fit.V_hat) - fit.V_hat, use & (known > 0))
    population = Population.of(fit, known, use, keep_W=True)
    return SceneModel(
        W=np.asarray(fit.W),
        mean=population.mean,
        precision=population.precision,
        noise=population.noise,
        lam=fit.lam,
        leash=fit.leash,
        losses=losses,
        by_row=scales.by_row.astype(np.float32),
        middle=scales.middle,
        limits=limits,
        top=known.max(axis=1),
        poor=use.sum(axis=1) < fit.W.shape[1],
        far=far_limit(scales.by_column, scales.middle),
        choice=restored.choice,
        words=restored.choice.verdict if restored.choice else "K, lambda and leash were given.",
    )


def far_limit(scale: Array, middle: float) -> float:
    """Pixels with larger residuals are unlike a sample, given those of its pixels and of the middle one."""
    return max(FAR_ABOVE_MOST * float(np.nanquantile(scale, MOST)), FAR_ABOVE_MIDDLE * middle)


def restore_pixels(V: Array, model: SceneModel) -> Pixels:
    """Restore the columns of V (F x n, NaN where missing)."""
    width = max(1, AT_ONCE // len(V))
    parts = [_restore(V[:, start : start + width], model) for start in range(0, V.shape[1], width)]
    return Pixels(
        np.concatenate([part.predicted for part in parts], axis=1),
        np.concatenate([part.defects for part in parts], axis=1),
        np.concatenate([part.unknown for part in parts], axis=1),
        np.concatenate([part.scale for part in parts]),
    )


def _restore(V: Array, model: SceneModel) -> Pixels:
    seen = ~np.isnan(V)
    known = np.where(seen, V, 0)
    V_hat, use = _explained(known, seen, model)
    defects, scale = _suspects(known, V_hat, seen, use, model, model.limits)
    if model.losses == "marked":
        defects[:] = False
    few = use.mean(axis=0) < MOSTLY_SHOWN
    if few.any():
        v, p, shown = known[:, few], V_hat[:, few], use[:, few]
        T = fitted_to(v, p, model.lam, model.leash)
        V_hat[:, few] = model.W @ model.population.columns(T, p, shown).amounts().astype(V_hat.dtype)
    top = model.top[:, None] * _brightness(known, use, model.top)
    unknown = tell_too_little(use, model.K) | model.poor[:, None] | (V_hat > BEYOND_REASON * top)
    return Pixels(np.minimum(V_hat, BOUND * top), defects, (~seen | defects) & unknown, scale)


def _explained(known: Array, seen: Mask, model: SceneModel) -> tuple[Array, Mask]:
    """What W predicts, and from which entries: suspects are left out, as on the path of a fit."""
    H = _projected(known, seen, model)
    V_hat, use = model.W @ H, seen.copy()
    if model.losses == "marked":
        return V_hat, use
    left = np.arange(known.shape[1])
    for _ in range(PASSES):
        v, had, used = known[:, left], seen[:, left], use[:, left]
        found, _ = _suspects(v, V_hat[:, left], had, used, model)
        found &= (had & ~found).sum(axis=0) >= np.maximum(1, LEAST_LEFT * had.sum(axis=0))
        changed = (found != (had & ~used)).sum(axis=0)
        moving = changed > SETTLED * np.maximum(found.sum(axis=0), 1)
        left = left[moving]
        if left.size == 0:
            break
        use[:, left] = had[:, moving] & ~found[:, moving]
        H[:, left] = _projected(v[:, moving], use[:, left], model, H[:, left])
        V_hat[:, left] = model.W @ H[:, left]
    return V_hat, use


def _suspects(
    known: Array,
    V_hat: Array,
    seen: Mask,
    use: Mask,
    model: SceneModel,
    limits: tuple[float, float] = (BEYOND, BEYOND),
) -> tuple[Mask, Array]:
    """Observed entries that look wrong, and the size of each pixel's residuals."""
    # Many models fit a zero exactly, so such a residual says nothing about the others.
    scales = spread(known - V_hat, use & (known > 0), model.scales)
    return beyond_limits(known, V_hat, scales, limits) & seen, scales.by_column.astype(np.float32)


def _projected(known: Array, use: Mask, model: SceneModel, start: Array | None = None) -> Array:
    """H as `transform` gives it; a block has been checked, which `transform` would do again at each pass."""
    # Pixels without an entry are solved as zeros, and what is predicted there is not used.
    H, _ = solve_columns(
        np.multiply(known, use, dtype=np.float64),
        use | ~use.any(axis=0),
        model.W.astype(np.float64),
        np.inf if model.lam is None else model.lam,
        model.leash,
        start,
    )
    return H.astype(model.W.dtype)


def _brightness(known: Array, use: Mask, top: Array) -> Array:
    """How many times brighter than all of the sample a pixel is somewhere, at least 1."""
    ratio = np.divide(np.where(use, known, 0), top[:, None], out=np.zeros_like(known), where=top[:, None] > 0)
    brightest: Array = np.maximum(1, ratio.max(axis=0))
    return brightest
