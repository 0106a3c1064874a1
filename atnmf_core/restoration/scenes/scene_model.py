"""The model of a scene: learned from a sample of its pixels, applied to every other pixel on its own.

A pixel climbs the ladder that the sample was explained by (`choice.Ladder`), and is judged by the odds that
were learned there. So nothing depends on how a scene is cut into blocks. It also means that a scene is
restored without what `restore` tells from neighbours: blocks are not looked for, pixels that look alike are
not averaged, and a pixel of which nothing is known stays as it is.

Stripes: offsets of image columns in a band are found in whole image rows from all over the scene. Offsets of
image rows would need all rows, and are not looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...datasets.dataset import Layout
from ...datasets.files.scene_file import SceneFile
from ...model.problem import Array, InputError, Mask
from ..choice import Choice, ChoiceCallback, Ladder, Losses, Treatment, choose
from ..holdout import hold_out_gaps
from ..lines import BadLine, striped_lines
from ..odds import Odds, Shares
from ..prediction import ROUNDS, predict, stripes
from ..restore import BEYOND_REASON, BOUND, observed_in, size_of, treatment_of
from ..span import Columns, climb_again, explain_otherwise, usual_in
from ..task import choice_from_json, choice_to_json

# Pixels that cover a scene, and others to check a model by.


Index = npt.NDArray[np.intp]
Places = tuple[Index, Index]
"""Image rows and columns of pixels."""
MAX_ROWS = 96
"""Number of image rows from which a sample is drawn: few, because a row is read as a whole."""


def two_samples(shape: tuple[int, int], count: int, seed: int) -> tuple[Places, Places]:
    """Two sets of about `count` pixels each, without a pixel in common: (rows, cols) of both.

    The scene is divided into as many cells for each, as on a chessboard; one pixel is drawn from every cell.
    """
    rng = np.random.default_rng(seed)
    rows, cols = shape
    high = min(rows, MAX_ROWS)
    wide = int(np.clip(count / high, 1, cols // 2))
    drawn = np.stack([_one_of_each(rows, high, rng) for _ in range(2)])
    chosen = []
    for colour in (0, 1):
        places = []
        for stratum in range(high):
            cells = _one_of_each(cols, 2 * wide, rng)[(colour + stratum) % 2 :: 2]
            places.append(np.stack([np.full(cells.size, drawn[colour, stratum]), cells]))
        found = np.concatenate(places, axis=1)
        chosen.append((found[0], found[1]))
    return chosen[0], chosen[1]


def _one_of_each(length: int, strata: int, rng: np.random.Generator) -> Index:
    """One number from each of `strata` equal parts of 0 ... length - 1."""
    edges = np.linspace(0, length, strata + 1)
    low, high = np.ceil(edges[:-1]).astype(int), np.ceil(edges[1:]).astype(int)
    return rng.integers(low, np.maximum(high, low + 1)).astype(np.intp)


AT_ONCE = 1 << 18
"""Entries that are worked on at a time; they take about 100 bytes each."""
FAR, TYPICAL_SHARE = 2.0, 0.99
"""A pixel is unlike the sample if the density of its entries is so many times as far below that of the middle
pixel as for `TYPICAL_SHARE` of the sample.
"""
MOSTLY_SEEN = 0.5
"""Of pixels of which less is seen it is not told."""


@dataclass(frozen=True, eq=False)
class SceneModel:
    """Everything needed to restore a pixel.

    Attributes
    ----------
    ladder : what pixels climb.
    odds : by which they are judged at the end; None where what is seen is sound.
    scale : of the data: the ladder is for entries that were divided by it.
    offsets : bands x image columns, what is taken off.
    losses : "marked" or "unmarked".
    top, bottom : F, the largest sound value of each band in the sample; the smallest one, or 0.
    poor : bool F, bands with too little in the sample to say anything.
    usual : see `explain_otherwise`.
    far : pixels with a lower density are unlike the sample.
    choice : how K, lam and leash were chosen; None where they were given.
    words : on how the model was found and checked.
    """

    ladder: Ladder = field(repr=False)
    odds: Shares | None = field(repr=False)
    scale: float
    offsets: Array = field(repr=False)
    losses: Losses
    top: Array = field(repr=False)
    bottom: Array = field(repr=False)
    poor: Mask = field(repr=False)
    usual: tuple[float, float]
    far: float
    choice: Choice | None = field(default=None, repr=False)
    words: str = ""

    @property
    def K(self) -> int:
        return self.ladder.rungs[-1].K

    @property
    def treatment(self) -> Treatment:
        return self.ladder.treatment

    @property
    def striped(self) -> tuple[BadLine, ...]:
        """The image columns that had an offset."""
        lines = striped_lines(self.offsets, Layout("cube", (1, self.offsets.shape[1]), "C"))
        return tuple(line for line in lines if line.what == "image column")

    @property
    def fields(self) -> dict[str, Any]:
        """All of it, as arrays and what JSON can hold."""
        own = {name: value for name, value in vars(self).items() if name not in ("ladder", "odds")}
        odds = {} if self.odds is None else {f"final {key}": it for key, it in self.odds._asdict().items()}
        return own | {"choice": choice_to_json(self.choice)} | odds | self.ladder.fields

    @classmethod
    def from_fields(cls, stored: dict[str, Any]) -> SceneModel:
        """The model that has these `fields`."""
        ladder = Ladder.from_fields(stored)
        odds = None if ladder.odds is None else Shares(*(stored[f"final {key}"] for key in Shares._fields))
        own = {one.name: stored[one.name] for one in fields(cls) if one.name in stored}
        return cls(**own | {"ladder": ladder, "odds": odds, "choice": choice_from_json(own["choice"])})


@dataclass(frozen=True, eq=False)
class Pixels:
    """Pixels restored: F x n but for `density`.

    Attributes
    ----------
    predicted : what the model predicts, within what the bands justify.
    defects : observed entries that look wrong.
    unknown : missing entries and defects that cannot be predicted.
    density : n, of each pixel's entries, its mean logarithm: how well the model describes the pixel. NaN
        where too little of it is seen.
    """

    predicted: Array
    defects: Mask
    unknown: Mask
    density: Array


def restore_pixels(V: Array, model: SceneModel) -> Pixels:
    """Restore the columns of V (F x n, NaN where missing), which are pixels without offsets."""
    width = max(1, AT_ONCE // len(V))
    starts = range(0, max(V.shape[1], 1), width)
    parts = [vars(_restored(V[:, at : at + width], model)) for at in starts]
    return Pixels(**{name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]})


def _restored(V: Array, model: SceneModel) -> Pixels:
    columns = _explained(V, model)
    assert columns.explained is not None
    seen = columns.seen
    use = seen & (columns.sound >= 0.5)
    # A pixel may be brighter than all of the sample.
    bright = columns.V / np.maximum(model.top, np.finfo(np.float32).tiny)[:, None]
    top = model.top[:, None] * np.where(use & (model.top > 0)[:, None], bright, 1).max(axis=0, initial=1)
    predicted = columns.explained.predicted
    unknown = ~use.any(axis=0) | model.poor[:, None] | ((predicted > BEYOND_REASON * top) & (top > 0))
    return Pixels(
        np.clip(predicted, BOUND * model.bottom[:, None], BOUND * top) * np.float32(model.scale),
        seen & ~use,
        ~use & unknown,
        np.where(seen.mean(axis=0) < MOSTLY_SEEN, np.nan, columns.by_column),
    )


def _explained(V: Array, model: SceneModel) -> Columns:
    seen = ~np.isnan(V)
    columns = model.ladder.columns(_scaled(V, seen, model.scale), seen, alone=True)
    climb_again(columns, model.ladder.rungs)
    if model.odds is not None:
        columns.odds = Odds(columns.V, seen, model.odds)
        columns.look(model.ladder.rungs[-1].span, learn=False)
    for _ in range(ROUNDS):
        explain_otherwise(columns, model.ladder.rungs[-1].span, model.usual)
        columns.look(model.ladder.rungs[-1].span, learn=False)
    return columns


def _scaled(V: Array, seen: Mask, scale: float) -> npt.NDArray[np.float32]:
    return np.where(seen, V / scale, 0).astype(np.float32)


# The model of a scene: learned from a sample, checked on other pixels, refined with those that it misses.


SAMPLE_ENTRIES, LEAST_PIXELS = 500_000, 500
"""Of the sample. What it does not show is found later, in the blocks."""
FEWEST_FAR = 10
"""Fewer pixels unlike the sample are outliers, from which nothing is learned."""
MAX_EXTRA = 0.25
"""Pixels unlike the sample that are learned from, as a share of the sample."""
STRIP_ENTRIES, FEWEST_ROWS = 1 << 22, 16
"""Image columns are searched for offsets in strips of so many entries; with fewer rows that is not done."""


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


def sampled(scene: SceneFile, seed: int) -> tuple[Places, Places]:
    """The pixels of a sample, and others to check by what is learned from it."""
    if min(scene.rows, scene.cols) < 2:
        raise InputError(f"{scene.path.name}: a scene of {scene.rows} x {scene.cols} pixels is too small.")
    return two_samples((scene.rows, scene.cols), sample_size(scene), seed)


def with_far(V: Array, check: Array, far: Index) -> Array:
    """A sample, and some of those pixels outside of it that it is unlike."""
    return np.concatenate([V, check[:, _some(far, MAX_EXTRA * V.shape[1])]], axis=1)


def learn(scene: SceneFile, request: SceneSettings, callback: ChoiceCallback | None = None) -> SceneModel:
    """Choose and fit a model on a sample; add the pixels outside of it that it describes worst; check it."""
    (rows, cols), others = sampled(scene, request.seed)
    V, check = scene.pixels(rows, cols), scene.pixels(*others)
    scale = size_of(V[observed_in(V, None)])
    offsets = _column_offsets(scene, np.unique(rows), scale, request)
    V, check = V - offsets[:, cols], check - offsets[:, others[1]]
    treatment = (
        None
        if request.lam is None
        else treatment_of(request.lam, request.leash, request.losses == "unmarked")
    )
    model = first = _learned(V, scale, offsets, request, treatment, callback)
    words = first.words
    far = np.flatnonzero(restore_pixels(check, first).density < first.far)
    if far.size >= FEWEST_FAR:
        model = _learned(with_far(V, check, far), scale, offsets, request, first.treatment)
        words += (
            f" {far.size} pixels outside of the sample were unlike it, and the model was fitted to them too."
        )
    inside, outside = (scale * _explained(part, model).error for part in (V, np.delete(check, far, axis=1)))
    words += (
        f" Entries are predicted from others to within {inside:.3g} in the sample, {outside:.3g} elsewhere."
    )
    return replace(model, choice=first.choice, words=words)


def refine(scene: SceneFile, model: SceneModel, far: Index, request: SceneSettings) -> SceneModel:
    """A model of the sample and of pixels (counted row by row) that the first one misses."""
    (rows, cols), _ = sampled(scene, request.seed)
    more = np.divmod(_some(far, MAX_EXTRA * rows.size), scene.cols)
    rows, cols = np.concatenate([rows, more[0]]), np.concatenate([cols, more[1]])
    V = scene.pixels(rows, cols) - model.offsets[:, cols]
    return _learned(V, model.scale, model.offsets, request, model.treatment)


def _learned(
    V: Array,
    scale: float,
    offsets: Array,
    request: SceneSettings,
    treatment: Treatment | None,
    callback: ChoiceCallback | None = None,
) -> SceneModel:
    """The model of pixels V, from which the offsets of image columns were taken off."""
    seen = ~np.isnan(V)
    known = _scaled(V, seen, scale)
    marked = request.losses == "marked" and not seen.all()
    ladder, choice = choose(
        known,
        seen,
        request.losses,
        K=request.K,
        treatments=None if treatment is None else (treatment,),
        held=hold_out_gaps(seen, seed=request.seed) if marked else None,
        scale=scale,
        seed=request.seed,
        callback=callback,
    )
    model = predict(known, seen, ladder, Layout())
    columns, use = model.columns, seen & (model.sound >= 0.5)
    last = replace(ladder.rungs[-1], span=model.span, usual=columns.usual)
    low, middle = np.quantile(columns.by_column, [1 - TYPICAL_SHARE, 0.5])
    has_chosen = request.lam is None or not isinstance(request.K, int)
    sound = np.where(use, known, 0)
    return SceneModel(
        ladder=replace(ladder, rungs=[*ladder.rungs, last]),
        odds=None if columns.odds is None else columns.odds.shares,
        scale=scale,
        offsets=offsets,
        losses=request.losses,
        top=sound.max(axis=1),
        bottom=sound.min(axis=1),
        poor=use.sum(axis=1) < model.span.K,
        usual=usual_in(columns),
        far=float(middle - FAR * (middle - low)),
        choice=choice if has_chosen else None,
        words=choice.verdict if has_chosen else "K, lambda and leash were given.",
    )


def _column_offsets(scene: SceneFile, rows: Index, scale: float, request: SceneSettings) -> Array:
    """What each image column has had added in each band, as these whole rows tell."""
    offsets = np.zeros((scene.bands, scene.cols), np.float32)
    if request.losses == "marked" or rows.size < FEWEST_ROWS:
        return offsets
    strips = -(-rows.size * scene.cols * scene.bands // STRIP_ENTRIES)
    for cols in np.array_split(np.arange(scene.cols), strips):
        V = scene.pixels(*(one.ravel() for one in np.meshgrid(rows, cols, indexing="ij")))
        seen, layout = ~np.isnan(V), Layout("cube", (rows.size, cols.size), "C")
        if seen.any():
            found = stripes(_scaled(V, seen, scale), seen, layout, request.seed)
            offsets[:, cols] = scale * np.median(layout.unfold(found), axis=1)
    return offsets


def _some(places: Index, most: float) -> Index:
    """At most this many of them, evenly spread."""
    return places[:: max(1, int(np.ceil(places.size / max(most, 1))))]
