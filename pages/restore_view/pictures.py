"""The pictures: damaged, restored, true where that is known, and what was found to be wrong; with what
people do on them: mark what is wrong, look at a pixel's spectrum, ask what other methods would make of it.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from atnmf_core import Dataset, InputError, rmse
from atnmf_core.analysis import pictures
from atnmf_core.datasets import UnreadableData
from atnmf_core.datasets.marks import Mark, entries_of, read_marks, read_mask, spell_marks
from atnmf_core.figures.images import HIDDEN, data_url
from atnmf_core.figures.views import RestoredView, band_axis, points, spectra_top
from atnmf_core.model.problem import Array, Mask, three_digits
from atnmf_core.restoration import Restoration
from atnmf_core.restoration.findings import KINDS, Finding
from atnmf_core.restoration.rivals import NMF, RIVALS, Rivals, RivalsProgress, run_rivals
from pages.common.address import change
from pages.common.cache import cached
from pages.common.controls import spell_pixel
from pages.common.jobs import JobProgress
from pages.common.uploads import keep_received, uploads
from pages.common.widgets import ERROR_SCALE, component, show_error, show_strip, view_panel

from .jobs import Key, Restored, damage, key_of, restorations, show_progress
from .setting import ADDRESS, MAX_MARKS, RestoreSetting

# What would others have made of it? Other methods on the same data, when somebody asks.


RIVAL_TONES = {NMF: "blue"}
CANCELLED = "restore_others_cancelled"


class RivalsKey(NamedTuple):
    """What the other methods are given: the data, and K."""

    restoration: Key


def _key(setting: RestoreSetting, shown: Restored) -> RivalsKey:
    return RivalsKey(key_of(setting, shown.truth or shown.data))


def rivals_of(setting: RestoreSetting, shown: Restored) -> Rivals | None:
    """What the others make of the data; started if wanted and not known yet."""
    if not setting.others:
        return None
    key = _key(setting, shown)
    found: Rivals | None = restorations().get(key)
    if found is None and restorations().failure(key) is None:
        K = shown.restoration.model.K
        task = partial(run_rivals, data=shown.data, losses=setting.losses, K=K, seed=setting.seed)
        restorations().start(key, task)
    return found


def error_of(setting: RestoreSetting, shown: Restored, V: Array) -> float:
    """The same measure for all methods, where the truth is known: over all entries, as methods that do not
    know the damage change sound entries too; with marked losses, which are all that changes, over these.
    """
    if shown.truth is None or shown.wrong is None:
        return math.nan
    marked = setting.losses == "marked"
    where = (shown.wrong if marked else shown.truth.observed) & ~shown.restoration.unrestorable
    return float(rmse(shown.truth.V, np.nan_to_num(V), where))


def _in_words(setting: RestoreSetting, error: float, best: float) -> str:
    """An error, and whether it is the lowest."""
    if math.isnan(error):
        return ""
    over = "at the missing entries" if setting.losses == "marked" else "over all entries"
    return f"<b>{three_digits(error)}</b> RMSE {over}" + (", <b>the lowest</b>" if error <= best else "")


def show_rivals_switch(setting: RestoreSetting, shown: Restored) -> None:
    """The switch that asks for them, and their progress."""
    if st.session_state.pop(CANCELLED, False):
        # Cancel sets the switch in the fragment of the progress bar, which does not draw it: the browser
        # would leave it on, and send that back.
        change(restore_others=False)
    ADDRESS.draw("others")
    if not setting.others:
        return
    key = _key(setting, shown)
    failure = restorations().failure(key)
    if failure is not None:
        show_error(failure.error, "The others could not be run:")
    elif restorations().get(key) is None:
        show_progress(key, _how_far, restore_others=False, **{CANCELLED: True})


def _how_far(progress: RivalsProgress | None) -> JobProgress:
    if progress is None:
        return JobProgress(0.0, "Starting")
    return JobProgress(progress.done / progress.total, f"{progress.name} is running")


# "This is wrong": what somebody marks on the pictures, or names in a file, is missing from then on.


MARKING, TOOL, WHERE, RANGE, MASK_FILES, MASK_SEEN = (
    f"restore_{name}" for name in ("marking", "tool", "mark_in", "mark_range", "mask_files", "mask_seen")
)
TOOLS = {"rectangle": "Rectangle", "lasso": "Lasso", "brush": "Brush"}


def with_marks(setting: RestoreSetting, data: Dataset) -> Dataset:
    """The data without what was marked as wrong; why not, where a mask cannot be used."""
    applied, problem = _applied(setting, data)
    if problem is not None:
        show_error(problem, "The mask cannot be used:")
    return applied


def _applied(setting: RestoreSetting, data: Dataset) -> tuple[Dataset, Exception | None]:
    if not (setting.marks or setting.mask):
        return data, None
    try:
        return _without(data.content_hash, setting.marks, setting.mask, data), None
    except (InputError, UnreadableData) as problem:
        return _without(data.content_hash, setting.marks, "", data), problem


@cached()
def _without(content_hash: str, marks: str, mask: str, _data: Dataset) -> Dataset:
    wrong = marked_entries(marks, mask, _data)
    return replace(_data, V=np.where(wrong, np.nan, _data.V))


def marked_entries(marks: str, mask: str, data: Dataset) -> Mask:
    """Bool F x N, what was marked."""
    wrong = entries_of(read_marks(marks), data)
    files = uploads().files(mask) if mask else ()
    return wrong | read_mask(list(files), data) if files else wrong


def show_marking(setting: RestoreSetting, data: Dataset) -> None:
    """Tools to mark with, which bands they mark, and a mask file."""
    marked = bool(setting.marks or setting.mask)
    tools = st.expander(
        "This is wrong: mark it yourself",
        key=MARKING,
        icon=":material/ink_marker:",
        expanded=marked,
        on_change="rerun",
    )
    # What nobody sees costs every move of a slider.
    if tools.open:
        with tools:
            _marking(setting, data, marked=marked)


def _marking(setting: RestoreSetting, data: Dataset, *, marked: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.segmented_control("Draw on a picture with a", TOOLS, format_func=TOOLS.get, key=TOOL)
        _where_to_mark(setting, data)
        if setting.marks:
            st.button("Undo", icon=":material/undo:", on_click=_undo)
        if marked:
            st.button("Remove all marks", on_click=change, kwargs=NO_MARKS)
    files = st.file_uploader(
        "Or a mask file: what is not 0 in it is wrong",
        accept_multiple_files=True,
        key=MASK_FILES,
        help="Laid out like the data, or one image for all bands: NPY, MAT, PNG, TIFF or ENVI.",
    )
    # A mask that is chosen later stands in for the ones before.
    fresh = [file for file in files if file.file_id not in st.session_state.get(MASK_SEEN, ())]
    received = keep_received(fresh, f"{MASK_SEEN}_last")
    if received:
        st.session_state[MASK_SEEN] = tuple(file.file_id for file in files)
        change(restore_mask=received)
        st.rerun()
    if marked:
        count = int((data.observed & ~_applied(setting, data)[0].observed).sum())
        st.caption(f"{count:,} entries are marked and count as missing.")
    elif st.session_state.get(TOOL):
        st.caption("Draw on any picture below; Enter marks the pixel in view.")


NO_MARKS = {"restore_marks": "", "restore_mask": ""}


def _where_to_mark(setting: RestoreSetting, data: Dataset) -> None:
    if data.kind == "matrix":
        return
    count, one = pictures.count(data), "band" if data.kind == "cube" else "image"
    names = {"this": f"this {one}", "these": f"these {one}s", "all": f"all {one}s"}
    if data.kind == "cube" and setting.view == "rgb":
        del names["this"]
    if st.session_state.get(WHERE) not in names:
        st.session_state[WHERE] = next(iter(names))
    st.segmented_control("in", names, format_func=names.get, key=WHERE, required=True)
    if st.session_state[WHERE] == "these" and count > 1:
        first, last = st.session_state.get(RANGE, (1, count))
        st.session_state[RANGE] = min(first, count), min(last, count)
        st.slider(f"{one.capitalize()}s", 1, count, key=RANGE, width=240)


def _add_mark(kind: str, count: int) -> None:
    """What was drawn."""
    drawn, state = st.session_state["restore_views"]["marked"], st.session_state
    image = min(state["image"], count)
    chosen = {"this": (image, image), "these": state.get(RANGE, (1, count))}
    bands = (1, 1) if kind == "matrix" else chosen.get(state.get(WHERE, "all"), (1, count))
    points = tuple((int(row), int(col)) for row, col in drawn["points"])
    text = spell_marks((*read_marks(state["restore_marks"]), Mark(bands, drawn["tool"], points)))
    if len(text) > MAX_MARKS:
        st.toast("These are more marks than an address holds. Use a mask file.")
        return
    change(restore_marks=text)


def _undo() -> None:
    change(restore_marks=spell_marks(read_marks(st.session_state["restore_marks"])[:-1]))


# The spectrum of the chosen pixel: measured, restored with its deviation, and true.


KEY = "restore_spectrum"
LINES = (("truth", "truth", "true"), ("orange", "restored", "restored"))


def show_spectrum(setting: RestoreSetting, shown: Restored) -> None:
    """Of the pixel in view."""
    data = shown.data
    one = _spectrum_data(setting, shown)
    known = [np.array(one[name], float) for name in ("restored", "measured", "truth") if name in one]
    legend = [("truth", "true")] if shown.truth is not None else []
    legend += [
        ("seen", "measured"),
        ("orange", "restored"),
        ("within", "± one deviation"),
        ("unseen", "defect or missing"),
    ]
    component("spectrum", "chart", "spectra")(
        key=KEY,
        data=band_axis(data)
        | {
            "names": [data.wavelength_label(f) for f in range(data.shape[0])],
            "top": spectra_top(known),
            "hidden_colour": HIDDEN[setting.colour],
            "lines": LINES,
            "legend": legend,
            "flag": ("as measured", "restored"),
            "pinning": False,
            "current": [one],
            "pins": [],
        },
        on_pixel_change=_choose_pixel,
        on_pin_change=lambda: None,
        on_unpin_change=lambda: None,
    )


def _restored_bands(changed: np.ndarray, lost: np.ndarray) -> str:
    said = f"{int((changed & ~lost).sum())} of {len(changed)} bands restored"
    return f"{said}, {int(lost.sum())} cannot be" if lost.any() else said


def _choose_pixel() -> None:
    row, col = st.session_state[KEY]["pixel"]
    change(pixel=spell_pixel((int(row) + 1, int(col) + 1)))


def _spectrum_data(setting: RestoreSetting, shown: Restored) -> dict[str, Any]:
    data, restoration = shown.data, shown.restoration
    row, col = setting.place(data)
    n = int(data.vector_positions(np.array([row - 1]), np.array([col - 1]))[0])
    restored, changed = restoration.V[:, n], restoration.defects[:, n] | ~data.observed[:, n]
    everywhere = setting.result == "denoised"
    deviation = np.where(changed | everywhere, restoration.deviation[:, n], np.nan)
    told = {
        "place": [row - 1, col - 1],
        "name": f"Row {row}, column {col}",
        "seen": _restored_bands(changed, np.isnan(restored)),
        "measures": "",
        "measured": points(data.V[:, n]),
        "specks": points(data.V[:, n]),
        "restored": points(restored),
        "observed": [not is_changed for is_changed in changed.tolist()],
        "within": {
            "low": points(np.maximum(restored - deviation, 0)),
            "high": points(restored + deviation),
        },
    }
    return told if shown.truth is None else told | {"truth": points(shown.truth.V[:, n])}


THUMBNAILS = 22


def view_of(setting: RestoreSetting, truth: Dataset | None, data: Dataset) -> RestoredView:
    whole = data.kind == "cube" and setting.view == "rgb"
    index = None if whole else min(setting.image, pictures.count(data)) - 1
    return RestoredView(data, truth or data, index, HIDDEN[setting.colour])


def show_damage(setting: RestoreSetting, data: Dataset) -> None:
    """The data before anything is restored, which follows every move of a slider at once."""
    spoiled, wrong = damage(setting, data)
    ours = bool(setting.task.damage)
    view = view_of(setting, data if ours else None, spoiled)
    panels = [_damaged(view, spoiled, ours), view_panel("Restored", tone="orange", note="not restored yet")]
    if ours:
        panels.append(
            view_panel("Truth", src=data_url(view.picture(data.V)), alt="The data before the damage")
        )
        panels.append(_where(view, "Damaged entries", wrong))
    elif not spoiled.observed.all():
        panels.append(_where(view, "Missing entries", ~spoiled.observed))
    _mount(setting, spoiled, panels, len(panels))


def show_pictures(
    setting: RestoreSetting, shown: Restored, others: Rivals | None, of_kind: Finding | None
) -> None:
    """All pictures, those of other methods in a row of their own."""
    _mount(setting, shown.data, *all_pictures(setting, shown, others, of_kind))


def all_pictures(
    setting: RestoreSetting, shown: Restored, others: Rivals | None, of_kind: Finding | None = None
) -> tuple[list[dict[str, Any]], int]:
    """The pictures as they are shown, and how many of them are in a row."""
    data, restored = shown.data, shown.restoration.V
    view = view_of(setting, shown.truth, data)
    before = _damaged(view, data, shown.truth is not None)
    made = {} if others is None else others.made
    errors = {name: error_of(setting, shown, V) for name, V in ({"": restored} | made).items() if made}
    best = min(errors.values(), default=math.nan)
    note = _predicted(setting, data, shown.restoration)
    if made:
        note = "<br>".join(filter(None, (_in_words(setting, errors[""], best) or note, _took(shown.seconds))))
    src = data_url(view.picture(restored))
    in_view = restored if view.index is None else pictures.picture(data, restored, view.index)
    if np.isnan(in_view).any():
        note += f"; {setting.colour}: could not be restored"
    title = "Denoised" if setting.result == "denoised" else "Restored"
    after = view_panel(title, "orange", src, f"{_name(view)} as restored", f"{note}; drag to compare")
    panels = [before, after | {"before": before["src"], "swipe": "Damaged over restored, in percent"}]
    if shown.truth is not None:
        src = data_url(view.picture(shown.truth.V))
        panels.append(view_panel("Truth", "", src, f"{_name(view)} before the damage", "before the damage"))
    if of_kind is not None:
        panels.append(_where(view, named(of_kind).capitalize(), of_kind.mask))
    elif setting.losses == "unmarked":
        only = np.array_equal(shown.all_wrong, shown.restoration.defects)
        panels.append(_where(view, "Defects found" if only else "All that was wrong", shown.all_wrong))
    else:
        panels.append(_where(view, "Missing entries", ~data.observed))
    columns = len(panels)
    for name, whole in made.items():
        src, tone = data_url(view.picture(whole)), RIVAL_TONES.get(name, "")
        took = f"{_took(others.seconds[name])}; {RIVALS[name].source}" if others else ""
        note = "<br>".join(filter(None, (_in_words(setting, errors[name], best), took)))
        panels.append(view_panel(name, tone, src, f"{_name(view)} by {name}", note))
    return panels, columns


def _took(seconds: float) -> str:
    return f"{seconds:.2g} s"


def named(finding: Finding) -> str:
    return KINDS.get(finding.kind, "in doubt")


def _predicted(setting: RestoreSetting, data: Dataset, restoration: Restoration) -> str:
    if setting.result == "denoised":
        return "every entry predicted"
    if setting.losses == "marked":
        return "missing entries predicted"
    kinds = {"suspect": restoration.defects.any(), "missing": not data.observed.all()}
    names = " and ".join(kind for kind, there in kinds.items() if there)
    done = [f"{names} entries predicted"] if names else []
    if restoration.offsets is not None:
        done.append("stripes taken off")
    return ", ".join(done) or "nothing changed"


def choose_picture(setting: RestoreSetting, data: Dataset) -> None:
    """Choose the band or face in view."""
    if data.kind == "cube":
        with st.container(key="view_bar", horizontal=True, vertical_alignment="center", gap="small"):
            ADDRESS.draw("view", label_visibility="collapsed")
            if setting.view == "band":
                st.select_slider(
                    "Band",
                    range(1, data.shape[0] + 1),
                    format_func=lambda number: data.wavelength_label(number - 1),
                    key="image",
                    label_visibility="collapsed",
                )
    elif data.kind == "faces":
        show_strip(data, min(setting.image, pictures.count(data)), THUMBNAILS, "restore_strip")


def _damaged(view: RestoredView, data: Dataset, ours: bool) -> dict[str, str]:
    missing = float((~data.observed).mean())
    title = "Damaged" if ours else "As it came"
    note = f"{percent(missing)} missing" if missing else ""
    return view_panel(title, "", data_url(view.picture(data.V)), f"{_name(view)} as it came", note)


def _where(view: RestoredView, title: str, mask: np.ndarray) -> dict[str, str]:
    """Where entries are missing or wrong, and how many are."""
    count = int(mask.sum())
    note = f"{count:,} {'entry' if count == 1 else 'entries'}, {percent(mask.mean())}"
    if view.index is not None and count and not pictures.picture(view.data, mask, view.index).any():
        most = int(mask.sum(axis=1 if view.data.kind == "cube" else 0).argmax())
        note += f"; none here, most in {pictures.picture_name(view.data, most)}"
    if view.index is None:
        scale = f'<img class="scale" src="{ERROR_SCALE}" alt="">'
        note += f"<br>{scale}0 … {view.top(mask):.0%} of a pixel's bands"
    return view_panel(title, "", data_url(view.suspects(mask)), f"{title} in {_name(view)}", note)


def percent(share: float) -> str:
    return "below 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _name(view: RestoredView) -> str:
    return "colour composite" if view.index is None else pictures.picture_name(view.data, view.index)


def _mount(setting: RestoreSetting, data: Dataset, panels: list[dict[str, str]], columns: int) -> None:
    rows, cols = data.image_shape or data.shape
    component("views")(
        key="restore_views",
        data={
            "rows": rows,
            "cols": cols,
            "columns": columns,
            "panels": panels,
            # A pixel of a cube has a spectrum to show, others have nothing.
            "pixel": [number - 1 for number in setting.place(data)] if data.kind == "cube" else None,
            "pins": [],
            "tool": st.session_state.get(TOOL) or "",
        },
        on_marked_change=partial(_add_mark, data.kind, pictures.count(data)),
    )
