"""Ignored or zeros: both errors under either treatment of hidden entries, and the switch between them."""

from __future__ import annotations

import time

import streamlit as st

from atnmf_core import Dataset
from pages.common import fit_pair
from pages.common.address import change
from pages.common.setting import Setting

from .extra_fits import REST_SECONDS, errors_of, has_rested, missing, request_errors
from .lambda_curve import is_traced

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
    unknown = missing(fit_pair.keys(other, data))
    waits = bool(unknown) and fit_pair.expected(other, data) < fit_pair.LIVE_SECONDS
    with st.container(key="callout", horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width="stretch", gap=None):
            poll = REST_SECONDS if waits else None
            st.fragment(_show_errors, run_every=poll)(setting, data, pair, waits, time.monotonic())
            st.caption(WHY)
        st.button(
            SWITCH[setting.missing],
            type="primary" if setting.missing == "zero" else "secondary",
            on_click=change,
            kwargs={"missing": other.missing},
        )


def _show_errors(setting: Setting, data: Dataset, pair: fit_pair.Pair, waits: bool, since: float) -> None:
    noun = {"faces": "all faces", "cube": "the whole cube", "matrix": "the whole matrix"}[data.kind]
    here = _in_words((pair.atnmf.rmse_hidden, pair.nmf.rmse_hidden))
    text = f"{NOW[setting.missing]}. RMSE over {noun}: {here}."
    keys = fit_pair.keys(fit_pair.other_treatment(setting), data)
    instead = errors_of(keys)
    if instead is not None:
        text += f" {INSTEAD[setting.missing]}: {_in_words(instead)}."
    st.markdown(text)
    if waits and has_rested(since):
        request_errors(keys, data)
    if waits and not missing(keys) and not is_traced(setting, data):
        # Nothing is left to wait for; the page drawn again asks for no more.
        st.rerun()


def _in_words(errors: tuple[float, float]) -> str:
    atnmf, nmf = (_short(error) for error in errors)
    return f":orange[AT-NMF **{atnmf}**] · :blue[NMF **{nmf}**]"


def _short(error: float) -> str:
    if error < LEAST:
        return f"< {LEAST:g}"
    return f"{error:.3f}" if error >= 0.01 else f"{error:.2g}"
