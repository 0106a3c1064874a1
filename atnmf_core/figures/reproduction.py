"""A table of the paper as a plot: published and measured error against the share of hidden entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..reference.compare import Cell, method_title
from ..sweep.points import PAPER_STARTS
from .palette import METHODS
from .plotting import TRANSPARENT, plot

SYMBOLS = {None: "circle", 2.0: "square", 3.0: "diamond", 5.0: "triangle-up"}


def reproduction_figure(cells: Sequence[Cell], height: int = 480) -> go.Figure:
    """A line with open marks for each published column, and filled marks where it was measured. In the legend
    both are one entry, which hides and shows them together.
    """
    columns: dict[tuple[str, float | None], list[Cell]] = {}
    for cell in cells:
        columns.setdefault((cell.published.method, cell.published.lam), []).append(cell)
    traces = [trace for column in columns.values() for trace in (_published(column), _measured(column))]
    layout = {
        "legend": {"orientation": "h", "y": -0.18, "yanchor": "top", "x": 0},
        "xaxis": {
            "title": {"text": "share of hidden entries α", "standoff": 4},
            "showgrid": False,
            "dtick": 0.1,
        },
        "yaxis": {"title": {"text": "RMSE on hidden entries"}, "zeroline": False},
    }
    return plot(traces, height, **layout, **TRANSPARENT)


def _published(column: list[Cell]) -> dict[str, Any]:
    row = column[0].published
    colour, symbol = METHODS[row.method], SYMBOLS.get(row.lam, "circle")
    return {
        "x": [cell.published.alpha for cell in column],
        "y": [cell.published.mean for cell in column],
        "error_y": {"array": [cell.published.deviation for cell in column], "thickness": 1.5, "width": 4},
        "mode": "lines+markers",
        "name": method_title(row.method, row.lam),
        "legendgroup": method_title(row.method, row.lam),
        "line": {"color": colour, "width": 1.5},
        "marker": {"symbol": f"{symbol}-open", "size": 11, "line": {"width": 1.5}},
        "hovertemplate": "published, α = %{x:g}: %{y} ± %{error_y.array}<extra></extra>",
    }


def _measured(column: list[Cell]) -> dict[str, Any]:
    row = column[0].published
    found = [(cell.published.alpha, cell.zero) for cell in column if cell.zero is not None]
    return {
        "x": [alpha for alpha, _ in found],
        "y": [zero.mean for _, zero in found],
        "customdata": [f"{zero.starts} of {PAPER_STARTS} starts" for _, zero in found],
        "mode": "markers",
        "legendgroup": method_title(row.method, row.lam),
        "showlegend": False,
        "marker": {"symbol": SYMBOLS.get(row.lam, "circle"), "size": 7, "color": METHODS[row.method]},
        "hovertemplate": "measured, α = %{x:g}: %{y:.4g}, %{customdata}<extra></extra>",
    }
