"""The front door: damaged data made whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..datasets.dataset import Kind, Layout
from ..factorization import factorize
from ..problem import Array, InputError, Mask, Order, check_one_of, check_seed
from ..projection import transform
from ..result import Fit
from .candidates import Candidate, Treatment, coarse, default_Ks
from .choice import Choice, ChoiceCallback, ChoiceProgress, Losses
from .defects import BEYOND, far_from, suspicion, thresholds
from .deviation import deviations
from .holdout import hold_out_entries, hold_out_gaps, keep_enough
from .lines import BadLine, bad_lines, in_short
from .path import MapTrials, Trial, bounded, fit_growing
from .prediction import tell_too_little, with_likely_amounts
from .search import choose
from .second_opinion import second_opinion

HOLD_OUTS = 3
"""How many hold-outs the deviation of a prediction is taken from."""
BEYOND_REASON = 2.0
"""A prediction of more than this times the largest sound value of its row is none."""


PATIENT, MOSTLY_USED = 1e-3, 0.75
"""The final fit's tolerance where at least such a share is used: going on then does not fit noise."""


@dataclass(frozen=True, eq=False)
class Restoration:
    """Data made whole, and what that rests on.

    Attributes
    ----------
    V : F x N: measured entries as they are; missing and suspect ones predicted, or NaN where nothing can be
        told about them.
    defects : bool F x N, observed entries that look wrong.
    suspicion : F x N, how far they are from their prediction; 1 and above is suspect. See `defects`.
    deviation : F x N, the standard deviation of each prediction.
    unrestorable : bool F x N, missing or suspect entries whose row or column has too little to tell, or whose
        prediction lies far beyond all sound values of its row.
    bounded : bool F x N, predictions that were held at the bound.
    lines : bands, image rows, image columns or images that are bad as a whole.
    choice : what was tried, and why this was chosen; None where K, lam and leash were given.
    fit : the fit that was used, with the W and H that predict what was left out best (`prediction`); its
        history is that of the fit before. Suspects were left out, but for near ones that an adversary made
        light of.
    """

    V: Array = field(repr=False)
    defects: Mask = field(repr=False)
    suspicion: Array = field(repr=False)
    deviation: Array = field(repr=False)
    unrestorable: Mask = field(repr=False)
    bounded: Mask = field(repr=False)
    lines: tuple[BadLine, ...]
    choice: Choice | None
    fit: Fit

    @property
    def summary(self) -> str:
        """What was done, in a few sentences."""
        said = [self.choice.verdict if self.choice else "K, lambda and leash were given."]
        said.append(f"{self.defects.mean():.2%} of the entries look wrong.")
        if self.lines:
            said.append(f"Bad as a whole: {in_short(self.lines)}.")
        if self.bounded.any():
            said.append(f"{int(self.bounded.sum())} predictions were held at what their row has elsewhere.")
        if self.unrestorable.any():
            said.append(f"{int(self.unrestorable.sum())} entries cannot be restored and are NaN.")
        return " ".join(said)


def restore(
    V: npt.ArrayLike | Dataset,
    losses: Losses = "marked",
    *,
    observed: npt.ArrayLike | None = None,
    K: int | Sequence[int] | None = None,
    lam: float | None = None,
    leash: float | None = None,
    keep_suspects: bool = False,
    seed: int = 0,
    callback: ChoiceCallback | None = None,
    kind: Kind = "matrix",
    image_shape: tuple[int, int] | None = None,
    order: Order = "F",
    map_trials: MapTrials | None = None,
) -> Restoration:
    """Predict what is missing in V and, if asked, what is wrong in it.

    A nonnegative factorization is fitted to the sound entries and predicts the others. Which number of parts,
    and which adversary, is chosen by how well entries are predicted that were held out (`choice`). With
    unmarked losses, entries far from their prediction are suspect, left out, and predicted as well
    (`defects`).

    Parameters
    ----------
    V : F x N, nonnegative, NaN where missing; or a `Dataset`, which brings its image shape along.
    losses : "marked": what is missing is all that is wrong; "unmarked": some entries are wrong, and it is not
        known which.
    observed : bool F x N, False at what is missing besides NaN.
    K : number of parts, or those to choose from; chosen by default.
    lam, leash : the adversary, as in `factorize`; chosen where lam is None. An infinite lam is NMF.
    keep_suspects : with unmarked losses, whether what looks wrong counts in the fit all the same, as in plain
        NMF; it is replaced in any case. Only where lam is given.
    seed : of hold-outs and starts.
    callback : called with a `ChoiceProgress` as it goes; returning True ends the choice there, and the best
        so far is used.
    kind, image_shape, order : the layout of the images in V, as in `Dataset`; for an array only.
    map_trials : where fits of the choice run; see `choice`.

    Returns
    -------
    restoration : Restoration

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sound = rng.random((30, 2)) @ rng.random((2, 40)) + 0.1
    >>> damaged = sound.copy()
    >>> damaged[3, 5] = 0
    >>> r = restore(damaged, losses="unmarked", K=2, lam=1.1)
    >>> bool(r.defects[3, 5]), bool(abs(r.V[3, 5] - sound[3, 5]) < 0.02)
    (True, True)
    """
    check_one_of("losses", losses, ("marked", "unmarked"))
    check_seed(seed)
    for name, given in (("leash", leash is not None), ("keep_suspects", keep_suspects)):
        if given and lam is None:
            raise InputError(f"{name}: give lam too, or leave both to be chosen.")
    leave_out = losses == "unmarked" and not keep_suspects
    treatment = None if lam is None else _given(lam, leash, leave_out)
    data, layout = _data(V, Layout(kind, image_shape, order))
    layout.check((data.shape[0], data.shape[1]))
    seen = ~np.isnan(data)
    if observed is not None:
        seen &= np.asarray(observed, dtype=bool)
    known = np.where(seen, data, 0)
    candidate, choice = _candidate(known, seen, losses, K, treatment, layout, seed, callback, map_trials)
    if callback is not None:
        callback(ChoiceProgress("fit", 0, 1, candidate, 0.0 if choice is None else choice.seconds))
    fit, use = _final(known, seen, candidate, choice.W if choice else None, seed)
    fit = with_likely_amounts(fit, known, use)
    limits = thresholds(known, fit.V_hat, seen, use) if losses == "unmarked" else (BEYOND, BEYOND)
    beyond = suspicion(known, fit.V_hat, seen, use, limits)
    suspects = (beyond >= 1) & (losses == "unmarked")
    held = _hold_outs(use, losses, layout, seed)
    deviation = deviations(known, use, fit, candidate, held, seed)
    predicted, limited, unrestorable = _predictions(known, fit.V_hat, use, candidate.K)
    wanted = ~seen | suspects
    return Restoration(
        V=np.where(wanted, np.where(unrestorable, np.nan, predicted), data),
        defects=suspects,
        suspicion=beyond,
        deviation=deviation,
        unrestorable=wanted & unrestorable,
        bounded=wanted & limited & ~unrestorable,
        lines=bad_lines(suspects, seen, layout) if losses == "unmarked" else (),
        choice=choice,
        fit=fit,
    )


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


def _given(lam: float, leash: float | None, leave_out: bool) -> Treatment:
    return Treatment(None, None, leave_out) if np.isinf(lam) else Treatment(float(lam), leash, leave_out)


def _candidate(
    V: Array,
    seen: Mask,
    losses: Losses,
    K: int | Sequence[int] | None,
    treatment: Treatment | None,
    layout: Layout,
    seed: int,
    callback: ChoiceCallback | None,
    map_trials: MapTrials | None,
) -> tuple[Candidate, Choice | None]:
    if treatment is not None and isinstance(K, Integral):
        return Candidate(int(K), treatment), None
    choice = choose(
        V,
        seen,
        losses,
        K=K,
        treatments=None if treatment is None else (treatment,),
        layout=layout,
        seed=seed,
        callback=callback,
        map_trials=map_trials,
    )
    return choice.chosen, choice


def _final(V: Array, seen: Mask, candidate: Candidate, parts: Array | None, seed: int) -> tuple[Fit, Mask]:
    """The fit to all sound entries, and which these are.

    Suspects are found with few parts first, as in the choice. That may end with a part spent on the defects
    of a single row, which nothing contradicts there; so the fit then begins with the parts that predicted
    well what was held out, and leaves out what either calls suspect. Columns explained the wrong way round
    are turned (`second_opinion`). Of the suspects, the nearest may be sound entries of a heavy tail: an
    adversary gives them little weight, which is better than none.
    """
    treatment, K = candidate.treatment, candidate.K
    options = {"K": K, **treatment.options}
    if not treatment.leave_out:
        return factorize(V, seen, seed=seed, **options), seen
    rungs = [k for k in coarse(default_Ks((V.shape[0], V.shape[1]), V.size)) if k < K]
    *_, (_, fit, suspects) = fit_growing(V, seen, Trial(treatment, (*rungs, K), 0, seed))
    if parts is not None:
        H = transform(V, parts, seen & ~suspects, lam=treatment.lam, leash=treatment.leash)
        again = Trial(treatment, (K,), 0, seed, np.packbits(suspects))
        ((_, fit, found),) = fit_growing(V, seen, again, (parts, np.nan_to_num(H)))
        suspects = keep_enough(seen, suspects | found)
    H, suspects = second_opinion(V, fit, seen, suspects)
    fit, suspects = replace(fit, H=H), keep_enough(seen, suspects)
    if treatment.lam is not None:
        suspects &= far_from(V, fit.V_hat, seen, seen & ~suspects)
    use = seen & ~suspects
    tolerance = PATIENT if use.mean() > MOSTLY_USED else 10 * PATIENT
    return factorize(V, use, init=(fit.W, fit.H), tol_outer=tolerance, **options), use


def _hold_outs(use: Mask, losses: Losses, layout: Layout, seed: int) -> list[Mask]:
    if losses == "marked":
        return [hold_out_gaps(use, layout, seed=seed + r) for r in range(HOLD_OUTS)]
    return [hold_out_entries(use, seed=seed + r) for r in range(HOLD_OUTS)]


def _predictions(V: Array, V_hat: Array, use: Mask, K: int) -> tuple[Array, Mask, Mask]:
    """Predictions within what the rows justify, where that changed them, and where nothing can be told."""
    top = np.where(use, V, 0).max(axis=1, keepdims=True)
    poor = (use.sum(axis=1) < K)[:, None] | tell_too_little(use, K)
    held = bounded(V, V_hat, use)
    return held, held < V_hat, poor | (V_hat > BEYOND_REASON * top)
