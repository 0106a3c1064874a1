"""RMSE against lambda for the current setting, traced point by point while the user is idle."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from math import isnan

import plotly.graph_objects as go
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.error_curves import against_lambda
from atnmf_core.jobs.fit_task import expected_seconds
from atnmf_core.model.adversary import curvature
from atnmf_core.model.problem import Missing
from atnmf_core.sweep.measurements import Measurement
from pages.common.address import change
from pages.common.cache import cached
from pages.common.fitting import LIVE_SECONDS, Case, Pair, expected, fit_cache, observed_of
from pages.common.jobs import poll_interval, visitor
from pages.common.setting import LAMBDAS, FitKey, Setting
from pages.common.streamlit_patches import convert_once
from pages.common.widgets import show_chart

REST_SECONDS = 1.0
RETRY_SECONDS = 60.0


def known_errors(keys: tuple[FitKey, FitKey]) -> tuple[float, float] | None:
    """RMSE over hidden entries of AT-NMF and of NMF, if both are known."""
    atnmf, nmf = map(fit_cache().rmse_hidden, keys)
    return None if atnmf is None or nmf is None else (atnmf, nmf)


def missing(keys: Collection[FitKey]) -> list[FitKey]:
    """The keys whose error is not known, except those that have just failed."""
    cache = fit_cache()
    failed = {key: cache.failure(key) for key in keys if cache.rmse_hidden(key) is None}
    return [key for key, why in failed.items() if why is None or why.may_be_over(RETRY_SECONDS)]


def failures(keys: Collection[FitKey]) -> list[BaseException]:
    cache = fit_cache()
    found = (cache.failure(key) for key in keys if cache.rmse_hidden(key) is None)
    return [failure.error for failure in found if failure is not None]


def request_errors(keys: Collection[FitKey], data: Dataset, *, long: bool = False) -> None:
    """Compute the missing errors, in this order, when there is nothing more urgent to do."""
    for key in missing(keys):
        fit_cache().start_error(key, data, observed_of(key.mask, data), visitor(), long=long)


def has_rested(since: float) -> bool:
    """Whether the user has been idle since the page was drawn; only a fragment's timer gets to see that."""
    return time.monotonic() - since >= 0.9 * REST_SECONDS


CURVE_LAMBDAS = (2.0, 10.0, 1.2, 100.0, 1.05, 5.0, 30.0, 1.5, 3.0)
"""In the order in which they are traced: a coarse curve first, then a finer one."""
AUTOMATIC_SECONDS = 6.0
TREATMENTS: tuple[Missing, ...] = ("zero", "ignore")


@dataclass(frozen=True)
class Curve:
    """Both treatments' curves: each point's two fits in the order of tracing, all `keys`, a fit's seconds."""

    case: Case
    points: dict[tuple[float, Missing], tuple[FitKey, FitKey]]
    keys: list[FitKey]
    seconds: float

    @classmethod
    def of(cls, case: Case) -> Curve:
        setting, data = case.setting, case.data
        points = {
            (lam, treatment): Case(replace(setting, lam=lam, missing=treatment), data).keys
            for lam in dict.fromkeys((setting.lam, *CURVE_LAMBDAS))
            for treatment in TREATMENTS
        }
        keys = list(dict.fromkeys(key for pair in points.values() for key in pair))
        seconds = expected_seconds(data.shape, setting.K, solver=setting.solver, missing=setting.missing)
        return cls(case, points, keys, seconds)

    def is_traced(self) -> bool:
        """Whether missing points are computed automatically: they are quick, or were requested."""
        count = len(missing(self.keys))
        asked = st.session_state.get("curve_asked") == self.case.keys
        return count > 0 and (asked or count * self.seconds < AUTOMATIC_SECONDS)

    def known(self) -> list[Measurement]:
        alpha, K, solver = self.case.setting.alpha, self.case.setting.K, self.case.setting.solver
        measurements = []
        for (lam, treatment), keys in sorted(self.points.items(), key=lambda point: point[0][0]):
            errors = known_errors(keys)
            if errors is not None:
                how = (K, treatment, solver, "float32")
                measurements.append(Measurement(alpha, "atnmf", lam, *how, errors[0]))
                measurements.append(Measurement(alpha, "nmf", None, *how, errors[1]))
        return list(dict.fromkeys(measurements))

    def figure(self) -> go.Figure:
        points, setting = self.known(), self.case.setting
        here = next((p for p in points if (p.lam, p.missing) == (setting.lam, setting.missing)), None)
        return _figure(tuple(points), here)


def show_lambda_curve(case: Case) -> None:
    st.markdown("**RMSE on hidden entries against λ**")
    if case.setting.alpha == 0:
        st.caption("Not measured: nothing is hidden.")
        return
    curve = Curve.of(case)
    traced = curve.is_traced()
    st.fragment(_show, run_every=poll_interval(REST_SECONDS) if traced else None)(
        curve, traced, time.monotonic()
    )
    count = len(missing(curve.keys))
    if count and not traced:
        label = f"Trace the curve: {count} fits"
        st.button(label, on_click=_ask, args=(case,), icon=":material/timeline:")


def _ask(case: Case) -> None:
    st.session_state["curve_asked"] = case.keys


def _show(curve: Curve, traced: bool, since: float) -> None:
    count = sum(point.lam is not None for point in curve.known())
    alt = f"RMSE on hidden entries against lambda, {count} points"
    show_chart(curve.figure(), "lambda_curve", alt, on_select=_open_point, selection_mode="points")
    failed = failures(curve.keys)
    if failed:
        st.caption(f"{len(failed)} of the fits behind this curve failed: {failed[0]}")
    if st.session_state.pop("point_opened", False) or (traced and not missing(curve.keys)):
        st.rerun()
    if traced and has_rested(since):
        request_errors(curve.keys, curve.case.data, long=curve.seconds >= LIVE_SECONDS)


@cached()
def _figure(points: tuple[Measurement, ...], here: Measurement | None) -> go.Figure:
    """Shared by all sessions, because Plotly validates every number of a figure."""
    figure = against_lambda(points, height=280, compact=True, here=here)
    convert_once(figure)
    return figure


def _open_point() -> None:
    points = st.session_state["lambda_curve"]["selection"]["points"]
    lam = points[0]["x"] if points else None
    if lam in LAMBDAS:
        change(lam=lam)
        st.session_state["point_opened"] = True


# Marked or unmarked: which problem is solved, which method wins and by how much, under either treatment of
# hidden entries; and the switch between them.

PROBLEM = {
    "zero": "**Unmarked losses.** The solver is not told which pixels are hidden: they look like zeros",
    "ignore": "**Marked losses.** The solver knows which pixels are hidden and leaves them out",
}
INSTEAD = {"zero": "Marked instead", "ignore": "Unmarked instead"}
SWITCH = {"zero": "Mark hidden pixels", "ignore": "Leave them unmarked"}
EQUAL_WITHIN = 0.02
"""Errors that differ by less than this share count as nearly equal: random starts differ as much."""
SMALLEST_ERROR = 0.001
STRONG = 1.05


def show_callout(case: Case, pair: Pair) -> None:
    if isnan(pair.nmf.rmse_hidden):
        st.info("No known values are hidden, so there is no error to measure.")
        return
    setting, other = case.setting, case.other_treatment
    unknown = missing(other.keys)
    waits = bool(unknown) and expected(other) < LIVE_SECONDS
    with st.container(key="callout", horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width="stretch", gap=None):
            poll = poll_interval(REST_SECONDS) if waits else None
            st.fragment(_show_errors, run_every=poll)(case, other, pair, waits, time.monotonic())
            st.caption(_why(setting))
        st.button(
            SWITCH[setting.missing],
            type="primary" if setting.missing == "zero" else "secondary",
            on_click=change,
            kwargs={"missing": other.setting.missing},
        )


def _show_errors(case: Case, other: Case, pair: Pair, waits: bool, since: float) -> None:
    noun = {"faces": "all faces", "cube": "the whole cube", "matrix": "the whole matrix"}[case.data.kind]
    missing_here = case.setting.missing
    here = _both(pair.atnmf.rmse_hidden, pair.nmf.rmse_hidden)
    text = f"{PROBLEM[missing_here]}. RMSE over {noun}: {here}."
    instead = known_errors(other.keys)
    if instead is not None:
        text += f" {INSTEAD[missing_here]}: {_both(*instead)}."
    st.markdown(text)
    if waits and has_rested(since):
        request_errors(other.keys, case.data)
    if waits and not missing(other.keys) and not Curve.of(case).is_traced():
        st.rerun()  # There is nothing left to wait for: redraw the page without polling


def _why(setting: Setting) -> str:
    if setting.missing == "ignore":
        return (
            "What is left out pulls no prediction towards black, so there is no pull for the adversary to "
            "loosen: both methods predict from the observed pixels alone."
        )
    brighter = "" if setting.bound is None else " or, on its leash, far brighter"
    stronger = (
        "" if setting.lam <= STRONG else f", at λ\u00a0=\u00a0{STRONG:g} only 1/{curvature(STRONG):.3g}"
    )
    return (
        "Taken for zeros, hidden pixels pull every prediction towards black. The adversary gives up on "
        f"pixels far darker{brighter} than their prediction: at λ\u00a0=\u00a0{setting.lam:g} such a pixel "
        f"weighs 1/{curvature(setting.lam):.3g} of a sound one{stronger}."
    )


def _both(atnmf: float, nmf: float) -> str:
    errors = f":orange[AT-NMF\u00a0**{_short(atnmf)}**] · :blue[NMF\u00a0**{_short(nmf)}**]"
    return f"{errors}, {_verdict(atnmf, nmf)}"


def _verdict(atnmf: float, nmf: float) -> str:
    name, better, worse = ("AT-NMF", atnmf, nmf) if atnmf < nmf else ("NMF", nmf, atnmf)
    share = 1 - better / worse if worse > 0 else 0.0
    if share < EQUAL_WITHIN or worse < SMALLEST_ERROR:
        return "about equal"
    return f"**{name} wins by {share:.0%}**"


def _short(error: float) -> str:
    if error < SMALLEST_ERROR:
        return f"< {SMALLEST_ERROR:g}"
    return f"{error:.3f}" if error >= 0.01 else f"{error:.2g}"
