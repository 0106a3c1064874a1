"""The front door: damaged data made whole.

1. Columns of V are points of a span in units of noise, and each entry has a prediction from the other entries
   of its column (`span`).
2. An entry is sound or wrong with the odds that its distance from that prediction gives (`odds`). Wrong
   entries have no weight; what was found with few dimensions guards the next ones. Rows and columns that lost
   their sound entries on the way are explained once more.
3. How many dimensions, and whether the first prediction needs an adversary, is chosen by how well entries are
   predicted from the others (`choice`).
4. Stripes are offsets of whole lines, and are taken off. Blocks of pixels that become darker or brighter from
   one band to the next, and as suddenly what they were, are judged by a span that was learned without them
   (`lines`). Pixels that look alike are averaged where that predicts better, and lost pixels are interpolated
   (`prediction`). Faces use neighbouring pixels, unless parts describe them all but exactly (`faces`).
5. Deviations are scaled by how far entries are from their predictions that the span was learned without: for
   marked losses by gaps of the shape of the real ones (`holdout`). The expected error is that of what was
   replaced, some of which may have been sound, and of what is wrong and was not found (`uncertainty`).

The parts that people look at are those of a nonnegative factorization of what is sound, with the chosen K and
adversary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..datasets.dataset import Kind, Layout
from ..model.problem import Array, InputError, Mask, Order, check_one_of, check_seed
from ..model.result import Fit
from ..solvers.factorization import factorize
from .choice import (
    WORTH,
    WORTH_IN_CUBES,
    Candidate,
    Choice,
    ChoiceCallback,
    ChoiceProgress,
    Losses,
    Treatment,
    choose,
)
from .holdout import hold_out_gaps
from .lines import MOSTLY, BadLine, bad_lines, in_short, sharp_edged, striped_lines
from .prediction import Prediction, noise_of, predict, stripes
from .uncertainty import calibrated, expected_error

BOUND, BEYOND_REASON = 1.25, 2.0
"""Predictions are capped at so many times the largest sound value of their row; beyond the second they are
discarded.
"""
FEW_BANDS = 5
"""With fewer rows wrong entries cannot be told from unusual columns."""
SHARPNESS = 1 / 8
"""Suspicion is the odds of being wrong to this power."""
PATIENCE = 30
"""Rounds of the factorization that shows the parts; the prediction does not depend on it."""


@dataclass(frozen=True, eq=False)
class Restoration:
    """Data made whole, and what that rests on.

    Attributes
    ----------
    V : F x N: measured entries as they are, without the offsets of their lines; missing and suspect ones
        predicted, or NaN where nothing can be told about them.
    denoised : F x N, the model everywhere.
    defects : bool F x N, observed entries that look wrong.
    suspicion : F x N, the eighth root of the odds of being wrong; 1 and above is suspect.
    deviation : F x N, the standard deviation of `denoised`. Where noise was smoothed away it is the distance
        from data without noise, elsewhere from what would have been measured without the damage.
    unrestorable : bool F x N, missing or suspect entries whose row or column has too little to tell, or whose
        prediction lies far beyond all sound values of its row.
    bounded : bool F x N, predictions that were capped.
    lines : bands, image rows, image columns or images that are entirely bad, or had an offset.
    offsets : F x N, what was taken off; None if nothing was.
    noise : F, the standard deviation of each row around its prediction.
    is_smoothed : whether pixels that look alike were averaged.
    expected_error : root mean square error to expect of what was predicted or taken off and, with unmarked
        losses, of what is wrong and was not found.
    choice : what was tried, and what was chosen; None where K, lam and leash were given.
    fit : a nonnegative factorization of what is sound, with the chosen K and adversary.
    """

    V: Array = field(repr=False)
    denoised: Array = field(repr=False)
    defects: Mask = field(repr=False)
    suspicion: Array = field(repr=False)
    deviation: Array = field(repr=False)
    unrestorable: Mask = field(repr=False)
    bounded: Mask = field(repr=False)
    lines: tuple[BadLine, ...]
    offsets: Array | None = field(repr=False)
    noise: Array = field(repr=False)
    is_smoothed: bool
    expected_error: float
    choice: Choice | None
    fit: Fit

    @property
    def model(self) -> Candidate:
        """What it was restored with."""
        return Candidate(self.fit.W.shape[1], Treatment(self.fit.lam, self.fit.leash))

    @property
    def denoised_where_known(self) -> Array:
        """`denoised`, NaN where nothing can be told."""
        return np.where(self.unrestorable, np.nan, self.denoised).astype(self.denoised.dtype)

    @property
    def denoised_error(self) -> float:
        """Root mean square error to expect of `denoised`."""
        return float(np.sqrt(np.square(self.deviation[~self.unrestorable], dtype=np.float64).mean()))

    @property
    def summary(self) -> str:
        """What was found and done, in a few sentences."""
        said = [self.choice.verdict if self.choice else "K, lambda and leash were given."]
        if len(self.V) < FEW_BANDS:
            said.append(f"{len(self.V)} rows are too few to tell wrong entries from unusual columns.")
        said += self._wrong()
        if self.is_smoothed:
            low, high = np.quantile(self.noise, [0.05, 0.95])
            said.append(f"Noise of {low:.3g} to {high:.3g} was found, and smoothed in the denoised data.")
        for mask, words in (
            (self.bounded, f"Capped at {BOUND} times their row's maximum"),
            (self.unrestorable, "Could not be restored, and NaN"),
        ):
            if mask.any():
                said.append(f"{words}: {int(mask.sum()):,}.")
        return " ".join(said)

    def _wrong(self) -> list[str]:
        dark = self.defects & (self.denoised > self.fit.V)
        said = [] if self.defects.any() else ["No entry looks wrong."]
        for count, word in ((int(dark.sum()), "low"), (int((self.defects & ~dark).sum()), "high")):
            if count:
                entries = "entry" if count == 1 else "entries"
                look = "looks" if count == 1 else "look"
                said.append(f"{count:,} {entries} ({count / self.defects.size:.2%}) {look} too {word}.")
        dead = [line for line in self.lines if not line.offset]
        striped = [line for line in self.lines if line.offset]
        if dead:
            said.append(f"Entirely bad: {in_short(dead)}.")
        if striped:
            largest = max(abs(line.offset) for line in striped)
            said.append(f"Offsets taken off, by up to {largest:.3g}: {in_short(striped)}.")
        return said


def restore(
    V: npt.ArrayLike | Dataset,
    losses: Losses = "marked",
    *,
    observed: npt.ArrayLike | None = None,
    K: int | Sequence[int] | None = None,
    lam: float | None = None,
    leash: float | None = None,
    seed: int = 0,
    callback: ChoiceCallback | None = None,
    kind: Kind = "matrix",
    image_shape: tuple[int, int] | None = None,
    order: Order = "F",
) -> Restoration:
    """Predict what is missing in V and, if asked, what is wrong in it.

    Parameters
    ----------
    V : F x N, NaN where missing; negative entries are noise around small values. Or a `Dataset`, which brings
        its image shape along.
    losses : "marked": what is missing is all that is wrong; "unmarked": some entries are wrong, and it is not
        known which.
    observed : bool F x N, False at what is missing besides NaN.
    K : number of parts, or those to choose from; chosen by default.
    lam, leash : the adversary that makes the first prediction, as in `factorize`; chosen where lam is None.
        With an infinite lam there is none.
    seed : of sampling and starts.
    callback : called with a `ChoiceProgress` as it goes; returning True ends the choice there, and the best
        so far is used.
    kind, image_shape, order : the layout of the images in V, as in `Dataset`; for an array only.

    Returns
    -------
    restoration : Restoration

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sound = rng.random((30, 2)) @ rng.random((2, 40)) + 0.1
    >>> damaged = sound.copy()
    >>> damaged[3, 5] = 0
    >>> r = restore(damaged, losses="unmarked", K=2)
    >>> bool(r.defects[3, 5]), bool(abs(r.V[3, 5] - sound[3, 5]) < 0.02)
    (True, True)
    """
    check_one_of("losses", losses, ("marked", "unmarked"))
    check_seed(seed)
    if leash is not None and lam is None:
        raise InputError("leash: give lam too, or leave both to be chosen.")
    treatments = None if lam is None else (treatment_of(lam, leash, losses == "unmarked"),)
    data, layout = _data(V, Layout(kind, image_shape, order))
    layout.check((data.shape[0], data.shape[1]))
    seen = observed_in(data, observed)
    scale = size_of(data[seen])
    known = np.where(seen, data / scale, 0).astype(np.float32)
    offsets, held, doubted = None, None, ~seen
    if losses == "marked" and not seen.all() and layout.kind != "faces":
        held = hold_out_gaps(seen, layout, seed=seed)
    elif losses == "unmarked" and layout.kind == "cube":
        offsets = stripes(known, seen, layout, seed)
        known = np.where(seen, known - offsets, 0).astype(np.float32)
        doubted = ~seen | sharp_edged(known, seen, layout)
    ladder, choice = choose(
        known,
        ~doubted,
        losses,
        K=K,
        treatments=treatments,
        held=held,
        worth=WORTH_IN_CUBES if layout.kind == "cube" else WORTH,
        scale=scale,
        seed=seed,
        callback=callback,
    )
    if callback is not None:
        callback(ChoiceProgress("fit", 0, 1, choice.chosen, choice.seconds))
    model = predict(known, seen, ladder, layout, seed, doubted)
    if offsets is not None and offsets.any():
        model = replace(model, offsets=offsets if model.offsets is None else offsets + model.offsets)
    return _assembled(
        data, seen, model, layout, choice, treatments is None or not isinstance(K, int), scale, seed
    )


def treatment_of(lam: float, leash: float | None, leave_out: bool) -> Treatment:
    return Treatment(None, None, leave_out) if np.isinf(lam) else Treatment(float(lam), leash, leave_out)


def _data(V: npt.ArrayLike | Dataset, layout: Layout) -> tuple[Array, Layout]:
    if isinstance(V, Dataset):
        if layout != Layout():
            raise InputError("kind, image_shape, order: a Dataset brings its own; leave them out.")
        return np.asarray(V.V), V.layout
    if np.ma.isMaskedArray(V):
        V = np.ma.filled(V.astype(np.float64), np.nan)
    data = np.asarray(V)
    if data.ndim != 2 or data.size == 0:
        raise InputError(f"V has shape {data.shape}: a matrix (F x N) with at least one entry is needed.")
    return data if np.issubdtype(data.dtype, np.floating) else data.astype(np.float64), layout


def observed_in(data: Array, observed: npt.ArrayLike | None) -> Mask:
    seen = ~np.isnan(data)
    if observed is not None:
        also = np.asarray(observed, dtype=bool)
        if also.shape != data.shape:
            raise InputError(
                f"observed has shape {also.shape}, V has {data.shape}: give one value per entry."
            )
        seen &= also
    if not seen.any():
        raise InputError("V: all entries are missing, so there is nothing to restore from.")
    infinite = int(np.isinf(data[seen]).sum())
    if infinite:
        entries = "1 observed entry is" if infinite == 1 else f"{infinite} observed entries are"
        raise InputError(f"V: {entries} infinite; replace them, or set them to NaN.")
    return seen


def size_of(values: Array) -> float:
    """What values usually are, whatever a few of them are."""
    sizes = np.abs(values[values != 0])
    return float(np.median(sizes.astype(np.float64))) if sizes.size else 1.0


def _assembled(
    data: Array,
    seen: Mask,
    model: Prediction,
    layout: Layout,
    choice: Choice,
    has_chosen: bool,
    scale: float,
    seed: int,
) -> Restoration:
    K, treatment = choice.chosen.K, choice.chosen.treatment
    leave_out = model.columns.odds is not None
    suspects = seen & (model.sound < 0.5)
    use = seen & ~suspects
    V = model.columns.V
    within, root = calibrated(model, seen, use, layout, None if leave_out else choice.error / scale, seed)
    deviation = model.deviation * within
    predicted, limited, unknown = predictions(V, model.predicted, use, K, layout.kind == "cube")
    wanted = ~seen | suspects
    told = wanted & ~unknown
    expected = expected_error(model, told, use if leave_out else None, root, layout) * scale
    offsets = None if model.offsets is None else model.offsets * scale
    measured = data if offsets is None else data - offsets
    lines = striped_lines(offsets, layout) if offsets is not None else ()
    positive = np.where(use.any(axis=0), np.maximum(np.nan_to_num(measured), 0), 0)
    fit = factorize(
        positive,
        use if use.any(axis=0).all() else use | ~use.any(axis=0),
        K=K,
        seed=seed,
        max_outer=PATIENCE,
        max_inner=PATIENCE,
        **treatment.options,
    )
    odds = (1 - model.sound) / np.maximum(model.sound, 1e-30)
    kind = data.dtype if data.dtype.itemsize >= 4 else np.dtype(np.float32)
    return Restoration(
        V=np.where(wanted, np.where(unknown, np.nan, predicted * scale), measured).astype(kind),
        denoised=(predicted * scale).astype(kind),
        defects=suspects,
        suspicion=np.where(seen & leave_out, odds**SHARPNESS, 0).astype(np.float32),
        deviation=(deviation * scale).astype(kind),
        unrestorable=wanted & unknown,
        bounded=wanted & limited & ~unknown,
        lines=(*bad_lines(suspects, seen, layout), *lines) if leave_out else (),
        offsets=offsets,
        noise=(noise_of(model.columns) * scale).astype(kind),
        is_smoothed=model.is_smoothed,
        expected_error=expected or choice.error,
        choice=choice if has_chosen else None,
        fit=fit,
    )


def predictions(
    V: Array, predicted: Array, use: Mask, K: int, has_neighbours: bool
) -> tuple[Array, Mask, Mask]:
    """Predictions within what the rows justify, where that changed them, and where nothing can be told."""
    top = np.where(use, V, 0).max(axis=1, keepdims=True)
    bottom = np.minimum(np.where(use, V, 0).min(axis=1, keepdims=True), 0)
    unknown = np.repeat(use.sum(axis=1, keepdims=True) < K, V.shape[1], axis=1)
    if not has_neighbours:
        unknown |= ~use.any(axis=0)
    unknown |= (predicted > BEYOND_REASON * top) & (top > 0)
    capped = np.clip(predicted, BOUND * bottom, BOUND * top)
    return capped, capped != predicted, unknown


# What a stricter or laxer look at the suspects changes, without another fit.


Side = Literal["dark", "bright", "both"]


def suspects_at(data: Dataset, restoration: Restoration, threshold: float = 1.0, side: Side = "both") -> Mask:
    """The observed entries whose suspicion reaches the threshold, on one side of their prediction or both."""
    beyond = restoration.defects if threshold == 1 else restoration.suspicion >= threshold
    if side == "both":
        return beyond
    is_dark = np.nan_to_num(data.V) < restoration.denoised
    return beyond & (is_dark if side == "dark" else ~is_dark)


def restored_at(data: Dataset, restoration: Restoration, suspects: Mask) -> Restoration:
    """The restoration with these suspects in place of the defects that it named.

    What it predicted stays; suspects that it took for sound are predicted within the same limits.
    """
    sound = data.observed & ~restoration.defects
    measured = data.V if restoration.offsets is None else data.V - restoration.offsets
    K = restoration.fit.W.shape[1]
    capped, limited, unknown = predictions(
        np.where(sound, measured, 0), restoration.denoised, sound, K, data.kind == "cube"
    )
    added, wanted = suspects & sound, suspects | ~data.observed
    predicted = np.where(added, np.where(unknown, np.nan, capped), restoration.V)
    return replace(
        restoration,
        V=np.where(wanted, predicted, measured),
        defects=suspects,
        unrestorable=wanted & np.where(added, unknown, restoration.unrestorable),
        bounded=wanted & np.where(added, limited & ~unknown, restoration.bounded),
        lines=(
            *bad_lines(suspects, data.observed, data.layout),
            *(line for line in restoration.lines if line.offset),
        ),
    )


def mostly_bad(wrong: Mask, observed: Mask) -> tuple[int, int]:
    """In how many rows and columns of V more observed entries are wrong than not."""
    rows, columns = (wrong.sum(axis=axis) > MOSTLY * observed.sum(axis=axis) for axis in (1, 0))
    return int(rows.sum()), int(columns.sum())


def shares_along(mask: Mask, data: Dataset) -> dict[str, npt.NDArray[np.float64]]:
    """The share of the entries in a mask for each band or image, image row and image column; for a plain
    matrix, for each row and column of V.
    """
    stack = data.layout.unfold(mask)
    first = {"cube": "band", "faces": "image", "matrix": "row"}[data.kind]
    if data.kind == "matrix":
        return {first: stack.mean(axis=(1, 2)), "column": stack.mean(axis=(0, 2))}
    return {
        first: stack.mean(axis=(1, 2)),
        "image row": stack.mean(axis=(0, 2)),
        "image column": stack.mean(axis=(0, 1)),
    }
