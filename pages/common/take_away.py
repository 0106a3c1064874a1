"""Files to download, and the lines of Python or the command line that reproduce the numbers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis.pictures import restored_cube
from atnmf_core.datasets import bytes_like
from atnmf_core.datasets.files.write import zipped
from atnmf_core.figures.publish import FORMATS, WIDEST, Look, save_chart
from atnmf_core.recipe import Recipe

from .address import Address
from .data import UPLOAD
from .fitting import Case, Pair
from .setting import Setting
from .uploads import file_setting, uploaded, uploads
from .widgets import escape_markdown, show_code

if TYPE_CHECKING:
    import plotly.graph_objects as go

PREPARING_POLL_SECONDS = 0.2
MAX_NAMED = 4  # More files than this are not listed one by one


class Making:
    """A file that a download button makes outside the session; it remembers what went wrong."""

    def __init__(self) -> None:
        self.failure = ""
        self._ended = threading.Event()

    def run(self, make: Callable[[], bytes | str]) -> bytes | str:
        self.failure = ""
        try:
            return make()
        except Exception as error:
            self.failure = str(error) or type(error).__name__
            raise
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Until it is made; drawing in between lets Streamlit answer what the user does meanwhile."""
        place = st.empty()
        while not self._ended.wait(PREPARING_POLL_SECONDS):
            place.caption("Preparing the file …")
        place.empty()
        self._ended.clear()


class File(NamedTuple):
    """A file to download, made on request: without the session, whose setting has to be in `make` already."""

    label: str
    make: Callable[[], bytes | str]
    name: str
    mime: str = "application/octet-stream"
    help: str | None = None


def download(
    label: str,
    make: Callable[[], bytes | str],
    file_name: str,
    mime: str = "application/octet-stream",
    help: str | None = None,
    **look: Any,
) -> None:
    st.fragment(_download)(File(label, make, file_name, mime, help), look)


def _download(file: File, look: dict[str, Any]) -> None:
    look = {"key": f"take_{file.name}", **look}
    making = st.session_state.setdefault(f"making_{look['key']}", Making())
    make = partial(making.run, file.make)
    if st.download_button(file.label, make, file.name, file.mime, help=file.help, **look):
        making.wait()
        if making.failure:
            st.error(f"{escape_markdown(file.name)} cannot be made: {escape_markdown(making.failure)}")


DEFAULT_WIDTH = {"mm": 160.0, "px": 1200.0}  # A page of text, and a slide
BACKGROUNDS = ("white", "transparent")


class FigureFile(NamedTuple):
    label: str
    name: str
    make: Callable[[Look], bytes]
    help: str | None = None


def chart_files(charts: Mapping[str, tuple[str, Callable[[], go.Figure]]]) -> list[FigureFile]:
    return [
        FigureFile(label, name, lambda look, draw=draw: save_chart(draw(), look))
        for name, (label, draw) in charts.items()
    ]


def show_figures(stem: str, figures: Sequence[FigureFile]) -> None:
    """Figures to download as PNG, SVG or PDF, in the size, font and background that people choose."""
    if find_spec("matplotlib") is None:
        st.caption("Figures are drawn by Matplotlib, which is not installed here.")
        return
    st.fragment(_figures)(stem, figures)


def _figures(stem: str, figures: Sequence[FigureFile]) -> None:
    look = _choose_look()
    with st.container(horizontal=True, gap="small"):
        for figure in figures:
            name = "-".join(filter(None, (stem, figure.name))) + f".{look.format}"
            download(figure.label, partial(figure.make, look), name, look.mime, figure.help)


def _choose_look() -> Look:
    kept: dict[str, Any] = {"persist_state": "session"}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        formats = {name: name.upper() for name in FORMATS}
        form = st.segmented_control(
            "Format of figures", formats, default="png", format_func=formats.get,
            key="figure_format", required=True, label_visibility="collapsed", **kept,
        )  # fmt: skip
        with st.popover("Size and background", help="Width and font size of figures, and what is behind"):
            unit = st.segmented_control(
                "Width in", DEFAULT_WIDTH, default="mm", key="figure_unit", required=True, **kept
            )
            most, usual = WIDEST[unit], DEFAULT_WIDTH[unit]
            width = st.number_input(
                f"Width, {unit}", 10.0, most, usual, 5.0, format="%g", key=f"figure_{unit}", **kept
            )
            size = st.number_input(
                "Font size, pt", 4.0, 40.0, 9.0, 0.5, format="%g", key="figure_font_size", **kept
            )
            background = st.segmented_control(
                "Background", BACKGROUNDS, default="white", key="figure_background", required=True, **kept
            )
        st.caption(f"{width:g} {unit} wide, {size:g} pt, {background}", width="content")
    return Look(form, width, unit, size, background == "transparent")


def stem_of(setting: Setting, data: Dataset) -> str:
    leash = "" if setting.bound is None else f"-leash{setting.bound:g}"
    return f"{data.name}-alpha{setting.alpha:g}-lam{setting.lam:g}{leash}-K{setting.K}-{setting.missing}"


def source_of(setting: Setting, data: Dataset, **options: int) -> str:
    if setting.data != UPLOAD:
        given = "".join(f", {name}={value}" for name, value in options.items())
        return f'load_dataset("{setting.data}"{given})'
    names = json.dumps(file_names(setting.upload), ensure_ascii=False)
    return f"read_dataset({names}{file_setting().options.python()})"


def file_names(upload: str) -> str | list[str]:
    names = [name for name, _ in uploads().files(upload)]
    headers = [name for name in names if name.lower().endswith(".hdr")]
    if len(names) == 1 or headers:
        return (headers or names)[0]
    return names if 0 < len(names) <= MAX_NAMED else "your-file"


def recipe(case: Case, source: str) -> Recipe:
    """How to reproduce this setting's numbers without the dashboard."""
    setting, key = case.setting, case.keys[0]
    names = ("alpha", "mask_seed", "pattern", "K", "lam", "missing", "seed")
    return Recipe(
        source=source,
        data=_command_data(setting, source),
        reading=file_setting().options.command_line() if setting.data == UPLOAD else "",
        solver=key.solver,
        start=key.start,
        unit_sum=key.unit_sum,
        leash=setting.bound,
        **{name: getattr(setting, name) for name in names},
    )


def _command_data(setting: Setting, source: str) -> str:
    """The name of the data on the command line; empty if one name is not enough."""
    if setting.data == UPLOAD:
        files = file_names(setting.upload)
        return files if isinstance(files, str) and ".subset(" not in source else ""
    return setting.data if source == f'load_dataset("{setting.data}")' else ""


def show_recipe(again: Recipe) -> None:
    st.markdown("**Reproduce these numbers**")
    show_code(again.python())
    if again.command_line():
        show_code(again.command_line())


Kept = Literal["measured", "observed", "nothing"]
WHAT_IS_KEPT: dict[Kept, str] = {
    "measured": "every measured value as it was",
    "observed": "observed entries as they were",
    "nothing": "W H alone",
}
COLOURS = (".png", ".jpg", ".jpeg", ".bmp", ".zip")
"""Files that may hold colours, which cannot be written back."""


class Format(NamedTuple):
    """A format for restored data; `write` takes the data and the file's name without its ending."""

    label: str
    write: Callable[[Dataset, str], bytes]
    ending: str
    mime: str


def show_take_away(
    case: Case,
    pair: Pair,
    address: Address,
    source: str,
    *,
    begin: Callable[[], None],
    restored: str = "",
    formats: Sequence[Format] = (),
    numbers: Sequence[File] = (),
) -> None:
    """Files on the left, with `restored` data if that has a title; the recipe on the right."""
    data = case.data
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown("**Figures**")
        begin()
        if restored:
            _show_restored(case, pair, address, restored, formats)
        st.markdown("**Numbers**")
        with st.container(horizontal=True, gap="small"):
            for file in numbers:
                download(*file)
        st.caption(f"{escape_markdown(data.title)}. {escape_markdown(data.terms)}")
    with right:
        show_recipe(recipe(case, source))


def _show_restored(case: Case, pair: Pair, address: Address, title: str, formats: Sequence[Format]) -> None:
    st.markdown(f"**{title}** · {WHAT_IS_KEPT[_kept(case)]}")
    if case.setting.restored == "observed" and case.setting.alpha and not case.data.observed.all():
        address.draw("written", label_visibility="collapsed")
    for method, tone, run in zip(("AT-NMF", "NMF"), ("orange", "blue"), pair, strict=True):
        restore = partial(
            restored_cube, case.data, case.observed, run.W, run.H, method=method, keep=_kept(case)
        )
        stem = f"{stem_of(case.setting, case.data)}-{method.lower()}"
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f":{tone}[{method}]", width=64)
            for one in formats:
                about = f"{escape_markdown(case.data.title)} as restored by {method}, {one.label}"
                make = partial(_written, one, restore, stem)
                download(one.label, make, f"{stem}.{one.ending}", one.mime, about)
            _download_like_source(case, restore, stem)


def _kept(case: Case) -> Kept:
    """What a file with restored data keeps. If the data has no gaps, only hidden entries can be restored."""
    if case.setting.restored == "model":
        return "nothing"
    return "observed" if case.data.observed.all() or case.setting.written == "observed" else "measured"


def _written(how: Format, restore: Callable[[], Dataset], stem: str) -> bytes:
    return how.write(restore(), stem)


def _download_like_source(case: Case, restore: Callable[[], Dataset], stem: str) -> None:
    """A button for restored data in the uploaded file's format, with everything else that it holds."""
    setting, data = case.setting, case.data
    files = uploads().files(setting.upload) if setting.data == UPLOAD else ()
    options = file_setting().options
    whole = uploaded() if files else None
    is_cut = whole is None or whole.content_hash != data.content_hash
    has_colours = any(name.lower().endswith(COLOURS) for name, _ in files)
    if is_cut or options.normalisation != "none" or has_colours:
        return
    name = files[0][0] if len(files) == 1 else f"{data.name}.zip"

    def make() -> bytes:
        written = bytes_like(list(files), restore().V, **options.arguments())
        return written[0][1] if len(written) == 1 else zipped(written)

    about = "In the format of your file, with its coordinates, wavelengths, units and other arrays"
    download("In your file's format", make, f"{stem}-{name}", help=about)
