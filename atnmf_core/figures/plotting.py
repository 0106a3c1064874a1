"""What the plots share: layout, the band around a line, the ring around a point, round numbers on axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from .images import ATNMF, NMF, channels_of

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


# Losses over the iterations of a fit, each method in its own colour.


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


# Spectra of materials, each in its own colour, as each way found them.


WAY_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def material_spectra(drawn: Mapping[str, Any], ways: Mapping[str, str], height: int = 400) -> go.Figure:
    """`drawn` has the axis `x`, its `unit` and, as `cards`, each material's name, colour and lines by tone;
    `ways` says what a tone stands for. The legend names every colour and every kind of line.
    """
    tones = dict.fromkeys(line["tone"] for card in drawn["cards"] for line in card["lines"])
    dashes = dict(zip(tones, WAY_DASHES * 2, strict=False))
    legend = [(card["name"], card["colour"], "solid") for card in drawn["cards"]]
    legend += [(ways[tone], "#000000", dashes[tone]) for tone in tones]
    traces: list[Trace] = [
        {"x": [None], "y": [None], "mode": "lines", "name": name, "line": {"color": colour, "dash": dash}}
        for name, colour, dash in legend
    ]
    traces += [
        {"x": drawn["x"], "y": line["values"], "mode": "lines", "showlegend": False}
        | {"line": {"color": card["colour"], "dash": dashes[line["tone"]], "width": 2}}
        for card in drawn["cards"]
        for line in card["lines"]
    ]
    unit = "wavelength, nm" if drawn["unit"] == "nm" else "band"
    axes = {"xaxis": {"title": {"text": unit}, "showgrid": False}, "yaxis": {"rangemode": "tozero"}}
    return plot(traces, height, **axes)
