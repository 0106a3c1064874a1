"""How an uploaded file is read: the controls for what it does not say, as part of every address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import streamlit as st

from atnmf_core.datasets import ReadingOptions

from .control import OneOf, Text, controls_of, declare

AS_READ = "as read"
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?"


@dataclass(frozen=True)
class Typed(Text):
    """A text field."""

    def draw(self, key: str, **options: Any) -> None:
        st.text_input(self.label, st.session_state[key], key=key, **{"help": self.help} | options)


@dataclass(frozen=True)
class Suggested(Text):
    """A select box of likely values; if `open`, anything else can be typed."""

    open: bool = False

    def draw(self, key: str, *, among: Mapping[str, str], **options: Any) -> None:
        """`among` maps the values available now to what people read."""
        value = st.session_state[key]
        names = {"": AS_READ} | ({value: value} if value else {}) | among
        options = {"format_func": lambda one: names.get(one, one), "help": self.help} | options
        index = list(names).index(value)
        st.selectbox(self.label, names, index, key=key, accept_new_options=self.open, **options)


@dataclass(frozen=True)
class FileSetting:
    """The words of `ReadingOptions`; empty to let the reader's rules decide."""

    variable: str = declare(Suggested("", "Array", pattern=r"[^\x00-\x1f\x7f]{1,200}"))
    kind: str = declare(
        OneOf("", "It is", {"": AS_READ, "faces": "faces", "cube": "a cube", "matrix": "a matrix"})
    )
    image_shape: str = declare(
        Suggested(
            "",
            "Rows × columns of an image",
            pattern=r"\d{1,6} ?[x×] ?\d{1,6}",
            open=True,
            help="For files with all pixels of an image on one axis. Type another size as 50x40.",
        )
    )
    order: str = declare(
        OneOf("", "Pixels of an image are stored", {"": AS_READ, "F": "column by column", "C": "row by row"})
    )
    bands_axis: str = declare(
        OneOf(
            "",
            "Axis of the bands",
            {"": AS_READ, "0": "first", "1": "second", "2": "third"},
            help="Or of the images, for faces.",
        )
    )
    nodata: str = declare(
        Typed(
            "",
            "No-data value",
            pattern=rf"{NUMBER}(, ?{NUMBER}){{0,9}}",
            help="Numbers that stand for a missing value in the file; separate several with commas.",
        )
    )
    saturated: str = declare(
        Typed("", "Saturated from", pattern=NUMBER, help="This number and all above it count as missing.")
    )
    negative: str = declare(
        OneOf(
            "refuse",
            "Negative values",
            {"refuse": "are not expected", "zero": "become 0", "missing": "are missing"},
            help="Noise can push dark entries of a corrected cube below 0, which no nonnegative model fits.",
        )
    )
    normalisation: str = declare(
        OneOf(
            "none",
            "Values",
            {
                "none": "as they are",
                "maximum": "largest value to 1",
                "lee-seung": "each image to mean ¼, deviation ¼",
            },
        )
    )

    @property
    def options(self) -> ReadingOptions:
        """The same for the reader.

        Raises
        ------
        UnreadableData : a typed text is not valid; `setting` names the control.
        """
        words = {one.name: getattr(self, one.name) for one in fields(self)}
        words["image_shape"] = words["image_shape"].replace("×", "x").replace(" ", "")
        return ReadingOptions.from_words({name: word for name, word in words.items() if word})


FILE_CONTROLS = controls_of(FileSetting)


def file_setting() -> FileSetting:
    """The values of this session's controls."""
    return FileSetting(
        **{name: st.session_state.get(name, one.default) for name, one in FILE_CONTROLS.items()}
    )
