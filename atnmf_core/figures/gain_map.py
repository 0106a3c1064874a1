"""Lambda x alpha as a map: where the adversary helps, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..sweep.measurements import Measurement, best, gain, level
from .error_curves import HOVER, point_data
from .palette import ATNMF, nice_limit
from .plotting import plot

__all__ = ["gain_map"]

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
        heat |= {"text": words, "texttemplate": "%{text}", "textfont": {"color": DARK, "size": 13}}
    rings = [found for alpha in alphas if (found := best([p for p in curve if p.alpha == alpha]))]
    axis = {"type": "category", "showgrid": False, "zeroline": False}
    x = axis | {"title": {"text": "adversary's price λ", "standoff": 6}}
    y = axis | {"title": {"text": "hidden share α", "standoff": 8}}
    return plot([heat, _targets(curve), _rings(rings)], height, xaxis=x, yaxis=y)


def _colours(values: Sequence[float], *, gains: bool) -> dict[str, Any]:
    if gains:
        limit = nice_limit(max(map(abs, values), default=1.0))
        title = "% below NMF"
        return {"zmin": -limit, "zmax": limit, "colorscale": BROWN_WHITE_TEAL, "colorbar": _bar(title)}
    return {"colorscale": WHITE_BLUE, "colorbar": _bar("RMSE")}


def _bar(title: str) -> dict[str, Any]:
    return {"title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0}


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


def _rings(points: Sequence[Measurement]) -> dict[str, Any]:
    return {
        "x": [f"{point.lam:g}" for point in points],
        "y": [f"{point.alpha:g}" for point in points],
        "mode": "markers",
        "marker": {
            "size": 30,
            "symbol": "square-open",
            "color": ATNMF,
            "line": {"width": 3, "color": ATNMF},
        },
        "hoverinfo": "skip",
        "showlegend": False,
        "name": "best of its row",
    }
