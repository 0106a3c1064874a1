"""The run as a film: its losses, and its pictures from the start to the end."""

from __future__ import annotations

from typing import Any

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.analysis.parts import side_by_side
from atnmf_core.analysis.recovery import known_factors
from atnmf_core.figures.images import data_url
from atnmf_core.figures.loss_curves import loss_curves
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.parts import part_sheet
from atnmf_core.running.film import Frame, together
from pages.common import fit_pair
from pages.common.components import component
from pages.common.limits_view import reach
from pages.common.setting import FitKey, Setting

from .panels_view import frame_panels

LOSSES = {"squared_error": "Squared error on observed entries", "adversarial_loss": "Adversarial loss"}
TITLES = (
    ("(c) Adversary R*", "", "R* at the iteration shown"),
    ("(d) V + R*", "", "V + R* at the iteration shown"),
    ("(e) AT-NMF restores", "orange", "AT-NMF's restoration at the iteration shown"),
    ("(f) NMF restores", "blue", "NMF's restoration at the iteration shown"),
    ("Parts · AT-NMF", "orange", "AT-NMF's parts at the iteration shown"),
    ("Parts · NMF", "blue", "NMF's parts at the iteration shown"),
)


def show_film(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    """Loss curves of both methods, and a slider over the stored iterations."""
    columns = st.columns(2)
    for column, (quantity, title) in zip(columns, LOSSES.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            st.plotly_chart(
                loss_curves({"AT-NMF": pair.atnmf.history, "NMF": pair.nmf.history}, quantity),
                key=f"loss_{quantity}",
                config={"displayModeBar": False},
                alt=f"{title} of AT-NMF and NMF at every iteration",
            )
    steps = _steps(fit_pair.keys(setting, data), setting, data, pair)
    titles = [{"text": text, "tone": tone, "alt": alt} for text, tone, alt in TITLES]
    component("film", page="explore_view")(data={"titles": titles, "steps": steps}, key="film")
    st.caption(_remark(setting, pair))


@st.cache_data(show_spinner=False, max_size="32 MB")
def _steps(
    keys: tuple[FitKey, FitKey], setting: Setting, _data: Dataset, _pair: fit_pair.Pair
) -> list[dict[str, Any]]:
    order = side_by_side(_pair.atnmf, _pair.nmf)
    return [
        {
            "label": f"iteration {max(at.iteration, nmf.iteration)}",
            "pictures": [
                *(data_url(panel.pixels) for panel in frame_panels(setting, _data, (at, nmf))),
                _sheet(setting, _data, at, order.first),
                _sheet(setting, _data, nmf, order.second),
            ],
        }
        for at, nmf in together(_pair.atnmf.frames, _pair.nmf.frames)
    ]


def _sheet(setting: Setting, data: Dataset, frame: Frame, places: Any) -> str:
    parts = pictures.part_pictures(data, *known_factors(frame.W, frame.H, reach(setting, data)))[places]
    return data_url(part_sheet(parts, ground=225, unknown=HIDDEN[setting.colour]))


def _remark(setting: Setting, pair: fit_pair.Pair) -> str:
    if setting.solver == "fast":
        return (
            "The fast solver descends on the exact adversarial loss, which therefore never rises, whatever λ."
        )
    losses = pair.atnmf.history["adversarial_loss"]
    rises = int((losses[1:] > losses[:-1]).sum())
    return (
        f"Algorithm 1 has no guarantee of descent: AT-NMF's loss rose in {rises} of {len(losses) - 1} outer "
        "iterations. The fast solver's never does."
    )
