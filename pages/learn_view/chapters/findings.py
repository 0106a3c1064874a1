"""Chapter 7: the paper's tables and ours in one picture."""

from __future__ import annotations

import streamlit as st

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.figures.lesson import findings_chart
from atnmf_core.lesson import Error, Finding, findings
from atnmf_core.reference import TITLES
from atnmf_core.reference.defects import unmarked_defects
from pages.common.control import OneOf, Stops

from ..chapter import Chapter, Stage

SMALLEST = 0.0001
"""Smaller errors are rounding errors of single precision; their digits mean nothing."""
VANISHING = 0.03
DATA_NAMES = TITLES | {"lfw": "Faces"}
NAMES = (":blue[NMF]", ":orange[AT-NMF]")
OURS = {"marked": ("ignore_nmf", "ignore_atnmf"), "run again": ("zero_nmf", "zero_atnmf")}


def facts(stage: Stage) -> dict[str, str]:
    found = findings(stage["alpha"])
    synthetic, *pictures = found
    gains = [one.published_gain for one in found]
    repeated = [one.repeated_within for one in found if one.repeated_within is not None]
    shares = [one.ignored_share for one in pictures if one.ignored_share is not None]
    leads = [one.ignored_gain for one in pictures if one.ignored_gain is not None]
    example = next(row for row in unmarked_defects() if (row.data, row.damage) == ("moffet", "30 % dark"))
    return {
        "alpha": f"{stage['alpha']:g}",
        "least": _percent(min(gains)),
        "most": _percent(max(gains)),
        "repeated": _percent(max(repeated, default=None)),
        "lowest": _percent(min(shares, default=None)),
        "highest": _percent(max(shares, default=None)),
        "behind": _percent(min(leads, default=None), digits=1),
        "ahead": _percent(max(leads, default=None), digits=1),
        "synthetic": _on_synthetic(synthetic),
        "damage": _in_english(example.damage),
        "unmarked_nmf": f"{example.nmf:.4f}",
        "unmarked_l1": f"{example.l1:.4f}",
        "unmarked_atnmf": f"{example.atnmf:.4f}",
        "unmarked_known": f"{example.mask_known:.4f}",
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
        "On the synthetic data so much is hidden here that too little is left to learn from: marked, the "
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
    st.markdown(f"**Error (RMSE) over the hidden entries**\n\n{_table(found, both)}")
    if both:
        st.caption(_starts(found))
        st.markdown(f"**Error (RMSE) over all entries, some wrong and unmarked**\n\n{_unmarked_table()}")
        seeds = {row.seeds for row in unmarked_defects()}
        st.caption(
            "Measured against the undamaged data. Dark entries are recorded at 0 to 0.6 times their value, "
            "bright ones at 2 to 5 times. Bold is the lowest of the methods that were not told which entries "
            "are wrong. *restore* was given no settings, the others the best K. Means over "
            f"{' or '.join(map(str, sorted(seeds)))} sets of defects."
        )


def _in_english(damage: str) -> str:
    """Without the space before the percent sign that the measurements have."""
    return damage.replace(" %", "%")


def _unmarked_table() -> str:
    """Every measured damage; of the methods that were not told, the best in bold."""
    names = {"nmf": NAMES[0], "l1": "L1-NMF", "atnmf": f"restore ({NAMES[1]}, suspects left out)"}
    lines = [["", *names.values(), "NMF, marked"], ["---"] * (len(names) + 2)]
    for row in unmarked_defects():
        errors = {name: getattr(row, name) for name in names}
        cells = [
            f"**{error:.4f}**" if error == min(errors.values()) else f"{error:.4f}"
            for error in errors.values()
        ]
        lines.append([f"{DATA_NAMES[row.data]}, {_in_english(row.damage)}", *cells, f"{row.mask_known:.4f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _starts(found: tuple[Finding, ...]) -> str:
    """How many runs are behind our numbers, and which are missing."""
    missing = [TITLES[one.name] for one in found if one.ignore_nmf is None]
    few = [f"{TITLES[one.name]} {one.ignore_nmf.starts}" for one in found if one.ignore_nmf]
    said = (
        "Marked: exact descent, AT-NMF at whichever λ of the paper has the lowest error; means over random "
        f"starts ({', '.join(few)})."
    )
    return f"{said} Not measured yet at this α: {', '.join(missing)}." if missing else said


def _table(found: tuple[Finding, ...], both: bool) -> str:
    treatment = "marked" if both else "run again"
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
