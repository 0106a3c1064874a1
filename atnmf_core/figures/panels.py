"""The six panels of the paper's figure: original, masked, adversary, attacked, and both restorations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..analysis.pictures import ComparedPicture, white_level
from ..model.problem import Mask, Values
from .images import (
    HIDDEN,
    RGB,
    diverging,
    dotted,
    grey,
    grey_with_gaps,
    mosaic,
    nice_limit,
    paint,
    sequential,
)


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
    return (
        Panel(
            "",
            "AT-NMF",
            dotted(by_atnmf, picture.walls) if walls else by_atnmf,
            f"Error of AT-NMF on {name}, dark where large",
            scale,
        ),
        Panel("", "NMF", by_nmf, f"Error of NMF on {name}, dark where large", scale),
    ), top
