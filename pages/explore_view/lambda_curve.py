"""RMSE against lambda for the current setting, traced point by point while the user is idle."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache

import plotly.graph_objects as go
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.error_curves import against_lambda
from atnmf_core.problem import Missing
from atnmf_core.running.cost import expected_seconds
from atnmf_core.sweep.measurements import Measurement
from pages.common import fit_pair
from pages.common.address import change
from pages.common.setting import LAMBDAS, FitKey, Setting
from pages.common.visitors import poll_interval

from .extra_fits import REST_SECONDS, failures, has_rested, known_errors, missing, request_errors

CURVE_LAMBDAS = (2.0, 10.0, 1.2, 100.0, 1.05, 5.0, 30.0, 1.5, 3.0)
"""In the order in which they are traced: a coarse curve first, then a finer one."""
AUTOMATIC_SECONDS = 6.0
MAX_FIGURES = 100
TREATMENTS: tuple[Missing, ...] = ("zero", "ignore")


def is_traced(setting: Setting, data: Dataset) -> bool:
    """Whether missing points of the curve are computed automatically: they are quick, or were requested."""
    count = len(missing(_keys(setting, data)))
    asked = st.session_state.get("curve_asked") == setting.solved
    return count > 0 and (asked or count * _seconds(setting, data) < AUTOMATIC_SECONDS)


def show_lambda_curve(setting: Setting, data: Dataset) -> None:
    """The curve with the known points; the others are computed automatically if that is quick."""
    st.markdown("**RMSE on hidden entries against λ**")
    if setting.alpha == 0:
        st.caption("Not measured: nothing is hidden.")
        return
    setting = setting.solved
    traced = is_traced(setting, data)
    st.fragment(_show, run_every=poll_interval(REST_SECONDS) if traced else None)(
        setting, data, traced, time.monotonic()
    )
    count = len(missing(_keys(setting, data)))
    if count and not traced:
        label = f"Trace the curve: {count} fits"
        st.button(label, on_click=_ask, args=(setting,), icon=":material/timeline:")


def _ask(setting: Setting) -> None:
    st.session_state["curve_asked"] = setting


def _show(setting: Setting, data: Dataset, traced: bool, since: float) -> None:
    points = _known(setting, data)
    here = next((p for p in points if (p.lam, p.missing) == (setting.lam, setting.missing)), None)
    count = sum(point.lam is not None for point in points)
    st.plotly_chart(
        _figure(tuple(points), here),
        key="lambda_curve",
        config={"displayModeBar": False},
        alt=f"RMSE on hidden entries against lambda, {count} points",
        on_select=_open_point,
        selection_mode="points",
    )
    keys = _keys(setting, data)
    failed = failures(keys)
    if failed:
        st.caption(f"{len(failed)} of the fits behind this curve failed: {failed[0]}")
    if st.session_state.pop("point_opened", False) or (traced and not missing(keys)):
        st.rerun()
    if traced and has_rested(since):
        request_errors(keys, data, long=_seconds(setting, data) >= fit_pair.LIVE_SECONDS)


@lru_cache(maxsize=MAX_FIGURES)
def _figure(points: tuple[Measurement, ...], here: Measurement | None) -> go.Figure:
    """Shared by all sessions, because Plotly validates every number of a figure, of a dictionary even
    twice; and Streamlit has the figure copied to a dictionary for every run, where one is enough.
    """
    figure = against_lambda(points, height=280, compact=True, here=here)
    drawn = figure.to_dict()
    figure.to_dict = lambda: drawn
    return figure


def _open_point() -> None:
    points = st.session_state["lambda_curve"]["selection"]["points"]
    lam = points[0]["x"] if points else None
    if lam in LAMBDAS:
        change(lam=lam)
        st.session_state["point_opened"] = True


def _known(setting: Setting, data: Dataset) -> list[Measurement]:
    """The known points of both treatments' curves."""
    measurements = []
    points = _points(setting, data.content_hash)
    for lam, treatment in sorted(points, key=lambda point: point[0]):
        errors = known_errors(points[lam, treatment])
        if errors is not None:
            how = (setting.K, treatment, setting.solver, "float32")
            measurements.append(Measurement(setting.alpha, "atnmf", lam, *how, errors[0]))
            measurements.append(Measurement(setting.alpha, "nmf", None, *how, errors[1]))
    return list(dict.fromkeys(measurements))


def _keys(setting: Setting, data: Dataset) -> list[FitKey]:
    """The fits behind both curves, in the order in which they are traced."""
    points = _points(setting, data.content_hash)
    return list(dict.fromkeys(key for keys in points.values() for key in keys))


@lru_cache(maxsize=MAX_FIGURES)
def _points(setting: Setting, content_hash: str) -> dict[tuple[float, Missing], fit_pair.Keys]:
    """The fits of every point by lambda and treatment, in the order in which they are traced."""
    return {
        (lam, treatment): fit_pair.keys_of(replace(setting, lam=lam, missing=treatment), content_hash)
        for lam in dict.fromkeys((setting.lam, *CURVE_LAMBDAS))
        for treatment in TREATMENTS
    }


def _seconds(setting: Setting, data: Dataset) -> float:
    """Seconds that one of the fits takes."""
    return expected_seconds(data.shape, setting.K, solver=setting.solver, missing=setting.missing)
