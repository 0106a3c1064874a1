"""Notes for teachers: beside each chapter, and all together on a page to print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from pages.common.style import show_style

from .chapters import CHAPTERS
from .components import moving_picture
from .exercises import EXERCISES

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ChapterNotes:
    """How long a chapter takes in class, what to ask, and what students answer."""

    minutes: int
    body: str


@cache
def chapter_notes() -> dict[str, ChapterNotes]:
    """The notes by the name of the chapter, from `teaching.md`."""
    source = (_FOLDER / "teaching.md").read_text("utf-8")
    sections = (section.partition("\n") for section in re.split(r"^## ", source, flags=re.MULTILINE)[1:])
    return {name: _notes(text) for name, _, text in sections}


def _notes(text: str) -> ChapterNotes:
    minutes, _, body = text.removeprefix("Minutes: ").partition("\n")
    return ChapterNotes(
        int(minutes), re.sub(r"^(Ask|Students answer):", r"**\1:**", body.strip(), flags=re.MULTILINE)
    )


def show_chapter_notes(name: str) -> None:
    notes = chapter_notes()[name]
    st.markdown(f"*About {notes.minutes} minutes*\n\n{notes.body}")


def show_exercises(*, answers: bool) -> None:
    """Every exercise with its two links and, on request, its answer."""
    for number, one in enumerate(EXERCISES, start=1):
        links = f"[open it]({one.link(number)}) · [open its solution]({one.link(number, solution=True)})"
        st.markdown(f"**{number}. {one.title}** (chapter {one.chapter}). {one.task} {links}")
        if answers:
            st.markdown(f"**Answer.** {one.answer()}")


def show_notes() -> None:
    """Everything on one page, for paper."""
    show_style(_FOLDER / "print.css")
    st.title("Teaching this lesson", anchor=False)
    minutes = sum(notes.minutes for notes in chapter_notes().values())
    st.markdown(
        f"{len(CHAPTERS)} chapters, about {minutes} minutes in all. Each can be taken alone; 2, 5 and 8 make "
        "a short lesson on marked and unmarked losses. Let students guess before they drag."
    )
    moving_picture("print", "field")(key="learn_print")
    for number, chapter in enumerate(CHAPTERS, start=1):
        st.subheader(f"{number} · {chapter.text.title}", anchor=False)
        show_chapter_notes(chapter.name)
    st.subheader("Exercises", anchor=False)
    show_exercises(answers=True)
