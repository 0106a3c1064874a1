"""Which picture of the data is in view, and what "restored" means."""

from __future__ import annotations

import threading

import streamlit as st
from cachetools import LRUCache, cached

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import grey
from pages.common.address import change
from pages.common.components import component
from pages.common.setting import Setting

from .sidebar import ADDRESS

THUMBNAILS = 14
MAX_BYTES = 8_000_000


def picture_strip(setting: Setting, data: Dataset) -> None:
    """Small pictures to choose from (for a cube a slider over its bands), and what restored means."""
    strip, restored = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with strip:
        if data.kind == "cube":
            ADDRESS.draw("image", high=pictures.count(data))
        elif data.kind == "faces":
            _thumbnails(data, setting.image)
    with restored:
        ADDRESS.draw("restored", label_visibility="collapsed", width="stretch")


def _thumbnails(data: Dataset, chosen: int) -> None:
    count = pictures.count(data)
    first = (chosen - 1) // THUMBNAILS * THUMBNAILS + 1
    shown = range(first, min(first + THUMBNAILS, count + 1))
    component("strip")(
        data={
            "thumbnails": [_thumbnail(data, number) for number in shown],
            "first": first,
            "chosen": chosen,
            "count": count,
            "noun": "face",
        },
        key="strip",
        on_chosen_change=_choose,
    )


def _choose() -> None:
    change(image=int(st.session_state["strip"]["chosen"]))


@cached(LRUCache(MAX_BYTES, len), key=lambda data, number: (data.content_hash, number), lock=threading.Lock())
def _thumbnail(data: Dataset, number: int) -> str:
    v = pictures.picture(data, data.V, number - 1)
    return data_url(grey(v, pictures.white_level(v)))
