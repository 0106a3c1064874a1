"""The sidebar of the Hyperspectral page, and its `CubeSetting`, of which all that it shows is a function."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import streamlit as st

from atnmf_core import Dataset, InputError
from atnmf_core.datasets import Entry, SpectralLibrary, Truth, UnreadableData, read_library, read_truth
from atnmf_core.figures.views import INFRARED, NATURAL, nearest_bands
from atnmf_core.model.problem import Missing
from pages.common.address import Address, change, last_shown
from pages.common.cache import cached
from pages.common.controls import (
    COUNT,
    PIXEL,
    Number,
    OneOf,
    Pixel,
    Switch,
    Text,
    clip_pixel,
    parse_pixel,
    redeclare,
    spell_pixel,
)
from pages.common.data import choose_data, chosen_data, take_over_cube
from pages.common.setting import MAX_IMAGES, FitKey, Setting
from pages.common.uploads import FileSetting, keep_received, uploads
from pages.common.widgets import (
    clamp,
    clamp_to_data,
    draw_hiding_and_model,
    draw_reset_and_link,
    draw_seeds_and_colour,
    escape_markdown,
    show_error,
)

SCENE = "simulated-scene"
SIZES = {
    "small": {"rows": 64, "cols": 64, "bands": 100},
    "medium": {"rows": 128, "cols": 128, "bands": 120},
    "large": {"rows": 307, "cols": 307, "bands": 162},
}
MAX_PINS = 6


@dataclass(frozen=True)
class Span(Text):
    """A part of a cube's rows, columns or bands, as "first-last"; empty for all."""

    pattern: str = rf"{COUNT}-{COUNT}"

    def read(self, text: str) -> str | None:
        if super().read(text) is None:
            return None
        first, last = (int(number) for number in text.split("-"))
        return text if first <= last else None


@dataclass(frozen=True)
class CubeSetting(Setting):
    """The state of the Hyperspectral page; by default the simulated scene, half of it hidden and marked.

    rows, cols, bands : what is cut out, as "first-last" counted from 1; empty for all.
    triplet : which three bands are shown; `red`, `green` and `blue` where "own".
    clip : percent of values that the stretch clips at either end.
    pixel, pins : in view, as "row.column" counted from 1, "" for the centre; and to compare, joined by "_".
    library : the upload that holds reference spectra; empty for none.
    """

    data: str = redeclare(Setting, "data", SCENE)
    alpha: float = redeclare(Setting, "alpha", 0.5)
    K: int = redeclare(Setting, "K", 5)
    missing: Missing = redeclare(Setting, "missing", "ignore")
    image: int = redeclare(Setting, "image", 13)
    start: Literal["pure-pixels", "random"] = OneOf.field(
        "pure-pixels",
        "Start",
        {"pure-pixels": "pure pixels", "random": "random"},
        help="Pure pixels: W starts at spectra of pixels that show a single material. Random: as in the "
        "paper.",
    )
    materials: Literal["parts", "sum"] = OneOf.field(
        "parts",
        "Materials",
        {"parts": "parts", "sum": "sum to one"},
        help="Parts: as NMF and AT-NMF find them, scaled afterwards. Sum to one: the abundances of every "
        "pixel do, and the spectra span the smallest volume that the noise allows, as in unmixing "
        "tools; from pure pixels, without entries that these show to be wrong.",
    )
    size: str = OneOf.field(
        "small",
        "Size of the scene",
        {name: f"{size['rows']}²" for name, size in SIZES.items()},
        help="In pixels. The largest, with 162 bands, is as big as a real scene, and fitted on request.",
    )
    rows: str = Span.field("", "Rows")
    cols: str = Span.field("", "Columns")
    bands: str = Span.field("", "Bands")
    view: str = OneOf.field("rgb", "Picture", {"rgb": "Colour composite", "band": "Single band"})
    triplet: str = OneOf.field(
        "natural",
        "Bands shown as red, green and blue",
        {"natural": "natural", "infrared": "infrared", "own": "own bands"},
    )
    red: int = Number.field(1, "Red", 1, MAX_IMAGES)
    green: int = Number.field(1, "Green", 1, MAX_IMAGES)
    blue: int = Number.field(1, "Blue", 1, MAX_IMAGES)
    clip: str = OneOf.field(
        "2",
        "Values from black to full brightness",
        {"0": "whole range"} | {share: f"{share}% off either end" for share in ("1", "2", "5")},
    )
    balance: str = OneOf.field(
        "auto",
        "Channels are stretched",
        {"auto": "as suits the bands", "channel": "separately", "joint": "together"},
    )
    pixel: str = Text.field("", pattern=PIXEL)
    pins: str = Text.field("", pattern=rf"{PIXEL}(_{PIXEL}){{0,{MAX_PINS - 1}}}")
    pure: bool = Switch.field(
        False,
        "Pure pixels beside the fitted materials",
        help="The pixels that the fit starts from, as they are: where they are good, fitting can make "
        "them worse.",
    )
    library: str = Text.field("", pattern=r"[0-9a-f]{64}")

    VIEW: ClassVar[tuple[str, ...]] = (
        *Setting.VIEW,
        *("view", "triplet", "red", "green", "blue", "clip", "balance", "pixel", "pins", "pure", "library"),
    )

    def fit_key(self, content_hash: str, method: Literal["nmf", "atnmf"]) -> FitKey:
        key = super().fit_key(content_hash, method)
        if self.materials == "parts":
            return key._replace(start=self.start)
        return key._replace(start="pure-pixels", solver="fast", unit_sum=True)

    def cut(self, data: Dataset) -> Dataset:
        rows, cols = data.image_shape
        asked = {
            "rows": span(self.rows, rows),
            "cols": span(self.cols, cols),
            "bands": span(self.bands, data.shape[0]),
        }
        full = {"rows": (1, rows), "cols": (1, cols), "bands": (1, data.shape[0])}
        picks = {name: slice(first - 1, last) for name, (first, last) in asked.items()}
        return data if asked == full else data.subset(**picks)

    def place(self, data: Dataset) -> Pixel:
        return clip_pixel(parse_pixel(self.pixel), data)

    def pinned(self, data: Dataset) -> list[Pixel]:
        """The pixels to compare that are in the image, each once."""
        rows, cols = data.image_shape
        pixels = [parse_pixel(word) for word in self.pins.split("_") if word]
        return [(row, col) for row, col in dict.fromkeys(pixels) if row <= rows and col <= cols]


def span(text: str, length: int) -> tuple[int, int]:
    """First and last of "first-last", clipped to 1 to `length`; all if it is empty."""
    if not text:
        return 1, length
    first, last = (int(number) for number in text.split("-"))
    last = min(last, length)
    return min(first, last), last


def spell_pixels(pixels: list[Pixel]) -> str:
    return "_".join(spell_pixel(pixel) for pixel in pixels[-MAX_PINS:])


ADDRESS = Address("hyperspectral", CubeSetting, FileSetting)

TARGETS = {"natural": NATURAL, "infrared": INFRARED}
COLLAPSED = "collapsed"
CHANNELS = ("red", "green", "blue")


def shown_bands(setting: CubeSetting, data: Dataset) -> tuple[int, int, int]:
    if setting.view == "band":
        return (setting.image - 1,) * 3
    if setting.triplet == "own":
        return setting.red - 1, setting.green - 1, setting.blue - 1
    return nearest_bands(data.wavelengths, data.shape[0], TARGETS[setting.triplet])


def is_joint(setting: CubeSetting, data: Dataset) -> bool:
    if setting.balance == "auto":
        return data.wavelengths is not None and setting.triplet == "natural"
    return setting.balance == "joint"


def bands_in_words(setting: CubeSetting, data: Dataset) -> str:
    """Such as "640 · 550 · 460 nm", or "bands 83 · 42 · 17"."""
    bands = shown_bands(setting, data)
    if setting.view == "band":
        return data.wavelength_label(bands[0])
    if data.wavelengths is None:
        return "bands " + " · ".join(str(band + 1) for band in bands)
    return " · ".join(f"{data.wavelengths[band]:.4g}" for band in bands) + " nm"


def show_view_bar(setting: CubeSetting, data: Dataset) -> None:
    with st.container(key="view_bar", horizontal=True, vertical_alignment="center", gap="small"):
        ADDRESS.draw("view", label_visibility=COLLAPSED)
        if setting.view == "band":
            _choose_band("image", data, label_visibility=COLLAPSED)
        else:
            _choose_triplet(data)
        _stretch()


def _choose_triplet(data: Dataset) -> None:
    names = None
    if data.wavelengths is None:
        # Without wavelengths nobody knows which bands are infrared.
        names = {"natural": "spread bands", "own": "own bands"}
        if st.session_state["triplet"] == "infrared":
            change(triplet="natural")
    ADDRESS.draw("triplet", among=names, label_visibility=COLLAPSED, on_change=_begin_own, args=(data,))
    if st.session_state["triplet"] == "own":
        with st.popover("R G B"):
            for channel in CHANNELS:
                _choose_band(channel, data)


def _choose_band(name: str, data: Dataset, **options: str) -> None:
    st.select_slider(
        ADDRESS.controls[name].label,
        range(1, data.shape[0] + 1),
        st.session_state[name],
        format_func=lambda number: data.wavelength_label(number - 1),
        key=name,
        **options,
    )


def _begin_own(data: Dataset) -> None:
    """Choosing one's own bands starts from those shown, not from three times the first."""
    state = st.session_state
    if state["triplet"] == "own" and state["red"] == state["green"] == state["blue"]:
        bands = nearest_bands(data.wavelengths, data.shape[0], NATURAL)
        change(**{name: band + 1 for name, band in zip(CHANNELS, bands, strict=True)})


def _stretch() -> None:
    with st.popover("Stretch"):
        ADDRESS.draw("clip", widget=st.selectbox)
        ADDRESS.draw("balance", widget=st.radio)
        ADDRESS.draw("restored", widget=st.radio)


TRUTH_SUFFIXES = ["npy", "npz", "mat", "csv", "tif", "tiff"]


def known_truth(data: Dataset) -> Truth | None:
    if data.truth is not None:
        return data.truth
    with st.expander("Known materials"):
        files = st.file_uploader(
            "Abundance maps, spectra, or both",
            type=TRUTH_SUFFIXES,
            accept_multiple_files=True,
            key="truth_files",
            help="Maps as rows x columns x materials, or materials x pixels; spectra as bands x materials.",
        )
        if not files:
            return None
        upload = keep_received(files, "truth_received") or st.session_state.get("truth_upload", "")
        st.session_state["truth_upload"] = upload
        try:
            return _truth(upload, data.content_hash, data) if uploads().files(upload) else None
        except (InputError, UnreadableData) as error:
            show_error(error)
            return None


@cached()
def _truth(upload: str, content_hash: str, _data: Dataset) -> Truth:
    return read_truth(_data, list(uploads().files(upload)))


def draw_library_choice() -> None:
    with st.expander("Reference spectra"):
        files = st.file_uploader(
            "A spectral library: ENVI (.sli and .hdr), or a table with wavelengths",
            accept_multiple_files=True,
            key="library_files",
            help="The nearest of its spectra are named on each material's card, with their angles.",
        )
        if library := keep_received(files, "library_received"):
            change(library=library)
        if not st.session_state["library"]:
            return
        try:
            library = _read(st.session_state["library"])
        except UnreadableData as error:
            show_error(error.message)
            return
        if library is None:
            st.caption("The library in this link is not on this server: choose its files again.")
            return
        low, high = library.wavelengths.min(), library.wavelengths.max()
        st.caption(f"{len(library.names):,} spectra, {low:.0f} to {high:.0f} nm")
        st.button("Leave it out", on_click=change, kwargs={"library": ""})


def chosen_library(upload: str) -> SpectralLibrary | None:
    try:
        return _read(upload) if upload else None
    except UnreadableData:
        return None


@cached()
def _library(upload: str) -> SpectralLibrary:
    return read_library(list(uploads().files(upload)))


def _read(upload: str) -> SpectralLibrary | None:
    return _library(upload) if uploads().files(upload) else None


FIRST_VIEW = {"alpha": 0.1, "pattern": "stripes", "lam": 1.05, "missing": "zero"}
"""Dead lines that nobody has marked, where the methods differ. The defaults are those of existing links."""


def show_sidebar() -> tuple[CubeSetting, Dataset | None]:
    is_first = last_shown("hyperspectral") is None and not st.query_params
    arrived = ADDRESS.load_from_address()
    if is_first:
        change(**FIRST_VIEW)
    if arrived:
        take_over_cube("explore")
    with st.sidebar:
        data = _cube(choose_data(("cube",), then=_start_afresh))
        if st.session_state["materials"] == "sum":
            change(solver="fast")
        draw_hiding_and_model(ADDRESS, data)
        ADDRESS.draw("materials", width="stretch")
        if st.session_state["materials"] == "parts":
            ADDRESS.draw("start", width="stretch")
        draw_library_choice()
        draw_seeds_and_colour(ADDRESS)
        draw_reset_and_link(ADDRESS, FIRST_VIEW)
    ADDRESS.write()
    return ADDRESS.get(CubeSetting), data


def _cube(entry: Entry | None) -> Dataset | None:
    state = st.session_state
    options = {}
    if entry is not None and entry.name == SCENE:
        ADDRESS.draw("size", width="stretch", on_change=_start_afresh)
        options = SIZES[state["size"]]
    whole = chosen_data(entry, **options)
    if whole is None:
        return None
    if whole.kind != "cube":
        said = f"{escape_markdown(whole.title)} is not a cube: open it on the Explore page."
        st.error(said, icon=":material/error:")
        return None
    _cut_out(whole)
    truth = known_truth(whole)
    truth_hash = "" if truth is None else truth.content_hash
    cut = (state["rows"], state["cols"], state["bands"])
    data = _part(whole.content_hash, truth_hash, cut, whole, truth)
    clamp_to_data(data)
    clamp(dict.fromkeys(("red", "green", "blue"), data.shape[0]))
    return data


def _cut_out(whole: Dataset) -> None:
    rows, cols = whole.image_shape
    with st.expander("Cut out a part"):
        st.caption("The part becomes a cube of its own, counted from 1.")
        for name, length in (("rows", rows), ("cols", cols), ("bands", whole.shape[0])):
            if length > 1:
                key, wanted = f"{name}_span", span(st.session_state[name], length)
                if st.session_state.get(key) != wanted:
                    change(**{key: wanted})
                label = ADDRESS.controls[name].label
                st.slider(label, 1, length, wanted, key=key, on_change=_set_span, args=(name, length))


def _set_span(name: str, length: int) -> None:
    first, last = st.session_state[f"{name}_span"]
    change(**{name: "" if (first, last) == (1, length) else f"{first}-{last}"}, pixel="", pins="")


@cached()
def _part(
    content_hash: str, truth_hash: str, cut: tuple[str, str, str], _whole: Dataset, _truth: Truth | None
) -> Dataset:
    known = _whole if _truth is _whole.truth else replace(_whole, truth=_truth)
    rows, cols, bands = cut
    return CubeSetting(rows=rows, cols=cols, bands=bands).cut(known)


def _start_afresh() -> None:
    """Another cube: the part and the pixels chosen in the last one mean nothing in it."""
    first = CubeSetting()
    names = ("rows", "cols", "bands", "triplet", "pixel", "pins")
    change(**{name: getattr(first, name) for name in names})
