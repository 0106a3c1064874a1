"""The chart: which combination, which view, the figure, and what it says in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from atnmf_core.figures.error_curves import against_alpha, against_lambda
from atnmf_core.figures.gain_map import gain_map
from atnmf_core.sweep.measurements import Measurement, best, gain, level

from .curve import Curve
from .open_in_explore import opens_in_explore, remember_click
from .plan import TREATMENTS
from .state import ADDRESS, CHART, VIEWS, key

SOLVER_WORDS = {"fast": "the fast solver", "paper": "Algorithm 1"}
FEW_LAMBDAS = 4
"""How many lambdas are drawn against alpha at first."""
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def choose_view(curve: Curve) -> None:
    """The view, and the alpha, treatment of hidden entries and K of a curve that has several."""
    state, points = st.session_state, curve.points
    several_alphas = len({point.alpha for point in points}) > 1
    views = VIEWS if several_alphas else {"lambda": VIEWS["lambda"]}
    if state[key("view")] not in views:
        state[key("view")] = "lambda"
    if state[key("view")] == "alpha":
        _choose_lambdas(curve)
    if state[key("view")] == "lambda":
        _one_of("at_alpha", sorted({point.alpha for point in points}), "{:g}".format)
    treatments = [name for name in TREATMENTS if name in {point.missing for point in points}]
    _one_of("at_missing", treatments, lambda name: TREATMENTS[name])
    _one_of("at_K", sorted({point.K for point in points}), str)
    if several_alphas:
        ADDRESS.draw("view", among=views)


def _one_of(name: str, options: Sequence[Any], spelled: Any) -> None:
    """A choice among the curve's values, drawn only if there are several."""
    state = st.session_state
    if options and state[key(name)] not in options:
        state[key(name)] = options[(len(options) - 1) // 2 if name == "at_alpha" else 0]
    if len(options) > 1:
        label = ADDRESS.controls[name].label
        st.segmented_control(
            label, options, default=state[key(name)], format_func=spelled, key=key(name), required=True
        )


def _choose_lambdas(curve: Curve) -> None:
    lams = sorted({point.lam for point in curve.points if point.lam is not None})
    name = f"curves_lams {curve.name}"
    if name not in st.session_state:
        step = max(1, len(lams) // FEW_LAMBDAS)
        st.session_state[name] = lams if len(lams) <= FEW_LAMBDAS + 1 else lams[::step][:FEW_LAMBDAS]
    chosen = st.session_state[name]
    st.multiselect("AT-NMF at λ", lams, chosen, format_func="{:g}".format, key=name, width=320)


def figure_of(curve: Curve) -> go.Figure:
    """The chosen figure."""
    state = st.session_state
    points = _chosen(curve)
    match state[key("view")]:
        case "alpha":
            return against_alpha(points, state.get(f"curves_lams {curve.name}", []))
        case "map":
            return gain_map(points)
    return against_lambda(points)


def _chosen(curve: Curve) -> list[Measurement]:
    state = st.session_state
    points = [
        point
        for point in curve.points
        if point.missing == state[key("at_missing")] and state[key("at_K")] == point.K
    ]
    if state[key("view")] == "lambda":
        points = [point for point in points if point.alpha == state[key("at_alpha")]]
    return points


def show_chart(curve: Curve) -> None:
    """The sentence, the figure, and how to open a point."""
    st.markdown(_sentence(curve))
    clicks = opens_in_explore(curve)
    st.plotly_chart(
        figure_of(curve),
        key=CHART,
        config=CONFIG,
        alt=f"RMSE on hidden entries {VIEWS[st.session_state[key('view')]]}: {curve.title}",
        on_select=remember_click if clicks else "ignore",
        selection_mode="points",
    )
    st.caption(f"{curve.provenance}." + (" Click a point to open it in Explore." if clicks else ""))


def _sentence(curve: Curve) -> str:
    """Where AT-NMF is best, for each solver; over several alphas, where it gains most."""
    points = _chosen(curve)
    solvers = list(dict.fromkeys(point.solver for point in points if point.lam is not None))
    if not solvers:
        return (
            "AT-NMF has no point yet."
            if curve.record and curve.record.is_under_way
            else "This curve has no point of AT-NMF."
        )
    if st.session_state[key("view")] != "lambda" and any(point.method == "nmf" for point in points):
        return _largest_gain(points)
    said = []
    for solver in solvers:
        by = f"By {SOLVER_WORDS[solver]}, " if len(solvers) > 1 else ""
        found = best([point for point in points if point.solver == solver])
        assert found is not None
        nmf = level([point for point in points if point.alpha == found.alpha], "nmf", like=found)
        than = "" if nmf is None else f", {_share(found, nmf)} :blue[**NMF**] ({_error(nmf)})"
        said.append(
            f"{by}:orange[**AT-NMF**] is best at **λ = {found.lam:g}**: RMSE **{_error(found)}**{than}."
        )
    return "  \n".join(said)


def _largest_gain(points: Sequence[Measurement]) -> str:
    levels = {(point.alpha, point.solver): point for point in points if point.method == "nmf"}
    pairs = [(p, levels[p.alpha, p.solver]) for p in points if p.lam and (p.alpha, p.solver) in levels]
    if not pairs:
        return "NMF has not been fitted yet."
    found, nmf = max(pairs, key=lambda pair: gain(*pair))
    return (
        f":orange[**AT-NMF**] gains most at **α = {found.alpha:g}** with **λ = {found.lam:g}**: RMSE "
        f"**{_error(found)}**, {_share(found, nmf)} :blue[**NMF**] ({_error(nmf)})."
    )


def _share(point: Measurement, nmf: Measurement) -> str:
    share = gain(point, nmf)
    return f"**{abs(100 * share):.1f}%** {'below' if share >= 0 else 'above'}"


def _error(point: Measurement) -> str:
    spread = "" if point.deviation is None else f" ± {point.deviation:.2g}"
    return f"{point.mean:#.4g}{spread}"
