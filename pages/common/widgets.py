"""What Streamlit has no widget for: components that show what they are given, and report clicks."""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import ComparedPicture
from atnmf_core.figures.images import Panel, data_url, diverging, grey, sequential
from atnmf_core.model.problem import Values

from .address import K_CHOSEN, Address, change
from .cache import cached
from .setting import MAX_K, PATTERNS, PATTERNS_OF


def escape_markdown(text: str) -> str:
    """The text with all escaped that Streamlit would render, so that no name becomes a picture or a link.

    >>> escape_markdown("![x](y)")
    '\\!\\[x\\]\\(y\\)'
    """
    return re.sub(r"([\\`*_{}\[\]<>()#+\-.!|~:$&])", r"\\\1", " ".join(text.split()))


def show_error(reason: object, before: str = "") -> None:
    """Why something cannot be done, as a library or somebody's file says it, perhaps after a sentence."""
    st.error(f"{before} {escape_markdown(str(reason))}".lstrip(), icon=":material/error:")


def show_chart(figure: Any, key: str, alt: str, **options: Any) -> None:
    """A plot without Plotly's buttons."""
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt, **options)


def show_code(text: str) -> None:
    """Without colours: Streamlit's are too pale to read on the dark theme."""
    st.code(text, language=None, wrap_lines=True)


@cache
def text_of(file: Path) -> str:
    """What is in a file, read once: a server without file handles to spare still draws its pages."""
    return file.read_text("utf-8")


def show_style(*files: Path) -> None:
    for file in files:
        st.html(f"<style>{text_of(file)}</style>")


PAGES = Path(__file__).parents[1]


@cache
def component(name: str, *shared: str, page: str = "common") -> Any:
    """The mounting command of a page's component; `shared` names sources that several have in common."""
    html, css, js = (_text(page, (*shared, name), kind) for kind in ("html", "css", "js"))
    mount = st.components.v2.component(f"atnmf_{name}", html=html, css=css, js=js)

    def with_tuples(*, data: Mapping[str, Any] | None = None, **options: Any) -> Any:
        # Streamlit asks of every list and dict here whether it is a table, and imports pandas for that.
        told = {key: tuple(one) if isinstance(one, list) else one for key, one in (data or {}).items()}
        return mount(data=told or None, **options)

    return with_tuples


def _text(page: str, names: tuple[str, ...], kind: str) -> str:
    folders = [PAGES / owner / "components" for owner in dict.fromkeys((page, "common"))]
    files = (folder / f"{name}.{kind}" for name in names for folder in folders)
    return "\n".join(file.read_text("utf-8") for file in files if file.exists())


PATTERN_HELP = {
    "faces": "Single entries as in the paper, or one block in each face.",
    "cube": "Single entries as in the paper, lines in single bands, or whole bands.",
}


def clamp_to_data(data: Dataset) -> None:
    clamp({"K": min(*data.shape, MAX_K), "image": pictures.count(data)})
    if st.session_state["pattern"] not in PATTERNS_OF[data.kind]:
        change(pattern="entries")


def clamp(limits: Mapping[str, int]) -> None:
    """Lower the controls, by session key, that are above their limits."""
    # Only these: setting a widget, even to its own value, makes it jump back in the browser, where somebody
    # may have moved it on.
    state = st.session_state
    change(**{key: limit for key, limit in limits.items() if key in state and state[key] > limit})


def draw_hiding_and_model(address: Address, data: Dataset | None) -> None:
    """What is hidden, lambda and its leash, K, the treatment of hidden entries and the solver."""
    address.draw("alpha", format_func=lambda alpha: f"{alpha:.2f}" if alpha else "0")
    draw_pattern(address, data)
    address.draw("lam")
    st.html('<div class="lam-marks" aria-hidden="true"><i>strong</i><i>2</i><i>5</i><i>≈ plain NMF</i></div>')
    address.draw("leash", disabled=st.session_state["solver"] == "paper")
    st.caption("The leash: how many times an entry the adversary may add to it.")
    draw_K(address, data)
    address.draw("missing", width="stretch")
    address.draw("solver", width="stretch")


MAIN = ("alpha", "lam", "leash", "K")


def show_main_sliders(address: Address, data: Dataset) -> None:
    """The sidebar's main sliders once more below the picture, for telephones: there the sidebar hides it."""
    state, controls = st.session_state, address.controls
    parts = range(1, min(*data.shape, MAX_K) + 1)
    stops = {name: sorted({*getattr(controls[name], "stops", parts), state[name]}) for name in MAIN}

    def move() -> None:
        name, at = state["sliders"]["moved"]
        change(**{name: stops[name][at]}, **({K_CHOSEN: True} if name == "K" else {}))

    sliders = [
        {
            "name": name,
            "label": controls[name].label,
            "texts": [getattr(controls[name], "word", str)(stop) for stop in stops[name]],
            "at": stops[name].index(state[name]),
        }
        for name in MAIN
        if name != "leash" or state["solver"] != "paper"
    ]
    component("sliders")(data={"sliders": sliders}, key="sliders", on_moved_change=move)


def draw_K(address: Address, data: Dataset | None) -> None:
    """The number of parts; a number that somebody has chosen is kept when they upload a file."""
    high = None if data is None else min(data.shape)
    address.draw("K", high=high, on_change=change, kwargs={K_CHOSEN: True})


def draw_pattern(address: Address, data: Dataset | None) -> None:
    names = {pattern: PATTERNS[pattern] for pattern in (() if data is None else PATTERNS_OF[data.kind])}
    if len(names) > 1:
        address.draw("pattern", among=names, width="stretch", help=PATTERN_HELP[data.kind])


def draw_seeds_and_colour(address: Address) -> None:
    with st.expander("Seeds and colour"):
        address.draw("seed")
        address.draw("mask_seed")
        address.draw("colour", width="stretch")


def draw_reset_and_link(address: Address, first: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Back to the first view, which may differ from the defaults, and the address of this one."""
    reset, link = st.columns(2, gap="small", vertical_alignment="center")
    with reset:
        st.button("Reset", on_click=change, kwargs=address.read({}) | first, width="stretch")
    with link:
        component("copy")(key="copy")


R_SCALE = data_url(diverging(np.linspace(-1, 1, 64)[None, :], 1.0))
ERROR_SCALE = data_url(sequential(np.linspace(0, 1, 64)[None, :], 1.0))


def show_panels(panels: Sequence[Panel], notes: Sequence[str], key: str, **options: Any) -> None:
    component("panels")(data=panels_data(panels, notes, **options), key=key)


def panels_data(
    panels: Sequence[Panel],
    notes: Sequence[str],
    *,
    frames: Sequence[str] = (),
    pixels: ComparedPicture | None = None,
    gap: float = 0.875,
) -> dict[str, Any]:
    """Pictures side by side with notes (trusted HTML) below; pointing at a pixel shows its values."""
    shown = [
        _place(panel.letter, panel.title, frame, data_url(panel.pixels), panel.alt, note)
        for panel, note, frame in zip(panels, notes, frames or [""] * len(panels), strict=True)
    ]
    # A panel with dots has several colours per pixel of the data; the last panel never has dots.
    size = dict(zip(("rows", "cols"), panels[-1].pixels.shape, strict=False))
    about = {"columns": len(shown), "gap": f"{gap}rem", "pixels": _pixels(pixels)}
    return {"panels": shown} | about | size


def _place(
    letter: str, title: str, frame: str, src: str = "", alt: str = "", note: str = ""
) -> dict[str, str]:
    return {"letter": letter, "title": title, "src": src, "alt": alt, "note": note, "frame": frame}


def panel_of(shown: Mapping[str, Any]) -> Panel:
    file = io.BytesIO(base64.b64decode(shown["src"].partition(",")[2]))
    pixels = np.asarray(Image.open(file).convert("RGB"))
    return Panel("", shown["title"], pixels, shown["alt"])


def show_places(
    titles: Mapping[str, str], shape: tuple[int, ...], key: str, frames: Sequence[str], gap: float
) -> None:
    places = [_place(*one, frame) for one, frame in zip(titles.items(), frames, strict=True)]
    data = {"panels": places, "columns": len(places), "gap": f"{gap}rem", "aspect": shape[1] / shape[0]}
    component("panels")(data=data, key=key)


def view_panel(title: str, tone: str = "", src: str = "", alt: str = "", note: str = "") -> dict[str, str]:
    return {"title": title, "tone": tone, "src": src, "alt": alt, "note": note}


def show_strip(data: Dataset, chosen: int, at_a_time: int, key: str) -> None:
    count = pictures.count(data)
    first = (chosen - 1) // at_a_time * at_a_time + 1
    shown = range(first, min(first + at_a_time, count + 1))
    component("picture_strip")(
        data={
            "thumbnails": [_thumbnail(data, number) for number in shown],
            "first": first,
            "chosen": chosen,
            "count": count,
            "noun": "face",
        },
        key=key,
        on_chosen_change=lambda: change(image=int(st.session_state[key]["chosen"])),
    )


@cached(key=lambda data, number: (data.content_hash, number))
def _thumbnail(data: Dataset, number: int) -> str:
    v = pictures.picture(data, data.V, number - 1)
    return data_url(grey(v, pictures.white_level(v)))


def _pixels(data: ComparedPicture | None) -> dict[str, object] | None:
    if data is None:
        return None
    arrays = {name: getattr(data, name) for name in ("v", "at_hat", "nmf_hat", "r", "observed", "walls")}
    words = {name: _words(array) for name, array in (arrays | {"attacked": data.v + data.r}).items()}
    leash = "" if data.leash is None else f"{data.leash:g}"
    return {"lam": f"{data.lam:g}", "leash": leash, "unmarked": data.missing == "zero", **words}


def _words(array: Values) -> str:
    """Numbers as people read them, which takes half the room of all their digits; 0 or 1 for a mask."""
    form = "{:d}" if array.dtype == bool else "{:.3f}"
    return " ".join(map(form.format, array.ravel().tolist()))
