"""What a chapter is: one idea, its text, its controls, a picture that follows them; and where it is shown."""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.jobs.fit_task import Run
from atnmf_core.model.problem import Missing
from pages.common.controls import Control
from pages.common.data import load
from pages.common.fitting import Case, fit_cache
from pages.common.jobs import visitor
from pages.common.setting import FitKey, MaskKey, Setting
from pages.common.widgets import component

FACES = 100


def faces() -> Dataset:
    return load("lfw")


def fitted(K: int) -> Run:
    data = faces()
    nothing_hidden = MaskKey(data.content_hash, 0.0, 0, "entries")
    key = FitKey(nothing_hidden, K, None, "ignore", "fast", 0)
    return fit_cache().solve(key, data, np.ones(data.shape, dtype=bool), visitor())


def restored(alpha: float, missing: Missing) -> Run:
    """NMF, as on the Explore page, of faces with a share alpha of all pixels hidden."""
    case = Case(Setting(alpha=alpha, missing=missing), faces())
    return fit_cache().solve(case.keys[1], case.data, case.observed, visitor())


# The lesson's moving pictures. The core computes what they play; the two curves that follow a finger
# (`attack`, `loss`) evaluate the closed forms in `closed_form.js`, which the tests compare with the core.


def moving_picture(name: str, *shared: str) -> Any:
    return component(name, *shared, page="learn_view")


# Every formula of the lesson, in one place: the tests evaluate each of them against the core.
#
# Letters: v is a number in the data, p its prediction, r what the adversary adds, lambda its price, g its
# leash. In a sum, Omega are the entries that are seen and Gamma those that are hidden.

FORMULAS = {
    "sum_of_parts": r"p_i = \sum_{k=1}^{K} h_k w_{ik}",
    "weight_ignoring": r"h = \frac{\sum_{i \in \Omega} w_i v_i}{\sum_{i \in \Omega} w_i^2}",
    "weight_zeros": r"h = \frac{\sum_{i \in \Omega} w_i v_i}{\sum_{i} w_i^2}",
    "rmse": r"\mathrm{RMSE} = \sqrt{\frac{\sum_{i \in \Gamma} (v_i - p_i)^2}{\sum_{i \in \Gamma} 1}}",
    "attack_value": r"(v + r - p)^2 - \lambda r^2",
    "best_attack": r"r^* = \max\left(\frac{v - p}{\lambda - 1}, -v\right)",
    "game_value": r"\sum_{i} (v_i + r_i - p_i)^2 - \lambda \sum_{i} r_i^2",
    "overshoot": r"p_{\mathrm{next}} - v = -\frac{1}{\lambda - 1} (p - v)",
    "steepness": r"\frac{\lambda}{\lambda - 1}",
    "loss": r"\ell(v, p) = \begin{cases} \frac{\lambda}{\lambda - 1} (v - p)^2 & p \le \lambda v "
    r"\\ p^2 - \lambda v^2 & p > \lambda v \end{cases}",
    "lower_bend": r"v (1 - (\lambda - 1) g)",
    "leashed": r"v + g v",
    "leash_loss": r"(v + g v - p)^2 - \lambda g^2 v^2",
    "target": r"t = \max\left(v, \frac{p}{\lambda}\right)",
}


# The chapters' texts, stored as Markdown beside this file.
#
# A text has a title (#), a body, and questions (##) with their answers. `[[name]]` stands for a formula of
# the lesson, `<<name>>` for a fact that its chapter computes.

_FOLDER = Path(__file__).parent / "text"


@dataclass(frozen=True)
class Question:
    asked: str
    answer: str


@dataclass(frozen=True)
class ChapterText:
    title: str
    body: str
    questions: tuple[Question, ...]


@cache
def read_text(name: str) -> ChapterText:
    source = (_FOLDER / f"{name}.md").read_text("utf-8")
    first, *questions = re.split(r"^## ", _with_formulas(source), flags=re.MULTILINE)
    title, _, body = first.removeprefix("# ").partition("\n")
    asked = (question.partition("\n") for question in questions)
    return ChapterText(title, body.strip(), tuple(Question(one, answer.strip()) for one, _, answer in asked))


def filled(words: str, facts: Mapping[str, str]) -> str:
    """A text with its facts filled in; a missing one is an error."""
    told = re.sub(r"<<(\w+)>>", lambda found: facts[found[1]], words)
    # Braces keep a formula in the line, and the punctuation after it in the formula: neither is broken off.
    return re.sub(r"(?<!\$)\$([^$\n]+)\$([.,;:]?)", r"${\1\\text{\2}}$", told)


def _with_formulas(source: str) -> str:
    """Formulas alone on a line are displayed, others stay inline."""
    shown = re.sub(r"^\[\[(\w+)\]\]$", lambda found: f"$$\n{FORMULAS[found[1]]}\n$$", source, flags=re.M)
    return re.sub(r"\[\[(\w+)\]\]", lambda found: f"${FORMULAS[found[1]]}$", shown)


MAX_IN_A_ROW = 3
SCREEN_HEIGHT = 380  # Of a chart on a projector


@dataclass(frozen=True)
class Stage:
    """Where and how a chapter is shown; `hidden` controls are left out, `presenting` enlarges everything."""

    values: Mapping[str, Any]
    key: Callable[[str], str]
    hidden: frozenset[str] = frozenset()
    presenting: bool = False

    @property
    def letters(self) -> int:
        """The font size of plots, in pixels."""
        return 20 if self.presenting else 14

    @property
    def room(self) -> dict[str, int]:
        """The height of a chart on a projector; elsewhere it has its own."""
        return {"height": SCREEN_HEIGHT} if self.presenting else {}

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True)
class Chapter:
    """One idea: the `name` of its text, a `short` name, its controls by their names in an address, those that
    `show` draws in the picture itself, and a function that computes the facts for the gaps in its text.
    """

    name: str
    short: str
    controls: Mapping[str, Control]
    show: Callable[[Stage], None]
    in_picture: Collection[str] = ()
    facts: Callable[[Stage], dict[str, str]] = lambda stage: {}

    @property
    def text(self) -> ChapterText:
        return read_text(self.name)


def show_controls(chapter: Chapter, stage: Stage, names: Collection[str]) -> None:
    """Those that are not hidden, in rows of equal length, or nearly: four are two and two."""
    shown = [name for name in names if name not in stage.hidden]
    rows = math.ceil(len(shown) / MAX_IN_A_ROW)
    for row in range(rows):
        with st.container(horizontal=True, gap="medium"):
            for name in shown[row * len(shown) // rows : (row + 1) * len(shown) // rows]:
                chapter.controls[name].draw(stage.key(name))


def show_film(stage: Stage, picture: str, film: Mapping[str, Any], last: int, *shared: str) -> None:
    key = stage.key("picture")

    def stay() -> None:
        st.session_state[stage.key("at")] = min(last, int(st.session_state[key]["at"]))

    moving_picture(picture, "agree", "player", *shared)(
        data={**film, "at": min(stage["at"], last), "player": "at" not in stage.hidden},
        key=key,
        on_at_change=stay,
    )
