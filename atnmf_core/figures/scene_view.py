"""A scene on disk in small pictures, and the spectrum of one of its pixels before and after."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from ..datasets.scene_file import SceneFile
from .before_after import BeforeAfter
from .composite import NATURAL, BrightnessRange, composite, nearest_bands, smaller, stretch_limits
from .palette import ATNMF, HIDDEN, sequential
from .panels import Panel
from .plotting import TRANSPARENT, Trace, plot

MAX_SIDE = 480
"""Of the picture, in pixels."""
MEASURED = "#7C8894"
"""A grey that shows on light and dark pages."""
Channels = tuple[npt.NDArray[np.float32], ...]


def channels_of_scene(scene: SceneFile) -> Channels:
    """The bands that look like red, green and blue, thinned."""
    step = -(-max(scene.rows, scene.cols) // MAX_SIDE)
    bands = nearest_bands(scene.wavelengths, scene.bands, NATURAL)
    return tuple(scene.thinned(band, step) for band in bands)


def scene_picture(channels: Channels, unknown: str, like: Channels | None = None) -> npt.NDArray[np.uint8]:
    """A colour composite; with `like`, as bright as one of those."""
    limits: BrightnessRange = stretch_limits(channels if like is None else like)
    return composite(channels, limits, unknown)


def scene_before_after(
    before: SceneFile, after: SceneFile, replaced: npt.NDArray[np.float32], unknown: str = HIDDEN["red"]
) -> BeforeAfter:
    """Before, after, and the share of each pixel's bands that was replaced (rows x cols)."""
    channels, most = channels_of_scene(before), float(replaced.max())
    return BeforeAfter(
        f"{before.path.name}, thinned for display",
        Panel("", "Before", scene_picture(channels, unknown), "The scene before"),
        Panel("", "After", scene_picture(channels_of_scene(after), unknown, channels), "The scene after"),
        Panel(
            "",
            f"Replaced, up to {most:.0%} of the bands",
            sequential(smaller(replaced, MAX_SIDE), max(most, 1e-9)),
            "Share of bands that were replaced",
        ),
    )


def scene_spectrum(
    wavelengths: npt.NDArray[np.float64] | None,
    measured: npt.NDArray[np.float32],
    restored: npt.NDArray[np.float32] | None = None,
) -> go.Figure:
    """Of one pixel, as measured and as restored."""
    along = np.arange(1, measured.size + 1) if wavelengths is None else wavelengths
    dots: Trace = {"mode": "markers", "marker": {"size": 5, "color": MEASURED}}
    traces: list[Trace] = [{"x": along, "y": measured, "name": "measured", **dots}]
    if restored is not None:
        line: Trace = {"mode": "lines", "line": {"color": ATNMF}}
        traces.insert(0, {"x": along, "y": restored, "name": "restored", **line})
    words = "band" if wavelengths is None else "wavelength, nm"
    x = {"title": {"text": words, "standoff": 6}, "showgrid": False}
    y = {"rangemode": "tozero", "zeroline": False}
    return plot(traces, 300, xaxis=x, yaxis=y, showlegend=True, **TRANSPARENT)
