"""Losses over the iterations of a fit, each method in its own colour."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from .palette import ATNMF, NMF
from .plotting import TRANSPARENT, log_ticks, plot

COLOURS = {"AT-NMF": ATNMF, "NMF": NMF}


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
    ticks = _ticks(np.concatenate([history[quantity] for history in histories.values()]))
    layout = {
        "legend": {"orientation": "h", "y": -0.36, "yanchor": "top", "x": 0, "font": {"size": 12}},
        "xaxis": {"showgrid": False, "title": {"text": "iteration"}},
        "yaxis": {
            "zeroline": False,
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{tick:,g}" for tick in ticks],
        },
    }
    return plot(traces, height, **layout, **TRANSPARENT)


def _ticks(values: npt.NDArray[np.float64]) -> list[float]:
    positive = values[values > 0]
    if positive.size == 0:
        return [1.0]
    low, high = float(positive.min()), float(positive.max())
    decades = math.ceil(math.log10(high)) - math.floor(math.log10(low))
    ticks = log_ticks(low, high, (1, 2, 5) if decades < 4 else (1,))
    return [tick for tick in ticks if low / 2 <= tick <= high * 2]
