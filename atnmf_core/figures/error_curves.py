"""RMSE on hidden entries against lambda and alpha. `customdata` is what a click needs, and the hover text."""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle, groupby
from typing import Any

import plotly.graph_objects as go

from ..model.problem import METHOD_NAMES, SOLVER_NAMES, TREATMENT_NAMES
from ..sweep.measurements import Measurement, baseline, best, gain
from .images import ATNMF, METHODS, nice_limit
from .plotting import Trace, axis, band, log_axis, plot, ring

LEVEL_DASHES = {"nmf": "dash", "anmf": "dashdot"}
DASHES = ("solid", "dot", "longdash", "longdashdot")
"""Lines of the first, second, ... combination of treatment and solver in one plot."""
SYMBOLS = {"fast": "circle", "paper": "diamond"}
TICKS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
SHADES = ("#935700", "#B46D00", "#E08A00", "#E89F34", "#EDB25A")
"""AT-NMF's orange from dark, for the strongest adversary, to light: for several lines in one plot."""
COMPACT_SPAN = (1.05, 100.0)
HEIGHT = 440
Y_AXIS = axis("RMSE on hidden entries", 8, zeroline=False, nticks=6)
HOVER = "%{customdata[4]}<extra></extra>"


def against_lambda(
    points: Sequence[Measurement],
    *,
    height: int = HEIGHT,
    compact: bool = False,
    here: Measurement | None = None,
) -> go.Figure:
    """AT-NMF's mean error against lambda with a band of one deviation, the other methods as levels.

    A line is drawn for each alpha, K, treatment and solver; names say how they differ. If `compact`, axes
    stay the same while points arrive, and `here` is ringed; otherwise the best lambda of each line is, and
    for at most two lines its gain over NMF is written beside it.
    """
    points = [point for point in points if math.isfinite(point.mean)]
    curve = sorted((point for point in points if point.lam is not None), key=_line_order)
    lams = sorted({point.lam for point in curve if point.lam is not None}) or list(COMPACT_SPAN)
    ends = COMPACT_SPAN if compact else (lams[0], lams[-1])
    lines = [list(group) for _, group in groupby(curve, key=_combination)]
    settings = sorted({(point.alpha, point.K) for point in curve})
    shades = _shades(len(settings))
    traces: list[Trace] = []
    for point in points:
        if point.lam is None:
            traces += _level(point, points, sorted({*lams, *ends}))
    for line in lines:
        shade = shades[settings.index((line[0].alpha, line[0].K))]
        traces += _line(line, [point.lam for point in line], _name(line[0], points), shade, points)
    x = _lambda_axis(*ends)
    if compact:
        traces += [ring(here.lam, here.mean, 14, ATNMF)] if here is not None else []
        return plot(traces, height, xaxis=x, **_compact_layout())
    lowest = [found for line in lines if (found := best(line))]
    traces += [ring(point.lam, point.mean, 18, ATNMF) for point in lowest]
    layout: dict[str, Any] = {"xaxis": x, "yaxis": Y_AXIS}
    if len(lines) <= 2:
        layout["annotations"] = [_best_words(point, points, lams) for point in lowest]
    return plot(traces, height, **layout)


def compare_curves(curves: Mapping[str, Sequence[Measurement]], colours: Sequence[str]) -> go.Figure:
    """Several curves, each of one alpha, K and treatment, by name and colour; without lambda, as levels."""
    curve = {point.lam for points in curves.values() for point in points if point.lam is not None}
    lams = sorted(curve) or list(COMPACT_SPAN)
    traces: list[Trace] = []
    for (name, points), colour in zip(curves.items(), cycle(colours), strict=False):
        known = [point for point in points if math.isfinite(point.mean)]
        for point in known:
            if point.lam is None:
                level = _level(point, known, lams)
                level[-1]["name"] = f"{name}: {level[-1]['name']}"
                level[-1]["line"] |= {"color": colour}
                traces.append(level[-1])
        with_lam = sorted((point for point in known if point.lam is not None), key=_line_order)
        for _, group in groupby(with_lam, key=_combination):
            line = list(group)
            words = f"{name}: {_name(line[0], known)}"
            traces += _line(line, [point.lam for point in line], words, colour, known)
    return plot(traces, HEIGHT, xaxis=_lambda_axis(lams[0], lams[-1]), yaxis=Y_AXIS)


def against_alpha(points: Sequence[Measurement], lams: Sequence[float]) -> go.Figure:
    """Mean errors, of one K and treatment, against alpha; AT-NMF's at the given lambdas."""
    traces: list[Trace] = []
    drawn = [point for point in points if point.lam is None or point.lam in lams]
    shades = _shades(len(lams))
    for _, group in groupby(sorted(drawn, key=_series), key=_series):
        own = list(group)
        first = own[0]
        if first.lam is None:
            name, colour = METHOD_NAMES[first.method], METHODS[first.method]
        else:
            name, colour = f"AT-NMF, λ = {first.lam:g}", shades[sorted(lams).index(first.lam)]
        traces += _line(own, [point.alpha for point in own], name, colour, points)
    alphas = sorted({point.alpha for point in points})
    x = axis("hidden share α", 6, showgrid=False, zeroline=False, tickvals=alphas)
    return plot(traces, HEIGHT, xaxis=x, yaxis=Y_AXIS)


def lambda_ticks(low: float, high: float) -> list[float]:
    """Round numbers within a range of lambda, far enough apart to be read."""
    inside = [tick for tick in TICKS if low * 0.999 <= tick <= high * 1.001]
    width = math.log(high / low) if high > low else 1.0
    ticks: list[float] = []
    for tick in inside:
        if not ticks or math.log(tick / ticks[-1]) > width / 16:
            ticks.append(tick)
    return ticks


def point_data(point: Measurement, name: str) -> list[Any]:
    where = f"α = {point.alpha:g}" if point.lam is None else f"λ = {point.lam:g}, α = {point.alpha:g}"
    spread = "" if point.deviation is None else f" ± {point.deviation:.2g}"
    starts = f"mean of {point.starts} starts" if point.starts > 1 else "one start"
    words = f"<b>{name.partition(', λ')[0]}</b>, {where}<br>RMSE {point.mean:#.4g}{spread}, {starts}"
    return [point.alpha, point.method, point.lam, point.solver, words]


def _line(
    line: Sequence[Measurement], x: Sequence[Any], name: str, colour: str, points: Sequence[Measurement]
) -> list[Trace]:
    mean = {
        "x": list(x),
        "y": [point.mean for point in line],
        "mode": "lines+markers",
        "name": name,
        "line": {"color": colour, "width": 2.5, "dash": DASHES[_style(line[0], points)]},
        "marker": {"size": 9, "symbol": SYMBOLS[line[0].solver], "color": colour},
        "customdata": [point_data(point, name) for point in line],
        "hovertemplate": HOVER,
    }
    return [*_bands(line, x, colour), mean]


def _level(point: Measurement, points: Sequence[Measurement], lams: Sequence[float]) -> list[Trace]:
    """A horizontal line through the whole plot, with a hover target at every lambda."""
    name, colour, style = _name(point, points), METHODS[point.method], _style(point, points)
    x = [lams[0] / 1.03, *lams, lams[-1] * 1.03]
    line = {
        "x": x,
        "y": [point.mean] * len(x),
        "mode": "lines",
        "name": name,
        "line": {"color": colour, "width": 2, "dash": DASHES[style] if style else LEVEL_DASHES[point.method]},
        "customdata": [point_data(point, name)] * len(x),
        "hovertemplate": HOVER,
    }
    return [*_bands([point] * 2, [x[0], x[-1]], colour), line]


def _bands(points: Sequence[Measurement], x: Sequence[Any], colour: str) -> list[Trace]:
    deviations = [point.deviation or 0.0 for point in points]
    return [band(x, [point.mean for point in points], deviations, colour)] if any(deviations) else []


def _best_words(point: Measurement, points: Sequence[Measurement], lams: Sequence[float]) -> dict[str, Any]:
    assert point.lam is not None
    same = [p for p in points if (p.alpha, p.K, p.missing) == (point.alpha, point.K, point.missing)]
    nmf = baseline(same, "nmf", like=point)
    words = f"<b>best λ = {point.lam:g}</b>"
    if nmf is not None:
        share = gain(point, nmf)
        words += f"<br>{abs(share):.1%} {'below' if share >= 0 else 'above'} NMF"
    return {
        # Plotly wants the logarithm for an annotation on a logarithmic axis.
        "x": math.log10(point.lam),
        "y": point.mean,
        "text": words,
        "font": {"size": 15},
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "standoff": 10,
        **_beside(point.lam, lams),
    }


def _beside(lam: float, lams: Sequence[float]) -> dict[str, Any]:
    """Where there is room for text at the lowest point: inside the plot, above it if not at an end."""
    share = math.log(lam / lams[0]) / math.log(lams[-1] / lams[0]) if lams[-1] > lams[0] else 0.5
    if share < 0.1:
        return {"ax": 60, "ay": 0, "xanchor": "left", "align": "left"}
    if share > 0.9:
        return {"ax": -60, "ay": 0, "xanchor": "right", "align": "right"}
    return {"ax": 40, "ay": -75, "xanchor": "left", "align": "left"}


def _name(point: Measurement, points: Sequence[Measurement]) -> str:
    """The method, and what distinguishes this point's line from the others in the plot."""
    words = {
        "alpha": f"α = {point.alpha:g}",
        "K": f"K = {point.K}",
        "missing": TREATMENT_NAMES[point.missing],
        "solver": SOLVER_NAMES[point.solver],
    }
    own = [one for one in points if one.method == point.method]
    differing = [words[name] for name in words if len({getattr(one, name) for one in own}) > 1]
    return ", ".join([METHOD_NAMES[point.method], *differing])


def _style(point: Measurement, points: Sequence[Measurement]) -> int:
    return sorted({_kind(one) for one in points if one.method == point.method}).index(_kind(point))


def _kind(point: Measurement) -> tuple[bool, str]:
    return point.missing != "zero", point.solver


def _combination(point: Measurement) -> tuple[float, int, bool, str]:
    return point.alpha, point.K, *_kind(point)


def _line_order(point: Measurement) -> tuple[Any, ...]:
    return *_combination(point), point.lam


def _series(point: Measurement) -> tuple[int, str, float]:
    return ("nmf", "anmf", "atnmf").index(point.method), point.solver, point.lam or 0.0


def _shades(number: int) -> list[str]:
    """This many shades of AT-NMF's orange; the plain one for a single line."""
    if number <= 1:
        return [ATNMF]
    return [SHADES[round(place * (len(SHADES) - 1) / (number - 1))] for place in range(number)]


def _lambda_axis(low: float, high: float) -> dict[str, Any]:
    ends = [math.log10(low / 1.03), math.log10(high * 1.03)]
    return log_axis("adversary's price λ", 6, lambda_ticks(low, high), showgrid=False, range=ends)


def _compact_layout() -> dict[str, Any]:
    return {
        "legend": {"orientation": "h", "y": -0.28, "yanchor": "top", "x": 0, "font": {"size": 12}}
        # Both treatments of a method in one row.
        | {"entrywidth": 0.5, "entrywidthmode": "fraction"},
        "yaxis": Y_AXIS | {"rangemode": "tozero", "nticks": 5},
    }


# Lambda x alpha as a map: where the adversary helps, and by how much.

TEALS = ("#A8742B", "#DFC595", "#FFFFFF", "#A3D3CC", "#2F968B")
BROWN_WHITE_TEAL = list(zip((0.0, 0.25, 0.5, 0.75, 1.0), TEALS, strict=True))
WHITE_BLUE = [(0.0, "#FBFBF8"), (0.5, "#8FBFC6"), (1.0, "#245B7B")]
DARK = "#0D1723"
MAX_LABELLED_COLUMNS = 20  # With more columns the numbers in the cells would touch


def gain_map(points: Sequence[Measurement]) -> go.Figure:
    """Alpha by lambda: how far AT-NMF's error is below NMF's in %, or the error; the best is outlined."""
    curve = [point for point in points if point.lam is not None]
    lams = sorted({point.lam for point in curve if point.lam is not None})
    alphas = sorted({point.alpha for point in curve})
    levels = {alpha: baseline([p for p in points if p.alpha == alpha], "nmf") for alpha in alphas}
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
    shared = {"type": "category", "showgrid": False, "zeroline": False, "ticks": ""}
    x = shared | {"title": {"text": "adversary's price λ"}, "range": [-0.5, len(lams) - 0.5]}
    y = shared | {"title": {"text": "hidden share α", "standoff": 8}, "range": [-0.5, len(alphas) - 0.5]}
    shapes = [_outline(column, row) for column, row in best_cells]
    # Room for the colour bar and for the axes: Plotly puts titles in the wrong place when it has to make any.
    margin = {"l": 60, "r": 8, "t": 60, "b": 70}
    return plot([heat, _targets(curve)], HEIGHT, xaxis=x, yaxis=y, shapes=shapes, margin=margin)


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
