"""What a sweep found: RMSE against lambda, and RMSE against alpha.

Every point carries, as `customdata`, what a click needs (alpha, method, lambda or None, solver), and the
words that a hover shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from ..curves import CurvePoint, best, gain, level
from ..solvers.anmf import LABEL
from .palette import ANMF, ATNMF, NMF

__all__ = ["HOVER", "against_alpha", "against_lambda", "facts", "lambda_ticks"]

LEVELS = {"nmf": ("NMF", NMF, "dash"), "anmf": (LABEL, ANMF, "dashdot")}
"""Methods without lambda: name, colour and line."""
SOLVERS = {"fast": ("fast solver", "solid", "circle"), "paper": ("Algorithm 1", "dot", "diamond")}
TICKS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
SHADES = ("#6B3F00", "#955800", "#E08A00", "#F0B04F", "#F7D08F")
"""AT-NMF's orange from dark to light, for several lambdas in one plot."""
HOVER = "%{customdata[4]}<extra></extra>"
Trace = dict[str, Any]


def against_lambda(points: Sequence[CurvePoint], height: int = 440) -> go.Figure:
    """AT-NMF's mean error against lambda with a band of one deviation, the other methods as levels, and the
    best lambda with its gain over NMF. The points are those of one alpha, K and treatment.
    """
    curve = [point for point in points if point.lam is not None]
    solvers = sorted({point.solver for point in curve}, reverse=True)
    lams = sorted({point.lam for point in curve if point.lam is not None}) or [1.05, 100.0]
    traces: list[Trace] = []
    for point in points:
        if point.lam is None:
            traces += _level(point, lams, several=_several(points, point.method))
    for solver in solvers:
        own = sorted(_of(curve, solver), key=lambda point: point.lam or 0.0)
        traces += _line(own, [point.lam for point in own], _atnmf_name(solver, len(solvers)), ATNMF, solver)
    lowest = [found for solver in solvers if (found := best(_of(curve, solver)))]
    words = [_best_words(point, points, lams) for point in lowest]
    traces += [_ring(point) for point in lowest]
    return _figure(traces, {"xaxis": _lambda_axis(lams), "annotations": words}, height)


def against_alpha(points: Sequence[CurvePoint], lams: Sequence[float], height: int = 440) -> go.Figure:
    """Mean errors against alpha: AT-NMF at the given lambdas, and the methods that have none. The points are
    those of one K and treatment.
    """
    traces: list[Trace] = []
    shown = [point for point in points if point.lam is None or point.lam in lams]
    for _, group in groupby(sorted(shown, key=_series), key=_series):
        own = list(group)
        method, lam, solver = own[0].method, own[0].lam, own[0].solver
        if lam is None:
            name, colour, _ = LEVELS[method]
            solver = "fast" if not _several(points, method) else solver
        else:
            name = f"AT-NMF, λ = {lam:g}"
            colour = _shade(sorted(lams).index(lam), len(lams))
        traces += _line(own, [point.alpha for point in own], name, colour, solver)
    axis = {"title": {"text": "hidden share α", "standoff": 6}, "tickvals": sorted({p.alpha for p in points})}
    return _figure(traces, {"xaxis": axis}, height)


def lambda_ticks(low: float, high: float) -> list[float]:
    """Round numbers within a range of lambda, far enough apart to be read."""
    inside = [tick for tick in TICKS if low * 0.999 <= tick <= high * 1.001]
    width = math.log(high / low) if high > low else 1.0
    kept: list[float] = []
    for tick in inside:
        if not kept or math.log(tick / kept[-1]) > width / 16:
            kept.append(tick)
    return kept


def _line(points: Sequence[CurvePoint], x: Sequence[Any], name: str, colour: str, solver: str) -> list[Trace]:
    """A mean line with its band. The band is one closed outline, so that it has one colour everywhere."""
    _, dash, symbol = SOLVERS[solver]
    line = {
        "x": list(x),
        "y": [point.mean for point in points],
        "mode": "lines+markers",
        "name": name,
        "line": {"color": colour, "width": 2.5, "dash": dash},
        "marker": {"size": 9, "symbol": symbol, "color": colour},
        "customdata": [facts(point, name) for point in points],
        "hovertemplate": HOVER,
    }
    return [*_band(points, x, colour), line]


def _level(point: CurvePoint, lams: Sequence[float], *, several: bool) -> list[Trace]:
    """A horizontal line through the whole plot, with a place to point at under every lambda."""
    name, colour, dash = LEVELS[point.method]
    if several:
        name = f"{name}, {SOLVERS[point.solver][0]}"
    x = [lams[0] / 1.03, *lams, lams[-1] * 1.03]
    line = {
        "x": x,
        "y": [point.mean] * len(x),
        "mode": "lines",
        "name": name,
        "line": {"color": colour, "width": 2, "dash": "dot" if several and point.solver == "paper" else dash},
        "customdata": [facts(point, name)] * len(x),
        "hovertemplate": HOVER,
    }
    return [*_band([point] * 2, [x[0], x[-1]], colour), line]


def _band(points: Sequence[CurvePoint], x: Sequence[Any], colour: str) -> list[Trace]:
    if all(not point.deviation for point in points):
        return []
    above = [point.mean + (point.deviation or 0.0) for point in points]
    below = [point.mean - (point.deviation or 0.0) for point in points]
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return [
        {
            "x": [*x, *reversed(x)],
            "y": [*above, *reversed(below)],
            "mode": "lines",
            "fill": "toself",
            "fillcolor": f"rgba({red},{green},{blue},0.16)",
            "line": {"width": 0},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


def _ring(point: CurvePoint) -> Trace:
    return {
        "x": [point.lam],
        "y": [point.mean],
        "mode": "markers",
        "marker": {"size": 18, "color": "rgba(0,0,0,0)", "line": {"color": ATNMF, "width": 2}},
        "cliponaxis": False,
        "hoverinfo": "skip",
        "showlegend": False,
        "name": "best",
    }


def _best_words(point: CurvePoint, points: Sequence[CurvePoint], lams: Sequence[float]) -> dict[str, Any]:
    assert point.lam is not None
    nmf = level(points, "nmf", like=point)
    words = f"<b>best λ = {point.lam:g}</b>"
    if nmf is not None:
        share = gain(point, nmf)
        words += f"<br>{abs(share):.1%} {'below' if share >= 0 else 'above'} NMF".replace("%", " %")
    return {
        # Annotations on a logarithmic axis stand at the logarithm.
        "x": math.log10(point.lam),
        "y": point.mean,
        "text": words,
        "font": {"size": 15},
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "standoff": 10,
        **_beside(point.lam, lams),
    }


def _beside(lam: float, lams: Sequence[float]) -> dict[str, Any]:
    """Where words have room at the lowest point: inside at the ends of the curve, above it elsewhere."""
    share = math.log(lam / lams[0]) / math.log(lams[-1] / lams[0]) if lams[-1] > lams[0] else 0.5
    if share < 0.1:
        return {"ax": 60, "ay": 0, "xanchor": "left", "align": "left"}
    if share > 0.9:
        return {"ax": -60, "ay": 0, "xanchor": "right", "align": "right"}
    return {"ax": 0, "ay": -75}


def facts(point: CurvePoint, name: str) -> list[Any]:
    """A point's `customdata`."""
    where = f"α = {point.alpha:g}" if point.lam is None else f"λ = {point.lam:g}, α = {point.alpha:g}"
    spread = "" if point.deviation is None else f" ± {point.deviation:.2g}"
    starts = f"mean of {point.starts} starts" if point.starts > 1 else "one start"
    words = f"<b>{name.partition(', λ')[0]}</b>, {where}<br>RMSE {point.mean:#.4g}{spread}, {starts}"
    return [point.alpha, point.method, point.lam, point.solver, words]


def _of(points: Sequence[CurvePoint], solver: str) -> list[CurvePoint]:
    return [point for point in points if point.solver == solver]


def _several(points: Sequence[CurvePoint], method: str) -> bool:
    return len({point.solver for point in points if point.method == method}) > 1


def _atnmf_name(solver: str, solvers: int) -> str:
    return "AT-NMF" if solvers == 1 else f"AT-NMF, {SOLVERS[solver][0]}"


def _series(point: CurvePoint) -> tuple[int, str, float]:
    return ("nmf", "anmf", "atnmf").index(point.method), point.solver, point.lam or 0.0


def _shade(place: int, number: int) -> str:
    return SHADES[2] if number == 1 else SHADES[round(place * (len(SHADES) - 1) / (number - 1))]


def _lambda_axis(lams: Sequence[float]) -> dict[str, Any]:
    ticks = lambda_ticks(lams[0], lams[-1])
    return {
        "title": {"text": "adversary's price λ", "standoff": 6},
        "type": "log",
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
        "range": [math.log10(lams[0] / 1.03), math.log10(lams[-1] * 1.03)],
    }


def _figure(traces: list[Trace], layout: dict[str, Any], height: int) -> go.Figure:
    whole = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 13}},
        "hovermode": "closest",
        "font": {"size": 14},
        "yaxis": {"title": {"text": "RMSE on hidden entries", "standoff": 8}, "zeroline": False, "nticks": 6},
        # What a person has zoomed into stays so while points arrive.
        "uirevision": "same",
    }
    whole |= layout
    whole["xaxis"] = {"showgrid": False, "zeroline": False} | layout["xaxis"]
    return go.Figure(data=[{"type": "scatter"} | trace for trace in traces], layout=whole)
