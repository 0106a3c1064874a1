"""Plots of errors and losses, each method in its own colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from .palette import ATNMF, NMF

__all__ = ["LambdaCurve", "rmse_against_lambda"]


@dataclass(frozen=True)
class LambdaCurve:
    """RMSE on hidden entries of one treatment of them: AT-NMF at several lambda, NMF once."""

    atnmf: Mapping[float, float]
    nmf: float


TREATMENTS = {"zero": ("hidden as zeros", "solid"), "ignore": ("hidden ignored", "dot")}


def rmse_against_lambda(
    curves: Mapping[str, LambdaCurve], here: tuple[float, float] | None = None, height: int = 260
) -> go.Figure:
    """AT-NMF's error against lambda for each treatment ("zero", "ignore"), NMF's as the level it approaches.

    `here` is a (lambda, RMSE) to ring.
    """
    figure = go.Figure()
    for treatment, curve in curves.items():
        words, dash = TREATMENTS[treatment]
        lams = sorted(curve.atnmf)
        figure.add_scatter(
            x=lams,
            y=[curve.atnmf[lam] for lam in lams],
            mode="lines+markers",
            name=f"AT-NMF, {words}",
            line={"color": ATNMF, "width": 2, "dash": dash},
            marker={"size": 6},
            hovertemplate="λ = %{x:g}: %{y:.4f}<extra></extra>",
        )
        ends = [min(lams), max(lams)] if lams else [1.01, 100.0]
        figure.add_scatter(
            x=ends,
            y=[curve.nmf] * 2,
            mode="lines",
            name=f"NMF, {words}",
            line={"color": NMF, "width": 1.5, "dash": "dash" if dash == "solid" else "dot"},
            hovertemplate="NMF: %{y:.4f}<extra></extra>",
        )
    if here is not None:
        figure.add_scatter(
            x=[here[0]],
            y=[here[1]],
            mode="markers",
            name="shown above",
            marker={"size": 14, "color": "rgba(0,0,0,0)", "line": {"color": ATNMF, "width": 2}},
            hoverinfo="skip",
            showlegend=False,
        )
    return _laid_out(figure, "λ (log)", "RMSE on hidden pixels", height, log_x=True)


def _laid_out(
    figure: go.Figure, x: str, y: str, height: int, *, log_x: bool = False, ticks: Sequence[float] = ()
) -> go.Figure:
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": -0.3, "x": 0, "font": {"size": 12}},
        hovermode="closest",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_yaxes(title=y, rangemode="tozero", nticks=5, zeroline=False)
    figure.update_xaxes(title=x, showgrid=False)
    if log_x:
        shown = list(ticks) or [1.05, 1.5, 2, 3, 5, 10, 20, 50, 100]
        figure.update_xaxes(type="log", tickvals=shown, ticktext=[f"{tick:g}" for tick in shown])
    return figure
