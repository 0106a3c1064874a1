"""The result: pictures, spectrum, and a closer look at the suspects that follows the threshold at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.restoration_report import reasons
from atnmf_core.problem import Mask
from atnmf_core.restoration.lines import BadLine, bad_lines
from atnmf_core.restoration.suspects import shares_along
from pages.common.components import component

from .limits import show_limits
from .pictures import choose_picture, show_pictures
from .request import Restored, apply_threshold
from .rivals import show_rivals_switch
from .setting import ADDRESS, RestoreSetting
from .spectrum import show_spectrum

__all__ = ["show_result"]

MANY_LINES = 4


def show_result(shown: Restored) -> None:
    """A fragment: looking around changes nothing else on the page."""
    st.fragment(_result)(shown)


def _result(shown: Restored) -> None:
    ADDRESS.restore()
    now = ADDRESS.get(RestoreSetting)
    thresholded = apply_threshold(now, shown)
    choose_picture(now, shown.data)
    show_pictures(now, shown, thresholded)
    show_rivals_switch(now, shown)
    _unrestorable(shown)
    data, marked = shown.data, now.losses == "marked"
    lines = () if marked else bad_lines(thresholded.suspects, data.observed, data.layout)
    if data.kind == "cube":
        spectrum, beside = st.columns(2, gap="large")
        with spectrum:
            show_spectrum(now, shown, thresholded)
    else:
        beside = st.container()
    with beside:
        if not marked:
            _suspects(shown, thresholded.suspects, lines)
        show_limits(now, shown, thresholded)
    _bars(
        "Missing" if marked else "Defects",
        data,
        ~data.observed if marked else thresholded.suspects,
        lines,
        now.colour,
    )
    ADDRESS.write()


def _suspects(shown: Restored, wrong: Mask, lines: Sequence[BadLine]) -> None:
    """The threshold, and what it lets through."""
    ADDRESS.draw("threshold")
    ADDRESS.draw("side")
    st.markdown(
        f"**{int(wrong.sum()):,}** of {shown.data.V.size:,} entries count as defects, {wrong.mean():.2%}. "
        + _found(shown, wrong)
    )
    if lines:
        named = [str(line) for line in lines[:MANY_LINES]]
        more = f", and {len(lines) - MANY_LINES:,} more" if len(lines) > MANY_LINES else ""
        st.markdown(f"Bad as a whole: **{', '.join(named)}**{more}.")


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
        st.warning(
            f"{lost:,} entries cannot be restored; they are NaN in the files to take away. "
            + " ".join(reasons(shown.data, shown.restoration)),
            icon=":material/visibility_off:",
        )
    if held:
        st.caption(
            f"{held:,} predictions exceeded everything measured in their row, and were lowered to the "
            "largest value there."
        )
