"""Plots of the lesson: a series with hidden entries, a guess against the truth, the paper's tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from ..lesson import Error, Finding, Verdict
from .palette import ATNMF, HIDDEN, NMF

__all__ = ["findings_chart", "guess_chart", "round_marks", "series_chart", "weights_chart"]

GREY = "#8792A0"
LAMBDA_TICKS = (1.05, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100)


def series_chart(
    series: Sequence[float],
    observed: Sequence[bool],
    predictions: Mapping[str, Sequence[float]],
    *,
    size: int = 14,
) -> go.Figure:
    """A series as bars, hidden ones empty and red, and predictions ("ignore", "zero") as points on it."""
    places = list(range(1, len(series) + 1))
    shown = {
        "seen": {"color": GREY, "opacity": 0.55},
        "hidden": {"color": "rgba(0,0,0,0)", "line": {"color": HIDDEN["red"], "width": 2}},
    }
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": name,
            "x": [place for place, seen in zip(places, observed, strict=True) if seen == (name == "seen")],
            "y": [value for value, seen in zip(series, observed, strict=True) if seen == (name == "seen")],
            "marker": marker,
            "width": 0.6,
            "hovertemplate": f"{name}: %{{y:g}}<extra></extra>",
        }
        for name, marker in shown.items()
    ]
    looks = {
        "ignore": ("marked", "circle", "solid"),
        "zero": ("unmarked", "circle-open", "dot"),
    }
    for missing, prediction in predictions.items():
        words, symbol, dash = looks[missing]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": words,
                "x": places,
                "y": list(prediction),
                "marker": {"size": 11, "symbol": symbol, "color": NMF, "line": {"width": 2, "color": NMF}},
                "line": {"color": NMF, "width": 2, "dash": dash},
                "hovertemplate": f"{words}: %{{y:.3g}}<extra></extra>",
            }
        )
    x = {"tickvals": places, "title": {"text": "place in the series", "standoff": 4}, "fixedrange": True}
    y = {"range": [0, 1.12 * max(series)], "nticks": 5, "fixedrange": True}
    return _figure(traces, x, y, 260, size)


def guess_chart(
    guess: float,
    errors: Mapping[float, float] | None = None,
    nmf: float | None = None,
    verdict: Verdict | None = None,
    *,
    size: int = 14,
) -> go.Figure:
    """A guessed lambda on an empty field; with `errors`, `nmf` and `verdict`, beside the measured truth."""
    traces: list[dict[str, Any]] = []
    shapes = [_upright(guess, "solid", 3)]
    if errors is not None and nmf is not None and verdict is not None:
        lams = sorted(errors)
        traces = [
            _line("AT-NMF", ATNMF, lams, [errors[lam] for lam in lams], "lines+markers"),
            _line("NMF, no adversary", NMF, [lams[0], lams[-1]], [nmf, nmf], "lines", dash="dash"),
            _point("lowest", "star", 18, ATNMF, verdict.best_lam, verdict.best),
            _point("your guess", "diamond", 14, GREY, guess, verdict.at_guess),
        ]
        top = max(*errors.values(), nmf)
        y: dict[str, Any] = {"range": [0, 1.1 * top], "nticks": 6, "showticklabels": True}
    else:
        y = {"range": [0, 1], "showticklabels": False, "showgrid": False}
        # An axis without any trace would lose its logarithmic ticks.
        side = "left" if guess > 10 else "right"
        named = {"mode": "markers+text", "text": ["your guess  " if side == "left" else "  your guess"]}
        point = _point("your guess", "diamond", 14, GREY, guess, 0.5)
        traces = [point | named | {"textposition": f"middle {side}"}]
    x = {
        # The adversary's strength is 1/(lam - 1): on this scale equal steps change it by equal factors.
        "type": "log",
        "range": [-1.45, 2.08],
        "tickvals": [tick - 1 for tick in LAMBDA_TICKS],
        "ticktext": [f"{tick:g}" for tick in LAMBDA_TICKS],
        "title": {"text": "λ, the adversary's price", "standoff": 4},
        "fixedrange": True,
    }
    y |= {"title": {"text": "error on hidden entries"}, "fixedrange": True}
    return _figure(traces, x, y, 400, size, shapes)


def findings_chart(
    found: Sequence[Finding], titles: Mapping[str, str], *, with_marked: bool, size: int = 14
) -> go.Figure:
    """Errors of each data set as shares of NMF's published one, on a logarithmic scale."""
    looks = [
        ("NMF, published", "published_nmf", NMF, "circle"),
        ("AT-NMF, published", "published_atnmf", ATNMF, "circle"),
        ("NMF, marked", "ignore_nmf", NMF, "diamond-open"),
        ("AT-NMF, marked", "ignore_atnmf", ATNMF, "diamond-open"),
    ]
    traces = [
        _dots(found, name, field, colour, symbol)
        for name, field, colour, symbol in looks[: 4 if with_marked else 2]
    ]
    ticks = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10] if with_marked else [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    x = {
        "type": "log",
        "range": [-5.8, 1.5] if with_marked else [-0.45, 0.05],
        "title": {"text": "error as a share of NMF's published error", "standoff": 4},
        "tickvals": ticks,
        "ticktext": ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1", "10"] if with_marked else ticks,
        "fixedrange": True,
        "showgrid": True,
        "tickangle": 0,
    }
    y = {
        "tickvals": list(range(len(found))),
        "ticktext": [titles[finding.name] for finding in found],
        "range": [len(found) - 0.5, -0.5],
        "fixedrange": True,
    }
    return _figure(traces, x, y, 380, size)


def weights_chart(steepness: float, *, size: int = 14) -> go.Figure:
    """What an entry weighs on which the adversary has given up, beside one that it still attacks: two bars in
    the ratio of 1 to `steepness`, each with its weight.
    """
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [1 / steepness, 1.0],
        "y": ["given up", "attacked"],
        "marker": {"color": [GREY, ATNMF]},
        "text": ["1", f"{steepness:.3g}"],
        "textposition": "outside",
        "textfont": {"size": size},
        "cliponaxis": False,
        "width": 0.6,
        "hoverinfo": "skip",
    }
    x = {"range": [0, 1.1], "showticklabels": False, "fixedrange": True}
    y = {"fixedrange": True, "range": [-0.5, 1.5]}
    return _figure([bars], x, y, 96, size)


def round_marks(low: float, high: float) -> list[float]:
    """Five or so round numbers at equal distances; the first and the last enclose the given ones.

    Examples
    --------
    >>> round_marks(-1.2, 14.0)
    [-5.0, 0.0, 5.0, 10.0, 15.0]
    """
    rough = (high - low) / 4 if high > low else 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
    return [step * mark for mark in range(math.floor(low / step), math.ceil(high / step) + 1)]


def _dots(found: Sequence[Finding], name: str, field: str, colour: str, symbol: str) -> dict[str, Any]:
    """One method in all rows, NMF a little above AT-NMF, since the two are often alike."""
    cells: list[tuple[int, Finding, Error]] = [
        (row, finding, error)
        for row, finding in enumerate(found)
        if (error := getattr(finding, field)) is not None
    ]
    lift = -0.13 if colour == NMF else 0.13
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [error.mean / finding.published_nmf.mean for _, finding, error in cells],
        "y": [row + lift for row, _, _ in cells],
        "customdata": [error.mean for _, _, error in cells],
        "marker": {"size": 14, "symbol": symbol, "color": colour, "line": {"width": 2.5, "color": colour}},
        "hovertemplate": f"{name}: %{{customdata:.4g}}<extra></extra>",
    }


def _line(
    name: str, colour: str, x: Sequence[float], y: Sequence[float], mode: str, dash: str = "solid"
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": mode,
        "name": name,
        "x": [lam - 1 for lam in x],
        "y": list(y),
        "customdata": list(x),
        "line": {"color": colour, "width": 2.5, "dash": dash},
        "marker": {"size": 7},
        "hovertemplate": "λ = %{customdata:g}: %{y:.4f}<extra></extra>",
    }


def _point(name: str, symbol: str, size: int, colour: str, x: float, y: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [x - 1],
        "y": [y],
        "marker": {"symbol": symbol, "size": size, "color": colour, "line": {"width": 1.5, "color": "white"}},
        "hoverinfo": "skip",
    }


def _upright(x: float, dash: str, width: int) -> dict[str, Any]:
    line = {"color": GREY, "width": width, "dash": dash}
    return {"type": "line", "x0": x - 1, "x1": x - 1, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _figure(
    traces: list[dict[str, Any]],
    x: dict[str, Any],
    y: dict[str, Any],
    height: int,
    size: int,
    shapes: Sequence[dict[str, Any]] = (),
) -> go.Figure:
    layout = {
        "height": height * size // 14,
        "font": {"size": size},
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": size}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "shapes": list(shapes),
        "xaxis": {"showgrid": False, "automargin": True, "tickfont": {"size": size}} | x,
        "yaxis": {"zeroline": False, "automargin": True, "tickfont": {"size": size}} | y,
    }
    return go.Figure(data=traces, layout=layout)
