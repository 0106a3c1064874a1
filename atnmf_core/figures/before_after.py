"""Damaged and restored data side by side, and where entries were replaced."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..analysis import pictures
from ..datasets import Dataset
from ..problem import Mask
from ..restoration import Restoration
from .composite import NATURAL, nearest_bands, smaller
from .cube_view import CubeView
from .images import mosaic
from .palette import ADVERSARY, HIDDEN, RGB, Values, grey_with_gaps, paint, sequential
from .panels import Panel

LONGEST = 512
"""Pictures with a longer side are shrunk."""
MAX_FACES, FACES_IN_A_ROW = 24, 6
MISSING = "#AEB7C0"


class BeforeAfter(NamedTuple):
    """One view of the data, before and after."""

    title: str
    before: Panel
    after: Panel
    replaced: Panel


def before_and_after(data: Dataset, restored: Restoration, unknown: str = HIDDEN["red"]) -> list[BeforeAfter]:
    """The views worth showing: for a cube its colours and its most damaged band, for faces the most damaged
    ones, for a matrix all of it. Entries without a value have the `unknown` colour.
    """
    if data.kind == "cube":
        return [_colours(data, restored, unknown), _worst_band(data, restored, unknown)]
    if data.kind == "faces":
        return [_worst_faces(data, restored, unknown)]
    before, after = (smaller(matrix, LONGEST) for matrix in (data.V, restored.V))
    where = _where(smaller(restored.defects, LONGEST), smaller(~data.observed, LONGEST))
    return [_labelled("The matrix", _grey(before, after, unknown), _grey(after, after, unknown), where)]


def _colours(data: Dataset, restored: Restoration, unknown: str) -> BeforeAfter:
    known = np.flatnonzero(data.observed.any(axis=1))
    wavelengths = None if data.wavelengths is None else data.wavelengths[known]
    bands = [int(known[place]) for place in nearest_bands(wavelengths, known.size, NATURAL)]
    view = CubeView(data, (bands[0], bands[1], bands[2]), unknown=unknown, longest=LONGEST)
    replaced = _replaced(data, restored).mean(axis=0)
    share = sequential(smaller(data.image(replaced), LONGEST), max(float(replaced.max()), 1e-9))
    title = "Bands " + ", ".join(str(band + 1) for band in bands) + " as red, green and blue"
    return BeforeAfter(
        title,
        Panel("", "Before", view.original(), "The cube before"),
        Panel("", "After", view.picture([restored.V[band] for band in bands]), "The cube after"),
        Panel(
            "",
            f"Replaced, up to {replaced.max():.0%} of the bands",
            share,
            "Share of bands that were replaced",
        ),
    )


def _worst_band(data: Dataset, restored: Restoration, unknown: str) -> BeforeAfter:
    band = _worst(_replaced(data, restored), axis=1)[0]
    before, after = (smaller(data.image(V[band]), LONGEST) for V in (data.V, restored.V))
    masks = (smaller(data.image(mask[band]), LONGEST) for mask in (restored.defects, ~data.observed))
    title = f"Most damaged: {pictures.picture_name(data, band)}"
    return _labelled(title, _grey(before, after, unknown), _grey(after, after, unknown), _where(*masks))


def _worst_faces(data: Dataset, restored: Restoration, unknown: str) -> BeforeAfter:
    chosen = sorted(_worst(_replaced(data, restored), axis=0)[:MAX_FACES])

    def sheet(tiles: list[RGB]) -> RGB:
        return mosaic(tiles, min(FACES_IN_A_ROW, len(tiles)))

    after = [data.image(restored.V[:, n]) for n in chosen]
    before = [_grey(data.image(data.V[:, n]), face, unknown) for n, face in zip(chosen, after, strict=True)]
    where = [_where(data.image(restored.defects[:, n]), data.image(~data.observed[:, n])) for n in chosen]
    title = f"The {len(chosen)} most damaged of {data.shape[1]} images"
    return _labelled(
        title, sheet(before), sheet([_grey(face, face, unknown) for face in after]), sheet(where)
    )


def _labelled(title: str, before: RGB, after: RGB, where: RGB) -> BeforeAfter:
    return BeforeAfter(
        title,
        Panel("", "Before", before, f"{title}, before"),
        Panel("", "After", after, f"{title}, after"),
        Panel("", "Wrong (teal) and missing (grey)", where, f"{title}: what was replaced"),
    )


def _grey(image: Values, like: Values, unknown: str) -> RGB:
    """In the grey scale of the image `like`, so that the two can be compared."""
    return grey_with_gaps(image, pictures.white_level(like), unknown)


def _where(defects: Mask, missing: Mask) -> RGB:
    ground = np.full((*defects.shape, 3), 255, np.uint8)
    return paint(paint(ground, missing, MISSING), defects, ADVERSARY)


def _replaced(data: Dataset, restored: Restoration) -> Mask:
    """Entries that were missing or wrong and now have a prediction."""
    replaced: Mask = (restored.defects | ~data.observed) & ~restored.unrestorable
    return replaced


def _worst(replaced: Mask, axis: int) -> list[int]:
    """Rows or columns of V, those with the most replaced entries first."""
    return [int(n) for n in np.argsort(-replaced.sum(axis=axis), kind="stable")]
