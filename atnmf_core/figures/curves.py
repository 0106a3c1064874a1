"""Plots of errors and losses, each method in its own colour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from .palette import ATNMF, NMF

__all__ = ["LambdaCurve", "loss_curves", "rmse_against_lambda"]


@dataclass(frozen=True)
class LambdaCurve:
    """RMSE on hidden entries of one treatment of them: AT-NMF at several lambda, NMF once."""

    atnmf: Mapping[float, float]
    nmf: float


TREATMENTS = {"zero": ("hidden as zeros", "solid"), "ignore": ("hidden ignored", "dot")}


def rmse_against_lambda(
    curves: Mapping[str, LambdaCurve], here: tuple[float, float] | None = None, height: int = 280
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
        figure.add_scatter(
            x=[1.05, 100.0],
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
    return _laid_out(figure, "λ", "RMSE on hidden pixels", height, log_x=True)


COLOURS = {"AT-NMF": ATNMF, "NMF": NMF}


def loss_curves(
    histories: Mapping[str, Mapping[str, npt.NDArray[np.float64]]], quantity: str, height: int = 230
) -> go.Figure:
    """One quantity of `Fit.history` of each method ("AT-NMF", "NMF") at every iteration, on a log scale."""
    figure = go.Figure()
    for method, history in histories.items():
        values = history[quantity]
        figure.add_scatter(
            x=list(range(len(values))),
            y=values,
            mode="lines+markers",
            name=method,
            line={"color": COLOURS[method], "width": 2},
            marker={"size": 4},
            hovertemplate=f"{method}, iteration %{{x}}: %{{y:.5g}}<extra></extra>",
        )
    _laid_out(figure, "iteration", "", height)
    return figure.update_yaxes(type="log", rangemode="normal")


def _laid_out(figure: go.Figure, x: str, y: str, height: int, *, log_x: bool = False) -> go.Figure:
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": -0.28, "yanchor": "top", "x": 0, "font": {"size": 12}},
        hovermode="closest",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_yaxes(title=y, rangemode="tozero", nticks=5, zeroline=False)
    figure.update_xaxes(title={"text": x, "standoff": 4}, showgrid=False)
    if log_x:
        ticks = [1.05, 1.5, 2, 3, 5, 10, 20, 50, 100]
        # The same for every curve, so that it does not jump while points are still coming.
        figure.update_xaxes(range=[math.log10(1.02), math.log10(108)])
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])
    return figure
