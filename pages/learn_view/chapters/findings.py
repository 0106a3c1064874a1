"""Chapters 6 and 7: a guess of the best lambda, and the paper's tables and ours in one picture."""

import streamlit as st

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.figures.lesson import findings_chart, guess_chart
from atnmf_core.lesson.findings import Error, Finding, Verdict, findings, judge
from atnmf_core.model.problem import TREATMENT_NAMES
from atnmf_core.reference import TITLES
from atnmf_core.reference.league import unmarked_defects
from atnmf_core.reference.paper_tables import bundled_curve
from atnmf_core.sweep.measurements import Measurement
from pages.common.address import change
from pages.common.controls import OneOf, Stops, controls_of
from pages.common.setting import LAMBDAS, Setting
from pages.common.widgets import show_chart
from pages.learn_view.chapter import Chapter, Stage

# Chapter 6: guess the best lambda before the truth is shown.

ALPHA = 0.5
DATA = {"lfw": "faces", "scene": "scene"}
WORDS = {
    "lfw": "the faces of chapter 1",
    "scene": "a simulated picture from the air, at a hundred wavelengths",
}
REVEALED = {f"{data}-{missing}": "" for data in DATA for missing in TREATMENT_NAMES}
WEAK = 50  # A price at which hardly any adversary is left
LAMS = tuple(lam for lam in LAMBDAS if lam >= 1.05)


def guess_facts(stage: Stage) -> dict[str, str]:
    point = _points(stage)[0]
    return {"data": WORDS[stage["data"]], "alpha": f"{point.alpha:.0%}", "K": str(point.K)}


def show_guess(stage: Stage) -> None:
    guess = stage["guess"]
    round_name = f"{stage['data']}-{stage['missing']}"
    if stage["revealed"] != round_name:
        _chart(guess_chart(guess, size=stage.letters), stage, "Your guess on an empty field")
        if "revealed" not in stage.hidden:
            reveal = {stage.key("revealed"): round_name}
            st.button("Show the truth", type="primary", on_click=change, kwargs=reveal)
        return
    points = _points(stage)
    nmf = next(point.mean for point in points if point.method == "nmf")
    curve = [point for point in points if point.lam is not None]
    errors = {point.lam: point.mean for point in curve if point.lam is not None}
    deviations = {point.lam: point.deviation or 0.0 for point in curve if point.lam is not None}
    verdict = judge(guess, errors, deviations)
    figure = guess_chart(guess, points, verdict.at_guess, size=stage.letters)
    _chart(figure, stage, "The measured errors over λ")
    st.markdown(_verdict(guess, verdict, nmf, deviations[verdict.best_lam], points[0].starts))


def _points(stage: Stage) -> list[Measurement]:
    points = bundled_curve(stage["data"])
    wanted = [point for point in points if (point.alpha, point.missing) == (ALPHA, stage["missing"])]
    return [point for point in wanted if point.method in ("nmf", "atnmf")]


def _chart(figure: object, stage: Stage, alt: str) -> None:
    show_chart(figure, stage.key("chart"), alt, **stage.room)


def _verdict(guess: float, verdict: Verdict, nmf: float, deviation: float, starts: int) -> str:
    here = f"At your λ = {guess:g} the error is {verdict.at_guess:.4f}"
    if verdict.hit:
        said = f"**Right.** {here}, as good as the lowest, as far as the measurement can tell."
    else:
        times = 1 + verdict.excess
        far = (
            f"{times:.1f} times the lowest error" if times >= 2 else f"{verdict.excess:.0%} above the lowest"
        )
        said = f"**{far}.** {here}."
    found = (
        f"It is lowest at **λ = {verdict.best_lam:g}**: {verdict.best:.4f}, the mean of {starts} random "
        f"starts, which differ by about {deviation:.4f}. NMF: {nmf:.4f}."
    )
    if verdict.best_lam == LAMS[0]:
        found += " No λ closer to 1 was tried: there it may be lower still."
    if verdict.flat_from is not None and verdict.flat_from < WEAK:
        found += f" From λ = {verdict.flat_from:g} on all do about as well, and so does NMF."
    return f"{said}\n\n{found}"


GUESS = Chapter(
    name="guess",
    short="Guess",
    controls={
        "data": OneOf("lfw", "Data", DATA),
        "missing": controls_of(Setting)["missing"],
        "guess": Stops(5.0, "Your guess of the best λ", LAMS),
        "revealed": OneOf("", "Show the truth", REVEALED),
    },
    show=show_guess,
    in_picture=("revealed",),
    facts=guess_facts,
)

SMALLEST = 0.0001  # Smaller errors are rounding errors of single precision; their digits mean nothing
VANISHING = 0.03
DATA_NAMES = TITLES | {"lfw": "Faces"}
NAMES = (":blue[NMF]", ":orange[AT-NMF]")
OURS = {"marked": ("ignore_nmf", "ignore_atnmf"), "run again": ("zero_nmf", "zero_atnmf")}


def findings_facts(stage: Stage) -> dict[str, str]:
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
        "unmarked_restored": f"{example.restored:.4f}",
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


def show_findings(stage: Stage) -> None:
    found = findings(stage["alpha"])
    both = stage["shown"] == "both"
    alt = "Errors of NMF and AT-NMF on four data sets as shares of NMF's published error"
    figure = findings_chart(found, TITLES, with_marked=both, size=stage.letters)
    show_chart(figure, stage.key("chart"), alt, **stage.room)
    if stage.presenting:
        return
    st.markdown(f"**Error (RMSE) over the hidden entries**\n\n{_table(found, both)}")
    if both:
        st.caption(_starts(found))
        st.markdown(f"**Error (RMSE) over all entries, some wrong and unmarked**\n\n{_unmarked_table()}")
        seeds = {row.seeds for row in unmarked_defects()}
        st.caption(
            "Measured against the undamaged data. Dark entries are recorded at 0 to 0.6 times their value, "
            "bright ones at 2 to 5 times. Bold is the lowest of the methods that were not told which entries "
            "are wrong. *restore* was given no settings, NMF and L1-NMF the best K; PCP is principal "
            f"component pursuit. Each is the mean over {' or '.join(map(str, sorted(seeds)))} set"
            f"{'' if seeds == {1} else 's'} of defects."
        )


def _in_english(damage: str) -> str:
    """Without the space before the percent sign that the measurements have."""
    return damage.replace(" %", "%")


def _unmarked_table() -> str:
    names = {"nmf": NAMES[0], "l1": "L1-NMF", "pcp": "PCP", "restored": "restore"}
    lines = [["data", *names.values(), "NMF, marked"], ["---"] * (len(names) + 2)]
    for row in unmarked_defects():
        errors = {name: getattr(row, name) for name in names}
        cells = [
            f"**{error:.4f}**" if error == min(errors.values()) else f"{error:.4f}"
            for error in errors.values()
        ]
        lines.append([f"{DATA_NAMES[row.data]}, {_in_english(row.damage)}", *cells, f"{row.mask_known:.4f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _starts(found: tuple[Finding, ...]) -> str:
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
    head = ["data", *(f"{name}, {how}" for how in ("published", treatment) for name in NAMES)]
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
    show=show_findings,
    facts=findings_facts,
)
