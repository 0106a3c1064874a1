"""What came of it, in a sentence or two, and how the setting was chosen."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from atnmf_core import Dataset, Restoration
from atnmf_core.figures.restoration import adversary_map, candidate_at, error_against_K
from atnmf_core.names import three_digits
from atnmf_core.restoration import Choice
from atnmf_core.restoration.bench import Errors
from atnmf_core.restoration.scoring import WORTH_LEAVING_NMF
from pages.common.address import change
from pages.common.setting import MAX_LAM

from .request import Restored, ask, choice_of, key_of
from .setting import ADDRESS, RestoreSetting
from .take_away import show_download

WITHOUT_BUTTONS = {"displayModeBar": False}
CHART = "restore_K"
HOW_IT_WAS_CHOSEN = (
    "The simplest model below the dashed line is chosen, or plain NMF where no adversary predicts better by "
    f"{WORTH_LEAVING_NMF:.0%} or more. Open circles were dropped after a first look, "
    "crosses left out because their typical error was too large. Click a point to restore with that setting."
)


def show_nothing_missing() -> None:
    """Marked losses of data that has none, and what to do next."""
    st.info(
        "Nothing is missing in this data, so there is nothing to restore. Some entries may be wrong all the "
        "same: have them looked for, or try some damage in the sidebar.",
        icon=":material/check_circle:",
    )
    st.button(
        "Look for wrong entries",
        icon=":material/search:",
        on_click=change,
        kwargs={"restore_losses": "unmarked"},
    )


def show_verdict(setting: RestoreSetting, shown: Restored) -> None:
    """The errors against the truth or, without one, what was found and how far it can be trusted."""
    restoration = shown.restoration
    with st.container(key="callout", horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(gap="xsmall"):
            st.markdown(_sentence(setting, shown))
            if restoration.choice is not None:
                st.caption(restoration.choice.verdict)
        if shown.truth is None and (restoration.defects.any() or not shown.data.observed.all()):
            show_download(setting, shown)


def _sentence(setting: RestoreSetting, shown: Restored) -> str:
    if shown.errors is not None and setting.losses == "marked":
        return _of_marked(shown.errors)
    if shown.errors is not None:
        return _of_unmarked(shown.errors, _method(setting, shown.restoration))
    restoration, data = shown.restoration, shown.data
    found, missing = int(restoration.defects.sum()), int((~data.observed).sum())
    lost = int(restoration.unrestorable.sum())
    if setting.losses == "marked":
        if lost == missing:
            return f"None of the **{missing:,}** missing entries can be predicted."
        rest = f"; {lost:,} cannot be" if lost else ""
        return f"**{missing - lost:,}** missing entries are predicted, {_give_or_take(shown)}{rest}."
    if not found and not missing:
        return (
            "**No entry looks wrong:** there is nothing to restore. Lower the threshold to see what comes "
            "closest to a defect, or try some damage in the sidebar to see what would be found."
        )
    looks = f"**{found:,}** {'entry looks' if found == 1 else 'entries look'} wrong"
    also = f", and {missing:,} {'was' if missing == 1 else 'were'} missing" if missing else ""
    return (
        f"{looks} ({found / data.V.size:.2%}){also}. {_predicted(shown, found + missing - lost, lost)}; all "
        "others stay as they were measured."
    )


def _predicted(shown: Restored, predicted: int, lost: int) -> str:
    if not predicted:
        return "None of them can be predicted"
    those = f"{predicted:,} of them" if lost else "They" if predicted > 1 else "It"
    are = "is" if predicted == 1 else "are"
    rest = f", and {lost:,} cannot be" if lost else ""
    return f"{those} {are} predicted, {_give_or_take(shown)}{rest}"


def _give_or_take(shown: Restored) -> str:
    """How far off a prediction typically is."""
    restoration, data = shown.restoration, shown.data
    changed = (restoration.defects | ~data.observed) & ~restoration.unrestorable
    typical = float(np.sqrt(np.mean(restoration.deviation[changed] ** 2)))
    share = typical / float(data.V[data.observed].mean() or 1.0)
    return f"each give or take about **{three_digits(typical)}**, {share:.1%} of the mean value"


def _method(setting: RestoreSetting, restoration: Restoration) -> str:
    """What restored the data; empty for plain NMF."""
    if restoration.fit.lam is not None:
        return ":orange[AT-NMF]"
    choice = restoration.choice
    kept = setting.keep_suspects if choice is None else not choice.chosen.treatment.leave_out
    return "" if kept else ":orange[NMF without its suspects]"


def _of_unmarked(errors: Errors, method: str) -> str:
    beside = f"; :blue[NMF] by **{three_digits(errors.nmf)}**" if method else ""
    return (
        f"{method or ':blue[NMF]'}, not told which entries are bad, is off by "
        f"**{three_digits(errors.restored)}**{beside}; NMF told the bad entries by "
        f"**{three_digits(errors.told)}**. {errors.recall:.0%} of the bad entries were found, and "
        f"{errors.precision:.0%} of what was found was bad."
    )


def _of_marked(errors: Errors) -> str:
    return (
        f"The missing entries are predicted with an error of **{three_digits(errors.restored)}** (root mean "
        f"square). :blue[NMF] that takes them for zeros is off by **{three_digits(errors.nmf)}**; leaving "
        f"them at zero, by {three_digits(errors.damaged)}."
    )


def show_choice(setting: RestoreSetting, data: Dataset) -> None:
    """The held-out error against K, and as a map of lambda and leash; a point of the first can be chosen."""
    choice = choice_of(setting, data)
    if choice is None:
        return
    st.subheader("Why this setting" if setting.by == "search" else "What the search found", anchor=False)
    left, right = st.columns([4, 3], gap="medium")
    with left:
        st.markdown("**Error at entries that were held out, by number of parts**")
        st.plotly_chart(
            error_against_K(choice, height=320),
            key=CHART,
            config=WITHOUT_BUTTONS,
            alt="Held-out error against the number of parts K, a line for each adversary",
            on_select=partial(_choose, choice, data),
            selection_mode="points",
        )
        st.caption(HOW_IT_WAS_CHOSEN)
    with right:
        st.markdown("**Held-out error of each adversary, at its best K**")
        st.plotly_chart(
            adversary_map(choice),
            key="restore_map",
            config=WITHOUT_BUTTONS,
            alt="Held-out error by the adversary's price and leash",
        )


def _choose(choice: Choice, data: Dataset) -> None:
    """Restore with the setting that was clicked, as if set by hand."""
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
        restore_keep_suspects=not chosen.treatment.leave_out,
    )
    ask(key_of(ADDRESS.get(RestoreSetting), data))
