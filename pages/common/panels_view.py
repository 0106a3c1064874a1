"""The six panels of the picture in view."""

from __future__ import annotations

from atnmf_core import Dataset, pictures
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.panels import PanelData, given_panels, learned_panels

from . import solving
from .pictures_shown import SCALE, show_panels
from .setting import Setting

__all__ = ["panel_data", "show_given", "show_learned"]


def show_given(setting: Setting, data: Dataset) -> None:
    """(a) and (b): they need no fit, and so follow every move of a slider at once."""
    index = setting.image - 1
    name = pictures.picture_name(data, index)
    v, observed = (pictures.picture(data, matrix, index) for matrix in (data.V, solving.mask(setting, data)))
    panels = given_panels(v, observed, HIDDEN[setting.colour], name)
    show_panels(panels, (name, f"{1 - observed.mean():.0%} hidden"), "given", gap=1.05)


def show_learned(setting: Setting, data: Dataset, pair: solving.Pair) -> None:
    """(c) to (f), their scale and their measures."""
    drawn = panel_data(setting, data, pair)
    name = pictures.picture_name(data, setting.image - 1)
    at, nmf = (drawn.measures(restored) for restored in (drawn.at_restored, drawn.nmf_restored))
    scale = f'<img class="scale" src="{SCALE}" alt=""> −{drawn.r_limit:g} … {drawn.r_limit:g}'
    notes = (scale, "", _measured(at, nmf, "orange"), _measured(nmf, at, "blue"))
    panels = learned_panels(drawn, HIDDEN[setting.colour], name)
    show_panels(panels, notes, "learned", frames=("", "", "orange", "blue"), pixels=drawn, gap=0.7)


def panel_data(setting: Setting, data: Dataset, pair: solving.Pair) -> PanelData:
    index = setting.image - 1
    matrices = (data.V, solving.mask(setting, data), pair.atnmf.fit.V_hat, pair.nmf.fit.V_hat)
    v, observed, at_hat, nmf_hat = (pictures.picture(data, matrix, index) for matrix in matrices)
    return PanelData(v, observed, at_hat, nmf_hat, setting.lam, setting.restored == "kept")


def _measured(mine: dict[str, float], other: dict[str, float], colour: str) -> str:
    better = ' <span class="best">better</span>' if mine["RMSE"] < other["RMSE"] else ""
    return (
        f'<b class="{colour}">{mine["RMSE"]:.3f}</b> RMSE hidden{better}<br>'
        f"PSNR {mine['PSNR']:.1f} dB · SSIM {mine['SSIM']:.2f}"
    )
