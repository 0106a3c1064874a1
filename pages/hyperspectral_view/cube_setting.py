"""Everything that the Hyperspectral page shows is a function of one `CubeSetting`; a link is its spelling."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from atnmf_core import Dataset
from pages.common.address import Address
from pages.common.setting import FitKey, Reader, Setting, one_of, whole

__all__ = ["ADDRESS", "CLIPS", "SIZES", "CubeSetting", "Place", "span", "spelled_places"]

Start = Literal["pure-pixels", "random"]
Size = Literal["small", "medium", "large"]
View = Literal["rgb", "band"]
Triplet = Literal["natural", "infrared", "own"]
Clip = Literal["0", "1", "2", "5"]
Balance = Literal["auto", "channel", "joint"]
Place = tuple[int, int]
"""Row and column of a pixel, counted from 1."""

CLIPS = ("0", "1", "2", "5")
SIZES = {
    "small": {"rows": 64, "cols": 64, "bands": 100},
    "medium": {"rows": 128, "cols": 128, "bands": 120},
    "large": {"rows": 307, "cols": 307, "bands": 162},
}
MOST_PINS = 6


@dataclass(frozen=True)
class CubeSetting(Setting):
    """The state of the Hyperspectral page. The defaults are the first view: the simulated scene, half of it
    hidden and ignored.

    Attributes
    ----------
    start : "pure-pixels" begins at pixels that show one material each, "random" as on the Explore page.
    size : of the simulated scene.
    rows, cols, bands : what is cut out, as "first-last" counted from 1; empty for all.
    view : three bands as a colour picture, or a single one (`image`).
    triplet : which three; `red`, `green` and `blue` where "own".
    clip : percent of values that the stretch leaves out at either end.
    balance : whether each channel is stretched by itself or all alike; "auto" keeps natural colours in
        balance and stretches others by themselves.
    pixel : the one looked at, as "row.column" counted from 1; empty for the middle.
    pins : pixels to compare, joined by "_".
    """

    data: str = "simulated-scene"
    alpha: float = 0.5
    K: int = 5
    missing: Literal["ignore", "zero"] = "ignore"
    image: int = 13
    start: Start = "pure-pixels"
    size: Size = "small"
    rows: str = ""
    cols: str = ""
    bands: str = ""
    view: View = "rgb"
    triplet: Triplet = "natural"
    red: int = 1
    green: int = 1
    blue: int = 1
    clip: Clip = "2"
    balance: Balance = "auto"
    pixel: str = ""
    pins: str = ""

    VIEW: ClassVar[tuple[str, ...]] = (
        *Setting.VIEW,
        *("view", "triplet", "red", "green", "blue", "clip", "balance", "pixel", "pins"),
    )

    @classmethod
    def readers(cls) -> dict[str, Reader]:
        return super().readers() | _READERS

    def fit_key(self, content_hash: str, method: Literal["nmf", "atnmf"]) -> FitKey:
        return super().fit_key(content_hash, method)._replace(start=self.start)

    def cut(self, data: Dataset) -> Dataset:
        """The part of the data that is asked for, which may be all of it."""
        rows, cols = data.image_shape
        asked = {
            "rows": span(self.rows, rows),
            "cols": span(self.cols, cols),
            "bands": span(self.bands, data.shape[0]),
        }
        full = {"rows": (1, rows), "cols": (1, cols), "bands": (1, data.shape[0])}
        picks = {name: slice(first - 1, last) for name, (first, last) in asked.items()}
        return data if asked == full else data.subset(**picks)

    def place(self, data: Dataset) -> Place:
        """The pixel looked at, brought inside the image."""
        return _inside(_place(self.pixel), data)

    def pinned(self, data: Dataset) -> list[Place]:
        """The pixels to compare that are in the image, each once."""
        rows, cols = data.image_shape
        places = [_place(word) for word in self.pins.split("_") if word]
        return [(row, col) for row, col in dict.fromkeys(places) if row <= rows and col <= cols]


def span(text: str, length: int) -> tuple[int, int]:
    """First and last of what "first-last" names, brought within 1 to `length`; all where it is empty."""
    if not text:
        return 1, length
    first, last = (int(number) for number in text.split("-"))
    last = min(last, length)
    return min(first, last), last


def spelled_places(places: list[Place]) -> str:
    """Pins as an address has them, the latest few."""
    return "_".join(_spelled(place) for place in places[-MOST_PINS:])


def _place(text: str) -> Place:
    row, _, col = text.partition(".")
    return (int(row), int(col)) if col else (0, 0)


def _spelled(place: Place) -> str:
    return f"{place[0]}.{place[1]}"


def _inside(place: Place, data: Dataset) -> Place:
    rows, cols = data.image_shape
    if place == (0, 0):
        return (rows + 1) // 2, (cols + 1) // 2
    return min(place[0], rows), min(place[1], cols)


def _matching(pattern: str) -> Reader:
    whole_text = re.compile(pattern)
    return lambda text: text if whole_text.fullmatch(text) else None


def _ordered_span(text: str) -> str | None:
    if not re.fullmatch(r"[1-9]\d{0,5}-[1-9]\d{0,5}", text):
        return None
    first, last = (int(number) for number in text.split("-"))
    return text if first <= last else None


_PIXEL = r"[1-9]\d{0,5}\.[1-9]\d{0,5}"
_READERS: dict[str, Reader] = {
    "start": one_of(Start),
    "size": one_of(Size),
    "rows": _ordered_span,
    "cols": _ordered_span,
    "bands": _ordered_span,
    "view": one_of(View),
    "triplet": one_of(Triplet),
    "red": whole(1, 10**6),
    "green": whole(1, 10**6),
    "blue": whole(1, 10**6),
    "clip": one_of(Clip),
    "balance": one_of(Balance),
    "pixel": _matching(_PIXEL),
    "pins": _matching(rf"{_PIXEL}(_{_PIXEL}){{0,{MOST_PINS - 1}}}"),
}

ADDRESS = Address(
    "hyperspectral",
    lambda query: asdict(CubeSetting.from_query(query)),
    lambda values: CubeSetting(**values).to_query(),
)
