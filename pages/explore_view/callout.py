"""Marked or unmarked: which problem is solved, which method wins and by how much, under either treatment of
hidden entries; and the switch between them.
"""

from __future__ import annotations

import time
from math import isnan

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.adversary import curvature
from pages.common import fit_pair
from pages.common.address import change
from pages.common.setting import Setting
from pages.common.visitors import poll_interval

from .extra_fits import REST_SECONDS, has_rested, known_errors, missing, request_errors
from .lambda_curve import is_traced

PROBLEM = {
    "zero": "**Unmarked losses.** The solver is not told which pixels are hidden: they look like zeros",
    "ignore": "**Marked losses.** The solver knows which pixels are hidden and leaves them out",
}
INSTEAD = {"zero": "Marked instead", "ignore": "Unmarked instead"}
SWITCH = {"zero": "Mark hidden pixels", "ignore": "Leave them unmarked"}
NEAR = 0.02
"""Errors that differ by less than this share count as nearly equal: random starts differ as much."""
LEAST = 0.001
STRONG = 1.05


def show_callout(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    """The error here, the error under the other treatment, and why they differ."""
    if isnan(pair.nmf.rmse_hidden):
        st.info("Nothing known is hidden: all measured entries count, and no error is measured.")
        return
    other = fit_pair.other_treatment(setting)
    unknown = missing(fit_pair.keys(other, data))
    waits = bool(unknown) and fit_pair.expected(other, data) < fit_pair.LIVE_SECONDS
    with st.container(key="callout", horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width="stretch", gap=None):
            poll = poll_interval(REST_SECONDS) if waits else None
            st.fragment(_show_errors, run_every=poll)(setting, data, pair, waits, time.monotonic())
            st.caption(_why(setting))
        st.button(
            SWITCH[setting.missing],
            type="primary" if setting.missing == "zero" else "secondary",
            on_click=change,
            kwargs={"missing": other.missing},
        )


def _show_errors(setting: Setting, data: Dataset, pair: fit_pair.Pair, waits: bool, since: float) -> None:
    noun = {"faces": "all faces", "cube": "the whole cube", "matrix": "the whole matrix"}[data.kind]
    here = _in_words(pair.atnmf.rmse_hidden, pair.nmf.rmse_hidden)
    text = f"{PROBLEM[setting.missing]}. RMSE over {noun}: {here}."
    keys = fit_pair.keys(fit_pair.other_treatment(setting), data)
    instead = known_errors(keys)
    if instead is not None:
        text += f" {INSTEAD[setting.missing]}: {_in_words(*instead)}."
    st.markdown(text)
    if waits and has_rested(since):
        request_errors(keys, data)
    if waits and not missing(keys) and not is_traced(setting, data):
        # There is nothing left to wait for: redraw the page without polling.
        st.rerun()


def _why(setting: Setting) -> str:
    if setting.missing == "ignore":
        return (
            "What is left out pulls no prediction towards black, so there is no pull for the adversary to "
            "loosen: both methods predict from the observed pixels alone."
        )
    brighter = "" if setting.bound is None else " or, on its leash, far brighter"
    stronger = (
        "" if setting.lam <= STRONG else f", at λ\u00a0=\u00a0{STRONG:g} only 1/{curvature(STRONG):.3g}"
    )
    return (
        "Taken for zeros, hidden pixels pull every prediction towards black. The adversary gives up on "
        f"pixels far darker{brighter} than their prediction: at λ\u00a0=\u00a0{setting.lam:g} such a pixel "
        f"weighs 1/{curvature(setting.lam):.3g} of a sound one{stronger}."
    )


def _in_words(atnmf: float, nmf: float) -> str:
    errors = f":orange[AT-NMF\u00a0**{_short(atnmf)}**] · :blue[NMF\u00a0**{_short(nmf)}**]"
    return f"{errors}, {_verdict(atnmf, nmf)}"


def _verdict(atnmf: float, nmf: float) -> str:
    """Which method wins, and by what share of the other's error."""
    name, better, worse = ("AT-NMF", atnmf, nmf) if atnmf < nmf else ("NMF", nmf, atnmf)
    share = 1 - better / worse if worse > 0 else 0.0
    if share < NEAR or worse < LEAST:
        return "about equal"
    return f"**{name} wins by {share:.0%}**"


def _short(error: float) -> str:
    if error < LEAST:
        return f"< {LEAST:g}"
    return f"{error:.3f}" if error >= 0.01 else f"{error:.2g}"
