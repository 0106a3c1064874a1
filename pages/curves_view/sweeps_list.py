"""The list of this machine's sweeps, each to open, cancel, resume, rename or delete."""

from __future__ import annotations

import streamlit as st

from atnmf_core.problem import TREATMENT_NAMES
from atnmf_core.sweep import MAX_NAME_LENGTH, Grid, SweepRecord, default_store, open_store
from pages.common.markdown import plain
from pages.common.sweep_store import reading_store, refusing
from pages.common.sweeping import cancel_sweep, queue_sweep

from .curve import FIRST, address_of
from .plan import METHODS
from .state import key
from .status import how_far

__all__ = ["records", "show_sweeps"]

ICONS = {
    "running": ":material/progress_activity:",
    "queued": ":material/schedule:",
    "stopped": ":material/pause_circle:",
    "finished": ":material/check_circle:",
}
LISTED_AT_FIRST = 8
"""How many are listed until somebody asks for all."""


def records() -> list[SweepRecord]:
    """The sweeps in the store, those under way first, then the newest; runs of the paper's tables are listed
    on their own page.
    """
    with reading_store() as store:
        everything = [] if store is None else store.sweeps()
    found = [record for record in everything if record.reproduces is None]
    return sorted(found, key=lambda record: (record.status not in ("running", "queued"), record.place or 0))


def show_sweeps(sweeps: list[SweepRecord]) -> None:
    """One line per sweep."""
    st.subheader("Your sweeps", anchor=False)
    if not sweeps:
        st.caption(
            "None yet. Choose values in the sidebar and press Start: the curve grows here, goes on growing "
            "when this page is closed, and is stored."
        )
        return
    everything = st.session_state.get("curves_all", False)
    for record in sweeps if everything else sweeps[:LISTED_AT_FIRST]:
        _line(record)
    if len(sweeps) > LISTED_AT_FIRST and not everything:
        st.button(f"Show all {len(sweeps)}", type="tertiary", on_click=_show_all)


def _show_all() -> None:
    st.session_state["curves_all"] = True


def _line(record: SweepRecord) -> None:
    shown = st.session_state[key("show")] == f"sweep:{record.name}"
    with st.container(
        key=f"curves_line_{record.created:.6f}".replace(".", "_"),
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        border=shown,
    ):
        with st.container(width="stretch", gap=None):
            st.markdown(f"{ICONS[record.status]} **{plain(record.name)}**")
            st.caption(f"{settings(record.grid)} · {how_far(record)}")
        if not shown:
            _button(record, "Open", _open, "open")
        if record.status in ("running", "queued"):
            _button(record, "Cancel", refusing(cancel_sweep), "stop")
        elif record.status == "stopped":
            _button(record, "Resume", refusing(queue_sweep), "play_arrow")
        _menu(record)


def _button(record: SweepRecord, label: str, action: object, icon: str) -> None:
    icons = {
        "open": ":material/show_chart:",
        "stop": ":material/stop:",
        "play_arrow": ":material/play_arrow:",
    }
    st.button(label, key=f"{label} {record.name}", icon=icons[icon], on_click=action, args=(record.name,))


def _open(name: str) -> None:
    st.session_state.update(
        {key("show"): f"sweep:{name}", key("at_alpha"): None, key("at_missing"): None, key("at_K"): None}
    )


def _menu(record: SweepRecord) -> None:
    is_active = record.status in ("running", "queued")
    with st.popover("More", help=f"Rename or delete {plain(record.name)}"):
        if is_active:
            st.caption("Cancel it before renaming or deleting it.")
            return
        field = f"name {record.name}"
        st.text_input("Name", value=record.name, max_chars=MAX_NAME_LENGTH, key=field)
        st.button("Rename", key=f"rename {record.name}", on_click=_rename, args=(record.name, field))
        st.divider()
        st.caption(f"Its {record.done} fits are deleted with it, except those that another sweep shares.")
        st.button("Delete for good", key=f"delete {record.name}", on_click=_delete, args=(record.name,))


@refusing
def _rename(name: str, field: str) -> None:
    with open_store(default_store()) as store:
        new = store.rename_sweep(name, st.session_state[field])
    if st.session_state[key("show")] == f"sweep:{name}":
        st.session_state[key("show")] = f"sweep:{new}"


@refusing
def _delete(name: str) -> None:
    with open_store(default_store()) as store:
        store.delete_sweep(name)
    if st.session_state[key("show")] == f"sweep:{name}":
        st.session_state[key("show")] = address_of(FIRST)


def settings(grid: Grid) -> str:
    """What a sweep covers, in one line."""
    alphas = ", ".join(f"{alpha:g}" for alpha in grid.alphas)
    lams = f", λ {min(grid.lams):g}–{max(grid.lams):g} ({len(grid.lams)})" if grid.lams else ""
    methods = ", ".join(METHODS[method] for method in grid.methods)
    hidden = " and ".join(TREATMENT_NAMES[one] for one in grid.missing)
    solver = "Algorithm 1" if grid.solver == "paper" else "fast solver"
    Ks = ", ".join(map(str, grid.Ks))
    starts = f"{grid.starts} starts" if grid.starts > 1 else "one start"
    return f"{methods}, α {alphas}{lams}, K {Ks}, hidden {hidden}, {solver}, {starts}"
