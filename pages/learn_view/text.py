"""The chapters' texts, stored as Markdown beside this file.

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

_FOLDER = Path(__file__).parent / "text"


@dataclass(frozen=True)
class Question:
    """Something to think about, and its answer."""

    asked: str
    answer: str


@dataclass(frozen=True)
class ChapterText:
    """The text of one chapter."""

    title: str
    body: str
    questions: tuple[Question, ...]


@cache
def read_text(name: str) -> ChapterText:
    """The text of a chapter, with its formulas filled in."""
    source = (_FOLDER / f"{name}.md").read_text("utf-8")
    first, *questions = re.split(r"^## ", _with_formulas(source), flags=re.MULTILINE)
    title, _, body = first.removeprefix("# ").partition("\n")
    asked = (question.partition("\n") for question in questions)
    return ChapterText(
        title, body.strip(), tuple(Question(line, answer.strip()) for line, _, answer in asked)
    )


def filled(words: str, facts: Mapping[str, str]) -> str:
    """A text with its facts filled in; a missing one is an error."""
    told = re.sub(r"<<(\w+)>>", lambda found: facts[found[1]], words)
    # Braces keep a formula in the line, and the punctuation after it in the formula: neither is broken off.
    return re.sub(r"(?<!\$)\$([^$\n]+)\$([.,;:]?)", r"${\1\\text{\2}}$", told)


def _with_formulas(source: str) -> str:
    """Formulas alone on a line are displayed, others stay inline."""
    shown = re.sub(
        r"^\[\[(\w+)\]\]$", lambda found: f"$$\n{FORMULAS[found[1]]}\n$$", source, flags=re.MULTILINE
    )
    return re.sub(r"\[\[(\w+)\]\]", lambda found: f"${FORMULAS[found[1]]}$", shown)
