"""Time against loss, and growth, as files that open in a browser."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go

from .growth import Size
from .objective import Objective
from .run import Measured

FOLDER = Path(__file__).parent / "results"
"""Left out of version control."""


def time_against_loss(objective: Objective, goals: list[float], measured: list[Measured]) -> Path:
    figure = go.Figure()
    for row in measured:
        seconds, losses = zip(*row.points, strict=True)
        figure.add_scatter(x=seconds, y=losses, name=row.name, mode="lines+markers", marker={"size": 4})
    for goal in goals:
        figure.add_hline(y=goal, line={"dash": "dot", "color": "grey"})
    figure.update_xaxes(type="log", title="seconds")
    figure.update_yaxes(type="log", title="objective")
    F, N = objective.V.shape
    figure.update_layout(
        title=f"{objective.name} ({F} x {N}, K {objective.K}), hidden entries: {objective.missing}"
    )
    return _write(figure, f"{objective.name}-{objective.missing}")


def growth(sizes: list[Size]) -> Path:
    figure = go.Figure()
    for method in dict.fromkeys(size.method for size in sizes):
        chosen = [size for size in sizes if size.method == method]
        figure.add_scatter(
            x=[size.entries for size in chosen],
            y=[size.seconds_per_sweep for size in chosen],
            text=[f"{size.peak_over_V:.1f} x V" for size in chosen],
            textposition="top left",
            name=f"{method} (peak memory beside the points)",
            mode="lines+markers+text",
        )
    figure.update_xaxes(type="log", title="entries of V")
    figure.update_yaxes(type="log", title="seconds per sweep")
    figure.update_layout(title="Growth with the number of entries")
    return _write(figure, "growth")


def _write(figure: go.Figure, name: str) -> Path:
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / f"{name.replace(', ', '-').replace(' ', '-')}.html"
    figure.update_layout(template="plotly_white", width=900, height=560)
    figure.write_html(file)
    return file
