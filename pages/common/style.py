"""Style sheets, and other small files that every run of a page needs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st


@cache
def text_of(file: Path) -> str:
    """What is in a file, read once: a server without file handles to spare still draws its pages."""
    return file.read_text("utf-8")


def show_style(*files: Path) -> None:
    """Let style sheets hold for this page."""
    for file in files:
        st.html(f"<style>{text_of(file)}</style>")
