"""RMSE against lambda for the setting in view; its points are fits like any other, traced meanwhile."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import replace
from typing import Literal

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.error_curves import against_lambda
from atnmf_core.running.cost import expected_seconds
from atnmf_core.sweep.measurements import Measurement
from pages.common import fit_pair
from pages.common.address import change
from pages.common.fit_cache import store
from pages.common.setting import LAMBDAS, Setting

__all__ = ["show_lambda_curve"]

CURVE_LAMBDAS = (1.05, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
AUTOMATIC_SECONDS = 6.0
POLL_SECONDS = 1.0
PAUSE_SECONDS = 0.05
TREATMENTS: tuple[Literal["zero", "ignore"], ...] = ("zero", "ignore")


class Tracer:
    """One thread that solves one point at a time, of the curve that was wished for last.

    Sessions repeat their wish while they show an unfinished curve, and a wish that nobody repeats is
    forgotten; so ten people moving sliders cost no more than one.
    """

    def __init__(self) -> None:
        self._wishes: OrderedDict[Setting, tuple[Dataset, float]] = OrderedDict()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def wish(self, setting: Setting, data: Dataset) -> None:
        with self._changed:
            self._wishes[setting] = data, time.monotonic() + 3 * POLL_SECONDS
            self._wishes.move_to_end(setting)
            self._changed.notify()

    def close(self) -> None:
        """End the thread, after the point that it is at."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wishes or self._closed)
                if self._closed:
                    return
                setting, (data, expires) = next(reversed(self._wishes.items()))
                missing = [point for point in _points(setting) if _errors(point, data) is None]
                if not missing or expires < time.monotonic():
                    del self._wishes[setting]
                    continue
            if store().is_busy:
                # Somebody has moved a slider and waits for the picture; a curve can wait.
                time.sleep(PAUSE_SECONDS)
            else:
                fit_pair.solve_now(missing[0], data)


@st.cache_resource(show_spinner=False)
def tracer() -> Tracer:
    return Tracer()


def show_lambda_curve(setting: Setting, data: Dataset) -> None:
    """The curve with the points that are there; the others come by themselves where that is quick."""
    st.markdown("**RMSE on hidden pixels against λ**")
    setting = setting.solved
    missing = _known(setting, data)[1]
    one = expected_seconds(data.shape, setting.K, solver=setting.solver, missing=setting.missing)
    asked = st.session_state.get("curve_asked") == setting
    traces = missing > 0 and (asked or missing * one < AUTOMATIC_SECONDS)
    st.fragment(_curve, run_every=POLL_SECONDS if traces else None)(setting, data, traces)
    if missing and not traces:
        label = f"Trace the curve: {missing} fits"
        st.button(label, on_click=_ask, args=(setting,), icon=":material/timeline:")


def _ask(setting: Setting) -> None:
    st.session_state["curve_asked"] = setting


def _curve(setting: Setting, data: Dataset, traces: bool) -> None:
    points, missing = _known(setting, data)
    here = next((p for p in points if (p.lam, p.missing) == (setting.lam, setting.missing)), None)
    count = sum(point.lam is not None for point in points)
    st.plotly_chart(
        against_lambda(points, height=280, compact=True, here=here),
        key="lambda_curve",
        config={"displayModeBar": False},
        alt=f"RMSE on hidden pixels against lambda, {count} points",
        on_select=_open_point,
        selection_mode="points",
    )
    if st.session_state.pop("point_opened", False) or (traces and not missing):
        st.rerun()
    if traces:
        tracer().wish(setting, data)


def _known(setting: Setting, data: Dataset) -> tuple[list[Measurement], int]:
    """The points of both treatments' curves that are solved, and how many are not."""
    points: list[Measurement] = []
    missing = 0
    for treatment in TREATMENTS:
        found = {point.lam: _errors(point, data) for point in _points(setting, (treatment,))}
        solved = {lam: errors for lam, errors in found.items() if errors is not None}
        missing += len(found) - len(solved)
        settings = (setting.K, treatment, setting.solver, "float32")
        for lam, (atnmf, _) in solved.items():
            points.append(Measurement(setting.alpha, "atnmf", lam, *settings, atnmf))
        for _, nmf in list(solved.values())[:1]:
            points.append(Measurement(setting.alpha, "nmf", None, *settings, nmf))
    return points, missing


def _errors(setting: Setting, data: Dataset) -> tuple[float, float] | None:
    """RMSE on hidden pixels of AT-NMF and of NMF, where both were solved."""
    atnmf, nmf = (store().rmse_hidden(key) for key in fit_pair.keys(setting, data))
    return None if atnmf is None or nmf is None else (atnmf, nmf)


def _open_point() -> None:
    points = st.session_state["lambda_curve"]["selection"]["points"]
    lam = points[0]["x"] if points else None
    if lam in LAMBDAS:
        change(lam=lam)
        st.session_state["point_opened"] = True


def _points(
    setting: Setting, treatments: tuple[Literal["zero", "ignore"], ...] = TREATMENTS
) -> list[Setting]:
    lams = sorted({*CURVE_LAMBDAS, setting.lam})
    return [replace(setting, missing=treatment, lam=lam) for lam in lams for treatment in treatments]
