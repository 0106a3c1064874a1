"""The result: pictures, spectrum, and a closer look at the suspects that follows the threshold at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.restoration_report import reasons
from atnmf_core.restoration.layout import Layout
from atnmf_core.restoration.lines import bad_lines
from atnmf_core.restoration.suspects import shares_along
from pages.common.components import component

from .limits import show_limits
from .pictures import choose_picture, show_pictures
from .request import Restored, look_at
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
    look = look_at(now, shown)
    choose_picture(now, shown.data)
    show_pictures(now, shown, look)
    show_rivals_switch(now, shown)
    _unrestorable(shown)
    if shown.data.kind == "cube":
        spectrum, suspects = st.columns(2, gap="large")
        with spectrum:
            show_spectrum(now, shown, look)
    else:
        suspects = st.container()
    with suspects:
        if now.losses == "unmarked":
            _suspects(now, shown, look.suspects)
        show_limits(now, shown, look)
    ADDRESS.write()


def _suspects(now: RestoreSetting, shown: Restored, wrong: npt.NDArray[np.bool_]) -> None:
    """The threshold, what it lets through, and where that is."""
    ADDRESS.draw("threshold")
    ADDRESS.draw("side")
    data = shown.data
    st.markdown(
        f"**{int(wrong.sum()):,}** of {data.V.size:,} entries count as defects, {wrong.mean():.2%}. "
        + _found(shown, wrong)
    )
    lines = bad_lines(wrong, data.observed, Layout(data.kind, data.image_shape, data.order))
    if lines:
        named = [str(line) for line in lines[:MANY_LINES]]
        more = f", and {len(lines) - MANY_LINES:,} more" if len(lines) > MANY_LINES else ""
        st.markdown(f"Bad as a whole: **{', '.join(named)}**{more}.")
    charts = [
        {
            "title": f"Defects by {name}, %",
            "label": _label(name, shares),
            "shares": shares.tolist(),
            "bad": [[line.first, line.last] for line in lines if line.what == name and line.bands is None],
        }
        for name, shares in shares_along(wrong, data).items()
    ]
    component("bars", "chart", page="restore_view")(
        key="restore_bars", data={"charts": charts, "colour": HIDDEN[now.colour]}
    )


def _label(name: str, shares) -> str:
    worst = int(shares.argmax())
    return f"Share of defects by {name}; most in {name} {worst + 1}, {shares[worst]:.0%}"


def _found(shown: Restored, wrong) -> str:
    """Against the damage that was done, where it is known."""
    if shown.wrong is None or not shown.wrong.any() or not wrong.any():
        return ""
    hits = int((wrong & shown.wrong).sum())
    return (
        f"Of the {int(shown.wrong.sum()):,} entries that were damaged, **{hits / shown.wrong.sum():.0%}** "
        f"are among them; **{hits / wrong.sum():.0%}** of them were damaged."
    )


def _unrestorable(shown: Restored) -> None:
    lost, held = int(shown.restoration.unrestorable.sum()), int(shown.restoration.bounded.sum())
    if lost:
        st.warning(
            f"{lost:,} entries cannot be restored, and are NaN in what you take away. "
            + " ".join(reasons(shown.data, shown.restoration)),
            icon=":material/visibility_off:",
        )
    if held:
        st.caption(f"{held:,} predictions were above everything measured in their row, and are held there.")
