"""The chosen cell: all its numbers, and how each was made."""

from __future__ import annotations

import streamlit as st

from atnmf_core.figures.report import MARKS
from atnmf_core.reference.compare import (
    AGREEMENTS,
    CHAOTIC,
    Cell,
    exception_reason,
    mean_and_deviation,
    method_title,
    percent,
    provenance,
    small_spread,
)
from atnmf_core.sweep import Measurement
from atnmf_core.sweep.points import PAPER_STARTS

COLOURS = {"nmf": "blue", "anmf": "violet", "atnmf": "orange"}


def show_cell(cell: Cell, here: Cell) -> None:
    """The published and the bundled numbers of one cell, and those run on this machine."""
    row = cell.published
    title = method_title(row.method, row.lam)
    with st.container(gap="xsmall"):
        st.markdown(f"**:{COLOURS[row.method]}[{title}] at α = {row.alpha:g}**")
        st.markdown(f"Published **{mean_and_deviation(row.mean, row.deviation, cell.digits)}**")
        st.caption(f"{PAPER_STARTS} of {PAPER_STARTS} starts.")
        _number("Unmarked", cell)
        if here.zero is not None:
            _number("Unmarked, run here", here)
        _noise(cell)
        _tuned(cell)
        _marked("Marked", cell.ignore)
        if here.ignore is not None:
            _marked("Marked, run here", here.ignore)


def _number(words: str, cell: Cell) -> None:
    if cell.zero is None or cell.agreement is None or cell.difference is None:
        st.markdown(f"{words}: not yet")
        return
    verdict = f"{MARKS[cell.agreement]} {AGREEMENTS[cell.agreement]}"
    value = mean_and_deviation(cell.zero.mean, cell.zero.deviation, cell.digits + 1)
    st.markdown(f"{words} **{value}**, {percent(cell.difference)}: {verdict}")
    st.caption(f"{provenance(cell.zero)}.")
    if cell.agreement == "outside":
        st.caption(f"Why it may differ: {exception_reason(cell)}")


def _noise(cell: Cell) -> None:
    """How far the same start moves with a little noise, at the lambdas where Algorithm 1 may be chaotic."""
    if cell.disturbed is not None:
        st.caption(cell.disturbed.in_words(cell.digits + 1))
    elif cell.published.lam is not None and cell.published.lam <= CHAOTIC:
        st.caption("At this λ Algorithm 1 can be chaotic; how far noise moves this cell was not measured.")


def _tuned(cell: Cell) -> None:
    if cell.tuned is not None:
        value = small_spread(cell.tuned.mean, cell.tuned.deviation)
        st.markdown(f"Unmarked, λ tuned to {cell.tuned.lam:g} **{value}**")
        st.caption(f"{provenance(cell.tuned)}; λ chosen by held-out entries.")


def _marked(words: str, row: Measurement | None) -> None:
    if row is None:
        st.markdown(f"{words}: not measured")
        return
    st.markdown(f"{words} **{small_spread(row.mean, row.deviation)}**")
    st.caption(f"{provenance(row)}.")
