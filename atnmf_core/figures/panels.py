"""The six panels of the paper's figure: original, masked, adversary, attacked, and both restorations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from ..adversary import optimal_attack
from ..metrics import psnr, rmse, ssim
from .images import enlarge
from .palette import diverging, grey, nice_limit, paint, sequential

__all__ = ["LEARNED", "Panel", "PanelData", "error_panels", "figure", "given_panels", "learned_panels"]

RGB = npt.NDArray[np.uint8]
Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

LEARNED = {"c": "Adversary R*", "d": "V + R*", "e": "AT-NMF restores", "f": "NMF restores"}
"""Titles of the panels that show what was learned, by letter."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture of the figure, a colour per pixel of the data."""

    letter: str
    title: str
    pixels: RGB
    alt: str


@dataclass(frozen=True, eq=False)
class PanelData:
    """Everything the panels of one picture are drawn from, as rows x cols.

    Attributes
    ----------
    v : the truth, NaN where nobody knows it.
    observed : what the learner saw.
    at_hat, nmf_hat : the predictions of AT-NMF and NMF.
    lam : the adversary's price.
    keep_observed : whether restorations keep the observed pixels, or show the model W H alone.
    """

    v: Values
    observed: Mask
    at_hat: Values
    nmf_hat: Values
    lam: float
    keep_observed: bool = True

    @cached_property
    def top(self) -> float:
        """White in every grey panel."""
        return grey_top(self.v)

    @cached_property
    def r(self) -> Values:
        """R*, zero on hidden pixels."""
        return optimal_attack(self.v, np.asarray(self.at_hat, dtype=float), self.lam, self.observed)

    @cached_property
    def r_limit(self) -> float:
        """The largest value of the scale of R*; what is below a thousandth of white is as good as nothing."""
        return nice_limit(max(float(np.abs(self.r).max(initial=0.0)), self.top / 1000))

    @cached_property
    def at_restored(self) -> Values:
        return self._restored(self.at_hat)

    @cached_property
    def nmf_restored(self) -> Values:
        return self._restored(self.nmf_hat)

    def measures(self, restored: Values) -> dict[str, float]:
        """RMSE on the pixels that were hidden and have a truth; PSNR and SSIM of the whole picture."""
        known = ~np.isnan(self.v)
        full = np.where(known, self.v, restored)
        return {
            "RMSE": rmse(self.v, restored, ~self.observed),
            "PSNR": psnr(self.v, restored, data_range=self.top),
            "SSIM": ssim(full, restored, data_range=self.top) if min(full.shape) >= 3 else float("nan"),
        }

    def closer_shares(self) -> tuple[float, float]:
        """The shares of hidden pixels at which AT-NMF, and at which NMF, is closer to the truth."""
        hidden = ~self.observed & ~np.isnan(self.v)
        if not hidden.any():
            return 0.0, 0.0
        at, nmf = (np.abs(self.v - hat)[hidden] for hat in (self.at_hat, self.nmf_hat))
        return float((at < nmf).mean()), float((nmf < at).mean())

    def _restored(self, prediction: Values) -> Values:
        return np.where(self.observed, self.v, prediction) if self.keep_observed else np.asarray(prediction)


def grey_top(v: Values) -> float:
    """The value shown as white: the picture's largest."""
    top = float(np.nanmax(v)) if np.isfinite(v).any() else 0.0
    return top if top > 0 else 1.0


def given_panels(v: Values, observed: Mask, hidden: str, name: str) -> tuple[Panel, Panel]:
    """(a) and (b), which need no fit: the original and what the learner sees of it."""
    top = grey_top(v)
    original = paint(grey(v, top), np.isnan(v), hidden)
    masked = paint(original, ~observed, hidden)
    share = 100 * (1 - observed.mean())
    return (
        Panel("a", "Original V", original, f"Original {name}"),
        Panel("b", "Masked", masked, f"{name} with {share:.0f} percent of its pixels hidden"),
    )


def learned_panels(data: PanelData, hidden: str, name: str) -> tuple[Panel, Panel, Panel, Panel]:
    """(c) to (f), which show what was learned."""
    attack = paint(diverging(data.r, data.r_limit), ~data.observed, hidden)
    attacked = paint(grey(data.v + data.r, data.top), ~data.observed, hidden)
    at_error = data.measures(data.at_restored)["RMSE"]
    nmf_error = data.measures(data.nmf_restored)["RMSE"]
    shown = (
        (attack, f"What the adversary adds to {name}: brown below 0, teal above"),
        (attacked, f"{name} as the adversary leaves it, V + R*"),
        (
            grey(data.at_restored, data.top),
            f"{name} restored by AT-NMF, RMSE where hidden {at_error:.3f}",
        ),
        (grey(data.nmf_restored, data.top), f"{name} restored by NMF, RMSE where hidden {nmf_error:.3f}"),
    )
    c, d, e, f = (
        Panel(letter, title, pixels, alt)
        for (letter, title), (pixels, alt) in zip(LEARNED.items(), shown, strict=True)
    )
    return c, d, e, f


def error_panels(data: PanelData, name: str) -> tuple[tuple[Panel, Panel], float]:
    """|V - restored| of both methods, and the top of their common scale."""
    at, nmf = (np.abs(data.v - restored) for restored in (data.at_restored, data.nmf_restored))
    top = nice_limit(float(max(np.nanmax(at, initial=0.0), np.nanmax(nmf, initial=0.0))))
    return (
        Panel("", "AT-NMF", sequential(at, top), f"Error of AT-NMF on {name}, dark where large"),
        Panel("", "NMF", sequential(nmf, top), f"Error of NMF on {name}, dark where large"),
    ), top


def figure(panels: Sequence[Panel], side: int = 300) -> Image.Image:
    """The panels in one row with their letters and titles, on white, ready for a slide."""
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
