"""The paper's tables and ours side by side, for one hidden share."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

import numpy as np
from PIL import Image

from ..datasets import Dataset
from ..datasets.bundled import simulated_scene
from ..model.adversary import at_wall
from ..model.hiding import hide_entries
from ..model.metrics import rmse
from ..model.problem import Array, Mask
from ..reference import NAMES, Published, measured, published
from ..restoration.rivals import robust_nmf
from ..solvers.factorization import factorize
from ..sweep.measurements import Measurement

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


PUBLISHED_STARTS = 10


@dataclass(frozen=True)
class Error:
    """RMSE on hidden entries, averaged over `starts` starts; `lam` is None for NMF."""

    mean: float
    lam: float | None
    starts: int


@dataclass(frozen=True)
class Finding:
    """One data set and hidden share: published, measured alike ("zero"), and with hidden entries left out."""

    name: str
    alpha: float
    published_nmf: Error
    published_atnmf: Error
    zero_nmf: Error | None
    zero_atnmf: Error | None
    ignore_nmf: Error | None
    ignore_atnmf: Error | None

    @property
    def published_gain(self) -> float:
        """By what share AT-NMF's published error is below NMF's."""
        return 1 - self.published_atnmf.mean / self.published_nmf.mean

    @property
    def repeated_within(self) -> float | None:
        """The largest relative difference between published and rerun errors."""
        pairs = ((self.zero_nmf, self.published_nmf), (self.zero_atnmf, self.published_atnmf))
        apart = [abs(ours.mean / theirs.mean - 1) for ours, theirs in pairs if ours is not None]
        return max(apart, default=None)

    @property
    def ignored_share(self) -> float | None:
        """NMF's error with hidden entries left out, as a share of its published one."""
        return None if self.ignore_nmf is None else self.ignore_nmf.mean / self.published_nmf.mean

    @property
    def ignored_gain(self) -> float | None:
        """By what share AT-NMF's error is below NMF's where both leave hidden entries out."""
        if self.ignore_nmf is None or self.ignore_atnmf is None:
            return None
        return 1 - self.ignore_atnmf.mean / self.ignore_nmf.mean


def findings(alpha: float) -> tuple[Finding, ...]:
    """All four data sets at one of the paper's hidden shares (0.3 to 0.9).

    >>> [finding.name for finding in findings(0.5)]
    ['synthetic', 'cbcl', 'moffet', 'madonna']
    """
    return tuple(_finding(name, alpha) for name in NAMES)


def _finding(name: str, alpha: float) -> Finding:
    here = [cell for cell in published(name) if cell.alpha == alpha]
    ours = [cell for cell in measured(name) if cell.alpha == alpha]
    published_nmf, published_atnmf = _best(here, "nmf"), _best(here, "atnmf")
    assert published_nmf is not None
    assert published_atnmf is not None
    zero = [cell for cell in ours if cell.missing == "zero"]
    ignore = [cell for cell in ours if cell.missing == "ignore"]
    return Finding(
        name=name,
        alpha=alpha,
        published_nmf=published_nmf,
        published_atnmf=published_atnmf,
        zero_nmf=_best(zero, "nmf"),
        zero_atnmf=_best((cell for cell in zero if cell.lam == published_atnmf.lam), "atnmf"),
        ignore_nmf=_best(ignore, "nmf"),
        ignore_atnmf=_best(ignore, "atnmf"),
    )


def _best(cells: Iterable[Published | Measurement], method: str) -> Error | None:
    found = [
        Error(cell.mean, cell.lam, cell.starts if isinstance(cell, Measurement) else PUBLISHED_STARTS)
        for cell in cells
        if cell.method == method
    ]
    return min(found, key=lambda error: error.mean, default=None)
