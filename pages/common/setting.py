"""Everything that the Explore page shows is a function of one `Setting`, and a link is its spelling.

A setting is plain data: it can be read from an address, written to one, compared and used as a cache key.
Values in an address come from anywhere, so each is checked here and left at its default where it is not one
that the controls could have given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

__all__ = [
    "ALPHAS",
    "LAMBDAS",
    "LAM_MOST",
    "PATTERNS_OF",
    "FitKey",
    "MaskKey",
    "Reader",
    "Setting",
    "one_of",
    "start_of",
    "whole",
]

Reader = Callable[[str], Any]
"""What a word of an address says, None (or a ValueError) where it says nothing that can be used."""

LAMBDAS = (
    1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2.0, 2.5, 3.0,
    4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0,
)  # fmt: skip
"""About evenly spaced in the logarithm of lam - 1, where the adversary's strength changes."""
LAM_MOST = 1e6
"""An address may name any lambda up to here; far above the slider's last stop there is no adversary left."""
ALPHAS = tuple(round(0.05 * step, 2) for step in range(1, 20))
K_MOST = 100
SEED_MOST = 9999
PATTERNS_OF = {"faces": ("entries", "block"), "cube": ("entries", "stripes", "bands"), "matrix": ("entries",)}

Missing = Literal["ignore", "zero"]
Solver = Literal["fast", "paper"]
Pattern = Literal["entries", "block", "stripes", "bands"]
Restored = Literal["kept", "model"]
Colour = Literal["red", "blue"]
Scale = Literal["own", "shared"]
Detail = Literal["errors", "film", "take"]
VIEW = ("image", "restored", "colour", "scale", "part", "detail")
"""Fields that change how a fit is looked at, not the fit."""


class MaskKey(NamedTuple):
    """What decides which entries are hidden. `data` is a content hash."""

    data: str
    alpha: float
    seed: int
    pattern: str


class FitKey(NamedTuple):
    """What decides a fit's numbers. `lam` is None for NMF, which therefore has one key for every lambda."""

    mask: MaskKey
    K: int
    lam: float | None
    missing: Missing
    solver: Solver
    seed: int
    start: Literal["random", "pure-pixels"] = "random"


@dataclass(frozen=True)
class Setting:
    """The state of the Explore page. The defaults are the first view: the paper's setting on bundled faces.

    Attributes
    ----------
    data : name of a data set in the catalogue, or "upload".
    upload : content hash of the uploaded data, empty where there is none.
    image : which picture is looked at, counted from 1.
    restored : "kept" shows restorations with the observed pixels kept, "model" shows W H alone.
    scale : whether each part has its "own" grey scale or all have a "shared" one.
    part : place of the part whose users are shown, counted from 1; 0 for none.
    detail : which closer look is open.
    """

    data: str = "lfw"
    upload: str = ""
    alpha: float = 0.2
    pattern: Pattern = "entries"
    lam: float = 2.0
    K: int = 25
    missing: Missing = "zero"
    solver: Solver = "fast"
    seed: int = 0
    mask_seed: int = 0
    image: int = 8
    restored: Restored = "kept"
    colour: Colour = "red"
    scale: Scale = "own"
    part: int = 0
    detail: Detail = "errors"

    VIEW: ClassVar[tuple[str, ...]] = VIEW

    @classmethod
    def readers(cls) -> dict[str, Reader]:
        """How each field is read from an address."""
        return _READERS

    @property
    def solved(self) -> Self:
        """The same fits, looked at as on the first view: equal for settings that need no new fit."""
        return self.looked_at_as(type(self)())

    def looked_at_as(self, other: Self) -> Self:
        """The fits of this setting, in the other's view."""
        return replace(self, **{name: getattr(other, name) for name in self.VIEW})

    def mask_key(self, content_hash: str) -> MaskKey:
        return MaskKey(content_hash, self.alpha, self.mask_seed, self.pattern)

    def fit_key(self, content_hash: str, method: Literal["nmf", "atnmf"]) -> FitKey:
        lam = self.lam if method == "atnmf" else None
        return FitKey(self.mask_key(content_hash), self.K, lam, self.missing, self.solver, self.seed)

    def to_query(self) -> dict[str, str]:
        """The address of this setting: what differs from the first view."""
        first = type(self)()
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _spelled(value) for name, value in values.items() if value != getattr(first, name)}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """The setting that an address spells; what it does not say, or says wrongly, stays at its default."""
        return replace(cls(), **understood(cls.readers(), query))


def start_of(data: str, kind: str, shape: tuple[int, int]) -> dict[str, Any]:
    """What choosing a data set changes beside the data: settings that suit it."""
    K = {"cbcl": 49, "lfw": 25, "moffet": 3, "madonna": 3}.get(data, 5 if kind != "faces" else 25)
    image = {"lfw": 8, "cbcl": 2401}.get(data, 1 if kind != "cube" else shape[0] // 3)
    return {"K": min(K, *shape), "pattern": "entries", "image": max(1, image), "part": 0}


def _spelled(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def understood(readers: Mapping[str, Reader], query: Mapping[str, str]) -> dict[str, Any]:
    """The values that a query spells rightly; what it does not say, or says wrongly, is not among them."""
    found = {name: _attempt(read, query[name]) for name, read in readers.items() if name in query}
    return {name: value for name, value in found.items() if value is not None}


def _attempt(read: Reader, text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        return None


def _nearest(allowed: tuple[float, ...]) -> Callable[[str], float | None]:
    """Reads a number and moves it to the closest one that the control offers; none where it is outside."""

    def read(text: str) -> float | None:
        value = float(text)
        if not allowed[0] - 1e-9 <= value <= allowed[-1] + 1e-9:
            return None
        return min(allowed, key=lambda one: abs(one - value))

    return read


def whole(least: int, most: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        value = int(text)
        return value if least <= value <= most else None

    return read


def _price(text: str) -> float | None:
    """A lambda to four digits, none where the adversary would pay nothing."""
    value = float(f"{float(text):.4g}")
    return value if 1 < value <= LAM_MOST else None


def one_of(kind: Any) -> Callable[[str], str | None]:
    return lambda text: text if text in get_args(kind) else None


def _name(text: str) -> str | None:
    return text if len(text) <= 80 and text.isascii() else None


_READERS: dict[str, Reader] = {
    "data": _name,
    "upload": _name,
    "alpha": _nearest(ALPHAS),
    "pattern": one_of(Pattern),
    "lam": _price,
    "K": whole(1, K_MOST),
    "missing": one_of(Missing),
    "solver": one_of(Solver),
    "seed": whole(0, SEED_MOST),
    "mask_seed": whole(0, SEED_MOST),
    "image": whole(1, 10**6),
    "restored": one_of(Restored),
    "colour": one_of(Colour),
    "scale": one_of(Scale),
    "part": whole(0, K_MOST),
    "detail": one_of(Detail),
}
