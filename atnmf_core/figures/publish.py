"""Panels and charts for a thesis, by Matplotlib (imported on request): PNG, SVG, PDF; letters as letters."""

from __future__ import annotations

import io
import re
import textwrap
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ..model.problem import InputError
from .images import Panel, enlarge

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure

FORMATS = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
INCHES = {"mm": 1 / 25.4, "px": 1 / 96}
DPI = {"mm": 300, "px": 96}
POINTS = 72
WIDEST = {"mm": 1000.0, "px": 4000.0}
MIN_SIDE = 400
"""Pixels are repeated until a picture is this long, so that programs that smooth pictures keep squares."""
HEIGHT = 0.6  # Of a chart, as a share of its width
LETTER = 0.55  # The width of a letter, as a share of the font size
THINNER = 0.5  # Points in print for a pixel of line width on screen
INK, GRID = "#000000", "#D9D9D9"
DASHES: dict[str, Any] = {
    "dot": ":", "dash": "--", "dashdot": "-.", "longdash": (0, (8, 3)), "longdashdot": (0, (8, 3, 2, 3)),
}  # fmt: skip
MARKS = {"circle": "o", "diamond": "D", "square": "s", "x": "x", "triangle-up": "^"}

_drawing = threading.Lock()  # Matplotlib's settings are those of the process


@dataclass(frozen=True)
class Look:
    """How a figure is written. A pixel is 1/96 inch; PNG has 300 dots per inch, or exactly so many pixels."""

    format: Literal["png", "svg", "pdf"] = "png"
    width: float = 160.0
    unit: Literal["mm", "px"] = "mm"
    font_size: float = 9.0
    transparent: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.width <= WIDEST[self.unit] or not 1 <= self.font_size <= 100:
            raise InputError(
                f"A figure {self.width:g} {self.unit} wide in {self.font_size:g} pt: its width must be above "
                f"0 and at most {WIDEST[self.unit]:g} {self.unit}, its font 1 to 100 pt."
            )

    @property
    def mime(self) -> str:
        return FORMATS[self.format]

    @property
    def inches(self) -> float:
        return self.width * INCHES[self.unit]


def look_of(file: Path) -> Look:
    ending = file.suffix.lower().removeprefix(".")
    return Look(cast(Literal["png", "svg", "pdf"], ending) if ending in FORMATS else "png")


def save_panels(panels: Sequence[Panel], look: Look = Look(), *, columns: int = 6) -> bytes:
    """Panels of one size in rows of at most `columns`, with letters, titles and colour scales."""
    with _drawing, _settings(look):
        return _written(_panels_figure(panels, look, columns), look)


def save_chart(chart: go.Figure, look: Look = Look()) -> bytes:
    with _drawing, _settings(look):
        return _written(_chart_figure(chart, look), look)


def chart_html(chart: go.Figure) -> str:
    """A chart as a piece of any page, in its ink: points tell what they are on hover and focus."""
    look = Look("svg", 800, "px", 10.5, transparent=True)
    with _drawing, _settings(look):
        figure = _chart_figure(chart, look)
        svg = _written(figure, look).decode()
        targets = "".join(_target(*place, words) for place, words in _told(figure, chart))
    drawn = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return f'<div class="chart">{drawn.replace(INK, "currentColor")}{targets}</div>'


def chart_page(chart: go.Figure, title: str) -> str:
    from .report import html_page

    return html_page(title, chart_html(chart), CHART_STYLE)


CHART_STYLE = """
.chart { position: relative; max-width: 60rem }
.chart > svg { display: block; width: 100%; height: auto; fill: currentColor }
.chart > b { position: absolute; width: 1.2rem; height: 1.2rem; margin: -0.6rem; border-radius: 50% }
.chart > b:is(:hover, :focus) { outline: 2px solid }
.chart > b > i { display: none; position: absolute; left: 1.2rem; bottom: 1.2rem; z-index: 1;
  width: max-content; max-width: 16rem; font: 0.85rem sans-serif; padding: 0.3rem 0.6rem;
  color: #000; background: #fff; border: 1px solid }
.chart > b:is(:hover, :focus) > i { display: block }
.chart > .left > i { left: auto; right: 1.2rem }
"""


# Drawing with Matplotlib.


def _settings(look: Look) -> Any:
    import matplotlib

    return matplotlib.rc_context(
        {
            # Letters stay letters, in SVG and in PDF.
            "svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "figure",
            "font.family": "DejaVu Sans", "font.size": look.font_size, "text.parse_math": False,
            "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6,
            "xtick.major.width": 0.6, "ytick.major.width": 0.6, "image.composite_image": False,
            "savefig.facecolor": "white", "axes.unicode_minus": True,
        }
    )  # fmt: skip


def _written(figure: Figure, look: Look) -> bytes:
    file = io.BytesIO()
    stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}
    figure.savefig(
        file,
        format=look.format,
        dpi=DPI[look.unit],
        transparent=look.transparent,
        metadata=stamp[look.format],
    )
    return file.getvalue()


def _new_figure(look: Look, height: float, **options: Any) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(look.inches, height), **options)


def _panels_figure(panels: Sequence[Panel], look: Look, columns: int) -> Figure:
    columns = min(columns, len(panels))
    line, gap = 1.35 * look.font_size / POINTS, look.inches * 0.02
    side = (look.inches - gap * (columns - 1)) / columns
    letters = max(4, int(side * POINTS / (LETTER * look.font_size)))
    titles = [
        textwrap.wrap(f"({one.letter}) {one.title}" if one.letter else one.title, letters) for one in panels
    ]
    tall = max(one.pixels.shape[0] / one.pixels.shape[1] for one in panels) * side
    lines = max(map(len, titles))
    above = line * lines + line / 3 if lines else 0.0
    scales = line * 1.8 if any(one.scale for one in panels) else 0.0
    row = above + tall + scales + gap
    height = row * -(-len(panels) // columns) - gap
    figure = _new_figure(look, height)
    for place, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        left, top = (place % columns) * (side + gap), height - (place // columns) * row

        def box(y: float, size: float, left: float = left) -> Any:
            axes = figure.add_axes((left / look.inches, y / height, side / look.inches, size / height))
            axes.set_axis_off()
            return axes

        def write(y: float, words: str, left: float = left, **how: Any) -> None:
            figure.text(left / look.inches, y / height, words, va="top", color=INK, linespacing=1.2, **how)

        write(top, "\n".join(title))
        own = side * panel.pixels.shape[0] / panel.pixels.shape[1]
        bottom = top - above - own
        box(bottom, own).imshow(enlarge(panel.pixels, MIN_SIDE), interpolation="none", aspect="auto")
        if panel.scale is not None:
            bar, low, high = panel.scale
            box(bottom - line * 0.7, line * 0.4).imshow(bar, interpolation="none", aspect="auto")
            small = {"size": 0.85 * look.font_size}
            write(bottom - line * 0.75, f"{low:g}".replace("-", "−"), **small)
            write(bottom - line * 0.75, f"{high:g}", left + side, ha="right", **small)
    return figure


def _chart_figure(chart: go.Figure, look: Look) -> Figure:
    figure = _new_figure(look, look.inches * HEIGHT, layout="constrained")
    axes: Any = figure.add_subplot()
    is_map = any(trace.type == "heatmap" for trace in chart.data)
    given = {"x": chart.layout.xaxis, "y": chart.layout.yaxis}
    for which, axis in given.items():
        if axis.type == "log":
            axes.set(**{f"{which}scale": "log"})
        if axis.showgrid is not False and not is_map:
            axes.grid(visible=True, axis=which, color=GRID, linewidth=0.5)
        axes.set(**{f"{which}label": _words(axis.title.text)})
    axes.set_axisbelow(True)
    for trace in chart.data:
        (_draw_map if trace.type == "heatmap" else _draw_line)(figure, axes, trace)
    for which, axis in given.items():
        if not is_map:
            _limit(axes, which, axis)
        elif axis.autorange == "reversed":
            axes.invert_yaxis()
    for note in chart.layout.annotations:
        _draw_note(axes, note)
    for shape in chart.layout.shapes:
        _draw_shape(axes, shape)
    _draw_legend(figure, axes, look)
    return figure


def _limit(axes: Any, which: str, axis: Any) -> None:
    from matplotlib.ticker import NullLocator

    if axis.range:
        ends = [10**end if axis.type == "log" else end for end in axis.range]
        axes.set(**{f"{which}lim": ends})
    elif axis.rangemode == "tozero":
        axes.set(**{f"{which}lim": (0, None)})
    if axis.tickvals is not None:
        names = axis.ticktext if axis.ticktext is not None else [f"{tick:g}" for tick in axis.tickvals]
        low, high = sorted(getattr(axes, f"get_{which}lim")())
        shown = {tick: name for tick, name in zip(axis.tickvals, names, strict=True) if low <= tick <= high}
        axes.set(**{f"{which}ticks": list(shown), f"{which}ticklabels": list(shown.values())})
        getattr(axes, f"{which}axis").set_minor_locator(NullLocator())


def _draw_legend(figure: Figure, axes: Any, look: Look) -> None:
    """Above the chart, in as many columns as fit; the figure grows with its rows."""
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    columns = max(1, int(look.inches * POINTS / ((LETTER * max(map(len, labels)) + 4.5) * look.font_size)))
    rows = -(-len(labels) // columns)
    figure.set_figheight(look.inches * HEIGHT + (rows - 1) * 1.5 * look.font_size / POINTS)
    place: dict[str, Any] = {"loc": "outside upper left", "ncols": columns}
    figure.legend(handles, labels, frameon=False, borderaxespad=0.2, **place)


def _draw_line(_: Figure, axes: Any, trace: Any) -> None:
    x, y = list(trace.x), [np.nan if value is None else value for value in trace.y]
    line, mark, mode = trace.line, trace.marker, trace.mode or "lines+markers"
    if trace.fill == "toself":
        axes.fill(x, y, color=_colour(trace.fillcolor), linewidth=0)
        return
    colour, fill, name = _colour(line.color or mark.color), _colour(mark.color or line.color), trace.name
    if fill[3] == 0 and not mark.line.width and "lines" not in mode:
        return
    named = trace.showlegend is not False and name
    drawn: dict[str, Any] = {"linestyle": "", "color": colour}
    if "lines" in mode:
        dash = DASHES.get(line.dash or "solid", "-")
        drawn |= {"linestyle": dash, "linewidth": THINNER * (line.width or 2)}
        axes.plot(x, y, **drawn)
    if trace.error_y.array is not None:
        axes.errorbar(x, y, list(trace.error_y.array), fmt="none", ecolor=colour, elinewidth=0.75, capsize=2)
    for symbol, here in _marks(trace, len(x)) if "markers" in mode else ():
        hollow = symbol.endswith("-open")
        marks = {
            "marker": MARKS.get(symbol.removesuffix("-open"), "o"),
            "markersize": THINNER * (mark.size or 6),
            "markerfacecolor": "none" if hollow else fill,
            "markeredgecolor": _colour(mark.line.color) if mark.line.color else fill,
            "markeredgewidth": THINNER * (mark.line.width or (2 if hollow or symbol == "x" else 0)),
        }
        places = [x[place] for place in here], [y[place] for place in here]
        axes.plot(*places, linestyle="", clip_on=trace.cliponaxis is not False, **marks)
        drawn |= marks
    axes.plot([], [], label=name if named else "_", **drawn)


def _marks(trace: Any, count: int) -> Iterator[tuple[str, list[int]]]:
    given = trace.marker.symbol
    symbols = list(given) if isinstance(given, tuple) else [given or "circle"]
    for symbol in dict.fromkeys(symbols):
        yield symbol, [place for place in range(count) if symbols[place % len(symbols)] == symbol]


def _draw_map(figure: Figure, axes: Any, trace: Any) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    z = np.array([[np.nan if one is None else one for one in row] for row in trace.z], dtype=float)
    colours = LinearSegmentedColormap.from_list("map", [(float(at), one) for at, one in trace.colorscale])
    cells = axes.pcolormesh(
        np.arange(z.shape[1] + 1) - 0.5, np.arange(z.shape[0] + 1) - 0.5, z, cmap=colours,
        vmin=trace.zmin, vmax=trace.zmax, edgecolors="white", linewidth=1,
    )  # fmt: skip
    axes.set_xticks(range(z.shape[1]), trace.x, rotation=90 if z.shape[1] > 12 else 0)
    axes.set_yticks(range(z.shape[0]), trace.y)
    for (row, column), words in np.ndenumerate(
        np.array(trace.text if trace.text is not None else [], dtype=object)
    ):
        axes.text(column, row, words, ha="center", va="center", color=INK, size="small")
    if trace.showscale is not False:
        bar = figure.colorbar(cells, ax=axes, location="top", shrink=0.4, anchor=(0, 0))
        bar.set_label(_words(trace.colorbar.title.text))


def _draw_note(axes: Any, note: Any) -> None:
    # On a logarithmic axis Plotly wants the logarithm of a note's place, and not of a shape's.
    x = 10**note.x if axes.get_xscale() == "log" and note.xref != "paper" else note.x
    y = 10**note.y if axes.get_yscale() == "log" else note.y
    axes.annotate(
        _words(note.text),
        (x, y),
        (THINNER * (note.ax or 0), -THINNER * (note.ay or 0)),
        axes.get_yaxis_transform() if note.xref == "paper" else "data",
        textcoords="offset points",
        ha=note.xanchor if note.xanchor in ("left", "right") else "center",
        va="bottom" if note.yanchor == "bottom" else "center",
        arrowprops={"arrowstyle": "-", "linewidth": 0.6, "shrinkB": 5} if note.showarrow else None,
    )


def _draw_shape(axes: Any, shape: Any) -> None:
    from matplotlib.patches import Rectangle

    if shape.type == "line":
        dash = DASHES.get(shape.line.dash or "solid", "-")
        axes.axhline(shape.y0, color=shape.line.color, linewidth=THINNER * shape.line.width, linestyle=dash)
        return
    size = (shape.x1 - shape.x0, shape.y1 - shape.y0)
    axes.add_patch(
        Rectangle(
            (shape.x0, shape.y0), *size, fill=False, edgecolor=shape.line.color, linewidth=1.5, zorder=3
        )
    )


def _words(text: str | None) -> str:
    return re.sub(r"<[^>]+>", "", (text or "").replace("<br>", "\n"))


def _colour(text: str | None) -> tuple[float, float, float, float]:
    """Of "#0E8A7D" or "rgba(14,138,125,0.16)", from 0 to 1; that of the ink where none is given."""
    from matplotlib.colors import to_rgba

    if text is None or not text.startswith("rgb"):
        colour: tuple[float, float, float, float] = to_rgba(text or INK)
        return colour
    red, green, blue, *alpha = (float(number) for number in re.findall(r"[\d.]+", text))
    return red / 255, green / 255, blue / 255, alpha[0] if alpha else 1.0


def _told(figure: Figure, chart: go.Figure) -> list[tuple[tuple[float, float], str]]:
    """Where the points are that have something to tell, from the left and the top in per cent."""
    axes, found = figure.axes[0], {}
    maps = [trace for trace in chart.data if trace.type == "heatmap"]
    columns, rows = ({name: place for one in maps for place, name in enumerate(one[axis])} for axis in "xy")
    for trace in chart.data:
        if trace.type == "heatmap" or trace.customdata is None or "markers" not in (trace.mode or ""):
            continue
        for x, y, told in zip(trace.x, trace.y, trace.customdata, strict=True):
            at = axes.transData.transform((columns.get(x, x), rows.get(y, y)))
            share = figure.transFigure.inverted().transform(at)
            found[100 * share[0], 100 * (1 - share[1])] = told if isinstance(told, str) else str(told[-1])
    return list(found.items())


def _target(left: float, top: float, words: str) -> str:
    told = escape(_words(words))
    side = ' class="left"' if left > 60 else ""
    place = f'style="left:{left:.2f}%;top:{top:.2f}%"'
    return f'<b{side} tabindex="0" role="img" aria-label="{told}" {place}><i>{told}</i></b>'
