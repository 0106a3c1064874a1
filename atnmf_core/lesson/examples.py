"""The small examples of the lesson, from the simplest: one part weighed in a short series, a column built up
from its parts, the game between adversary and learner half a step at a time, a small picture with unmarked
defects, and faces with hidden pixels.
"""

import csv
import io
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

from ..datasets import Dataset
from ..datasets.bundled import simulated_scene
from ..model.adversary import at_wall, attack_objective, optimal_attack
from ..model.hiding import hide_entries
from ..model.metrics import rmse
from ..model.problem import Array, Factors, InputError, Mask, Missing, Solver, Wide
from ..model.result import Progress
from ..restoration.rivals import robust_nmf
from ..solvers.factorization import factorize

# The smallest factorization there is: how much of one known part is in a short series?
#
# For a given part w, the weight h that brings h w closest to the series v solves a problem in one unknown,
#
#     minimise over h   sum_i (v_i - h w_i)^2,
#
# and setting its derivative to zero gives a fraction that can be computed by hand. What the sum runs over
# is the whole difference between ignoring hidden entries and filling them with zeros.

PART = (1.0, 2.0, 3.0, 2.0, 1.0)
SERIES = (2.0, 4.0, 6.0, 4.0, 2.0)  # Twice the part


@dataclass(frozen=True)
class Weighing:
    """A weight as the fraction overlap/size: the sums of w_i v_i and of w_i^2."""

    overlap: float
    size: float

    @property
    def weight(self) -> float:
        return self.overlap / self.size

    def prediction(self, part: npt.ArrayLike) -> Wide:
        return self.weight * np.asarray(part, dtype=float)


def weigh(part: npt.ArrayLike, series: npt.ArrayLike, observed: npt.ArrayLike, missing: Missing) -> Weighing:
    """The weight of a part that fits a series best in the least-squares sense.

    Hidden entries are left out of the sum ("ignore"), or count in it as zeros ("zero").

    >>> seen = [True, True, False, True, True]
    >>> weigh(PART, SERIES, seen, "ignore")
    Weighing(overlap=20.0, size=10.0)
    >>> weigh(PART, SERIES, seen, "zero")
    Weighing(overlap=20.0, size=19.0)
    """
    w, v, seen = np.asarray(part, float), np.asarray(series, float), np.asarray(observed, bool)
    size = float((w**2)[seen].sum() if missing == "ignore" else (w**2).sum())
    if size == 0:
        raise InputError("observed: nothing of the part is seen, so its weight cannot be told.")
    return Weighing(float((w * v)[seen].sum()), size)


@dataclass(frozen=True, eq=False)
class BuildUp:
    """A column of W H as a growing sum, the heaviest part first: parts (F x K, largest value 1), their
    weights, sums of the first n (F x (K + 1)), and each sum's RMSE against the data.
    """

    parts: Array
    weights: Array
    sums: Array
    errors: tuple[float, ...]


def build_up(v: Array, W: Array, h: Array) -> BuildUp:
    """Add up W h part by part, and measure how close it comes to v.

    Factors common to a part and its weight are free: here each weight is that of the part's brightest pixel.

    >>> steps = build_up(np.array([3.0, 1.0]), np.array([[2.0, 0.0], [0.0, 0.5]]), np.array([1.5, 2.0]))
    >>> steps.weights
    array([3., 1.])
    >>> steps.errors[-1]
    0.0
    """
    tops = W.max(axis=0)
    weights = h * tops
    order = np.argsort(-weights, kind="stable")
    parts = (W / np.where(tops > 0, tops, 1))[:, order]
    weights = weights[order]
    sums = np.concatenate([np.zeros((len(v), 1)), np.cumsum(parts * weights, axis=1)], axis=1)
    return BuildUp(parts, weights, sums, tuple(rmse(v, one) for one in sums.T))


# The game between adversary and learner about ||V + R - WH||^2 - lam ||R||^2: the adversary raises it by its
# best R; the learner, as Algorithm 1 or exact descent would, lowers it.

EXAMPLE: Array = np.array([[8, 6, 1, 0], [6, 5, 2, 1], [1, 2, 7, 5], [0, 1, 6, 6]], dtype=float)
"""Nearly two blocks, which two parts fit well but not exactly."""
EXAMPLE.flags.writeable = False
ROUNDING = 1e-12  # A smaller relative change of the loss counts as none


@dataclass(frozen=True, eq=False)
class HalfStep:
    """The board after a move: R, U = V + R, and ||V + R - WH||^2 - lam ||R||^2; rounds count from 1."""

    actor: Literal["start", "adversary", "learner"]
    round: int
    W: Array
    H: Array
    R: Array
    U: Array
    value: float

    @cached_property
    def V_hat(self) -> Array:
        return self.W @ self.H


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """A record of play. It ends with the adversary's answer to the learner's last move."""

    V: Array
    lam: float
    solver: Solver
    half_steps: tuple[HalfStep, ...]

    @cached_property
    def losses(self) -> tuple[float, ...]:
        """The value after each move of the adversary: the exact adversarial loss of the W and H then."""
        return tuple(step.value for step in self.half_steps if step.actor == "adversary")

    @property
    def rises(self) -> int:
        return sum(later > (1 + ROUNDING) * earlier for earlier, later in pairwise(self.losses))


def play(V: Array, lam: float, *, K: int, solver: Solver, seed: int = 0, rounds: int = 12) -> PlayedGame:
    """Play the game on V; both solvers start from the same W and H, those after Algorithm 1's warm-up.

    >>> play(EXAMPLE, 2.0, K=2, solver="fast").rises
    0
    >>> play(EXAMPLE, 2.0, K=2, solver="paper").rises > 6
    True
    """
    boards = _boards(V, lam, K, seed, rounds if solver == "paper" else 0)
    if solver == "fast":
        boards += _boards(V, lam, K, seed, rounds, init=boards[0])[1:]
    half_steps = [_half_step("start", 0, V, np.zeros_like(V), boards[0], lam)]
    for number, (W, H) in enumerate(boards, start=1):
        R = optimal_attack(V, W @ H, lam)
        half_steps.append(_half_step("adversary", number, V, R, (W, H), lam))
        if number < len(boards):
            half_steps.append(_half_step("learner", number, V, R, boards[number], lam))
    return PlayedGame(V, lam, solver, tuple(half_steps))


def _boards(
    V: Array, lam: float, K: int, seed: int, rounds: int, init: Factors | None = None
) -> list[Factors]:
    """W and H at the start and after each round: of the exact solver from a start, or of the paper's."""
    boards: list[Factors] = []

    def keep(progress: Progress) -> bool:
        boards.append(progress.factors())
        return len(boards) > rounds

    solver: Solver = "paper" if init is None else "fast"
    factorize(
        V, K=K, method="atnmf", lam=lam, solver=solver, seed=seed, init=init, tol_outer=0.0,
        dtype="float64", callback=keep,
    )  # fmt: skip
    return boards


def _half_step(
    actor: Literal["start", "adversary", "learner"],
    number: int,
    V: Array,
    R: Array,
    factors: Factors,
    lam: float,
) -> HalfStep:
    W, H = factors
    return HalfStep(actor, number, W, H, R, V + R, attack_objective(V, R, W @ H, lam))


# A small picture with unmarked defects, and what the adversary makes of it.
#
# The picture is a simulated scene of three materials, so three parts describe it up to noise. Some of its
# entries are recorded wrongly: dead ones as 0, bright ones three times too high.

DefectKind = Literal["dead", "bright", "both"]

DEFECTS: tuple[DefectKind, ...] = ("dead", "bright", "both")
SIDE, BANDS, SCENE_K = 24, 60, 3
TOO_BRIGHT = 3.0
remembered = lru_cache(maxsize=200)
"""Each picture and fit is made once: a reader asks for the same few again and again."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """V as recorded by a faulty camera, and where that is wrong."""

    truth: Array
    V: Array
    wrong: Mask


@dataclass(frozen=True, eq=False)
class Mended:
    """A fit of recorded data, its RMSE against the truth, and where the adversary has given up."""

    V_hat: Array
    error: float
    walls: Mask


@cache
def small_scene() -> Dataset:
    return simulated_scene(rows=SIDE, cols=SIDE, bands=BANDS, materials=SCENE_K)


@remembered
def recorded(kind: DefectKind, share: float, seed: int = 0) -> Recorded:
    """The small scene with a share of its entries wrong; "both" is half dead, half bright.

    >>> round(float(recorded("dead", 0.2).wrong.mean()), 3)
    0.2
    """
    truth = np.asarray(small_scene().V, dtype=float)
    count = round(share * truth.size)
    chosen = np.random.default_rng(seed).permutation(truth.size)[:count]
    dead = {"dead": count, "bright": 0, "both": count // 2}[kind]
    V = truth.copy()
    V.flat[chosen[:dead]] = 0.0
    V.flat[chosen[dead:]] *= TOO_BRIGHT
    wrong = np.zeros(truth.shape, dtype=bool)
    wrong.flat[chosen] = True
    return Recorded(truth, V, wrong)


@remembered
def mend(given: Recorded, lam: float, leash: float | None = None) -> Mended:
    """AT-NMF of the recorded data; NMF for infinite lam. Neither knows which entries are wrong.

    >>> damaged = recorded("dead", 0.2)
    >>> mend(damaged, 1.02).error < 0.1 * mend(damaged, np.inf).error
    True
    """
    if np.isinf(lam):
        return _measured(given, factorize(given.V, K=SCENE_K, method="nmf").V_hat, lam, None)
    fit = factorize(given.V, K=SCENE_K, method="atnmf", lam=lam, leash=leash)
    return _measured(given, fit.V_hat, lam, leash)


@remembered
def mend_known(given: Recorded) -> Mended:
    """NMF with the wrong entries marked and left out: as good as it can get."""
    V_hat = factorize(given.V, ~given.wrong, K=SCENE_K, method="nmf").V_hat
    return _measured(given, V_hat, np.inf, None)


@remembered
def mend_robust(given: Recorded) -> Mended:
    """L1-NMF, the usual remedy, which does not know either which entries are wrong."""
    W, H = robust_nmf(given.V, K=SCENE_K, loss="L1")
    return _measured(given, W @ H, np.inf, None)


def _measured(given: Recorded, V_hat: Array, lam: float, leash: float | None) -> Mended:
    return Mended(V_hat, rmse(given.truth, V_hat), at_wall(given.V, V_hat, lam, leash=leash))


# Faces with hidden pixels, predicted by what a prediction may know: the parts, the neighbours, both.
#
# Made by `python -m tests.benchmarks.bundled_tables faces`, which takes a minute: too long for a page.

FILLED_BY = ("parts", "neighbours", "both")
FACES_HIDDEN = (0.1, 0.3, 0.5)
FACES_SHOWN = (8, 1, 3, 12, 17, 25)  # Counted from 1


@dataclass(frozen=True, eq=False)
class FilledFace:
    """A face as it is, as it was seen (NaN: hidden), and as predicted by each of `FILLED_BY`, with errors."""

    truth: Array
    seen: Array
    by: dict[str, Array]
    errors: dict[str, float]


def seen_of_faces(faces: Dataset, share: float) -> Mask:
    return hide_entries(faces.shape, share, seed=0)


@remembered
def filled_face(faces: Dataset, share: float, face: int) -> FilledFace:
    """One of the bundled faces, of `FACES_SHOWN`, with a share of `FACES_HIDDEN` hidden.

    >>> from atnmf_core import load_dataset
    >>> errors = filled_face(load_dataset("lfw"), 0.3, 8).errors
    >>> errors["both"] < errors["neighbours"] < errors["parts"]
    True
    """
    place = FACES_SHOWN.index(face)
    with Image.open(io.BytesIO((files(__package__) / "faces.png").read_bytes())) as sheet:
        stored = np.asarray(sheet).reshape(len(FACES_HIDDEN), len(FILLED_BY), len(FACES_SHOWN), -1) / 255
    lines = csv.DictReader((files(__package__) / "faces.csv").read_text().splitlines())
    errors = next(line for line in lines if float(line["hidden"]) == share)
    of_face = stored[FACES_HIDDEN.index(share)]
    v = faces.V[:, face - 1]
    return FilledFace(
        faces.image(v),
        faces.image(np.where(seen_of_faces(faces, share)[:, face - 1], v, np.nan)),
        {by: faces.image(of_face[number, place]) for number, by in enumerate(FILLED_BY)},
        {by: float(errors[by]) for by in FILLED_BY},
    )
