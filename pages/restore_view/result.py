"""The result: pictures, spectrum, and a closer look at the suspects that follows the threshold at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.restoration_report import AXES, reasons
from atnmf_core.problem import Mask
from atnmf_core.restoration.lines import BadLine, in_short
from atnmf_core.restoration.path import BOUND
from atnmf_core.restoration.suspects import shares_along
from pages.common.components import component

from .below_result import REACHED
from .limits import show_limits
from .pictures import choose_picture, show_pictures
from .request import Restored, at_threshold
from .rivals import rivals_of, show_rivals_switch
from .setting import ADDRESS, RestoreSetting
from .spectrum import show_spectrum

FEW = 0.01
"""Up to this share of the wanted entries, those that cannot be restored are worth a line and no warning."""


def show_result(setting: RestoreSetting, shown: Restored) -> None:
    """A fragment: looking around changes nothing else on the page but what can be taken away."""
    st.fragment(_result)(setting, shown)


def _result(setting: RestoreSetting, shown: Restored) -> None:
    ADDRESS.restore()
    now = ADDRESS.get(RestoreSetting)
    others, shown = rivals_of(now, shown), at_threshold(now, shown)
    data, restoration, marked = shown.data, shown.restoration, now.losses == "marked"
    choose_picture(now, shown.truth or data)
    show_pictures(now, shown, others)
    show_rivals_switch(now, shown)
    _unrestorable(shown)
    left, right = st.columns(2, gap="medium") if data.kind == "cube" or not marked else [st.container()] * 2
    if data.kind == "cube":
        with left:
            show_spectrum(now, shown)
    if not marked:
        with right if data.kind == "cube" else left:
            _suspects(shown)
    with right:
        show_limits(now, shown)
    wrong = ~data.observed if marked else restoration.defects
    if wrong.any():
        _bars("Missing" if marked else "Defects", data, wrong, restoration.lines, now.colour)
    ADDRESS.write()
    offered = st.session_state.get(REACHED) or shown.truth is None
    if offered and (now.threshold, now.side) != (setting.threshold, setting.side):
        st.rerun()


def _suspects(shown: Restored) -> None:
    """The threshold, and what it lets through."""
    wrong, lines = shown.restoration.defects, shown.restoration.lines
    ADDRESS.draw("threshold")
    ADDRESS.draw("side")
    st.markdown(
        f"**{int(wrong.sum()):,}** of {shown.data.V.size:,} entries count as defects, {wrong.mean():.2%}. "
        + _found(shown, wrong)
    )
    if lines:
        short = in_short(lines)
        listed = "" if short == ", ".join(map(str, lines)) else " The report lists them all."
        st.markdown(f"Bad as a whole: **{short}**.{listed}")


def _bars(what: str, data: Dataset, wrong: Mask, lines: Sequence[BadLine], colour: str) -> None:
    """Where defects, or missing entries, are many: along the bands, the rows and the columns."""
    charts = [
        {
            "title": f"{what} by {name}, %",
            "label": _label(what, name, shares),
            "shares": shares.tolist(),
            "bad": [[line.first, line.last] for line in lines if line.what == name and line.bands is None],
        }
        for name, shares in shares_along(wrong, data).items()
    ]
    component("bars", "chart", page="restore_view")(
        key="restore_bars", data={"charts": charts, "colour": HIDDEN[colour]}
    )


def _label(what: str, name: str, shares: npt.NDArray[np.floating]) -> str:
    worst = int(shares.argmax())
    return f"{what} by {name}: most in {name} {worst + 1}, {shares[worst]:.0%}"


def _found(shown: Restored, wrong: Mask) -> str:
    """Against the damage that was done, where it is known."""
    if shown.wrong is None or not shown.wrong.any() or not wrong.any():
        return ""
    hits = int((wrong & shown.wrong).sum())
    return (
        f"They include **{hits / shown.wrong.sum():.0%}** of the {int(shown.wrong.sum()):,} damaged entries; "
        f"**{hits / wrong.sum():.0%}** of them were in fact damaged."
    )


def _unrestorable(shown: Restored) -> None:
    lost, held = int(shown.restoration.unrestorable.sum()), int(shown.restoration.bounded.sum())
    if lost:
        said = (
            f"{lost:,} {'entry' if lost == 1 else 'entries'} cannot be restored and will be NaN in the files "
            "to take away. " + " ".join(reasons(shown.data, shown.restoration))
        )
        wanted = int((shown.restoration.defects | ~shown.data.observed).sum())
        if lost > FEW * wanted:
            st.warning(said, icon=":material/visibility_off:")
        else:
            st.caption(said)
    if held:
        row = AXES[shown.data.kind][0]
        st.caption(
            f"{held:,} {'prediction' if held == 1 else 'predictions'} far above everything measured in the "
            f"same {row} {'was' if held == 1 else 'were'} lowered to {BOUND:g} times the largest value there."
        )
