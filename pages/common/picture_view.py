"""Pictures side by side, as data for the component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from atnmf_core.analysis.comparison import ComparedPicture
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import diverging, sequential
from atnmf_core.figures.panels import Panel

from .components import component

R_SCALE = data_url(diverging(np.linspace(-1, 1, 64)[None, :], 1.0))
ERROR_SCALE = data_url(sequential(np.linspace(0, 1, 64)[None, :], 1.0))


def show_panels(panels: Sequence[Panel], notes: Sequence[str], key: str, **options: Any) -> None:
    """Pictures side by side, with the options of `panels_data`."""
    component("panels")(data=panels_data(panels, notes, **options), key=key)


def panels_data(
    panels: Sequence[Panel],
    notes: Sequence[str],
    *,
    frames: Sequence[str] = (),
    pixels: ComparedPicture | None = None,
    gap: float = 0.875,
) -> dict[str, Any]:
    """Pictures side by side with notes (trusted HTML) below; pointing at a pixel shows its values."""
    shown = [
        {
            "letter": panel.letter,
            "title": panel.title,
            "src": data_url(panel.pixels),
            "alt": panel.alt,
            "note": note,
            "frame": frames[i] if frames else "",
        }
        for i, (panel, note) in enumerate(zip(panels, notes, strict=True))
    ]
    # A panel with dots has several colours per pixel of the data; the last panel never has dots.
    rows, cols = panels[-1].pixels.shape[:2]
    return {
        "panels": shown,
        "columns": len(shown),
        "gap": f"{gap}rem",
        "rows": rows,
        "cols": cols,
        "pixels": _pixels(pixels),
    }


def show_places(
    titles: Mapping[str, str], shape: tuple[int, ...], key: str, frames: Sequence[str], gap: float
) -> None:
    """Placeholders, by letter and title, for pictures of the given shape."""
    places = [
        {"letter": letter, "title": title, "src": "", "alt": "", "note": "", "frame": frame}
        for (letter, title), frame in zip(titles.items(), frames, strict=True)
    ]
    data = {"panels": places, "columns": len(places), "gap": f"{gap}rem", "aspect": shape[1] / shape[0]}
    component("panels")(data=data, key=key)


def _pixels(data: ComparedPicture | None) -> dict[str, object] | None:
    if data is None:
        return None
    arrays = {name: getattr(data, name) for name in ("v", "at_hat", "nmf_hat", "r", "observed", "walls")}
    words = {name: _words(array) for name, array in (arrays | {"attacked": data.v + data.r}).items()}
    leash = "" if data.leash is None else f"{data.leash:g}"
    return {"lam": f"{data.lam:g}", "leash": leash, "unmarked": data.missing == "zero", **words}


def _words(array: npt.NDArray[Any]) -> str:
    """Numbers as people read them, which takes half the room of all their digits; 0 or 1 for a mask."""
    form = "{:d}" if array.dtype == bool else "{:.3f}"
    return " ".join(map(form.format, array.ravel().tolist()))
