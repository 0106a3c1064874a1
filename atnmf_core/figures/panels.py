"""The six panels of the paper's figure: original, masked, adversary, attacked, and both restorations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ..analysis.comparison import ComparedPicture
from ..analysis.pictures import white_level
from ..problem import Mask
from .images import enlarge
from .palette import (
    HIDDEN,
    RGB,
    Values,
    diverging,
    dotted,
    grey,
    grey_with_gaps,
    nice_limit,
    paint,
    sequential,
)

LEARNED = {"c": "Adversary R*", "d": "V + R*", "e": "AT-NMF restores", "f": "NMF restores"}
"""Titles of the panels that show what was learned, by letter."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture of the figure: a colour per pixel of the data, or 3 x 3 of them where pixels have dots."""

    letter: str
    title: str
    pixels: RGB
    alt: str


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
    c, d, e, f = (
        Panel(letter, title, pixels, alt)
        for (letter, title), (pixels, alt) in zip(LEARNED.items(), drawn, strict=True)
    )
    return c, d, e, f


def error_panels(
    picture: ComparedPicture, name: str, *, walls: bool = False, hidden: str = HIDDEN["red"]
) -> tuple[tuple[Panel, Panel], float]:
    """The errors of both methods, and the top of their common scale. With `walls`, AT-NMF's has dots where
    the adversary has given up. Pixels without a prediction have the colour `hidden`.
    """
    at, nmf = picture.errors
    top = nice_limit(float(max(np.nanmax(at, initial=0.0), np.nanmax(nmf, initial=0.0))))
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
        ),
        Panel("", "NMF", by_nmf, f"Error of NMF on {name}, dark where large"),
    ), top


def figure(panels: Sequence[Panel], side: int = 300) -> Image.Image:
    """The panels in one row with letters and titles, on white, ready for a slide."""
    pictures = [enlarge(panel.pixels, side) for panel in panels]
    gap, line = side // 12, side // 8
    font = ImageFont.load_default(size=line * 0.55)
    width = sum(picture.width for picture in pictures) + gap * (len(pictures) + 1)
    sheet = Image.new("RGB", (width, max(picture.height for picture in pictures) + line + 2 * gap), "white")
    pen, left = ImageDraw.Draw(sheet), gap
    for panel, picture in zip(panels, pictures, strict=True):
        label = f"({panel.letter}) {panel.title}" if panel.letter else panel.title
        pen.text((left, gap), label, fill="#0D1723", font=font)
        sheet.paste(picture, (left, gap + line))
        left += picture.width + gap
    return sheet
