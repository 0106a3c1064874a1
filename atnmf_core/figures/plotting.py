"""What the plots share: layout, the band around a line, the ring around a point, round numbers on axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from .palette import channels_of

Trace = dict[str, Any]
TRANSPARENT = {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}


def plot(traces: Sequence[Trace], height: int, **layout: Any) -> go.Figure:
    """Traces, scatter plots unless they say otherwise, in the common layout with these changes.

    In one call: Plotly validates a figure again with every later update, which costs more than drawing it.
    """
    common = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 13}},
        "hovermode": "closest",
        "font": {"size": 14},
        # The viewer's zoom survives an update.
        "uirevision": "same",
    }
    return go.Figure(data=[{"type": "scatter"} | trace for trace in traces], layout=common | layout)


def band(x: Sequence[Any], means: Sequence[float], deviations: Sequence[float], colour: str) -> Trace:
    """One deviation either side of a line. It is one closed outline, so that overlaps are no darker."""
    above = [mean + deviation for mean, deviation in zip(means, deviations, strict=True)]
    below = [mean - deviation for mean, deviation in zip(means, deviations, strict=True)]
    return {
        "x": [*x, *reversed(x)],
        "y": [*above, *reversed(below)],
        "mode": "lines",
        "fill": "toself",
        "name": "band",
        "fillcolor": f"rgba({','.join(map(str, channels_of(colour)))},0.16)",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def ring(x: Any, y: float, size: int, colour: str) -> Trace:
    """A circle around the point (x, y)."""
    return {
        "x": [x],
        "y": [y],
        "mode": "markers",
        "marker": {"size": size, "color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 2}},
        "cliponaxis": False,
        "hoverinfo": "skip",
        "showlegend": False,
        "name": "ring",
    }


def log_ticks(low: float, high: float, steps: Sequence[float] = (1, 2, 5)) -> list[float]:
    """The steps times all powers of ten from `low` to `high`; by default Plotly would write bare digits."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps]
