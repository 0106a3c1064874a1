"""Learned parts of both methods side by side, and who uses a chosen one."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import known_factors, share_in_sample, side_by_side, top_users, usage_shares
from atnmf_core.figures.images import HIDDEN, Panel, columns_for, data_url, grey, part_sheet
from atnmf_core.figures.plotting import loss_curves
from atnmf_core.figures.publish import save_panels
from atnmf_core.jobs.fit_task import Frame, Run, align_frames
from atnmf_core.model.problem import Indices
from pages.common.address import change
from pages.common.fitting import Case, Pair
from pages.common.setting import Setting
from pages.common.take_away import FigureFile, chart_files
from pages.common.widgets import component, show_chart

from .lambda_curve import Curve
from .panels import ADDRESS, drawn_once, error_figure, frame_panels, six_panels

LOSSES = {"squared_error": "Squared error on observed entries", "adversarial_loss": "Adversarial loss"}
TITLES = (
    ("(c) Adversary R*", "", "R* at the iteration shown"),
    ("(d) V + R*", "", "V + R* at the iteration shown"),
    ("(e) AT-NMF restores", "orange", "AT-NMF's restoration at the iteration shown"),
    ("(f) NMF restores", "blue", "NMF's restoration at the iteration shown"),
    ("Parts · AT-NMF", "orange", "AT-NMF's parts at the iteration shown"),
    ("Parts · NMF", "blue", "NMF's parts at the iteration shown"),
)


def show_film(case: Case, pair: Pair) -> None:
    columns = st.columns(2)
    for column, (quantity, title) in zip(columns, LOSSES.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            curves = loss_curves({"AT-NMF": pair.atnmf.history, "NMF": pair.nmf.history}, quantity)
            show_chart(curves, f"loss_{quantity}", f"{title} of AT-NMF and NMF at every iteration")
    titles = [{"text": text, "tone": tone, "alt": alt} for text, tone, alt in TITLES]
    component("film", page="explore_view")(data={"titles": titles, "steps": _steps(case, pair)}, key="film")
    st.caption(_remark(case.setting, pair))


@drawn_once("image", "restored", "colour")
def _steps(case: Case, pair: Pair) -> list[dict[str, Any]]:
    order = side_by_side(pair.atnmf, pair.nmf)
    return [
        {
            "label": f"iteration {max(at.iteration, nmf.iteration)}",
            "pictures": [
                *(data_url(panel.pixels) for panel in frame_panels(case, (at, nmf))),
                _film_sheet(case, at, order.first),
                _film_sheet(case, nmf, order.second),
            ],
        }
        for at, nmf in align_frames(pair.atnmf.frames, pair.nmf.frames)
    ]


def _film_sheet(case: Case, frame: Frame, places: Any) -> str:
    parts = pictures.part_pictures(case.data, *known_factors(frame.W, frame.H, case.reach))[places]
    return data_url(part_sheet(parts, background=225, unknown=HIDDEN[case.setting.colour]))


def _remark(setting: Setting, pair: Pair) -> str:
    if setting.solver == "fast":
        return "The fast solver descends on the exact adversarial loss, so that never rises, whatever λ."
    losses = pair.atnmf.history["adversarial_loss"]
    rises = int((losses[1:] > losses[:-1]).sum())
    return (
        f"Algorithm 1 has no guarantee of descent: AT-NMF's loss rose in {rises} of {len(losses) - 1} outer "
        "iterations. The fast solver's never does."
    )


SHEETS = {"parts_atnmf": "AT-NMF", "parts_nmf": "NMF"}
USERS = 4
MEANING = {
    "faces": "Most used first, similar parts together. Click one to see which faces use it.",
    "cube": "Abundance maps (rows of H), most used first, similar ones in the same place.",
    "matrix": "Columns of W, most used first, similar ones in the same place.",
}


def show_parts(case: Case, pair: Pair) -> None:
    """Two sheets of tiles: AT-NMF's most used part first, and in its place NMF's most like it."""
    titles = ("**Parts · :orange[AT-NMF]**", "**Parts · :blue[NMF]**")
    columns, sheets = st.columns(2, gap="medium"), _sheets(case, pair)
    for column, title, key, sheet in zip(columns, titles, SHEETS, sheets, strict=True):
        with column:
            st.markdown(title)
            component("sheets", page="explore_view")(
                data=sheet, key=key, on_chosen_change=partial(_choose, key)
            )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(MEANING[case.data.kind], width="content")
        ADDRESS.draw("scale", label_visibility="collapsed")


def _choose(key: str) -> None:
    change(part=int(st.session_state[key]["chosen"]) + 1)


@drawn_once("colour", "scale", "part")
def _sheets(case: Case, pair: Pair) -> list[dict[str, Any]]:
    order = side_by_side(pair.atnmf, pair.nmf)
    runs = zip(SHEETS.values(), pair, (order.first, order.second), strict=True)
    return [_sheet(method, case, run, places) for method, run, places in runs]


def _sheet(method: str, case: Case, run: Run, places: Indices) -> dict[str, Any]:
    shares = usage_shares(run.W, run.H)
    panel, columns = _part_panel(method, case, run, places)
    names = [f"{method}, part {place}: {shares[part]:.1%} of W H" for place, part in enumerate(places, 1)]
    return {
        "src": data_url(panel.pixels),
        "alt": panel.alt,
        "columns": columns,
        "names": names,
        "chosen": case.setting.part - 1,
    }


def _part_panel(method: str, case: Case, run: Run, places: Indices) -> tuple[Panel, int]:
    parts = pictures.part_pictures(case.data, *known_factors(run.W, run.H, case.reach))[places]
    shared, colour = case.setting.scale == "shared", HIDDEN[case.setting.colour]
    sheet = part_sheet(parts, shared_scale=shared, background=225, unknown=colour)
    alt = f"The {len(places)} parts that {method} learned, most used first"
    return Panel("", f"Parts of {method}", sheet, alt), columns_for(parts)


def part_panels(case: Case, pair: Pair) -> list[Panel]:
    order = side_by_side(pair.atnmf, pair.nmf)
    runs = zip(SHEETS.values(), pair, (order.first, order.second), strict=True)
    return [_part_panel(method, case, run, places)[0] for method, run, places in runs]


def show_users(case: Case, pair: Pair) -> None:
    setting = case.setting
    if not 1 <= setting.part <= setting.K:
        return
    order = side_by_side(pair.atnmf, pair.nmf)
    place = setting.part - 1
    similarity = order.similarity[place]
    st.markdown(f"**Part {setting.part}** · the two methods' parts here are {similarity:.0%} alike (cosine)")
    columns = st.columns(2, gap="medium")
    chosen = (int(order.first[place]), int(order.second[place]))
    for column, method, run, part in zip(columns, SHEETS.values(), pair, chosen, strict=True):
        with column:
            _users(case.data, run, part, method)


def _users(data: Dataset, run: Run, part: int, method: str) -> None:
    users = top_users(run.H, part, USERS)
    if data.kind != "faces":
        where = ", ".join(pictures.sample_name(data, int(user)) for user in users) or "nowhere"
        st.caption(f"{method} uses it most at {where}.")
        return
    st.caption(f"Faces that use it most in {method}")
    component("cards")(
        data={
            "cards": [_card(data, run, part, int(user)) for user in users],
            "label": f"Faces that use it most in {method}",
            "wraps": True,
        },
        key=f"users_{method}",
        on_chosen_change=lambda: change(
            image=int(users[int(st.session_state[f"users_{method}"]["chosen"])]) + 1
        ),
    )


def _card(data: Dataset, run: Run, part: int, user: int) -> dict[str, Any]:
    v = pictures.picture(data, data.V, user)
    share = share_in_sample(run.W, run.H, part, user)
    return {
        "title": pictures.sample_name(data, user),
        "note": f"{share:.0%} of it",
        "src": data_url(grey(v, pictures.white_level(v))),
        "active": False,
    }


def figures_of(case: Case, pair: Pair) -> list[FigureFile]:
    panels = six_panels(case, pair)
    bare = [replace(panel, letter="", title="") for panel in panels]
    history = {"AT-NMF": pair.atnmf.history, "NMF": pair.nmf.history}
    charts: dict[str, tuple[str, Any]] = {
        "loss": ("Adversarial loss", lambda: loss_curves(history, "adversarial_loss"))
    }
    if case.setting.alpha:
        charts = {"lambda": ("RMSE against λ", Curve.of(case).figure)} | charts
    return [
        FigureFile("All six pictures", "", partial(save_panels, panels)),
        FigureFile("Errors", "errors", partial(save_panels, error_figure(case, pair))),
        FigureFile("Parts", "parts", partial(save_panels, part_panels(case, pair))),
        *chart_files(charts),
        *(
            FigureFile(f"({panel.letter})", panel.letter, partial(save_panels, [alone]), panel.title)
            for panel, alone in zip(panels, bare, strict=True)
        ),
    ]
