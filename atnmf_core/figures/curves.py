"""Plots of errors and losses, each method in its own colour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from .palette import ATNMF, NMF

__all__ = ["LambdaCurve", "loss_curves", "rmse_against_lambda"]

COLOURS = {"AT-NMF": ATNMF, "NMF": NMF}
TREATMENTS = {"zero": ("hidden as zeros", "solid", "dash"), "ignore": ("hidden ignored", "dot", "dot")}
"""By name: in words, and the lines of AT-NMF and NMF."""
LAMBDA_TICKS = (1.05, 1.5, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class LambdaCurve:
    """RMSE on hidden entries of one treatment of them: AT-NMF at several lambda, NMF once."""

    atnmf: Mapping[float, float]
    nmf: float


def rmse_against_lambda(
    curves: Mapping[str, LambdaCurve], here: tuple[float, float] | None = None, height: int = 280
) -> go.Figure:
    """AT-NMF's error against lambda for each treatment ("zero", "ignore"), NMF's as the level it approaches.

    `here` is a (lambda, RMSE) to ring.
    """
    traces = [trace for name, curve in curves.items() for trace in _treatment(name, curve)]
    if here is not None:
        traces.append(_ring(*here))
    x = {
        "title": {"text": "λ", "standoff": 4},
        "type": "log",
        # The same for every curve, so that it does not jump while points are still coming.
        "range": [math.log10(1.02), math.log10(108)],
        "tickvals": LAMBDA_TICKS,
        "ticktext": [f"{tick:g}" for tick in LAMBDA_TICKS],
    }
    y = {"title": {"text": "RMSE on hidden pixels"}, "rangemode": "tozero", "nticks": 5}
    return _figure(traces, x, y, height)


def loss_curves(
    histories: Mapping[str, Mapping[str, npt.NDArray[np.float64]]], quantity: str, height: int = 230
) -> go.Figure:
    """One quantity of `Fit.history` of each method ("AT-NMF", "NMF") at every iteration, on a log scale."""
    traces = [
        {
            "x": list(range(len(history[quantity]))),
            "y": history[quantity],
            "mode": "lines+markers",
            "name": method,
            "line": {"color": COLOURS[method], "width": 2},
            "marker": {"size": 4},
            "hovertemplate": f"{method}, iteration %{{x}}: %{{y:.5g}}<extra></extra>",
        }
        for method, history in histories.items()
    ]
    ticks = _log_ticks(np.concatenate([history[quantity] for history in histories.values()]))
    y = {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,g}" for tick in ticks]}
    return _figure(traces, {"title": {"text": "iteration", "standoff": 4}}, y, height)


def _log_ticks(values: npt.NDArray[np.float64]) -> list[float]:
    """1, 2 and 5 times powers of ten around the values; left to itself Plotly writes bare digits."""
    positive = values[values > 0]
    if positive.size == 0:
        return [1.0]
    low, high = float(positive.min()), float(positive.max())
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) < 5 else (1,)
    return [
        step * 10.0**power for power in powers for step in steps if low / 2 <= step * 10.0**power <= high * 2
    ]


def _treatment(name: str, curve: LambdaCurve) -> list[dict[str, Any]]:
    words, dash, level_dash = TREATMENTS[name]
    lams = sorted(curve.atnmf)
    return [
        {
            "x": lams,
            "y": [curve.atnmf[lam] for lam in lams],
            "mode": "lines+markers",
            "name": f"AT-NMF, {words}",
            "line": {"color": ATNMF, "width": 2, "dash": dash},
            "marker": {"size": 6},
            "hovertemplate": "λ = %{x:g}: %{y:.4f}<extra></extra>",
        },
        {
            "x": [LAMBDA_TICKS[0], LAMBDA_TICKS[-1]],
            "y": [curve.nmf] * 2,
            "mode": "lines",
            "name": f"NMF, {words}",
            "line": {"color": NMF, "width": 1.5, "dash": level_dash},
            "hovertemplate": "NMF: %{y:.4f}<extra></extra>",
        },
    ]


def _ring(lam: float, error: float) -> dict[str, Any]:
    return {
        "x": [lam],
        "y": [error],
        "mode": "markers",
        "name": "shown above",
        "marker": {"size": 14, "color": "rgba(0,0,0,0)", "line": {"color": ATNMF, "width": 2}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _figure(traces: list[dict[str, Any]], x: dict[str, Any], y: dict[str, Any], height: int) -> go.Figure:
    """All at once: Plotly checks a figure again with every later update, which costs more than drawing it."""
    layout = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "legend": {"orientation": "h", "y": -0.28, "yanchor": "top", "x": 0, "font": {"size": 12}},
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"showgrid": False} | x,
        "yaxis": {"zeroline": False} | y,
    }
    return go.Figure(data=[{"type": "scatter"} | trace for trace in traces], layout=layout)
