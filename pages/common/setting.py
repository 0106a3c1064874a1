"""The setting of Explore, which other pages reuse: which data, what is hidden, and the keys of its fits."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

from atnmf_core.model.problem import TREATMENT_NAMES, Missing, Shape, Solver

from .controls import FreeSlider, Number, OneOf, Stops, Switch, Text

# What Explore shows is a function of one `Setting`; other pages reuse what they have in common with it.
#
# A setting is plain data: it is read from an address and written to one, compared, and used as a cache key.

LAMBDAS = (
    1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2.0, 2.5, 3.0,
    4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0,
)  # fmt: skip
"""About evenly spaced in the logarithm of lam - 1, and so in the adversary's strength. 1 is not among them:
there the loss grows without bound, and `_checked_lam` in atnmf_core/model/problem.py refuses it.
"""
ALPHAS = tuple(round(0.05 * step, 2) for step in range(1, 20))
LEASHES = (0.1, 0.25, 0.5, 1.0, 2.0, math.inf)  # The last is none, as in the paper
MAX_LAM = 1e6  # An address may name any lambda up to here, where there is effectively no adversary
MAX_K = 100
MAX_SEED = 9999
MAX_IMAGES = 10**6

PATTERNS = {"entries": "entries", "block": "one block", "stripes": "lines", "bands": "bands"}
PATTERNS_OF = {"faces": ("entries", "block"), "cube": ("entries", "stripes", "bands"), "matrix": ("entries",)}
RESTORED = {"observed": "observed entries kept", "model": "W H alone"}


class MaskKey(NamedTuple):
    """What determines which entries are hidden. `data` is a content hash."""

    data: str
    alpha: float
    seed: int
    pattern: str


class FitKey(NamedTuple):
    """What determines a fit's numbers. NMF has no `lam` and `leash`: one key for every adversary."""

    mask: MaskKey
    K: int
    lam: float | None
    missing: Missing
    solver: Solver
    seed: int
    start: Literal["random", "pure-pixels"] = "random"
    leash: float | None = None
    unit_sum: bool = False


@dataclass(frozen=True)
class Setting:
    """The state of the Explore page. The defaults are the first view: the paper's setting on bundled faces.

    data, upload : a name in the catalogue, or "upload" and the content hash of what was uploaded.
    restored : "observed" shows observed entries unchanged in restorations, "model" shows W H alone.
    written : what files with restored data keep: every "measured" value, or "observed" ones, not hidden.
    part : number of the part whose users are shown, counted from 1; 0 for none.
    """

    data: str = Text.field("lfw")
    upload: str = Text.field("")
    alpha: float = Stops.field(
        0.2,
        "Hidden share α",
        (0.0, *ALPHAS),
        "{:.2f}",
        help="The share of the entries that is hidden before anything is learned. At 0 nothing is "
        "hidden, and no error is measured.",
    )
    pattern: str = OneOf.field("entries", "Hiding pattern", PATTERNS)
    lam: float = FreeSlider.field(
        2.0,
        "Adversary's price λ",
        LAMBDAS,
        low=1.0,
        high=MAX_LAM,
        help="What the adversary pays for changing the data. Just above 1 it changes a lot; as λ grows, "
        "less and less, until AT-NMF is NMF.",
    )
    leash: float = FreeSlider.field(
        math.inf,
        "Adversary's leash g",
        LEASHES,
        none="no leash",
        help="The most that the adversary may add to an entry, as a multiple of that entry: on a leash "
        "it also gives up on entries that are far too bright. From 1/(λ − 1) on, a leash changes "
        "nothing. The paper has none.",
    )
    K: int = Number.field(25, "Parts K", 1, MAX_K, help="How many parts each sample is made up of.")
    missing: Missing = OneOf.field(
        "zero",
        "Hidden entries are",
        TREATMENT_NAMES,
        help="Marked: the solver knows which entries are hidden and leaves them out.  \nUnmarked: it is "
        "not told; hidden entries look like zeros, as in the paper's released code.",
    )
    solver: Solver = OneOf.field(
        "fast",
        "Solver",
        {"fast": "fast, exact", "paper": "Algorithm 1"},
        help="Fast: exact descent that never oscillates. Algorithm 1: the paper's own, much slower.",
    )
    seed: int = Number.field(
        0, "Start seed", 0, MAX_SEED, typed=True, help="Decides the random W and H that a fit starts from."
    )
    mask_seed: int = Number.field(0, "Mask seed", 0, MAX_SEED, typed=True, help="Decides what is hidden.")
    image: int = Number.field(8, "Band", 1, MAX_IMAGES)
    restored: str = OneOf.field("observed", "Restored means", RESTORED)
    written: str = OneOf.field(
        "measured",
        "In files with restored data",
        {"measured": "every measured value stays", "observed": "hidden entries are restored as well"},
    )
    colour: str = OneOf.field(
        "red",
        "Colour of hidden pixels",
        {"red": "red", "blue": "blue"},
        help="Red as in the paper, or a blue that colour-blind people can tell from everything else.",
    )
    scale: str = OneOf.field("own", "Grey scale of the parts", {"own": "scale each", "shared": "one scale"})
    part: int = Number.field(0, "Part", 0, MAX_K)
    detail: str = OneOf.field(
        "errors", "Look closer", {"errors": "Error map", "film": "Film of the run", "take": "Download"}
    )

    walls: bool = Switch.field(False, "Mark where the adversary gave up")

    VIEW: ClassVar[tuple[str, ...]] = (
        "image", "restored", "written", "colour", "scale", "part", "detail", "walls",
    )  # fmt: skip
    """Fields that change the view of a fit, not the fit."""

    @property
    def solved(self) -> Self:
        """The same fits in the default view: equal for settings that need no new fit."""
        return self.with_view_of(type(self)())

    def with_view_of(self, other: Self) -> Self:
        return replace(self, **{name: getattr(other, name) for name in self.VIEW})

    @property
    def bound(self) -> float | None:
        """The leash of the fit: Algorithm 1 has none."""
        return None if math.isinf(self.leash) or self.solver == "paper" else self.leash

    def fit_key(self, content_hash: str, method: Literal["nmf", "atnmf"]) -> FitKey:
        lam, leash = (self.lam, self.bound) if method == "atnmf" else (None, None)
        mask = MaskKey(content_hash, self.alpha, self.mask_seed, self.pattern)
        return FitKey(mask, self.K, lam, self.missing, self.solver, self.seed, leash=leash)


def defaults_for(data: str, kind: str, shape: Shape, materials: int | None = None) -> dict[str, Any]:
    """The settings that suit newly chosen data; `materials` is their true number, where it is known."""
    usual = materials or (5 if kind != "faces" else 25)
    K = {"cbcl": 49, "lfw": 25, "moffet": 3, "madonna": 3}.get(data, usual)
    image = {"lfw": 8, "cbcl": 2401}.get(data, 1 if kind != "cube" else shape[0] // 3)
    return {"K": min(K, *shape), "pattern": "entries", "image": max(1, image), "part": 0}
