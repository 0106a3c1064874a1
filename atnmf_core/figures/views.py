"""How whole data sets are shown: a cube in colours or band by band, a thumbnail of any data, damaged and
restored data side by side with what was replaced, a scene on disk. Single pictures are in
`analysis.pictures`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from ..analysis import pictures
from ..analysis.pictures import picture, white_level
from ..datasets import Dataset
from ..datasets.files.scene_file import SceneFile
from ..model.problem import Array, InputError, Mask, Values, Wide
from ..restoration import Restoration
from .images import (
    ADVERSARY,
    ATNMF,
    HIDDEN,
    RGB,
    Panel,
    channels_of,
    grey,
    grey_with_gaps,
    mosaic,
    nice_limit,
    paint,
    sequential,
)
from .plotting import TRANSPARENT, Trace, plot

# Bands of a cube as pictures: which three to show as red, green and blue, and how values become colours.

NATURAL = (640.0, 550.0, 460.0)  # What the eye sees as red, green and blue, in nanometres
INFRARED = (860.0, 650.0, 550.0)  # Near infrared shown as red: vegetation, which reflects it, stands out
WITHOUT_WAVELENGTHS = (0.3, 0.18, 0.06)
"""As shares of its bands: in an imaging spectrometer the visible and near infrared come first."""


SCREEN_GAMMA = 2.2
"""Of channels stretched together: reflectances are as natural on a screen as in a photograph."""


class Triplet(NamedTuple):
    red: int
    green: int
    blue: int


class BrightnessRange(NamedTuple):
    """Values shown as black and as full brightness, per channel."""

    low: tuple[float, ...]
    high: tuple[float, ...]


def nearest_bands(wavelengths: Values | None, bands: int, targets: tuple[float, float, float]) -> Triplet:
    """The bands closest to three wavelengths, or spread over the cube if it has none.

    >>> nearest_bands(np.array([450.0, 500.0, 550.0, 600.0, 650.0]), 5, NATURAL)
    Triplet(red=4, green=2, blue=0)
    """
    if wavelengths is None:
        return Triplet(*(min(bands - 1, round(share * (bands - 1))) for share in WITHOUT_WAVELENGTHS))
    return Triplet(*(int(np.argmin(np.abs(wavelengths - nm))) for nm in targets))


def stretch_limits(channels: Sequence[Values], clip: float = 2.0, *, joint: bool = False) -> BrightnessRange:
    """The range without `clip` percent at either end, of each channel or, to keep colours, jointly."""
    if not 0 <= clip < 50:
        raise InputError(f"clip={clip!r}: a percentage from 0 to below 50 is needed.")
    known = [np.asarray(channel)[~np.isnan(channel)] for channel in channels]
    if joint:
        known = [np.concatenate(known)] * len(known)
    pairs = [np.percentile(one, (clip, 100 - clip)) if one.size else np.array([0.0, 1.0]) for one in known]
    return BrightnessRange(tuple(float(low) for low, _ in pairs), tuple(float(high) for _, high in pairs))


def composite(channels: Sequence[Values], limits: BrightnessRange, unknown: str, gamma: float = 1.0) -> RGB:
    """Three images as one picture, to the power 1 / `gamma`; NaN takes the reserved colour's channel."""
    picture = np.empty((*np.shape(channels[0]), 3), np.uint8)
    for c, (image, low, high) in enumerate(zip(channels, *limits, strict=True)):
        values = np.asarray(image, dtype=np.float64)
        share = np.clip((values - low) / (high - low if high > low else 1.0), 0, 1) ** (1 / gamma)
        reserved = channels_of(unknown)[c]
        picture[..., c] = np.where(np.isnan(share), reserved, np.rint(255 * np.nan_to_num(share)))
    return picture


def smaller(image: Values, most: int) -> Values:
    """Every second, third ... row and column of an image longer than `most`, for display."""
    step = -(-max(image.shape[:2]) // most)
    return image[::step, ::step]


@dataclass(frozen=True, eq=False)
class CubeView:
    """How pictures of a cube are drawn.

    bands : rows of V shown as red, green and blue; one row three times for a grey picture.
    clip, joint : the stretch, see `stretch_limits`; its limits come from the original alone.
    unknown : the colour of pixels without a value.
    longest : pictures with a longer side are shrunk.
    """

    data: Dataset
    bands: tuple[int, int, int]
    clip: float = 2.0
    joint: bool = False
    unknown: str = HIDDEN["red"]
    longest: int = 512

    @cached_property
    def limits(self) -> BrightnessRange:
        if self.is_single:
            # A band repeated three times has the same values, but not the same interpolated percentiles.
            low, high = stretch_limits([self.data.V[self.bands[0]]], self.clip)
            return BrightnessRange(low * 3, high * 3)
        return stretch_limits([self.data.V[f] for f in self.bands], self.clip, joint=self.joint)

    @property
    def is_single(self) -> bool:
        return len(set(self.bands)) == 1

    def original(self) -> RGB:
        return self.picture([self.data.V[f] for f in self.bands])

    def masked(self, observed: Mask) -> RGB:
        return self.picture([np.where(observed[f], self.data.V[f], np.nan) for f in self.bands])

    def picture(self, channels: Sequence[Values]) -> RGB:
        gamma = SCREEN_GAMMA if self.joint and not self.is_single else 1.0
        return composite([self._image(channel) for channel in channels], self.limits, self.unknown, gamma)

    def error_picture(self, error: Values, top: float, lost: Mask) -> RGB:
        """Errors from white (0) to dark blue (`top`); `lost` pixels in the unknown colour."""
        return paint(sequential(self._image(np.nan_to_num(error)), top), self._image(lost), self.unknown)

    def _image(self, pixels: Values) -> Values:
        return smaller(self.data.image(pixels), self.longest)


def error_top(errors: Sequence[Values]) -> float:
    """The top of a common scale for error images; a few outliers do not make all else pale."""
    known = np.concatenate([error[~np.isnan(error)] for error in errors])
    return nice_limit(float(np.percentile(known, 99.5)) if known.size else 0.0)


def band_axis(data: Dataset) -> dict[str, Any]:
    """The bands' positions `x` on the axis of a spectrum, and their `unit`."""
    if data.wavelengths is not None:
        return {"x": data.wavelengths.tolist(), "unit": "nm"}
    return {"x": list(range(1, data.shape[0] + 1)), "unit": "band"}


def points(spectrum: Values) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in spectrum]


def spectra_top(spectra: Sequence[Values]) -> float:
    known = np.concatenate(spectra)
    return nice_limit(float(np.nanmax(known)) if np.isfinite(known).any() else 0.0)


# A small picture of a data set, which shows whether its file was read with the right layout.

FACES, FACES_PER_ROW = 8, 4
SLIMMEST = 4  # How many times as long as wide a matrix is drawn at most


def thumbnail(data: Dataset, longest: int = 256) -> RGB:
    """A cube in three bands, the first few faces, or a matrix as it stands; what is missing in red."""
    if data.kind == "cube":
        seen = np.flatnonzero(data.observed.any(axis=1))
        wavelengths = None if data.wavelengths is None else data.wavelengths[seen]
        red, green, blue = seen[list(nearest_bands(wavelengths, seen.size, NATURAL))]
        joint = wavelengths is not None
        return CubeView(data, (red, green, blue), joint=joint, longest=longest).original()
    if data.kind == "matrix":
        return _of_matrix(data.V, longest)
    count = min(pictures.count(data), FACES)
    shown = [
        smaller(pictures.picture(data, data.V, i), longest // min(count, FACES_PER_ROW)) for i in range(count)
    ]
    tiles = [_grey(v, v) for v in shown]
    return mosaic(tiles, min(count, FACES_PER_ROW))


def _of_matrix(V: Array, longest: int) -> RGB:
    """Thinned along each axis; a few long rows or columns are widened so that they can be seen."""
    thin = V[:: -(-V.shape[0] // longest), :: -(-V.shape[1] // longest)]
    rows, cols = thin.shape
    wide = thin.repeat(max(1, cols // (SLIMMEST * rows)), axis=0)
    wide = wide.repeat(max(1, rows // (SLIMMEST * cols)), axis=1)
    return _grey(wide, wide)


# Pictures, all in one scale, of damaged data, the restoration, the truth, and the suspected defects.


@dataclass(frozen=True, eq=False)
class RestoredView:
    """How one restoration is drawn: black and white are those of `scale`, the truth if it is known.

    index : the band or image that is looked at, from 0; None for three bands of a cube as a colour picture.
    mark : the colour of missing entries and suspects.
    """

    data: Dataset
    scale: Dataset
    index: int | None
    mark: str
    longest: int = 512

    def picture(self, V: Values) -> RGB:
        if self.data.kind == "cube":
            return self._cube.picture([V[f] for f in self._cube.bands])
        values = smaller(picture(self.data, V, self.index or 0), self.longest)
        return grey_with_gaps(values, self._white, self.mark)

    def suspects(self, wrong: Mask) -> RGB:
        """Wrong entries on a pale picture or, of a whole cube, the share of bands that are wrong."""
        if self.index is None:
            return sequential(self._pixels(wrong.mean(axis=0)), self.top(wrong))
        shown = self.picture(np.nan_to_num(self.data.V)).astype(np.uint16)
        pale = (255 - (255 - shown) // 4).astype(np.uint8)
        where = smaller(picture(self.data, wrong, self.index), self.longest)
        return paint(pale, where, self.mark)

    def top(self, wrong: Mask) -> float:
        """The share of a pixel's bands that `suspects` draws darkest."""
        return max(float(wrong.mean(axis=0).max(initial=0.0)), 1 / len(wrong))

    @cached_property
    def _cube(self) -> CubeView:
        bands = (
            nearest_bands(self.data.wavelengths, self.data.shape[0], NATURAL)
            if self.index is None
            else (self.index,) * 3
        )
        joint = self.index is None and self.data.wavelengths is not None
        return CubeView(self.scale, (bands[0], bands[1], bands[2]), 2.0, joint, self.mark, self.longest)

    @cached_property
    def _white(self) -> float:
        return white_level(picture(self.scale, self.scale.V, self.index or 0))

    def _pixels(self, values: Values) -> Values:
        return smaller(self.data.image(values), self.longest)


def defect_sheet(data: Dataset, wrong: Mask) -> RGB:
    """All defects in one picture: white where wrong, or by the share of wrong bands; faces side by side."""
    if data.kind == "cube":
        share = data.image(wrong.mean(axis=0))
        return grey(share, max(float(share.max()), 1e-9))
    if data.kind == "faces":
        tiles = [grey(image, 1.0) for image in data.images(wrong)]
        return mosaic(tiles, columns=max(1, round(len(tiles) ** 0.5)), background=96)
    return grey(wrong, 1.0)


LONGEST = 512  # Pictures with a longer side are shrunk
MAX_FACES, FACES_IN_A_ROW = 24, 6
MISSING = "#AEB7C0"


class BeforeAfter(NamedTuple):
    title: str
    before: Panel
    after: Panel
    replaced: Panel


def before_and_after(data: Dataset, restored: Restoration) -> list[BeforeAfter]:
    """The views worth showing: a cube's colours and worst band, the worst faces, all of a matrix."""
    if data.kind == "cube":
        return [_colours(data, restored), _worst_band(data, restored)]
    if data.kind == "faces":
        return [_worst_faces(data, restored)]
    before, after = (smaller(matrix, LONGEST) for matrix in (data.V, restored.V))
    where = _where(smaller(_wrong(restored), LONGEST), smaller(~data.observed, LONGEST))
    return [_labelled("The matrix", _grey(before, after), _grey(after, after), where)]


def _colours(data: Dataset, restored: Restoration) -> BeforeAfter:
    known = np.flatnonzero(data.observed.any(axis=1))
    wavelengths = None if data.wavelengths is None else data.wavelengths[known]
    bands = [int(known[place]) for place in nearest_bands(wavelengths, known.size, NATURAL)]
    view = CubeView(data, (bands[0], bands[1], bands[2]), longest=LONGEST)
    replaced = _replaced(data, restored).mean(axis=0)
    share = sequential(smaller(data.image(replaced), LONGEST), max(float(replaced.max()), 1e-9))
    title = "Bands " + ", ".join(str(band + 1) for band in bands) + " as red, green and blue"
    after = view.picture([restored.V[band] for band in bands])
    words = f"Changed, up to {replaced.max():.0%} of the bands"
    return _sight(title, "The cube", view.original(), after, words, share)


def _worst_band(data: Dataset, restored: Restoration) -> BeforeAfter:
    band = _worst(_replaced(data, restored), axis=1)[0]
    before, after = (smaller(data.image(V[band]), LONGEST) for V in (data.V, restored.V))
    masks = (smaller(data.image(mask[band]), LONGEST) for mask in (_wrong(restored), ~data.observed))
    title = f"Most damaged: {pictures.picture_name(data, band)}"
    return _labelled(title, _grey(before, after), _grey(after, after), _where(*masks))


def _worst_faces(data: Dataset, restored: Restoration) -> BeforeAfter:
    chosen = sorted(_worst(_replaced(data, restored), axis=0)[:MAX_FACES])

    def sheet(tiles: list[RGB]) -> RGB:
        return mosaic(tiles, min(FACES_IN_A_ROW, len(tiles)))

    after = [data.image(restored.V[:, n]) for n in chosen]
    before = [_grey(data.image(data.V[:, n]), face) for n, face in zip(chosen, after, strict=True)]
    wrong = _wrong(restored)
    where = [_where(data.image(wrong[:, n]), data.image(~data.observed[:, n])) for n in chosen]
    title = f"The {len(chosen)} most damaged of {data.shape[1]} images"
    return _labelled(title, sheet(before), sheet([_grey(face, face) for face in after]), sheet(where))


def _sight(
    title: str, what: str, before: RGB, after: RGB, words: str, where: RGB, alt: str = ""
) -> BeforeAfter:
    last = words, where, alt or "Share of bands that were changed"
    drawn = ("Before", before, f"{what} before"), ("After", after, f"{what} after"), last
    return BeforeAfter(title, *(Panel("", *one) for one in drawn))


def _labelled(title: str, before: RGB, after: RGB, where: RGB) -> BeforeAfter:
    words = "Wrong (teal) and missing (grey)"
    return _sight(title, f"{title},", before, after, words, where, f"{title}: what was replaced")


def _grey(image: Values, like: Values) -> RGB:
    """In the grey scale of the image `like`, so that the two can be compared."""
    return grey_with_gaps(image, pictures.white_level(like), HIDDEN["red"])


def _where(defects: Mask, missing: Mask) -> RGB:
    background = np.full((*defects.shape, 3), 255, np.uint8)
    return paint(paint(background, missing, MISSING), defects, ADVERSARY)


def _replaced(data: Dataset, restored: Restoration) -> Mask:
    """Entries that were missing or wrong and now have another value."""
    replaced: Mask = (_wrong(restored) | ~data.observed) & ~restored.unrestorable
    return replaced


def _wrong(restored: Restoration) -> Mask:
    return restored.defects if restored.offsets is None else restored.defects | (restored.offsets != 0)


def _worst(replaced: Mask, axis: int) -> list[int]:
    """Rows or columns of V, those with the most replaced entries first."""
    return [int(n) for n in np.argsort(-replaced.sum(axis=axis), kind="stable")]


# A scene on disk in small pictures, and the spectrum of one of its pixels before and after.

MAX_SIDE = 480  # Of the picture, in pixels
MEASURED = "#7C8894"
"""A grey that shows on light and dark pages."""
Channels = tuple[npt.NDArray[np.float32], ...]


def channels_of_scene(scene: SceneFile) -> Channels:
    step = -(-max(scene.rows, scene.cols) // MAX_SIDE)
    bands = nearest_bands(scene.wavelengths, scene.bands, NATURAL)
    return tuple(scene.thinned(band, step) for band in bands)


def scene_picture(channels: Channels, unknown: str, like: Channels | None = None) -> npt.NDArray[np.uint8]:
    """A colour composite; with `like`, as bright as one of those."""
    limits: BrightnessRange = stretch_limits(channels if like is None else like)
    return composite(channels, limits, unknown)


def scene_before_after(before: SceneFile, after: SceneFile, replaced: npt.NDArray[np.float32]) -> BeforeAfter:
    """Before, after, and the share of each pixel's bands that was replaced (rows x cols)."""
    channels, most = channels_of_scene(before), float(replaced.max())
    first, red = f"{before.path.name}, thinned for display", HIDDEN["red"]
    pictures = scene_picture(channels, red), scene_picture(channels_of_scene(after), red, channels)
    share = sequential(smaller(replaced, MAX_SIDE), max(most, 1e-9))
    return _sight(first, "The scene", *pictures, f"Replaced, up to {most:.0%} of the bands", share)


def scene_spectrum(
    wavelengths: Wide | None,
    measured: npt.NDArray[np.float32],
    restored: npt.NDArray[np.float32] | None = None,
) -> go.Figure:
    along = np.arange(1, measured.size + 1) if wavelengths is None else wavelengths
    dots: Trace = {"mode": "markers", "marker": {"size": 5, "color": MEASURED}}
    traces: list[Trace] = [{"x": along, "y": measured, "name": "measured", **dots}]
    if restored is not None:
        line: Trace = {"mode": "lines", "line": {"color": ATNMF}}
        traces.insert(0, {"x": along, "y": restored, "name": "restored", **line})
    words = "band" if wavelengths is None else "wavelength, nm"
    x = {"title": {"text": words, "standoff": 6}, "showgrid": False}
    y = {"rangemode": "tozero", "zeroline": False}
    return plot(traces, 300, xaxis=x, yaxis=y, showlegend=True, **TRANSPARENT)
