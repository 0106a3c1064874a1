"""Plots of the lesson: a series with hidden entries, a guess against the truth, the paper's tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from ..lesson.findings import Error, Finding
from ..sweep.measurements import Measurement, best
from .error_curves import against_lambda
from .images import ATNMF, HIDDEN, NMF
from .plotting import TRANSPARENT, Trace, plot

GREY = "#8792A0"


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
        "seen": {"color": GREY, "opacity": 0.4},
        "hidden": {"color": "rgba(0,0,0,0)", "line": {"color": HIDDEN["red"], "width": 2}},
    }
    traces: list[Trace] = [
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
    looks = {"ignore": ("marked fit", "circle", "solid"), "zero": ("unmarked fit", "circle-open", "dot")}
    for missing, prediction in predictions.items():
        words, symbol, dash = looks[missing]
        traces.append(
            {
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
    y = {"range": [0, 1.12 * max(series)], "nticks": 5, "fixedrange": True, "title": {"text": "value"}}
    return _figure(traces, x, y, 260, size)


def guess_chart(
    guess: float, points: Sequence[Measurement] = (), at_guess: float | None = None, *, size: int = 14
) -> go.Figure:
    """A guessed lambda on an empty field; with `points` and the error `at_guess`, on the measured curve."""
    drawn = against_lambda(points, height=400 * size // 14, compact=True, here=best(points)).to_dict()
    mark: Trace = {
        "type": "scatter",
        "x": [guess],
        "y": [0.5 if at_guess is None else at_guess],
        "mode": "markers",
        "name": "your guess",
        "marker": {"symbol": "diamond", "size": 14, "color": GREY, "line": {"width": 1.5, "color": "white"}},
        "hoverinfo": "skip",
    }
    axis = {"fixedrange": True, "automargin": True, "tickfont": {"size": size - 2}}
    empty: dict[str, Any] = {}
    if at_guess is None:
        side = "left" if guess > 10 else "right"
        mark |= {"mode": "markers+text", "text": ["your guess  " if side == "left" else "  your guess"]}
        mark |= {"textposition": f"middle {side}"}
        empty = {"range": [0, 1], "showticklabels": False, "showgrid": False}
    legend = {"y": 1.02, "yanchor": "bottom", "font": {"size": size}}
    legend |= {"entrywidth": 0, "entrywidthmode": "pixels"}
    changes = {"xaxis": axis, "yaxis": axis | empty, "legend": legend, "margin": {"r": 16}}
    layout = drawn["layout"] | {name: drawn["layout"][name] | change for name, change in changes.items()}
    line = {"type": "line", "x0": guess, "x1": guess, "y0": 0, "y1": 1, "yref": "y domain"}
    layout["shapes"] = [line | {"line": {"color": GREY, "width": 3}}]
    return go.Figure(data=[*drawn["data"], mark], layout=layout | {"font": {"size": size}} | TRANSPARENT)


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
    """The weight of an entry given up by the adversary beside one still attacked: 1 to `steepness`."""
    bars = {
        "type": "bar", "orientation": "h", "x": [1 / steepness, 1.0],
        "y": ["weight where given up", "weight where attacked"], "marker": {"color": [GREY, ATNMF]},
        "text": ["1", f"{steepness:.3g}"], "textposition": "outside", "textfont": {"size": size},
        "cliponaxis": False, "width": 0.6, "hoverinfo": "skip",
    }  # fmt: skip
    x = {"range": [0, 1.1], "showticklabels": False, "fixedrange": True}
    y = {"fixedrange": True, "range": [-0.5, 1.5]}
    return _figure([bars], x, y, 90, size)


def round_marks(low: float, high: float) -> list[float]:
    """About five round numbers at equal distances; the first and last enclose the given ones.

    >>> round_marks(-1.2, 14.0)
    [-5.0, 0.0, 5.0, 10.0, 15.0]
    """
    rough = (high - low) / 4 if high > low else 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
    return [step * mark for mark in range(math.floor(low / step), math.ceil(high / step) + 1)]


def _dots(found: Sequence[Finding], name: str, field: str, colour: str, symbol: str) -> Trace:
    """One method in all rows, NMF slightly above AT-NMF, because the two often coincide."""
    cells: list[tuple[int, Finding, Error]] = [
        (row, finding, error)
        for row, finding in enumerate(found)
        if (error := getattr(finding, field)) is not None
    ]
    lift = -0.13 if colour == NMF else 0.13
    return {
        "mode": "markers",
        "name": name,
        "x": [error.mean / finding.published_nmf.mean for _, finding, error in cells],
        "y": [row + lift for row, _, _ in cells],
        "customdata": [error.mean for _, _, error in cells],
        "marker": {"size": 14, "symbol": symbol, "color": colour, "line": {"width": 2.5, "color": colour}},
        "hovertemplate": f"{name}: %{{customdata:.4g}}<extra></extra>",
    }


def _figure(traces: list[Trace], x: dict[str, Any], y: dict[str, Any], height: int, size: int) -> go.Figure:
    layout = {
        "font": {"size": size},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": size}},
        "xaxis": {"showgrid": False, "automargin": True, "tickfont": {"size": size}} | x,
        "yaxis": {"zeroline": False, "automargin": True, "tickfont": {"size": size}} | y,
    }
    return plot(traces, height * size // 14, **layout, **TRANSPARENT)
