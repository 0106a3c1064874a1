"""Chapters 1 and 2: what NMF is, and what happens where entries are hidden."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core import rmse
from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import white_level
from atnmf_core.figures.images import HIDDEN, Panel, data_url, given_panels, grey
from atnmf_core.figures.lesson import series_chart
from atnmf_core.lesson.examples import PART, SERIES, Weighing, build_up, weigh
from atnmf_core.model.problem import TREATMENT_NAMES
from pages.common.cache import cached
from pages.common.controls import Number, Several, Stops
from pages.common.fitting import Case
from pages.common.setting import ALPHAS, Setting
from pages.common.widgets import show_chart, show_panels
from pages.learn_view.chapter import FACES, Chapter, Stage, faces, fitted, restored, show_controls, show_film

# Chapter 2: what is hidden can be predicted, and two ways to deal with it.

OF_THE_FACE = ("alpha", "face")


def show_hiding(stage: Stage) -> None:
    observed = [place not in stage["hidden"] for place in range(1, len(SERIES) + 1)]
    weighed = {missing: weigh(PART, SERIES, observed, missing) for missing in TREATMENT_NAMES}
    predictions = {missing: one.prediction(PART).tolist() for missing, one in weighed.items()}
    chart = series_chart(SERIES, observed, predictions, size=stage.letters)
    alt = "The series, its hidden places, and both predictions"
    show_chart(chart, stage.key("chart"), alt, **stage.room)
    for missing, words in TREATMENT_NAMES.items():
        st.markdown(f"{words.capitalize()}: {_by_hand(observed, missing, weighed[missing])}")
    if stage.presenting:
        return
    K = Setting().K
    st.markdown(f"**The same on a face.** NMF finds {K} parts and all weights together, from what is seen.")
    show_controls(HIDING, stage, OF_THE_FACE)
    _show_face(stage["alpha"], stage["face"], stage.key("panels"))


def _by_hand(observed: list[bool], missing: str, weighed: Weighing) -> str:
    seen = [place for place, is_seen in enumerate(observed) if is_seen]
    above = " + ".join(f"{PART[i]:g}·{SERIES[i]:g}" for i in seen)
    below = " + ".join(f"{PART[i]:g}²" for i in (seen if missing == "ignore" else range(len(PART))))
    return f"({above}) / ({below}) = {weighed.overlap:g} / {weighed.size:g} = :blue[**{weighed.weight:.3g}**]"


def _show_face(alpha: float, face: int, key: str) -> None:
    data = faces()
    v = pictures.picture(data, data.V, face - 1)
    seen = pictures.picture(data, Case(Setting(alpha=alpha), data).observed, face - 1)
    name = f"face {face}"
    given = zip(("The face", "What is seen"), given_panels(v, seen, HIDDEN["red"], name), strict=True)
    panels = [Panel("", title, panel.pixels, panel.alt) for title, panel in given]
    notes = ["", f"{1 - seen.mean():.0%} of it hidden"]
    for missing, words in TREATMENT_NAMES.items():
        run = restored(alpha, missing)
        prediction = pictures.predicted_picture(data, run.W, run.H, face - 1)
        error = rmse(v, prediction, ~seen)
        alt = f"Prediction of {name}, {words}, error {error:.3f}"
        panels.append(Panel("", words.capitalize(), grey(prediction, white_level(v)), alt))
        notes.append(f'error on hidden pixels <b class="blue">{error:.3f}</b>')
    show_panels(panels, notes, key)


@dataclass(frozen=True)
class HiddenPlaces(Several):
    def read(self, text: str) -> tuple[int, ...] | None:
        asked = {int(place) for place in text.split(self.separator) if place}
        return super().read(text) if asked < set(self.options) else None

    def draw(self, key: str, **options: Any) -> None:
        super().draw(key, on_change=self._leave_one, args=(key, st.session_state[key]), **options)

    def _leave_one(self, key: str, before: Sequence[int]) -> None:
        if len(st.session_state[key]) == len(self.options):
            st.session_state[key] = before


HIDING = Chapter(
    name="hiding",
    short="Hiding",
    controls={
        "hidden": HiddenPlaces(
            (3,),
            "Hidden places of the series",
            {place: str(place) for place in range(1, len(SERIES) + 1)},
            "-",
            help="At least one has to be seen.",
        ),
        "alpha": Stops(
            0.5,
            "Hidden share α",
            ALPHAS,
            "{:.2f}",
            help="α, alpha, is the share that is hidden: 0.5 is half of all pixels.",
        ),
        "face": Number(8, "Face", 1, FACES),
    },
    show=show_hiding,
    in_picture=OF_THE_FACE,
    facts=lambda stage: {"part": ", ".join(f"{w:g}" for w in PART)},
)

MAX_K = 49


def show_parts(stage: Stage) -> None:
    show_film(stage, "build", _parts_film(stage["K"], stage["face"]), stage["K"])
    if not stage.presenting:
        st.caption("The error is the root mean square distance between a pixel and its prediction.")


@cached()
def _parts_film(K: int, face: int) -> dict[str, Any]:
    data, run = faces(), fitted(K)
    steps = build_up(data.V[:, face - 1], run.W, run.H[:, face - 1])
    v = pictures.picture(data, data.V, face - 1)
    top = white_level(v)

    def drawn(vector: Any, white: float) -> str:
        return data_url(grey(data.image(np.asarray(vector)), white))

    return {
        "film": f"{K} {face}",
        "face": data_url(grey(v, top)),
        "alt": f"Face {face}",
        "sums": [drawn(one, top) for one in steps.sums.T],
        "errors": [f"{error:.3f}" for error in steps.errors],
        "parts": [
            {"src": drawn(part, 1.0), "weight": f"{weight:.2f}"}
            for part, weight in zip(steps.parts.T, steps.weights, strict=True)
        ],
    }


PARTS = Chapter(
    name="parts",
    short="Parts",
    controls={
        "K": Number(16, "Number of parts K", 1, MAX_K, help="NMF learns all parts anew for every K."),
        "face": Number(8, "Face", 1, FACES),
        "at": Number(5, "Player: parts added", 0, MAX_K),
    },
    show=show_parts,
    in_picture=("at",),
    facts=lambda stage: dict(zip(("pixels", "faces"), map(str, faces().shape), strict=True)),
)
