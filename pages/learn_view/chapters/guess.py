"""Chapter 6: guess the best lambda before the truth is shown."""

from __future__ import annotations

import streamlit as st

from atnmf_core.figures.lesson import guess_chart
from atnmf_core.lesson import Verdict, judge
from atnmf_core.names import TREATMENT_NAMES
from atnmf_core.reference.curves import bundled_curve
from atnmf_core.sweep.measurements import Measurement
from pages.common.address import change
from pages.common.control import OneOf, Stops, controls_of
from pages.common.setting import LAMBDAS, Setting

from ..chapter import Chapter, Stage

ALPHA = 0.5
DATA = {"lfw": "faces", "scene": "scene"}
WORDS = {
    "lfw": "the faces of chapter 1",
    "scene": "a simulated picture from the air, at a hundred wavelengths",
}
ROUNDS = {f"{data}-{missing}": "" for data in DATA for missing in TREATMENT_NAMES}
WEAK = 50
"""A price at which hardly any adversary is left."""
LAMS = tuple(lam for lam in LAMBDAS if lam >= 1.05)


def facts(stage: Stage) -> dict[str, str]:
    point = _points(stage)[0]
    return {"data": WORDS[stage["data"]], "alpha": f"{point.alpha:.0%}", "K": str(point.K)}


def show(stage: Stage) -> None:
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
    """The bundled curve of AT-NMF, and NMF's error, for the data and treatment in view."""
    points = bundled_curve(stage["data"])
    wanted = [point for point in points if (point.alpha, point.missing) == (ALPHA, stage["missing"])]
    return [point for point in wanted if point.method in ("nmf", "atnmf")]


def _chart(figure: object, stage: Stage, alt: str) -> None:
    st.plotly_chart(figure, key=stage.key("chart"), config={"displayModeBar": False}, alt=alt)


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
        "revealed": OneOf("", "Show the truth", ROUNDS),
    },
    show=show,
    in_picture=("revealed",),
    facts=facts,
)
