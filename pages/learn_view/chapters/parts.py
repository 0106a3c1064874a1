"""Chapter 1: what NMF is."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import white_level
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import grey
from atnmf_core.lesson import build_up
from pages.common.control import Number

from ..chapter import Chapter, Stage, show_film
from ..faces import FACES, faces, fitted

MAX_K = 49


def facts(stage: Stage) -> dict[str, str]:
    pixels, count = faces().shape
    return {"pixels": str(pixels), "faces": str(count)}


def show(stage: Stage) -> None:
    show_film(stage, "build", _film(stage["K"], stage["face"]), stage["K"])
    st.caption("The error is the root mean square distance between a pixel and its prediction.")


@st.cache_data(show_spinner=False, max_entries=60)
def _film(K: int, face: int) -> dict[str, Any]:
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
    show=show,
    in_picture=("at",),
    facts=facts,
)
