"""The chapters' words, kept as Markdown beside this file.

A text has a title (#), a body, and questions (##) with their answers. `[[name]]` stands for a formula of the
lesson, `<<name>>` for a fact that its chapter computes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .formulas import FORMULAS

__all__ = ["Question", "Text", "filled", "read_text"]

_FOLDER = Path(__file__).parent / "text"


@dataclass(frozen=True)
class Question:
    """Something to think about, and what unfolds under it."""

    asked: str
    answer: str


@dataclass(frozen=True)
class Text:
    """The words of one chapter."""

    title: str
    body: str
    questions: tuple[Question, ...]


@cache
def read_text(name: str) -> Text:
    """The text of a chapter, its formulas put in."""
    source = (_FOLDER / f"{name}.md").read_text("utf-8")
    first, *questions = re.split(r"^## ", _with_formulas(source), flags=re.MULTILINE)
    title, _, body = first.removeprefix("# ").partition("\n")
    asked = (question.partition("\n") for question in questions)
    return Text(title, body.strip(), tuple(Question(line, answer.strip()) for line, _, answer in asked))


def filled(words: str, facts: Mapping[str, str]) -> str:
    """Words with their facts; one that is missing is an error."""
    return re.sub(r"<<(\w+)>>", lambda found: facts[found[1]], words)


def _with_formulas(source: str) -> str:
    """Formulas that stand alone in a line are displayed, others stay in their line."""
    shown = re.sub(
        r"^\[\[(\w+)\]\]$", lambda found: f"$$\n{FORMULAS[found[1]]}\n$$", source, flags=re.MULTILINE
    )
    return re.sub(r"\[\[(\w+)\]\]", lambda found: f"${FORMULAS[found[1]]}$", shown)
