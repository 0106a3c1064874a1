"""RMSE against lambda, as a sweep found it: a CSV table and a page with a plot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import plotly.graph_objects as go

from ..curves import csv_text
from ..figures.palette import ANMF, ATNMF, NMF
from ..solvers.anmf import LABEL
from ..sweep import Summary

__all__ = ["curve_figure", "write_csv", "write_html"]

DASHES = {"zero": "solid", "ignore": "dot"}
LEVELS = {"nmf": ("NMF", NMF), "anmf": (LABEL, ANMF)}
"""Names and colours of the methods that have no lambda."""
TICKS = [1.05, 1.5, 2, 3, 5, 10, 20, 50, 100]


def write_csv(rows: Sequence[Summary], path: Path) -> None:
    """One line per combination, with the mean and standard deviation over its starts to six digits."""
    path.write_text(csv_text(rows))


def write_html(rows: Sequence[Summary], path: Path) -> None:
    """The plot as one page that needs no network."""
    curve_figure(rows).write_html(path, include_plotlyjs=True)


def curve_figure(rows: Sequence[Summary]) -> go.Figure:
    """AT-NMF's RMSE on hidden entries against lambda, a line per alpha, K and treatment; others as levels."""
    figure = go.Figure()
    ordered = sorted(rows, key=_cell)
    for cell, group in groupby(ordered, key=_cell):
        members = list(group)
        dash = DASHES[cell[2]]
        _add_atnmf(figure, [row for row in members if row.lam is not None], _label(cell), dash)
        _add_level(figure, [row for row in members if row.lam is None], _ends(rows), _label(cell), dash)
    figure.update_xaxes(
        title="λ (log)", type="log", showgrid=False, tickvals=TICKS, ticktext=list(map(str, TICKS))
    )
    figure.update_yaxes(title="RMSE on hidden entries", rangemode="tozero", gridcolor="#E4E8EC")
    return figure.update_layout(
        title=", ".join(sorted({row.dataset for row in rows})), plot_bgcolor="white", hovermode="closest"
    )


def _add_atnmf(figure: go.Figure, rows: list[Summary], label: str, dash: str) -> None:
    if not rows:
        return
    rows = sorted(rows, key=lambda row: row.lam or 0.0)
    figure.add_scatter(
        x=[row.lam for row in rows],
        y=[row.rmse_hidden for row in rows],
        error_y={"array": [row.rmse_hidden_sd or 0.0 for row in rows], "thickness": 1, "width": 2},
        customdata=[row.starts for row in rows],
        hovertemplate="λ = %{x:g}: %{y:.4f}, %{customdata} starts",
        mode="lines+markers",
        name=f"AT-NMF, {label}",
        line={"color": ATNMF, "dash": dash},
    )


def _add_level(figure: go.Figure, rows: list[Summary], ends: list[float], label: str, dash: str) -> None:
    for row in rows:
        figure.add_scatter(
            x=ends,
            y=[row.rmse_hidden] * 2,
            mode="lines",
            name=f"{LEVELS[row.method][0]}, {label}",
            line={"color": LEVELS[row.method][1], "dash": dash},
            hovertemplate="%{y:.4f}",
        )


def _ends(rows: Sequence[Summary]) -> list[float]:
    lams = [row.lam for row in rows if row.lam is not None] or [1.05, 100.0]
    return [min(lams), max(lams)]


def _cell(row: Summary) -> tuple[float, int, str]:
    return row.alpha, row.K, row.missing


def _label(cell: tuple[float, int, str]) -> str:
    alpha, K, missing = cell
    words = {"zero": "hidden as zeros", "ignore": "hidden ignored"}[missing]
    return f"α = {alpha:g}, K = {K}, {words}"
