"""The knobs of the sidebar, read into one `Setting`; pages about other data take from them what they need."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.datasets import DataUnavailable

from .address import change, follow_address, read_setting, write_address
from .components import component
from .data_carryover import is_cube, take_along
from .data_choice import UPLOAD, choose_data, entry_of, load, uploads
from .setting import ALPHAS, K_MOST, LAMBDAS, PATTERNS_OF, SEED_MOST, Setting

__all__ = [
    "chosen_data",
    "controls",
    "fit_to",
    "links",
    "seeds_and_colour",
    "segments",
    "sliders",
    "treatment",
]

PATTERN_NAMES = {"entries": "pixels", "block": "one block", "stripes": "lines", "bands": "bands"}
PATTERN_HELP = {
    "faces": "Scattered pixels as in the paper, or a connected piece.",
    "cube": "Scattered entries as in the paper; dead lines of single bands; or noisy bands.",
}
MISSING_NAMES = {"ignore": "ignored", "zero": "zeros (paper)"}
SOLVER_NAMES = {"fast": "fast, exact", "paper": "Algorithm 1"}
COLOUR_NAMES = {"red": "red", "blue": "blue"}


def controls() -> tuple[Setting, Dataset | None]:
    """Draw the sidebar; the setting, and its data where that is at hand."""
    if follow_address() and is_cube(st.session_state):
        take_along("hyperspectral")
    with st.sidebar:
        choose_data()
        data = chosen_data()
        if data is not None:
            fit_to(data)
        sliders(data)
        treatment()
        seeds_and_colour()
        links(Setting())
    setting = read_setting()
    write_address()
    return setting, data


def chosen_data(**options: int) -> Dataset | None:
    """The data that the widgets name where it is at hand; `options` are those of `load_dataset`."""
    name = st.session_state["data"]
    if name == UPLOAD:
        return uploads().get(st.session_state["upload"])
    entry = entry_of(name)
    if entry is None or not entry.available:
        return None
    try:
        return load(name, **options)
    except DataUnavailable as error:
        st.error(str(error), icon=":material/error:")
        return None


def fit_to(data: Dataset) -> None:
    """Bring what the address asked for within what this data allows."""
    state = st.session_state
    most = {"K": min(*data.shape, K_MOST), "image": pictures.count(data)}
    # Only what is too large: a widget that is set, even to what it says, jumps back to that in the browser,
    # where its user may have moved on.
    change(**{name: value for name, value in most.items() if state[name] > value})
    if state["pattern"] not in PATTERNS_OF[data.kind]:
        change(pattern="entries")


def sliders(data: Dataset | None, kind: str = "faces") -> None:
    """Alpha and its pattern, lambda, K; `kind` is that of the data which is not there yet."""
    st.select_slider(
        "Hidden share α",
        ALPHAS,
        format_func="{:.2f}".format,
        key="alpha",
        help="How much of the data is taken away before anything is learned.",
    )
    kind = kind if data is None else data.kind
    if len(PATTERNS_OF[kind]) > 1:
        names = {pattern: PATTERN_NAMES[pattern] for pattern in PATTERNS_OF[kind]}
        segments("Hiding pattern", names, "pattern", PATTERN_HELP[kind])
    st.select_slider(
        "Adversary's price λ",
        _lambda_stops(),
        format_func="{:g}".format,
        key="lam",
        help="What a change costs the adversary: cheap makes it strong, dear leaves plain NMF.",
    )
    st.html('<div class="lam-marks" aria-hidden="true"><i>strong</i><i>2</i><i>5</i><i>none</i></div>')
    most = K_MOST if data is None else min(K_MOST, *data.shape)
    if most > 1:
        st.slider("Parts K", 1, most, key="K", help="How many parts every picture is put together from.")


def _lambda_stops() -> list[float]:
    """The slider's stops, and the one beside them that an address has asked for."""
    state = st.session_state
    if state["lam"] not in LAMBDAS:
        state["lam_beside"] = state["lam"]
    return sorted({*LAMBDAS, state.get("lam_beside", LAMBDAS[0])})


def treatment() -> None:
    """Of hidden entries, and by which solver."""
    segments(
        "Hidden pixels are",
        MISSING_NAMES,
        "missing",
        "Ignored: only what was observed counts. Zeros: fitted as black, as in the paper's released code.",
    )
    segments(
        "Solver",
        SOLVER_NAMES,
        "solver",
        "Fast never oscillates and takes a moment; Algorithm 1 is the paper's own, and takes its time.",
    )


def seeds_and_colour() -> None:
    """What is seldom changed."""
    with st.expander("Seeds and colour"):
        st.number_input("Start seed", 0, SEED_MOST, key="seed", help="Other random start factors W and H.")
        st.number_input("Mask seed", 0, SEED_MOST, key="mask_seed", help="Another draw of hidden pixels.")
        segments(
            "Colour of hidden pixels",
            COLOUR_NAMES,
            "colour",
            "Red as in the paper, or a blue that colour-blind eyes tell from everything else.",
        )


def links(first_view: Setting) -> None:
    """Back to the first view, and the address of this one."""
    reset, link = st.columns(2, gap="small", vertical_alignment="center")
    with reset:
        st.button("Reset", on_click=change, kwargs=asdict(first_view), width="stretch")
    with link:
        component("copy")(key="copy")


def segments(label: str, names: dict[str, str], key: str, help: str) -> None:
    """A choice of few, all in view."""
    st.segmented_control(
        label, names, format_func=names.get, key=key, required=True, width="stretch", help=help
    )
