"""Lambda x alpha as a map: where the adversary helps, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..sweep.measurements import Measurement, best, gain, level
from .error_curves import HOVER, point_data
from .palette import ATNMF, nice_limit
from .plotting import plot

BROWN_WHITE_TEAL = [
    (0.0, "#A8742B"),
    (0.25, "#DFC595"),
    (0.5, "#FFFFFF"),
    (0.75, "#A3D3CC"),
    (1.0, "#2F968B"),
]
WHITE_BLUE = [(0.0, "#FBFBF8"), (0.5, "#8FBFC6"), (1.0, "#245B7B")]
DARK = "#0D1723"
MAX_LABELLED_COLUMNS = 20
"""With more columns the numbers in the cells would touch."""


def gain_map(points: Sequence[Measurement], height: int = 440) -> go.Figure:
    """A row per alpha, a column per lambda: by how many per cent AT-NMF's error lies below NMF's at that
    alpha, or the error itself where NMF was not fitted. The best lambda of each alpha is outlined. The points
    are those of one K, treatment and solver.
    """
    curve = [point for point in points if point.lam is not None]
    lams = sorted({point.lam for point in curve if point.lam is not None})
    alphas = sorted({point.alpha for point in curve})
    levels = {alpha: level([p for p in points if p.alpha == alpha], "nmf") for alpha in alphas}
    gains = all(levels.values())
    cells = {(point.alpha, point.lam): point for point in curve}

    def value(point: Measurement) -> float:
        nmf = levels[point.alpha]
        return 100 * gain(point, nmf) if gains and nmf is not None else point.mean

    z = [[value(cells[alpha, lam]) if (alpha, lam) in cells else None for lam in lams] for alpha in alphas]
    heat = {
        "type": "heatmap",
        "x": [f"{lam:g}" for lam in lams],
        "y": [f"{alpha:g}" for alpha in alphas],
        "z": z,
        "xgap": 2,
        "ygap": 2,
        "hoverinfo": "skip",
        **_colours([one for row in z for one in row if one is not None], gains=gains),
    }
    if len(lams) <= MAX_LABELLED_COLUMNS:
        words = [["" if one is None else f"{one:.0f}" if gains else f"{one:.3g}" for one in row] for row in z]
        heat |= {"text": words, "texttemplate": "%{text}", "textfont": {"color": DARK, "size": 12}}
    best_cells = [
        (lams.index(found.lam), row)
        for row, alpha in enumerate(alphas)
        if (found := best([p for p in curve if p.alpha == alpha])) and found.lam is not None
    ]
    # The range is that of the cells: markers over them would add a margin.
    axis = {"type": "category", "showgrid": False, "zeroline": False, "ticks": ""}
    x = axis | {"title": {"text": "adversary's price λ"}, "range": [-0.5, len(lams) - 0.5]}
    y = axis | {"title": {"text": "hidden share α", "standoff": 8}, "range": [-0.5, len(alphas) - 0.5]}
    shapes = [_outline(column, row) for column, row in best_cells]
    # Room for the colour bar and for the axes: Plotly puts titles in the wrong place when it has to make any.
    margin = {"l": 60, "r": 8, "t": 60, "b": 70}
    return plot([heat, _targets(curve)], height, xaxis=x, yaxis=y, shapes=shapes, margin=margin)


def _colours(values: Sequence[float], *, gains: bool) -> dict[str, Any]:
    if gains:
        limit = nice_limit(max(map(abs, values), default=1.0))
        title = "% below NMF"
        return {"zmin": -limit, "zmax": limit, "colorscale": BROWN_WHITE_TEAL, "colorbar": _bar(title)}
    return {"colorscale": WHITE_BLUE, "colorbar": _bar("RMSE")}


def _bar(title: str) -> dict[str, Any]:
    """Above the map: beside it, a telephone would have too little left for the cells."""
    return {
        "title": {"text": title, "side": "top", "font": {"size": 13}},
        "tickfont": {"size": 12},
        "orientation": "h",
        **{"x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom", "lenmode": "pixels", "len": 220},
        "thickness": 12,
        "outlinewidth": 0,
    }


def _targets(curve: Sequence[Measurement]) -> dict[str, Any]:
    """Invisible markers over the cells: Plotly reports no position for a click on a heat map."""
    return {
        "x": [f"{point.lam:g}" for point in curve],
        "y": [f"{point.alpha:g}" for point in curve],
        "mode": "markers",
        "marker": {"size": 34, "symbol": "square", "color": "rgba(0,0,0,0)"},
        "customdata": [point_data(point, "AT-NMF") for point in curve],
        "hovertemplate": HOVER,
        "showlegend": False,
    }


def _outline(column: int, row: int) -> dict[str, Any]:
    """Around one cell, whatever its size; on an axis of categories their places count from 0."""
    return {
        "type": "rect",
        **{"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5},
        "line": {"color": ATNMF, "width": 3},
    }
