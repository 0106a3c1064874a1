"""What a reader needs beside the numbers: the two treatments of hidden entries, and every exception."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from atnmf_core.names import ANMF_NOTE, METHOD_NAMES
from atnmf_core.reference.compare import Cell, exception_reason, method_title, small_spread
from atnmf_core.reference.protocol import PROTOCOLS


def show_treatments(cells: Sequence[Cell], alpha: float) -> None:
    """Unmarked or marked: the one difference between the released code and the paper's text."""
    st.markdown("**Hidden entries: unmarked or marked**")
    st.markdown(
        "The paper's text leaves hidden entries out. The authors' code masks only the numerator of its "
        "updates, with M = 1 where V is observed:"
    )
    st.html(_update("W H"))
    st.markdown(
        "The denominator counts every entry, so hidden ones look like measured zeros: they are **unmarked**. "
        "So the published tables tell how well an adversary copes with losses that nobody has marked. "
        f"{gain_in_words(cells, alpha)}"
    )
    if tuned := tuned_in_words(cells, alpha):
        st.markdown(tuned)
    st.markdown("With the mask in both places hidden entries are **marked**, and left out:")
    st.html(_update("(M ∘ W H)"))
    if example := _example(cells, alpha):
        st.markdown(example)


def show_notes(table: str, cells: Sequence[Cell]) -> None:
    """Where this table's run differs from the paper's text, and which cells do not agree, with the reason."""
    if PROTOCOLS[table].note:
        st.markdown(PROTOCOLS[table].note)
    st.markdown(f":violet[**{METHOD_NAMES['anmf']}.**] {ANMF_NOTE}")
    outside = [cell for cell in cells if cell.agreement == "outside" and cell.published.method != "anmf"]
    if outside:
        st.markdown("**Outside the published spread**")
    for cell in outside:
        _, method, lam = cell.key
        st.markdown(
            f"- {method_title(method, lam)} at α = {cell.published.alpha:g}: {exception_reason(cell)}."
        )


def _update(denominator: str) -> str:
    """The step on H in plain HTML: a formula in LaTeX would first load a whole typesetter."""
    numerator = "W<sup>⊤</sup>(M ∘ V)"
    fraction = (
        '<span style="display:inline-grid;justify-items:center;vertical-align:middle;margin-left:0.3em">'
        f'<span style="border-bottom:1px solid;padding:0 0.4em">{numerator}</span>'
        f"<span>W<sup>⊤</sup>{denominator}</span></span>"
    )
    return f'<div style="text-align:center;font-family:serif;font-size:1.0625rem">H ← H ∘ {fraction}</div>'


def gain_in_words(cells: Sequence[Cell], alpha: float) -> str:
    """What the adversary gains over NMF in the published table, at the chosen alpha."""
    here = {cell.key: cell.published.mean for cell in cells if cell.published.alpha == alpha}
    nmf = here[alpha, "nmf", None]
    (_, _, lam), mean = min(
        ((key, mean) for key, mean in here.items() if key[1] == "atnmf"), key=lambda one: one[1]
    )
    return (
        f"At α = {alpha:g} the error of AT-NMF is {mean:g} (λ = {lam:g}), NMF's {nmf:g}: "
        f"{1 - mean / nmf:.0%} less."
    )


def tuned_in_words(cells: Sequence[Cell], alpha: float) -> str:
    """What the adversary gains on the same unmarked entries with the lambda that held-out ones choose."""
    cell = next(cell for cell in cells if cell.key[:2] == (alpha, "atnmf"))
    nmf = next(one.published.mean for one in cells if one.key == (alpha, "nmf", None))
    if cell.tuned is None:
        return ""
    gain = 1 - cell.tuned.mean / nmf
    return (
        "**λ tuned**: the same unmarked entries, the fast solver, and the λ that best predicts a tenth of "
        "the nonzero entries, held out. That needs no truth, and the error is "
        f"{small_spread(cell.tuned.mean, None)} (λ = {cell.tuned.lam:g}), {gain:.0%} below NMF's."
    )


def _example(cells: Sequence[Cell], alpha: float) -> str:
    """What marking hidden entries does to NMF, and then to the lead of AT-NMF, at the chosen alpha."""
    cell = next(cell for cell in cells if cell.key == (alpha, "nmf", None))
    if cell.ignore is None:
        return ""
    before, after = cell.published.mean, cell.ignore.mean
    example = f"That turns NMF's published {before:g} into **{small_spread(after, None)}**"
    if after > before:
        return f"{example}: so little is observed there that it does not determine K parts."
    others = [one.ignore.mean for one in cells if one.key[:2] == (alpha, "atnmf") and one.ignore is not None]
    lead = f"; AT-NMF's best is {small_spread(min(others), None)}" if others else ""
    return f"{example}{lead}."
