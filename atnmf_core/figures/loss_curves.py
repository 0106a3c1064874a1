"""Losses over the iterations of a fit, each method in its own colour."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from .palette import ATNMF, NMF

__all__ = ["loss_curves"]

COLOURS = {"AT-NMF": ATNMF, "NMF": NMF}


def loss_curves(
    histories: Mapping[str, Mapping[str, npt.NDArray[np.float64]]], quantity: str, height: int = 230
) -> go.Figure:
    """One quantity of `Fit.history` of each method ("AT-NMF", "NMF") at every iteration, on a log scale."""
    traces = [
        {
            "type": "scatter",
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
    layout = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "legend": {"orientation": "h", "y": -0.28, "yanchor": "top", "x": 0, "font": {"size": 12}},
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"showgrid": False, "title": {"text": "iteration", "standoff": 4}},
        "yaxis": {
            "zeroline": False,
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{tick:,g}" for tick in ticks],
        },
    }
    # All at once: Plotly checks a figure again with every later update, which costs more than drawing it.
    return go.Figure(data=traces, layout=layout)


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
