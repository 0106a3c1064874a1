"""What came of it, in a sentence or two, and how the setting was chosen."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.restoration import adversary_map, candidate_at, error_against_K
from atnmf_core.restoration import Choice
from atnmf_core.restoration.bench import Errors
from pages.common.address import change
from pages.common.setting import MAX_LAM

from .request import Restored, ask, choice_of, key_of
from .setting import ADDRESS, RestoreSetting

__all__ = ["show_choice", "show_verdict"]

PLAIN = {"displayModeBar": False}
CHART = "restore_K"


def show_verdict(setting: RestoreSetting, shown: Restored) -> None:
    """The errors against the truth or, without one, what was found and how far it can be trusted."""
    with st.container(key="callout"):
        st.markdown(_sentence(setting, shown))
        choice = shown.restoration.choice
        if choice is not None:
            st.caption(choice.verdict)


def _sentence(setting: RestoreSetting, shown: Restored) -> str:
    if shown.errors is not None:
        return (_of_marked if setting.losses == "marked" else _of_unmarked)(setting, shown.errors)
    restoration, data = shown.restoration, shown.data
    found, missing = int(restoration.defects.sum()), int((~data.observed).sum())
    lost = int(restoration.unrestorable.sum())
    if setting.losses == "marked":
        if lost == missing:
            return f"None of the **{missing:,}** missing entries can be predicted."
        return f"**{missing - lost:,}** missing entries are predicted, {_give_or_take(shown)}."
    if not found and not missing:
        return (
            "**No entry looks wrong: nothing to restore.** Lower the threshold to see what comes nearest to "
            "a defect, or try damage in the sidebar to see what would be found."
        )
    also = f", and {missing:,} were missing" if missing else ""
    predicted = f"{_some(found + missing - lost, found + missing)} predicted"
    if lost < found + missing:
        predicted += f", {_give_or_take(shown)}"
    return (
        f"**{found:,}** entries look wrong ({found / data.V.size:.2%}){also}. {predicted}; all others stay "
        "as they were measured."
    )


def _some(predicted: int, wanted: int) -> str:
    if predicted == wanted:
        return "They are"
    return f"{predicted:,} of these are" if predicted else "None of these can be"


def _give_or_take(shown: Restored) -> str:
    """What a prediction is typically off by."""
    restoration = shown.restoration
    changed = (restoration.defects | ~shown.data.observed) & ~restoration.unrestorable
    return f"each give or take about **{float(np.sqrt(np.mean(restoration.deviation[changed] ** 2))):.3g}**"


def _of_unmarked(setting: RestoreSetting, errors: Errors) -> str:
    return (
        f":orange[AT-NMF], not told which entries are bad, is off by **{errors.restored:.3g}**; "
        f":blue[NMF] by **{errors.nmf:.3g}**; NMF told the bad entries by **{errors.told:.3g}**. "
        f"It found {errors.recall:.0%} of them, and {errors.precision:.0%} of what it found was bad."
    )


def _of_marked(setting: RestoreSetting, errors: Errors) -> str:
    return (
        f"The missing entries are predicted to within **{errors.restored:.3g}** (root mean square). NMF that "
        f"takes them for zeros is off by **{errors.nmf:.3g}**; leaving them empty, by {errors.damaged:.3g}."
    )


def show_choice(setting: RestoreSetting, data: Dataset) -> None:
    """The held-out error against K, and as a map of lambda and leash; a point of the first can be chosen."""
    choice = choice_of(setting, data)
    if choice is None:
        return
    st.subheader("Why this setting", anchor=False)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.plotly_chart(
            error_against_K(choice, height=320),
            key=CHART,
            config=PLAIN,
            on_select=partial(_choose, choice, data),
            selection_mode="points",
        )
        st.caption("Click a point to restore with that setting.")
    with right:
        st.plotly_chart(adversary_map(choice), key="restore_map", config=PLAIN)


def _choose(choice: Choice, data: Dataset) -> None:
    """Set by hand what was clicked, and have it restored."""
    points = st.session_state[CHART].selection.points
    if not points:
        return
    chosen = candidate_at(choice, points[0]["x"], points[0]["y"])
    if chosen is None:
        return
    lam, leash = chosen.treatment.lam, chosen.treatment.leash
    change(
        restore_by="hand",
        K=chosen.K,
        lam=MAX_LAM if lam is None else lam,
        leash=math.inf if leash is None else leash,
    )
    ask(key_of(ADDRESS.get(RestoreSetting), data))
