"""The sidebar of the Restore page: the data, what is wrong with it, and how it is to be restored."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from pages.common.address import change
from pages.common.data_choice import UPLOAD, choose_data, chosen_data
from pages.common.sidebar import clamp, draw_reset_and_link

from .large_scene import scene_path
from .setting import ADDRESS, DAMAGES, RestoreSetting


def show_sidebar() -> tuple[RestoreSetting, Dataset | None, str]:
    """Draw the sidebar, and return the setting, its data, if available, and the path of a scene on disk."""
    ADDRESS.follow()
    with st.sidebar:
        choose_data(then=_start_afresh)
        path = scene_path() if st.session_state["data"] == UPLOAD else ""
        data = chosen_data()
        if data is not None:
            clamp({"K": min(data.shape) - 1, "image": pictures.count(data)})
        ADDRESS.draw("losses", widget=st.radio)
        _missing(data)
        with st.expander("Damage to try", expanded=st.session_state["data"] != UPLOAD):
            for name in DAMAGES:
                ADDRESS.draw(name)
        ADDRESS.draw("by", width="stretch")
        if st.session_state["restore_by"] == "hand":
            for name in ("K", "lam", "leash"):
                ADDRESS.draw(name, **({"high": min(data.shape) - 1} if name == "K" and data else {}))
            if st.session_state["restore_losses"] == "unmarked":
                ADDRESS.draw("keep_suspects")
        with st.expander("Seeds and colour"):
            for name in ("seed", "damage_seed"):
                ADDRESS.draw(name)
            ADDRESS.draw("colour", width="stretch")
        draw_reset_and_link(ADDRESS)
    ADDRESS.write()
    return ADDRESS.get(RestoreSetting), data, path


def _start_afresh() -> None:
    """Other data: a file of one's own is restored as it is, sound data gets some damage to try."""
    first = RestoreSetting()
    own = st.session_state["data"] == UPLOAD
    shares = {name: 0.0 if own else getattr(first, name) for name in DAMAGES}
    change(**{f"restore_{name}": share for name, share in shares.items()}, pixel="", restore_run="")


def _missing(data: Dataset | None) -> None:
    """Say how much is missing in the data as it was read."""
    if data is None:
        return
    missing = int((~data.observed).sum())
    if missing:
        st.caption(
            f"{missing:,} of {data.V.size:,} entries ({missing / data.V.size:.1%}) have no value; they are "
            "predicted in any case."
        )
    elif st.session_state["restore_losses"] == "marked":
        st.caption("Every entry has a value. Damage tried below counts as missing.")
