"""Arrays as pictures: colours, tiles, enlargement, addresses; and the six panels of the paper's figure."""

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from ..analysis.pictures import ComparedPicture, white_level
from ..model.problem import Mask, Values

# Colours: one per actor, one grey scale, one diverging scale, and one reserved for hidden pixels.

ATNMF = "#E08A00"
NMF = "#3B6FB6"
ANMF = "#7B5EA7"
ADVERSARY = "#0E8A7D"
METHODS = {"nmf": NMF, "anmf": ANMF, "atnmf": ATNMF}
HIDDEN = {"red": "#E5383B", "blue": "#1F3BFF"}
"""The paper's red, and a blue that differs from grey, brown and teal for people who see red as brown."""

MATERIALS = (
    "#2A7F9E", "#3F7F3A", "#8C5A3C", "#B23A7F", "#5A6475", "#8A8F1A", "#4F4A9A", "#8E4FA3", "#C26A8A",
    "#5E9E8C",
)  # fmt: skip
"""One colour per material of a scene, none of them a method's."""

DARK = 110  # Pixels whose mean of red, green and blue is below this need light marks

RGB = npt.NDArray[np.uint8]

# Brown - white - teal, equally light at equal distance from the middle.
_DIVERGING = ("#5C3A0B", "#A8742B", "#DFC595", "#FFFFFF", "#A3D3CC", "#2F968B", "#06514A")
_SEQUENTIAL = ("#FBFBF8", "#CFE3E4", "#8FBFC6", "#4C8FA3", "#245B7B", "#10294D")


def channels_of(colour: str) -> tuple[int, ...]:
    """Red, green and blue of a colour such as "#0E8A7D", from 0 to 255."""
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _ramp(colours: tuple[str, ...]) -> RGB:
    stops = np.array([channels_of(colour) for colour in colours], dtype=float)
    at = np.linspace(0, len(colours) - 1, 256)
    columns = [np.interp(at, np.arange(len(colours)), stops[:, c]) for c in range(3)]
    return np.stack(columns, axis=1).round().astype(np.uint8)


_DIVERGING_RAMP, _SEQUENTIAL_RAMP = _ramp(_DIVERGING), _ramp(_SEQUENTIAL)
_GREY_RAMP = _ramp(("#000000", "#FFFFFF"))


def grey(image: Values, top: float) -> RGB:
    """Black at 0, white at `top` and above, as rows x cols x 3."""
    return _lookup(_GREY_RAMP, _share(image, 0.0, top))


def grey_with_gaps(image: Values, top: float, unknown: str) -> RGB:
    return paint(grey(image, top), np.isnan(image), unknown)


def diverging(image: Values, limit: float) -> RGB:
    """Brown at -limit, white at 0, teal at +limit."""
    return _lookup(_DIVERGING_RAMP, _share(image, -limit, limit))


def sequential(image: Values, top: float) -> RGB:
    """Near white at 0, dark blue at `top`: for magnitudes such as errors."""
    return _lookup(_SEQUENTIAL_RAMP, _share(image, 0.0, top))


def tint(image: Values, colour: str, top: float = 1.0) -> RGB:
    return _lookup(_ramp(("#FFFFFF", colour)), _share(image, 0.0, top))


def paint(picture: RGB, where: Mask, colour: str) -> RGB:
    painted = picture.copy()
    painted[where] = channels_of(colour)
    return painted


def dotted(picture: RGB, where: Mask) -> RGB:
    """The picture three times as large, with a black or white dot in the middle of the chosen pixels."""
    if not where.any():
        return picture
    large: RGB = picture.repeat(3, axis=0).repeat(3, axis=1)
    dark = picture.mean(axis=2) < DARK
    large[1::3, 1::3][where] = np.where(dark[where], 255, 0)[:, None]
    return large


def nice_limit(value: float) -> float:
    """The next of 1, 2, 3, 5, 7 times a power of ten that is at least `value`, so that a colour scale does
    not flicker while its data changes a little. 1 if there is nothing to scale.

    >>> nice_limit(0.23)
    0.3
    """
    if not np.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    step = next(step for step in (1, 2, 3, 5, 7, 10) if value <= step * power * (1 + 1e-9))
    return float(f"{step * power:.3g}")


def _share(image: Values, low: float, high: float) -> Values:
    """Where each value lies between low and high, from 0 to 1; NaN counts as low."""
    width = high - low if high > low else 1.0
    return np.nan_to_num(np.clip((np.asarray(image, dtype=float) - low) / width, 0, 1), nan=0.0)


def _lookup(ramp: RGB, share: Values) -> RGB:
    colours: RGB = ramp[np.rint(share * 255).astype(np.intp)]
    return colours


_TILES = {"within": ADVERSARY, "near": "#8CC9C1", "outside": HIDDEN["red"], None: "#D5DCE3"}
COLOURS = {agreement: channels_of(colour) for agreement, colour in _TILES.items()}
GROUND = (0xFC, 0xFC, 0xFA)
GAP = 2  # Pixels between two tiles


def agreement_mosaic(agreements: Sequence[str | None], columns: int, side: int = 88) -> npt.NDArray[np.uint8]:
    """A square with a tile per cell, row by row: "within" dark, "near" lighter, "outside" red, else grey."""
    rows = len(agreements) // columns
    colours = np.array([COLOURS[agreement] for agreement in agreements], np.uint8).reshape(rows, columns, 3)
    picture = np.full((side, side, 3), GROUND, np.uint8)
    tops, lefts = (np.linspace(0, side + GAP, count + 1).round().astype(int) for count in (rows, columns))
    for row in range(rows):
        for column in range(columns):
            place = slice(tops[row], tops[row + 1] - GAP), slice(lefts[column], lefts[column + 1] - GAP)
            picture[place] = colours[row, column]
    return picture


WEBP_SIDE = 16_383  # No WebP is longer or wider


def enlarge(picture: RGB, side: int) -> Image.Image:
    """The picture with every pixel repeated a whole number of times, its longer side at least `side`."""
    image = Image.fromarray(picture)
    times = max(1, -(-side // max(image.size)))
    return image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST)


def mosaic(tiles: Sequence[RGB], columns: int, gap: int = 1, background: int = 255) -> RGB:
    rows, cols = tiles[0].shape[:2]
    lines = -(-len(tiles) // columns)
    sheet = np.full((lines * (rows + gap) - gap, columns * (cols + gap) - gap, 3), background, np.uint8)
    for number, tile in enumerate(tiles):
        top, left = (number // columns) * (rows + gap), (number % columns) * (cols + gap)
        sheet[top : top + rows, left : left + cols] = tile
    return sheet


def png(picture: RGB | Image.Image, compression: int = 6) -> bytes:
    """The bytes of a PNG file; compression from 0 to 9 trades time for size."""
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    file = io.BytesIO()
    image.save(file, format="PNG", compress_level=compression)
    return file.getvalue()


def data_url(picture: RGB) -> str:
    """The picture as a data URL: lossless WebP takes as long as a PNG to write, and half of its bytes."""
    image, file = Image.fromarray(picture), io.BytesIO()
    if max(image.size) <= WEBP_SIDE:
        image.save(file, format="WEBP", lossless=True, quality=20, method=1)
        return _url("image/webp", file.getvalue())
    return _url("image/png", png(image, compression=1))


def _url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def columns_for(pictures: Values) -> int:
    """How many tiles (of K x rows x cols) per row make the sheet about square."""
    K, rows, cols = (int(length) for length in pictures.shape)
    return min(K, math.ceil(math.sqrt(K * rows / cols)))


def part_sheet(
    pictures: Values,
    *,
    shared_scale: bool = False,
    gap: int = 1,
    background: int = 255,
    unknown: str = HIDDEN["red"],
) -> RGB:
    """Parts (K x rows x cols) as dark tiles, each in its own scale or all in one; NaN is `unknown`."""
    tops = np.nan_to_num(pictures).reshape(len(pictures), -1).max(axis=1)
    if shared_scale:
        tops = np.full_like(tops, tops.max(initial=0.0))
    tiles = [
        paint(255 - grey(part, float(top)), np.isnan(part), unknown)
        for part, top in zip(pictures, tops, strict=True)
    ]
    return mosaic(tiles, columns_for(pictures), gap, background)


LEARNED = {"c": "Adversary R*", "d": "V + R*", "e": "AT-NMF restores", "f": "NMF restores"}
"""Titles of the panels that show what was learned, by letter."""
RAMP = np.linspace(-1, 1, 128)[None, :]


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture of the figure: a colour per pixel of the data, or 3 x 3 of them where pixels have dots. Its
    `scale`, if it has one: a bar of colours and the numbers at its ends.
    """

    letter: str
    title: str
    pixels: RGB
    alt: str
    scale: tuple[RGB, float, float] | None = None


def given_panels(v: Values, observed: Mask, hidden: str, name: str) -> tuple[Panel, Panel]:
    """(a) and (b), which need no fit: the original, and what the learner sees of it."""
    top = white_level(v)
    original = grey_with_gaps(v, top, hidden)
    masked = paint(original, ~observed, hidden)
    share = 100 * (1 - observed.mean())
    return (
        Panel("a", "Original V", original, f"Original {name}"),
        Panel("b", "Masked", masked, f"{name} with {share:.0f} percent of its pixels hidden"),
    )


def attack_limit(picture: ComparedPicture) -> float:
    """The end of the colour scale of R*; an attack below a thousandth of white is drawn as zero."""
    strongest = float(np.abs(picture.r).max(initial=0.0))
    return nice_limit(max(strongest, white_level(picture.v) / 1000))


def learned_panels(picture: ComparedPicture, hidden: str, name: str) -> tuple[Panel, Panel, Panel, Panel]:
    """(c) to (f), which show what was learned. Dots in (c) mark where the adversary has given up."""
    top, unseen = white_level(picture.v), ~picture.observed
    attack = dotted(
        paint(diverging(picture.r, attack_limit(picture)), unseen, hidden),
        picture.walls & ~np.isnan(picture.v),
    )
    attacked = paint(grey(picture.v + picture.r, top), unseen, hidden)
    drawn = (
        (attack, f"What the adversary adds to {name}: brown below 0, teal above, dots at a wall"),
        (attacked, f"{name} as the adversary leaves it, V + R*"),
        (grey_with_gaps(picture.at_restored, top, hidden), f"{name} restored by AT-NMF"),
        (grey_with_gaps(picture.nmf_restored, top, hidden), f"{name} restored by NMF"),
    )
    limit = attack_limit(picture)
    scales = ((diverging(RAMP * limit, limit), -limit, limit), None, None, None)
    c, d, e, f = (
        Panel(letter, title, pixels, alt, scale)
        for (letter, title), (pixels, alt), scale in zip(LEARNED.items(), drawn, scales, strict=True)
    )
    return c, d, e, f


def error_panels(
    picture: ComparedPicture, name: str, *, walls: bool = False, hidden: str = HIDDEN["red"]
) -> tuple[tuple[Panel, Panel], float]:
    """Both methods' errors, and the top of their scale; with `walls`, dots where the adversary gave up."""
    at, nmf = picture.errors
    top = nice_limit(float(max(np.nanmax(at, initial=0.0), np.nanmax(nmf, initial=0.0))))
    scale = (sequential((RAMP + 1) / 2 * top, top), 0.0, top)
    by_atnmf, by_nmf = (
        paint(sequential(error, top), np.isnan(restored), hidden)
        for error, restored in ((at, picture.at_restored), (nmf, picture.nmf_restored))
    )
    drawn = {"AT-NMF": dotted(by_atnmf, picture.walls) if walls else by_atnmf, "NMF": by_nmf}
    first, second = (
        Panel("", method, pixels, f"Error of {method} on {name}, dark where large", scale)
        for method, pixels in drawn.items()
    )
    return (first, second), top
