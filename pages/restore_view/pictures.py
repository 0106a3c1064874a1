"""The pictures: damaged, restored, true where that is known, and what was found to be wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import HIDDEN, grey
from atnmf_core.figures.restored_view import RestoredView
from atnmf_core.problem import Array
from pages.common.address import change
from pages.common.components import component
from pages.common.picture_view import ERROR_SCALE

from .request import Restored, damage
from .rivals import RIVAL_TONES, error_of, what_it_knows
from .setting import ADDRESS, RestoreSetting

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
    panels = [_damaged(view, spoiled, ours), _panel("Restored", tone="orange", note="not restored yet")]
    if ours:
        panels.append(_panel("Truth", src=data_url(view.picture(data.V)), alt="The data before the damage"))
        panels.append(_where(view, "Damaged entries", wrong))
    elif not spoiled.observed.all():
        panels.append(_where(view, "Missing entries", ~spoiled.observed))
    _mount(setting, spoiled, panels, len(panels))


def show_pictures(setting: RestoreSetting, shown: Restored, others: Mapping[str, Array]) -> None:
    """All pictures, those of other methods in a row of their own."""
    data, restored = shown.data, shown.restoration.V
    view = view_of(setting, shown.truth, data)
    before = _damaged(view, data, shown.truth is not None)
    note = (error_of(setting, shown, restored) if others else "") or _predicted(
        setting, data, shown.restoration.defects
    )
    src = data_url(view.picture(restored))
    in_view = restored if view.index is None else pictures.picture(data, restored, view.index)
    if np.isnan(in_view).any():
        note += f", what cannot be is {setting.colour}"
    after = _panel("Restored", "orange", src, f"{_name(view)} as restored", f"{note}; drag to compare")
    panels = [before, after | {"before": before["src"], "swipe": "Damaged over restored, in percent"}]
    if shown.truth is not None:
        src = data_url(view.picture(shown.truth.V))
        panels.append(_panel("Truth", "", src, f"{_name(view)} before the damage", "before the damage"))
    if setting.losses == "unmarked":
        panels.append(_where(view, "Defects found", shown.restoration.defects))
    else:
        panels.append(_where(view, "Missing entries", ~data.observed))
    columns = len(panels)
    for name, whole in others.items():
        src, tone = data_url(view.picture(whole)), RIVAL_TONES.get(name, "")
        note = "<br>".join(filter(None, (error_of(setting, shown, whole), what_it_knows(setting, name))))
        panels.append(_panel(name, tone, src, f"{_name(view)} by {name}", note))
    _mount(setting, data, panels, columns)


def _predicted(setting: RestoreSetting, data: Dataset, wrong: np.ndarray) -> str:
    if setting.losses == "marked":
        return "missing entries predicted"
    if not wrong.any() and data.observed.all():
        return "nothing changed"
    return f"suspect {'' if data.observed.all() else 'and missing '}entries predicted"


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
        _strip(data, min(setting.image, pictures.count(data)))


def _strip(data: Dataset, chosen: int) -> None:
    first = (chosen - 1) // THUMBNAILS * THUMBNAILS + 1
    shown = range(first, min(first + THUMBNAILS, pictures.count(data) + 1))
    component("strip")(
        data={
            "thumbnails": [_thumbnail(data.content_hash, number, data) for number in shown],
            "first": first,
            "chosen": chosen,
            "count": pictures.count(data),
            "noun": "face",
        },
        key="restore_strip",
        on_chosen_change=lambda: change(image=int(st.session_state["restore_strip"]["chosen"])),
    )


@st.cache_data(show_spinner=False, max_size="8 MB")
def _thumbnail(content_hash: str, number: int, _data: Dataset) -> str:
    v = pictures.picture(_data, _data.V, number - 1)
    return data_url(grey(v, pictures.white_level(v)))


def _damaged(view: RestoredView, data: Dataset, ours: bool) -> dict[str, str]:
    missing = float((~data.observed).mean())
    title = "Damaged" if ours else "As it came"
    note = f"{_percent(missing)} missing" if missing else ""
    return _panel(title, "", data_url(view.picture(data.V)), f"{_name(view)} as it came", note)


def _where(view: RestoredView, title: str, mask: np.ndarray) -> dict[str, str]:
    """Where entries are missing or wrong, and how many are."""
    count = int(mask.sum())
    note = f"{count:,} {'entry' if count == 1 else 'entries'}, {_percent(mask.mean())}"
    if view.index is not None and count and not pictures.picture(view.data, mask, view.index).any():
        most = int(mask.sum(axis=1 if view.data.kind == "cube" else 0).argmax())
        note += f"; none here, most in {pictures.picture_name(view.data, most)}"
    if view.index is None:
        scale = f'<img class="scale" src="{ERROR_SCALE}" alt="">'
        note += f"<br>{scale}0 … {view.top(mask):.0%} of a pixel's bands"
    return _panel(title, "", data_url(view.suspects(mask)), f"{title} in {_name(view)}", note)


def _percent(share: float) -> str:
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
        },
    )


def _panel(title: str, tone: str = "", src: str = "", alt: str = "", note: str = "") -> dict[str, str]:
    return {"title": title, "tone": tone, "src": src, "alt": alt, "note": note}
