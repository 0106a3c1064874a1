"""What would others have made of it? NMF, L1-NMF and inpainting on the same data, when somebody asks."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import rmse
from atnmf_core.names import three_digits
from atnmf_core.restoration.rivals import INPAINTING, L1, NMF, Rivals, RivalsProgress, run_rivals
from pages.common.markdown import plain

from .outcomes import outcomes, show_progress
from .request import Key, Restored, key_of
from .setting import ADDRESS, RestoreSetting

PARTS = {NMF: (0.0, 0.1), L1: (0.1, 0.8), INPAINTING: (0.8, 1.0)}
"""How far the whole is when each method begins and ends."""
RIVAL_TONES = {NMF: "blue"}
Array = npt.NDArray[Any]


class RivalsKey(NamedTuple):
    """What the other methods are given, which depends on the whole restoration."""

    restoration: Key


def _key(setting: RestoreSetting, shown: Restored) -> RivalsKey:
    return RivalsKey(key_of(setting, shown.truth or shown.data))


def rivals_of(setting: RestoreSetting, shown: Restored) -> dict[str, Array]:
    """The data as each of the others returns it, by name; started if wanted and not known yet."""
    if not setting.others:
        return {}
    key = _key(setting, shown)
    found = outcomes().get(key)
    if found is not None:
        return _made_whole(key, found, shown)
    if outcomes().failure(key) is None:
        restoration = shown.restoration
        task = partial(
            run_rivals,
            data=shown.data,
            losses=setting.losses,
            replaced=_replaced(shown),
            K=restoration.fit.W.shape[1],
            seed=setting.seed,
            counted=None if shown.truth is None else shown.truth.observed,
        )
        outcomes().start(key, task)
    return {}


@st.cache_resource(show_spinner=False, max_entries=2)
def _made_whole(key: RivalsKey, _rivals: Rivals, _shown: Restored) -> dict[str, Array]:
    return _rivals.made_whole(_shown.data.V, _replaced(_shown))


def _replaced(shown: Restored) -> npt.NDArray[np.bool_]:
    return shown.restoration.defects | ~shown.data.observed


def what_it_knows(setting: RestoreSetting, name: str) -> str:
    """What a method knows, in words."""
    marked = setting.losses == "marked"
    return {
        NMF: "takes the gaps for zeros" if marked else "takes every entry for sound",
        L1: "told the gaps" if marked else "gives large residuals little weight",
        INPAINTING: "fills the gaps" if marked else "fills the defects that were found",
    }[name]


def error_of(setting: RestoreSetting, shown: Restored, V: Array) -> str:
    """The same measure for all methods, where the truth is known: over all entries, as methods that do not
    know the damage change sound entries too; with marked losses, which are all that changes, over these.
    """
    if shown.truth is None or shown.wrong is None:
        return ""
    marked = setting.losses == "marked"
    where = (shown.wrong if marked else shown.truth.observed) & ~shown.restoration.unrestorable
    over = "at the missing entries" if marked else "over all entries"
    return f"<b>{three_digits(rmse(shown.truth.V, V, where))}</b> RMSE {over}"


def show_rivals_switch(setting: RestoreSetting, shown: Restored) -> None:
    """The switch that asks for them, and their progress."""
    ADDRESS.draw("others")
    if not setting.others:
        return
    key = _key(setting, shown)
    failure = outcomes().failure(key)
    if failure is not None:
        st.error(f"The others could not be run: {plain(str(failure.error))}", icon=":material/error:")
    elif outcomes().get(key) is None:
        show_progress(key, _how_far, restore_others=False)


def _how_far(progress: RivalsProgress | None) -> tuple[float, str]:
    if progress is None:
        return 0.0, "Starting"
    begin, end = PARTS[progress.name]
    return begin + (end - begin) * progress.share, f"{progress.name} is running"
