"""Ignored or zeros: both errors under either treatment of hidden entries, and the switch between them."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from pages.common import fit_pair
from pages.common.address import change
from pages.common.setting import Setting

__all__ = ["show_callout"]

WHY = (
    "Fitted as zeros, hidden pixels pull every prediction towards black, and a strong adversary only loosens "
    "that pull. Ignored, they pull nothing: both methods then predict from what was observed alone."
)
SWITCH = {"zero": "Ignore hidden pixels", "ignore": "Fit them as zeros"}
NOW = {
    "zero": "Hidden pixels are **fitted as zeros**, as in the paper's released code",
    "ignore": "Hidden pixels are **ignored**, as in the paper's text",
}
LEAST = 0.001
INSTEAD = {"zero": "Ignored instead", "ignore": "Fitted as zeros instead"}


def show_callout(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    """What hiding costs here, what it would cost under the other treatment, and why."""
    other = fit_pair.other_treatment(setting)
    quick = fit_pair.expected(other, data) < fit_pair.LIVE_SECONDS
    if quick:
        fit_pair.start(other, data, long=False)
    instead = fit_pair.wait_a_little(other, data)
    noun = {"faces": "all faces", "cube": "the whole cube", "matrix": "the whole matrix"}[data.kind]
    text = f"{NOW[setting.missing]}. RMSE over {noun}: {_errors(pair)}."
    if instead is not None:
        text += f" {INSTEAD[setting.missing]}: {_errors(instead)}."
    with st.container(key="callout", horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width="stretch", gap=None):
            st.markdown(text)
            st.caption(WHY)
        st.button(
            SWITCH[setting.missing],
            type="primary" if setting.missing == "zero" else "secondary",
            on_click=change,
            kwargs={"missing": other.missing},
        )


def _errors(pair: fit_pair.Pair) -> str:
    atnmf, nmf = (_short(run.rmse_hidden) for run in (pair.atnmf, pair.nmf))
    return f":orange[AT-NMF **{atnmf}**] · :blue[NMF **{nmf}**]"


def _short(error: float) -> str:
    if error < LEAST:
        return f"< {LEAST:g}"
    return f"{error:.3f}" if error >= 0.01 else f"{error:.2g}"
