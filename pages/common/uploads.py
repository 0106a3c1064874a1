"""Files that were uploaded to this server, so that a reload or a link finds them again."""

import hashlib
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import PurePosixPath
from typing import Any

import streamlit as st
from cachetools import LRUCache

from atnmf_core import Dataset
from atnmf_core.datasets import LayoutGuess, Limits, Reading, ReadingOptions, UnreadableData, read_or_ask
from atnmf_core.figures.images import enlarge
from atnmf_core.figures.views import thumbnail

from .address import ARRIVED, K_CHOSEN, change
from .controls import OneOf, Text, controls_of
from .hosting import person, quotas
from .setting import defaults_for
from .streamlit_patches import drop_uploaded_files
from .widgets import escape_markdown

# How an uploaded file is read: the controls for what it does not say, as part of every address.

AS_READ = "as read"
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?"


@dataclass(frozen=True)
class Typed(Text):
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

    variable: str = Suggested.field("", "Array", pattern=r"[^\x00-\x1f\x7f]{1,200}")
    kind: str = OneOf.field(
        "", "It is", {"": AS_READ, "faces": "faces", "cube": "a cube", "matrix": "a matrix"}
    )
    image_shape: str = Suggested.field(
        "",
        "Rows × columns of an image",
        pattern=r"\d{1,6} ?[x×] ?\d{1,6}",
        open=True,
        help="For files with all pixels of an image on one axis. Type another size as 50x40.",
    )
    order: str = OneOf.field(
        "", "Pixels of an image are stored", {"": AS_READ, "F": "column by column", "C": "row by row"}
    )
    bands_axis: str = OneOf.field(
        "",
        "Axis of the bands",
        {"": AS_READ, "0": "first", "1": "second", "2": "third"},
        help="Or of the images, for faces.",
    )
    nodata: str = Typed.field(
        "",
        "No-data value",
        pattern=rf"{NUMBER}(, ?{NUMBER}){{0,9}}",
        help="Numbers that stand for a missing value in the file; separate several with commas.",
    )
    saturated: str = Typed.field(
        "", "Saturated from", pattern=NUMBER, help="This number and all above it count as missing."
    )
    negative: str = OneOf.field(
        "refuse",
        "Negative values",
        {
            "refuse": "are not expected",
            "zero": "become 0",
            "missing": "are missing",
            "keep": "are noise, for Restore",
        },
        help="Noise can push dark entries of a corrected cube below 0, which Restore alone takes.",
    )
    normalisation: str = OneOf.field(
        "none",
        "Values",
        {
            "none": "as they are",
            "maximum": "largest value to 1",
            "lee-seung": "each image to mean ¼, deviation ¼",
        },
    )

    @property
    def options(self) -> ReadingOptions:
        """The same for the reader; an `UnreadableData` names the control of an invalid text."""
        words = {one.name: getattr(self, one.name) for one in fields(self)}
        words["image_shape"] = words["image_shape"].replace("×", "x").replace(" ", "")
        return ReadingOptions.from_words({name: word for name, word in words.items() if word})


FILE_CONTROLS = controls_of(FileSetting)


def file_setting() -> FileSetting:
    return FileSetting(
        **{name: st.session_state.get(name, one.default) for name, one in FILE_CONTROLS.items()}
    )


Files = tuple[tuple[str, bytes], ...]  # Names, which are never paths, and contents
MAX_DATA_BYTES = 2_000_000_000
MAX_FILE_BYTES = 1_000_000_000


class Uploads:
    """Files, and what was read from them, by the hash of their contents, while there is room."""

    def __init__(self) -> None:
        # The last one must find room, however large it is.
        self._files = LRUCache[str, Files](
            MAX_FILE_BYTES, lambda files: min(sum(len(data) for _, data in files), MAX_FILE_BYTES)
        )
        self._readings = LRUCache[tuple[str, ReadingOptions | None], Reading](MAX_DATA_BYTES, _size)
        self._owned: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def keep(self, data: Dataset) -> str:
        """Cache data that is read already; the word by which `read` finds it, whatever the options."""
        with self._lock:
            self._readings[data.content_hash, None] = Reading(ReadingOptions(), data, None)
        return data.content_hash

    def keep_files(
        self, files: Sequence[tuple[str, bytes]], owner: str | None = None, room: int = MAX_FILE_BYTES
    ) -> str:
        """Cache files, dropping an owner's oldest beyond `room`; the word by which `read` finds them."""
        digest = hashlib.sha256()
        for name, data in files:
            digest.update(f"{len(name)} {name} {len(data)} ".encode(errors="replace"))
            digest.update(data)
        upload = digest.hexdigest()
        with self._lock:
            self._files[upload] = tuple(files)
            if owner is not None:
                others = [one for one in self._owned.get(owner, []) if one in self._files and one != upload]
                self._owned[owner] = [*others, upload]
                while len(self._owned[owner]) > 1 and self._bytes_of(owner) > room:
                    self._drop(self._owned[owner][0], owner)
        return upload

    def is_own(self, upload: str, owner: str | None) -> bool:
        with self._lock:
            return owner is not None and upload in self._owned.get(owner, [])

    def drop(self, upload: str, owner: str) -> None:
        """Delete an upload of this owner's, and what was read from it, unless somebody else has it, too."""
        with self._lock:
            self._drop(upload, owner)

    def _bytes_of(self, owner: str) -> int:
        return sum(len(data) for one in self._owned[owner] for _, data in self._files.get(one, ()))

    def _drop(self, upload: str, owner: str) -> None:
        self._owned[owner].remove(upload)
        if any(upload in owned for owned in self._owned.values()):
            return
        self._files.pop(upload, None)
        for key in [key for key in self._readings if key[0] == upload]:
            del self._readings[key]

    def files(self, upload: str) -> Files:
        """The files of this name; none where they are not here, or were never files."""
        with self._lock:
            return self._files.get(upload, ())

    def read(self, upload: str, options: ReadingOptions) -> Reading | None:
        """What comes of reading files with these options; None where they are not here."""
        with self._lock:
            reading = self._readings.get((upload, options)) or self._readings.get((upload, None))
            files = self._files.get(upload)
        if reading is not None or files is None:
            return reading
        reading = read_or_ask(list(files), options)
        with self._lock:
            self._readings[upload, options] = reading
        return reading


def _size(reading: Reading) -> int:
    return 1 if reading.data is None else min(reading.data.V.nbytes, MAX_DATA_BYTES)


@st.cache_resource(show_spinner=False)
def uploads() -> Uploads:
    return Uploads()


# Files that come from a browser: how large they may be, and where they go.

MAX_MEGABYTES = 200  # Of one file; as maxUploadSize in .streamlit/config.toml


def max_megabytes() -> int:
    limits = quotas()
    return MAX_MEGABYTES if limits is None else min(MAX_MEGABYTES, limits.upload_mb)


def keep_received(files: list[Any], key: str) -> str:
    """Cache new files, and return their name, "" for none; the session knows them under `key`."""
    identity, known = tuple(file.file_id for file in files), st.session_state.get(key, ())
    if not files or identity == known:
        return ""
    if refusal := _refusal(sum(file.size for file in files)):
        drop_uploaded_files(set(identity) - set(known))
        st.error(refusal, icon=":material/error:")
        return ""
    st.session_state[key] = identity
    names = (PurePosixPath(file.name.replace("\\", "/")).name or "upload" for file in files)
    received = [(name, file.getvalue()) for name, file in zip(names, files, strict=True)]
    return uploads().keep_files(received, person(), _room())


def _refusal(size: int) -> str:
    """Why files of this size, in bytes, are refused; empty if they are accepted."""
    limit, room = Limits.from_environment().bytes, _room()
    if size > room:
        return (
            f"These files take {size / 1e6:,.0f} MB; this server has room for {room / 1e6:,.0f} MB of each "
            "person's files. They were not kept: choose fewer or smaller ones."
        )
    return f"These files are larger than the {limit:,} bytes that can be read." if size > limit else ""


def _room() -> int:
    limits = quotas()
    return sys.maxsize if limits is None else limits.upload_mb * 1_000_000


# A file of one's own: where it is dropped, what was made of it, and how to have it read otherwise.

UPLOAD = "upload"
RECEIVED = "upload_received"
THUMBNAIL_SIDE = 220
SMALLEST_SIDE, LONGEST_RATIO = 8, 4  # Of images that a matrix is offered to be
MAX_OFFERS = 2
KIND_NAMES = {"faces": "faces", "cube": "a cube", "matrix": "a matrix"}


def uploaded_reading(upload: str, setting: FileSetting) -> Reading | None:
    try:
        options = setting.options
    except UnreadableData as error:
        return Reading(ReadingOptions(), None, error)
    return uploads().read(upload, options)


def uploaded() -> Dataset | None:
    reading = uploaded_reading(st.session_state["upload"], file_setting())
    return None if reading is None else reading.data


_OWN_FILE = "own_file"


def bring_own_file(page: str, kinds: Collection[str]) -> None:
    """Show the file chosen last, once, on a page that the menu led to and that can show it."""
    state = st.session_state
    turn, values = state.get(_OWN_FILE, (0, {}))
    is_new = state.get(ARRIVED, False) and turn > state.get(f"{page}_{_OWN_FILE}", 0)
    if not is_new or (state["data"], _here()) == (UPLOAD, values):
        return
    setting = FileSetting(**{name: values[name] for name in FILE_CONTROLS})
    reading = uploaded_reading(values["upload"], setting)
    if reading is not None and reading.data is not None and reading.data.kind in kinds:
        state.pop("upload_form", None)
        _set(**values, data=UPLOAD)


def remember_own_file(page: str) -> None:
    """Remember for the other pages which file this one shows."""
    state = st.session_state
    turn, values = state.get(_OWN_FILE, (0, {}))
    if state["data"] == UPLOAD and _here() != values and uploaded() is not None:
        turn += 1
        state[_OWN_FILE] = turn, _here()
    state[f"{page}_{_OWN_FILE}"] = turn


def _here() -> dict[str, Any]:
    return {"upload": st.session_state["upload"]} | asdict(file_setting())


def show_upload_form(kinds: Collection[str], then: Callable[[], None]) -> None:
    """The place for files, a thumbnail, questions and controls. `then` is called after new data was read."""
    for name, control in FILE_CONTROLS.items():
        st.session_state.setdefault(name, control.default)
    # No list of types: the binary half of an ENVI pair often has no suffix at all.
    files = st.file_uploader(
        "Images, a zip of them, MAT, NPY, ENVI (both files), GeoTIFF, NetCDF, HDF5 or CSV",
        accept_multiple_files=True,
        max_upload_size=max_megabytes(),
        key="upload_files",
    )
    _receive(files)
    reading = uploaded_reading(st.session_state["upload"], file_setting())
    if reading is None:
        return
    data = reading.data
    if data is not None:
        _suit(data, then)
        _show_thumbnail(data)
    if data is None or data.kind not in kinds:
        _ask(reading, kinds)
        _draw_controls(reading)
        return
    if data.kind == "matrix":
        _offer(reading, set(kinds) - {"matrix"})
    if uploads().files(st.session_state["upload"]):
        with st.expander("How the file is read"):
            _draw_controls(reading)
            _offer_deletion()


def _receive(files: list[Any]) -> None:
    """Cache new files, and let the rules of the reader decide how they are read."""
    upload = keep_received(files, RECEIVED) or st.session_state["upload"]
    if upload != st.session_state["upload"]:
        _set(upload=upload, **{name: control.default for name, control in FILE_CONTROLS.items()})


def _offer_deletion() -> None:
    if uploads().is_own(st.session_state["upload"], person()):
        st.button("Delete it from this server", icon=":material/delete:", on_click=_delete, width="stretch")


def _delete() -> None:
    uploads().drop(st.session_state["upload"], person())
    drop_uploaded_files(st.session_state.get(RECEIVED, ()))
    _set(upload="")


def _set(**values: Any) -> None:
    """Change how the file is read; what is read then may need other settings of the page."""
    change(**values, upload_changed=True)


def _suit(data: Dataset, then: Callable[[], None]) -> None:
    """Settings that suit the data, where this session has just changed its form. A link has its own."""
    form = (data.kind, data.shape, data.image_shape)
    if st.session_state.pop("upload_changed", False) and st.session_state.get("upload_form") != form:
        suited = defaults_for(UPLOAD, data.kind, data.shape, None if data.truth is None else data.truth.count)
        if st.session_state.get(K_CHOSEN):
            suited["K"] = min(st.session_state["K"], *data.shape)
        change(**suited)
        then()
    st.session_state["upload_form"] = form


def _show_thumbnail(data: Dataset) -> None:
    size = " × ".join(str(length) for length in _sizes(data))
    what = f"{KIND_NAMES[data.kind]}, {size}"
    st.image(enlarge(thumbnail(data), THUMBNAIL_SIDE), width="content", alt=f"{data.title} as {what}")
    st.caption(f"{escape_markdown(data.title)}: {what}")


def _sizes(data: Dataset) -> tuple[int, ...]:
    if data.image_shape is None:
        return data.shape
    return (*data.image_shape, data.shape[1] if data.kind == "faces" else data.shape[0])


def _ask(reading: Reading, kinds: Collection[str]) -> None:
    if reading.problem is None:
        wanted = " or ".join(KIND_NAMES[kind] for kind in kinds)
        st.warning(f"This page shows {wanted}, but this file was read as {KIND_NAMES[reading.data.kind]}.")
        _offer(reading, kinds)
        return
    error = reading.problem
    if error.setting is not None:
        st.error(
            f"{FILE_CONTROLS[error.setting].label}: {escape_markdown(error.message)}", icon=":material/edit:"
        )
        return
    asks = bool(error.remedies)
    icon = ":material/help:" if asks else ":material/error:"
    (st.warning if asks else st.error)(escape_markdown(error.message), icon=icon)
    if error.arrays:
        _draw("variable", among=_arrays(reading))
    draw_remedies(reading, "remedy")
    _preview(reading)


MAX_NAMED = 6  # Arrays of a file that have a button each


def draw_remedies(reading: Reading, key: str, *, with_arrays: bool = False) -> None:
    """Buttons that would settle what is in the way of reading a file; a list has all its arrays."""
    if with_arrays and reading.problem is not None and reading.problem.arrays:
        for number, (name, words) in enumerate(tuple(_arrays(reading).items())[:MAX_NAMED]):
            _button(f"Read {escape_markdown(words)}", {"variable": name}, f"{key}_array_{number}")
    for number, remedy in enumerate(reading.problem.remedies if reading.problem else ()):
        if remedy.value is not None and remedy.setting != "variable":
            words = ReadingOptions(**{remedy.setting: remedy.value}).words()
            _button(escape_markdown(remedy.effect[0].upper() + remedy.effect[1:]), words, f"{key}_{number}")


def read_as_missing(value: float, *, and_above: bool) -> None:
    if and_above:
        _set(saturated=repr(value))
    else:
        known = st.session_state["nodata"]
        _set(nodata=f"{known}, {value!r}" if known else repr(value))


def _preview(reading: Reading) -> None:
    if reading.suggested == reading.options:
        return
    guess = uploads().read(st.session_state["upload"], reading.suggested)
    if guess is None or guess.data is None:
        return
    changed = dict(reading.suggested.words().items() - reading.options.words().items())
    _show_thumbnail(guess.data)
    _button("Read it like this", changed, "suggested", type="primary")


def _offer(reading: Reading, kinds: Collection[str]) -> None:
    guesses = [one for one in reading.layouts if one.kind in kinds and _is_plausible(one)][:MAX_OFFERS]
    if guesses:
        st.caption("Each row or column may be an image:")
    for number, guess in enumerate(guesses):
        rows, cols = guess.image_shape
        words = ReadingOptions(**guess.settings).words()
        _button(f"Read {KIND_NAMES[guess.kind]}, images of {rows} × {cols}", words, f"guess_{number}")


def _is_plausible(guess: LayoutGuess) -> bool:
    if guess.image_shape is None:
        return False
    short, long = sorted(guess.image_shape)
    return short >= SMALLEST_SIDE and long <= LONGEST_RATIO * short


def _button(label: str, words: Mapping[str, str], key: str, **options: Any) -> None:
    st.button(label, key=f"upload_{key}", on_click=_set, kwargs=dict(words), width="stretch", **options)


def _draw_controls(reading: Reading) -> None:
    """The controls that mean something for this file, each value with the same words in every run."""
    axes = () if reading.array is None else tuple(size for size in reading.array.shape if size > 1)
    among: dict[str, dict[str, str]] = {}
    if reading.arrays and reading.array is not None:
        among["variable"] = _arrays(reading)
    if reading.array is not None:
        among["kind"] = dict(FILE_CONTROLS["kind"].options)
        among["bands_axis"] = dict(FILE_CONTROLS["bands_axis"].options)
        if len(axes) == 2:
            shapes = dict.fromkeys(one.image_shape for one in reading.layouts if one.image_shape)
            among["image_shape"] = {f"{rows}x{cols}": f"{rows}x{cols}" for rows, cols in shapes}
            among["order"] = dict(FILE_CONTROLS["order"].options)
    for name, names in among.items():
        _draw(name, among=names)
    if reading.array is not None:
        for name in ("nodata", "saturated", "negative", "normalisation"):
            _draw(name)


def _arrays(reading: Reading) -> dict[str, str]:
    return {one.name: str(one) for one in reading.arrays}


def _draw(name: str, **options: Any) -> None:
    control = FILE_CONTROLS[name]
    if isinstance(control, OneOf):
        options["widget"] = st.selectbox
    control.draw(name, on_change=_set, **options)
