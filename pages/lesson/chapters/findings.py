"""Chapter 7: the paper's tables and ours in one picture."""

from __future__ import annotations

import streamlit as st

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.figures.lesson import findings_chart
from atnmf_core.lesson import Error, Finding, findings

from ..chapter import Chapter, Stage
from ..control import Choice, Stops

__all__ = ["FINDINGS"]

TITLES = {"synthetic": "Synthetic", "cbcl": "CBCL faces", "moffet": "Moffett Field", "madonna": "Madonna"}


def facts(stage: Stage) -> dict[str, str]:
    gains = [one.published_gain for one in findings(stage["alpha"])]
    return {"alpha": f"{stage['alpha']:g}", "least": f"{min(gains):.0%}", "most": f"{max(gains):.0%}"}


def show(stage: Stage) -> None:
    found = findings(stage["alpha"])
    both = stage["shown"] == "both"
    st.plotly_chart(
        findings_chart(found, TITLES, with_ignored=both, size=stage.letters),
        key=stage.key("chart"),
        config={"displayModeBar": False},
        alt="Errors of NMF and AT-NMF on four data sets as shares of NMF's published error",
    )
    st.markdown(_table(found, both))
    missing = [TITLES[one.name] for one in found if one.ignore_nmf is None or one.ignore_atnmf is None]
    if both and missing:
        st.caption(f"Not measured yet at this α with hidden numbers ignored: {', '.join(missing)}.")


def _table(found: tuple[Finding, ...], both: bool) -> str:
    head = ["", ":blue[NMF], published", ":orange[AT-NMF], published", "gain"]
    head += (
        [":blue[NMF], ignored", ":orange[AT-NMF], ignored"]
        if both
        else ["published, measured here: NMF", "AT-NMF"]
    )
    rows = [" | ".join(head), " | ".join(["---"] * len(head))]
    for one in found:
        cells = [
            TITLES[one.name],
            _cell(one.published_nmf),
            _cell(one.published_atnmf),
            f"{one.published_gain:.0%}",
        ]
        pair = (one.ignore_nmf, one.ignore_atnmf) if both else (one.zero_nmf, one.zero_atnmf)
        rows.append(" | ".join([*cells, *(_cell(error) for error in pair)]))
    return "\n".join(f"| {row} |" for row in rows)


def _cell(error: Error | None) -> str:
    if error is None:
        return "–"
    lam = "" if error.lam is None else f" (λ {error.lam:g})"
    return f"{error.mean:.3g}{lam}"


FINDINGS = Chapter(
    name="findings",
    short="Findings",
    controls=(
        Stops("alpha", "Hidden share α", 0.5, PAPER_ALPHAS),
        Choice(
            "shown",
            "Show",
            "both",
            {"paper": "the paper's tables", "both": "and with hidden numbers ignored"},
        ),
    ),
    show=show,
    facts=facts,
)
