"""The six pictures of the cube: original and masked, restored and wrong by either method; the spectrum of a
pixel that is clicked in them, and downloads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core.analysis.pictures import band_error, band_rmse, hidden_error, restored_band
from atnmf_core.analysis.unmixing import PixelSpectrum, pixel_spectrum
from atnmf_core.datasets import write_envi_zip, write_mat, write_npz
from atnmf_core.export import factors_npz, spectra_csv
from atnmf_core.figures.images import HIDDEN, Panel, data_url
from atnmf_core.figures.plotting import material_spectra
from atnmf_core.figures.publish import Look, save_panels
from atnmf_core.figures.views import CubeView, band_axis, error_top, points, spectra_top
from atnmf_core.jobs.fit_task import Frame, Run
from atnmf_core.model.problem import Wide
from pages.common import fitting
from pages.common.address import change
from pages.common.cache import cached
from pages.common.controls import Pixel
from pages.common.fitting import Case, Pair, ShownFits, latest_frames, show_unreached
from pages.common.jobs import JOB_POLL_SECONDS, poll_interval
from pages.common.setting import FitKey
from pages.common.take_away import (
    FigureFile,
    File,
    Format,
    chart_files,
    download,
    show_figures,
    show_take_away,
    source_of,
    stem_of,
)
from pages.common.widgets import ERROR_SCALE, component, panel_of, view_panel

from .setting import (
    ADDRESS,
    SCENE,
    SIZES,
    CubeSetting,
    bands_in_words,
    is_joint,
    shown_bands,
    span,
    spell_pixels,
)

METHODS = {"AT-NMF": "orange", "NMF": "blue"}
FactorsByMethod = Mapping[str, tuple[Any, Any]]
Panels = list[dict[str, str]]


def factors_of(pair: Pair) -> FactorsByMethod:
    return {"AT-NMF": (pair.atnmf.W, pair.atnmf.H), "NMF": (pair.nmf.W, pair.nmf.H)}


def show_pictures(case: Case, shown: ShownFits | None) -> None:
    if shown is not None and shown.is_current:
        _mount(case, _learned(case, shown.pair))
        return
    poll = poll_interval(JOB_POLL_SECONDS) if fitting.jobs(case) else None
    st.fragment(_meanwhile, run_every=poll)(case, shown)


def _meanwhile(case: Case, shown: ShownFits | None) -> None:
    frames = latest_frames(case)
    if frames:
        learned = _improving(case, frames)
    elif shown is not None:
        learned = _learned(shown.case, shown.pair)
    else:
        learned = [view_panel(f"{method} restores", tone) for method, tone in METHODS.items()]
        learned += [view_panel(f"{method}'s error", tone) for method, tone in METHODS.items()]
    _mount(case, learned)


def picture_panels(case: Case, pair: Pair) -> list[Panel]:
    given, learned = _given(case), _learned(case, pair)
    return [panel_of(one) for one in (given[0], *learned[:2], given[1], *learned[2:])]


def _mount(case: Case, learned: Panels) -> None:
    setting, data, given = case.setting, case.data, _given(case)
    rows, cols = data.image_shape
    component("views")(
        key="views",
        data={
            "rows": rows,
            "cols": cols,
            "columns": 3,
            "pairs": True,
            "panels": [given[0], *learned[:2], given[1], *learned[2:]],
            "pixel": [number - 1 for number in setting.place(data)],
            "pins": [[row - 1, col - 1] for row, col in setting.pinned(data)],
        },
    )


def _view(case: Case) -> CubeView:
    setting, data = case.setting, case.data
    bands, joint = shown_bands(setting, data), is_joint(setting, data)
    return CubeView(data, bands, float(setting.clip), joint, HIDDEN[setting.colour])


def _drawn_from(case: Case, pair: Pair | None = None) -> tuple[object, ...]:
    """Everything that determines the pictures: those of the data, or with a pair those of its fits."""
    setting, data = case.setting, case.data
    looks = (setting.clip, is_joint(setting, data), setting.colour, setting.restored)
    return case.mask_key if pair is None else case.keys, shown_bands(setting, data), looks


@cached(key=_drawn_from)
def _given(case: Case) -> Panels:
    view, words = _view(case), bands_in_words(case.setting, case.data)
    hidden = f"{1 - float(case.observed.mean()):.0%} of the cube hidden"
    masked, alt = data_url(view.masked(case.observed)), f"What the learner sees of {words}, {hidden}"
    original = view_panel("Original", "", data_url(view.original()), f"Original, {words}", words)
    return [original, view_panel("Masked", "", masked, alt, hidden)]


@cached(key=_drawn_from)
def _learned(case: Case, pair: Pair) -> Panels:
    view, factors = _view(case), factors_of(pair)
    if view.is_single:
        given = case.data.V, case.observed, case.reach
        f, keep = view.bands[0], case.setting.restored == "observed"
        errors = [band_error(*given, W, H, f, keep_observed=keep) for W, H in factors.values()]
        figures = [band_rmse(*given, W, H, f) for W, H in factors.values()]
    else:
        errors = [_hidden_error(key, case, run) for key, run in zip(case.keys, pair, strict=True)]
        figures = [run.rmse_hidden for run in pair]
    where = "hidden here" if view.is_single else "hidden"
    restored = [
        _restored(case, view, method, factors[method], _figure(figures, number, where))
        for number, method in enumerate(METHODS)
    ]
    top = error_top(errors)
    what = "|v − restored|" if view.is_single else "RMSE of a pixel's hidden bands"
    scale = f'<img class="scale" src="{ERROR_SCALE}" alt="">0 … {top:g}<br>{what}'
    wrong = [
        view_panel(
            f"{method}'s error",
            tone,
            data_url(view.error_picture(error, top, ~case.reach.pixels)),
            f"Error of {method}, {what}, dark where large",
            scale,
        )
        for (method, tone), error in zip(METHODS.items(), errors, strict=True)
    ]
    return [*restored, *wrong]


def _improving(case: Case, frames: Sequence[Frame]) -> Panels:
    view = _view(case)
    restored = [
        _restored(case, view, method, (frame.W, frame.H), f"iteration {frame.iteration}")
        for method, frame in zip(METHODS, frames, strict=True)
    ]
    return restored + [view_panel(f"{method}'s error", tone) for method, tone in METHODS.items()]


def _restored(case: Case, view: CubeView, method: str, factors: tuple[Any, Any], note: str) -> dict[str, str]:
    given = case.data.V, case.observed, case.reach, *factors
    keep = case.setting.restored == "observed"
    picture = view.picture([restored_band(*given, f, keep_observed=keep) for f in view.bands])
    alt = f"{bands_in_words(case.setting, case.data)} restored by {method}"
    return view_panel(f"{method} restores", METHODS[method], data_url(picture), alt, note)


def _figure(figures: Sequence[float], number: int, where: str) -> str:
    if isnan(figures[number]):
        return "no known values are hidden: no error"
    mine, other = (f"{figure:.3g}" for figure in (figures[number], figures[1 - number]))
    best = (
        ' <span class="best">better</span>' if figures[number] < figures[1 - number] and mine != other else ""
    )
    return f'<b class="{list(METHODS.values())[number]}">{mine}</b> RMSE {where}{best}'


@cached()
def _hidden_error(key: FitKey, _case: Case, _run: Run) -> Wide:
    return hidden_error(_case.data.V, _case.observed, _run.W, _run.H)


def show_limits_of_recovery(case: Case) -> None:
    show_unreached(case)
    K = case.setting.K
    weak = case.reach.weak(K)
    if weak:
        st.caption(
            f"{weak:,} pixels have fewer than K = {K} observed bands: what is restored there is a guess."
        )


KEY = "spectrum"
NAMES = {"AT-NMF": "atnmf", "NMF": "nmf"}
LINES = (("truth", "original", "original"), ("orange", "atnmf", "AT-NMF"), ("blue", "nmf", "NMF"))
LEGEND = tuple(
    {"truth": "original", "seen": "observed", "orange": "AT-NMF", "blue": "NMF", "unseen": "hidden"}.items()
)


def show_spectrum(case: Case, factors: FactorsByMethod) -> None:
    """A fragment: choosing a pixel redraws nothing else on the page."""
    st.fragment(_spectrum)(case, factors)


def _spectrum(case: Case, factors: FactorsByMethod) -> None:
    # With the current pixels: the rest of the page was drawn with earlier ones.
    setting, data = case.setting, case.data
    now = replace(setting, pixel=st.session_state["pixel"], pins=st.session_state["pins"])
    given = (data, case.observed, case.reach, factors)
    pixels = (now.place(data), *now.pinned(data))
    current, *pins = (pixel_spectrum(*given, row - 1, col - 1) for row, col in pixels)
    component("spectrum", "chart", "spectra")(
        key=KEY,
        data=band_axis(data)
        | {
            "names": [data.wavelength_label(f) for f in range(data.shape[0])],
            "top": spectra_top([values for one in (current, *pins) for values in one.spectra()]),
            "hidden_colour": HIDDEN[setting.colour],
            "lines": LINES,
            "legend": [entry for entry in LEGEND if factors or entry[0] not in METHODS.values()],
            "flag": ("observed", "hidden"),
            "current": [_spectrum_data(current)],
            "pins": [_spectrum_data(pin) for pin in pins],
        },
        on_pixel_change=lambda: change(pixel=spell_pixels([_clicked("pixel")])),
        on_pin_change=lambda: change(pins=spell_pixels([*now.pinned(data), _clicked("pin")])),
        on_unpin_change=lambda: change(
            pins=spell_pixels([pixel for pixel in now.pinned(data) if pixel != _clicked("unpin")])
        ),
    )
    download(
        "Spectra, CSV",
        lambda: spectra_csv(data, [current, *pins]),
        f"{data.name}-spectra.csv",
        "text/csv",
        "This pixel and the pinned ones",
    )
    ADDRESS.write()


def _clicked(event: str) -> Pixel:
    row, col = st.session_state[KEY][event]
    return int(row) + 1, int(col) + 1


def _spectrum_data(spectrum: PixelSpectrum) -> dict[str, Any]:
    bands, seen = len(spectrum.original), int(spectrum.observed.sum())
    return {
        "place": [spectrum.row, spectrum.col],
        "name": f"Row {spectrum.row + 1}, column {spectrum.col + 1}",
        "seen": f"{seen} of {bands} bands observed",
        "measures": _measures(spectrum),
        "original": points(spectrum.original),
        "specks": points(np.where(spectrum.observed, spectrum.original, np.nan)),
        "observed": [bool(is_seen) for is_seen in spectrum.observed],
    } | {name: points(spectrum.predicted[method]) for method, name in NAMES.items() if spectrum.predicted}


def _measures(spectrum: PixelSpectrum) -> str:
    if not spectrum.observed.any():
        return "Nothing is observed of this pixel, so nothing can be predicted."
    lines = [
        f'<b class="{METHODS[method]}">{method}</b> {_error(spectrum.error(method))} · '
        f"{spectrum.angle(method):.2f}° from the original"
        for method in spectrum.predicted
    ]
    return "<br>".join(lines)


def _error(error: float) -> str:
    return "no known values are hidden" if isnan(error) else f"{error:.4f} RMSE where hidden"


FORMATS = (
    Format("NPZ", lambda cube, stem: write_npz(cube), "npz", "application/zip"),
    Format("MAT", lambda cube, stem: write_mat(cube), "mat", "application/octet-stream"),
    Format("ENVI pair", write_envi_zip, "zip", "application/zip"),
)


def show_cube_take_away(case: Case, pair: Pair, cards: Mapping[str, Any]) -> None:
    """Figures, the cube by either method in every format, and the factors."""
    st.header("Download", anchor=False)
    setting, data = case.setting, case.data
    options = SIZES[setting.size] if setting.data == SCENE and setting.size != "small" else {}
    factors, stem = partial(factors_npz, pair._asdict(), case.observed), stem_of(setting, data)
    show_take_away(
        case,
        pair,
        ADDRESS,
        source_of(setting, data, **options) + _cut(setting),
        begin=lambda: show_figures(stem, _figures(case, pair, cards)),
        restored="The restored cube" + ("" if data.wavelengths is None else ", with its wavelengths"),
        formats=FORMATS,
        numbers=[File("Factors and mask, NPZ", factors, f"{stem}-factors.npz", "application/zip")],
    )


def _figures(case: Case, pair: Pair, cards: Mapping[str, Any]) -> list[FigureFile]:
    def maps(look: Look) -> bytes:
        shown = [(card, one) for card in cards["cards"] for one in card["maps"]]
        panels = [replace(panel_of(one), title=f"{card['name']}, {one['title']}") for card, one in shown]
        return save_panels(panels, look, columns=cards["maps"])

    six = picture_panels(case, pair)
    ways = {"truth": "truth", "pure": "Pure pixels"} | {tone: name for name, tone in METHODS.items()}
    return [
        FigureFile("Six pictures", "pictures", partial(save_panels, six, columns=3)),
        FigureFile("Abundance maps", "maps", maps),
        *chart_files({"spectra": ("Material spectra", partial(material_spectra, cards, ways))}),
    ]


def _cut(setting: CubeSetting) -> str:
    spans = {name: getattr(setting, name) for name in ("rows", "cols", "bands")}
    cuts = [
        f"{name}=slice({span(text, 10**9)[0] - 1}, {span(text, 10**9)[1]})"
        for name, text in spans.items()
        if text
    ]
    return f".subset({', '.join(cuts)})" if cuts else ""
