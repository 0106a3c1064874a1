"""The sidebar of the Restore page: the data, what is wrong with it, and how it is to be restored."""

from dataclasses import asdict
from functools import partial

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.figures.images import data_url
from atnmf_core.restoration.damage import Damage
from atnmf_core.restoration.task import EXAMPLES, RestoreTask, bundled
from pages.common.address import change
from pages.common.cache import cached
from pages.common.data import UPLOAD, choose_data, chosen_data, load
from pages.common.uploads import read_as_missing
from pages.common.widgets import clamp, component, draw_reset_and_link, escape_markdown

from .jobs import Restored, ask, damage, key_of, questions_of
from .large_scene import scene_path
from .pictures import NO_MARKS, view_of
from .setting import ADDRESS, DAMAGES, RestoreSetting

# Damage worth a look, one click each; some of the restorations are bundled with the program.


def _preset(data: str, task: RestoreTask, **view: object) -> RestoreSetting:
    return RestoreSetting(data=data, losses=task.losses, **task.damage.shares, **view)


def _on_the_scene(result: str = "restored", **shares: float) -> RestoreSetting:
    return _preset("simulated-scene", RestoreTask(Damage(**shares)), result=result)


PRESETS = {
    "Dead pixels": _preset(*EXAMPLES["dead"]),
    "Stripes": _preset(*EXAMPLES["stripes"], image=44),
    "Salt and pepper": _on_the_scene(salt=0.1),
    "Noise by band": _on_the_scene("denoised", band_noise=0.1),
    "Dead columns": _on_the_scene(dead_columns=0.1),
    "Cosmic rays": _on_the_scene(cosmic=0.03),
    "Everything at once": _preset(*EXAMPLES["everything"]),
    "Half lost, marked": _preset(*EXAMPLES["lost"]),
    "A lost block": _on_the_scene(lost=0.05),
    "A shadow": _on_the_scene(shadow=0.1),
    "Faces": _preset(*EXAMPLES["faces"], image=8),
}


def show_presets(setting: RestoreSetting) -> None:
    """The row of presets; a click sets everything but the colour."""
    now = (setting.data, setting.task)
    cards = [
        {"title": title, "src": _preset_thumbnail(title), "active": (preset.data, preset.task) == now}
        for title, preset in PRESETS.items()
    ]
    component("cards")(
        data={"cards": cards, "wraps": "wide"}, key="restore_presets", on_chosen_change=_choose
    )


def _choose() -> None:
    preset = tuple(PRESETS.values())[int(st.session_state["restore_presets"]["chosen"])]
    values = ADDRESS.read({}) | {"data": preset.data, "image": preset.image}
    own = {f"restore_{name}": value for name, value in asdict(preset).items()}
    values |= {key: value for key, value in own.items() if key in values}
    change(**{name: value for name, value in values.items() if name != "colour"})
    if bundled(preset.data, preset.task) is None:
        # It takes seconds, and a preset is there to be seen.
        ask(key_of(preset, load(preset.data)))


@cached()
def _preset_thumbnail(title: str) -> str:
    setting = PRESETS[title]
    truth = load(setting.data)
    spoiled, _ = damage(setting, truth)
    return data_url(view_of(setting, truth, spoiled).picture(spoiled.V))


def show_sidebar() -> tuple[RestoreSetting, Dataset | None, str]:
    """Draw the sidebar, and return the setting, its data, if available, and the path of a scene on disk."""
    ADDRESS.load_from_address()
    with st.sidebar:
        entry = choose_data(then=_start_afresh)
        path = scene_path() if entry is None else ""
        data = chosen_data(entry)
        if data is not None:
            clamp({"K": min(data.shape) - 1, "image": pictures.count(data)})
        ADDRESS.draw("losses", widget=st.radio)
        _missing(data)
        with st.expander("Simulate damage", expanded=entry is not None):
            _choose_damage()
        ADDRESS.draw("by", width="stretch")
        if st.session_state["restore_by"] == "hand":
            for name in ("K", "lam", "leash"):
                ADDRESS.draw(name, **({"high": min(data.shape) - 1} if name == "K" and data else {}))
        seldom = st.expander("Seeds and colour", key="restore_seldom", on_change="rerun")
        if seldom.open:
            with seldom:
                for name in ("seed", "damage_seed"):
                    ADDRESS.draw(name)
                ADDRESS.draw("colour", width="stretch")
        draw_reset_and_link(ADDRESS)
    ADDRESS.write()
    return ADDRESS.get(RestoreSetting), data, path


DAMAGED_BY = "restore_damaged_by"
SOME = 0.1  # The share of a kind of damage that was just chosen


def _choose_damage() -> None:
    """The kinds of damage to choose from, and how much there is of each that is chosen: a slider for each of
    all twelve would be half of what is on the page.
    """
    chosen = [name for name in DAMAGES if st.session_state[f"restore_{name}"]]
    if set(st.session_state.get(DAMAGED_BY, ())) != set(chosen):
        change(**{DAMAGED_BY: chosen})
    st.multiselect(
        "Kinds of damage",
        DAMAGES,
        format_func=lambda name: ADDRESS.controls[name].label,
        key=DAMAGED_BY,
        on_change=_damage_by,
        placeholder="None",
    )
    for name in chosen:
        ADDRESS.draw(name)


def _damage_by() -> None:
    state, wanted = st.session_state, st.session_state[DAMAGED_BY]
    change(**{f"restore_{name}": (name in wanted) * (state[f"restore_{name}"] or SOME) for name in DAMAGES})


def choose_own_file() -> None:
    change(data=UPLOAD)
    _start_afresh()


def _start_afresh() -> None:
    """Other data: a file of one's own is restored as it is, sound data gets some damage to try."""
    first = RestoreSetting()
    own = st.session_state["data"] == UPLOAD
    shares = {name: 0.0 if own else getattr(first, name) for name in DAMAGES}
    change(
        **{f"restore_{name}": share for name, share in shares.items()}, pixel="", restore_run="", **NO_MARKS
    )


ANSWERED = "restore_answered"


MOSTLY = 0.9  # The share of the entries in question from which on their restoration is the answer


def show_questions(setting: RestoreSetting, data: Dataset, shown: Restored | None) -> None:
    """In the middle of the page, for a file of one's own: are values that repeat exactly missing ones?"""
    answered = st.session_state.get(ANSWERED, ())
    if setting.data != UPLOAD or setting.task.damage:
        return
    for number, question in enumerate(questions_of(data.content_hash, data)):
        found = shown is not None and shown.restoration.defects[question.value == data.V].mean() > MOSTLY
        if found or (setting.upload, question.value) in answered:
            continue
        with st.container(
            key=f"question_{number}", horizontal=True, vertical_alignment="center", gap="small"
        ):
            st.markdown(f":material/help: **{escape_markdown(question.words)}**")
            st.button(
                "Mark them as missing",
                key=f"restore_mark_{number}",
                on_click=partial(read_as_missing, question.value, and_above=question.is_largest),
            )
            st.button(
                "They are right",
                key=f"restore_right_{number}",
                on_click=change,
                kwargs={ANSWERED: (*answered, (setting.upload, question.value))},
            )


def _missing(data: Dataset | None) -> None:
    """Say how much is missing in the data as it was read."""
    if data is None:
        return
    missing = int((~data.observed).sum())
    if missing:
        st.caption(
            f"{missing:,} of {data.V.size:,} entries ({missing / data.V.size:.1%}) have no value; they are "
            "predicted in any case."
        )
    elif st.session_state["restore_losses"] == "marked":
        st.caption("Every entry has a value. Damage tried below counts as missing.")
