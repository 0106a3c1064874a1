"""Chapter 7: the paper's tables and ours in one picture."""

from __future__ import annotations

import streamlit as st

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.figures.lesson import findings_chart
from atnmf_core.lesson import Error, Finding, findings
from atnmf_core.reference import TITLES
from pages.common.control import OneOf, Stops

from ..chapter import Chapter, Stage

__all__ = ["FINDINGS"]

SMALLEST = 0.0001
"""Errors below are single precision's rounding; their digits say nothing."""
VANISHING = 0.03
NAMES = (":blue[NMF]", ":orange[AT-NMF]")
OURS = {"ignored": ("ignore_nmf", "ignore_atnmf"), "run again": ("zero_nmf", "zero_atnmf")}


def facts(stage: Stage) -> dict[str, str]:
    found = findings(stage["alpha"])
    gains = [one.published_gain for one in found]
    repeated = [one.repeated_within for one in found if one.repeated_within is not None]
    pictures = [one for one in found if one.name != "synthetic"]
    shares = [one.ignored_share for one in pictures if one.ignored_share is not None]
    leads = [one.ignored_gain for one in pictures if one.ignored_gain is not None]
    return {
        "alpha": f"{stage['alpha']:g}",
        "least": _percent(min(gains)),
        "most": _percent(max(gains)),
        "repeated": _percent(max(repeated, default=None)),
        "lowest": _percent(min(shares, default=None)),
        "highest": _percent(max(shares, default=None)),
        "behind": _percent(min(leads, default=None), digits=1),
        "ahead": _percent(max(leads, default=None), digits=1),
        "synthetic": _on_synthetic(next(one for one in found if one.name == "synthetic")),
    }


def _percent(share: float | None, digits: int = 0) -> str:
    if share is None:
        return "(not measured)"
    # Adding 0 turns a rounded -0 into 0.
    return f"{round(share, digits + 2) + 0.0:.{digits}%}".replace("-", "−")


def _on_synthetic(found: Finding) -> str:
    share = found.ignored_share
    if share is None:
        return ""
    if share < VANISHING:
        return "On the synthetic data hardly any error is left at all."
    if share < 1:
        return f"On the synthetic data it falls to {share:.0%}."
    return (
        "On the synthetic data so much is hidden here that too little is left to learn from: ignored, the "
        f"error of NMF is {share:.1f} times the published one."
    )


def show(stage: Stage) -> None:
    found = findings(stage["alpha"])
    both = stage["shown"] == "both"
    st.plotly_chart(
        findings_chart(found, TITLES, with_marked=both, size=stage.letters),
        key=stage.key("chart"),
        config={"displayModeBar": False},
        alt="Errors of NMF and AT-NMF on four data sets as shares of NMF's published error",
    )
    st.markdown(_table(found, both))
    if both:
        st.caption(_starts(found))


def _starts(found: tuple[Finding, ...]) -> str:
    """How many runs are behind our numbers, and which of them are missing."""
    missing = [TITLES[one.name] for one in found if one.ignore_nmf is None]
    few = [f"{TITLES[one.name]} {one.ignore_nmf.starts}" for one in found if one.ignore_nmf]
    said = f"Ignored: means over random starts, as many as these: {', '.join(few)}."
    return f"{said} Not measured yet at this α: {', '.join(missing)}." if missing else said


def _table(found: tuple[Finding, ...], both: bool) -> str:
    treatment = "ignored" if both else "run again"
    fields = ["published_nmf", "published_atnmf", *OURS[treatment]]
    head = ["", *(f"{name}, {how}" for how in ("published", treatment) for name in NAMES)]
    rows = [head, ["---"] * len(head)]
    for one in found:
        cells = [_cell(getattr(one, field)) for field in fields]
        rows.append([TITLES[one.name], *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(error: Error | None) -> str:
    if error is None:
        return "–"
    lam = "" if error.lam is None else f" (λ\u00a0=\u00a0{error.lam:g})"
    return f"{error.mean:.3g}{lam}" if error.mean >= SMALLEST else f"below {SMALLEST:g}"


FINDINGS = Chapter(
    name="findings",
    short="Findings",
    controls={
        "alpha": Stops(0.5, "Hidden share α", PAPER_ALPHAS),
        "shown": OneOf("both", "Show", {"paper": "the paper", "both": "the paper and ours"}),
    },
    show=show,
    facts=facts,
)
