"""What the plots share: layout, the band around a line, the ring around a point, round numbers on axes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..datasets import Dataset
from ..model.problem import Values, Wide, three_digits
from ..restoration import Candidate, Choice, Treatment
from ..restoration.choice import Score
from .images import ATNMF, NMF, channels_of

Trace = dict[str, Any]
TRANSPARENT = {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}


def plot(traces: Sequence[Trace], height: int, **layout: Any) -> go.Figure:
    """Traces in the common layout, with changes; in one call, because Plotly validates at every update."""
    common = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 13}},
        "hovermode": "closest",
        "font": {"size": 14},
        # The viewer's zoom survives an update.
        "uirevision": "same",
    }
    return go.Figure(data=[{"type": "scatter"} | trace for trace in traces], layout=common | layout)


def axis(title: str, standoff: int, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": standoff}} | more


def log_axis(title: str, standoff: int, ticks: Sequence[float], **more: Any) -> dict[str, Any]:
    names = [f"{tick:g}" for tick in ticks]
    return axis(title, standoff, type="log", tickvals=ticks, ticktext=names, zeroline=False, **more)


def band(x: Sequence[Any], means: Sequence[float], deviations: Sequence[float], colour: str) -> Trace:
    """One deviation either side of a line. It is one closed outline, so that overlaps are no darker."""
    above = [mean + deviation for mean, deviation in zip(means, deviations, strict=True)]
    below = [mean - deviation for mean, deviation in zip(means, deviations, strict=True)]
    return {
        "x": [*x, *reversed(x)], "y": [*above, *reversed(below)], "mode": "lines", "fill": "toself",
        "name": "band", "fillcolor": f"rgba({','.join(map(str, channels_of(colour)))},0.16)",
        "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip


def ring(x: Any, y: float, size: int, colour: str) -> Trace:
    return {
        "x": [x], "y": [y], "mode": "markers", "name": "ring", "showlegend": False, "hoverinfo": "skip",
        "marker": {"size": size, "color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 2}},
        "cliponaxis": False,
    }  # fmt: skip


def log_ticks(low: float, high: float, steps: Sequence[float] = (1, 2, 5)) -> list[float]:
    """The steps times all powers of ten from `low` to `high`; by default Plotly would write bare digits."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps]


COLOURS = {"AT-NMF": ATNMF, "NMF": NMF}


def loss_curves(histories: Mapping[str, Mapping[str, Wide]], quantity: str) -> go.Figure:
    """One quantity of `Fit.history` of each method ("AT-NMF", "NMF") at every iteration, on a log scale."""
    traces = [
        {
            "x": list(range(len(history[quantity]))),
            "y": history[quantity],
            "mode": "lines+markers",
            "name": method,
            "line": {"color": COLOURS[method], "width": 2},
            "marker": {"size": 4},
            "hovertemplate": f"{method}, iteration %{{x}}: %{{y:.5g}}<extra></extra>",
        }
        for method, history in histories.items()
    ]
    ticks = _ticks(np.concatenate([history[quantity] for history in histories.values()]))
    layout = {
        "legend": {"orientation": "h", "y": -0.36, "yanchor": "top", "x": 0, "font": {"size": 12}},
        "xaxis": {"showgrid": False, "title": {"text": "iteration"}},
        "yaxis": {"zeroline": False, "type": "log", "tickvals": ticks}
        | {"ticktext": [f"{tick:,g}" for tick in ticks]},
    }
    return plot(traces, 230, **layout, **TRANSPARENT)


def _ticks(values: Wide) -> list[float]:
    positive = values[values > 0]
    if positive.size == 0:
        return [1.0]
    low, high = float(positive.min()), float(positive.max())
    decades = math.ceil(math.log10(high)) - math.floor(math.log10(low))
    ticks = log_ticks(low, high, (1, 2, 5) if decades < 4 else (1,))
    return [tick for tick in ticks if low / 2 <= tick <= high * 2]


WAY_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def material_spectra(drawn: Mapping[str, Any], ways: Mapping[str, str]) -> go.Figure:
    """Spectra by material (colour) and way (kind of line), from the data of the page's component."""
    tones = dict.fromkeys(line["tone"] for card in drawn["cards"] for line in card["lines"])
    dashes = dict(zip(tones, WAY_DASHES * 2, strict=False))
    legend = [(card["name"], card["colour"], "solid") for card in drawn["cards"]]
    legend += [(ways[tone], "#000000", dashes[tone]) for tone in tones]
    traces: list[Trace] = [
        {"x": [None], "y": [None], "mode": "lines", "name": name, "line": {"color": colour, "dash": dash}}
        for name, colour, dash in legend
    ]
    traces += [
        {"x": drawn["x"], "y": line["values"], "mode": "lines", "showlegend": False}
        | {"line": {"color": card["colour"], "dash": dashes[line["tone"]], "width": 2}}
        for card in drawn["cards"]
        for line in card["lines"]
    ]
    unit = "wavelength, nm" if drawn["unit"] == "nm" else "band"
    axes = {"xaxis": {"title": {"text": unit}, "showgrid": False}, "yaxis": {"rangemode": "tozero"}}
    return plot(traces, 400, **axes)


# How K and the first prediction of a restoration were chosen: the error of entries predicted from others,
# against K.

OTHER = "#DDB173"
"""A pale orange, for adversaries that were not chosen."""
CANDIDATE_HOVER = "%{customdata}<extra></extra>"


def error_against_K(choice: Choice, height: int = 400, mark: str = "chosen") -> go.Figure:
    """A line for each first prediction, the chosen one marked in the legend; a ring at the chosen K."""
    chosen = choice.chosen.treatment
    tried = dict.fromkeys(score.candidate.treatment for score in choice.scores)
    others = [treatment for treatment in tried if treatment != chosen]
    traces = [_tried_line(choice, one, _colour(one, OTHER), name_of(one)) for one in others]
    colour = _colour(chosen, ATNMF)
    traces.append(_tried_line(choice, chosen, colour, f"{name_of(chosen)}, {mark}", width=2.5))
    traces.append(ring(choice.chosen.K, choice.error, 18, colour))
    Ks = sorted({score.candidate.K for score in choice.scores})
    errors = [score.error for score in choice.scores if score.error > 0]
    ticks = _error_ticks(min(errors), max(errors)) if errors else []
    x = log_axis("number of parts K", 6, Ks, showgrid=False)
    return plot(traces, height, xaxis=x, yaxis=log_axis("typical error", 8, ticks), **TRANSPARENT)


def noise_by_band(data: Dataset, noise: Values, noisy: Sequence[int]) -> go.Figure:
    """The noise of each band of a cube; those `noisy`, counted from 1, have marks and tell their names."""
    x = np.arange(1, len(noise) + 1) if data.wavelengths is None else data.wavelengths
    line = {"x": x.tolist(), "y": noise.tolist(), "mode": "lines", "showlegend": False}
    places = [band - 1 for band in noisy]
    marks = {
        "x": x[places].tolist(),
        "y": noise[places].tolist(),
        "customdata": [f"{data.wavelength_label(at)}: {three_digits(float(noise[at]))}" for at in places],
        "mode": "markers",
        "name": "far more than usual",
        "marker": {"color": ATNMF, "size": 8},
    }
    title = "band" if data.wavelengths is None else "wavelength, nm"
    layout = {
        "xaxis": {"title": {"text": title}, "showgrid": False},
        "yaxis": {"title": {"text": "standard deviation"}, "rangemode": "tozero"},
    }
    traces = [line | {"line": {"color": NMF}}, *([marks] if places else [])]
    return plot(traces, 320, **layout, **TRANSPARENT)


def candidate_at(choice: Choice, K: float, error: float) -> Candidate | None:
    """The candidate that `error_against_K` draws nearest to this point; None without any of K parts."""
    drawn = [score for score in choice.scores if score.candidate.K == K]
    return min(drawn, key=lambda score: abs(score.error - error)).candidate if drawn else None


def name_of(treatment: Treatment) -> str:
    if treatment.lam is None:
        return "NMF without suspects" if treatment.leave_out else "NMF"
    leash = "" if treatment.leash is None else f", leash {treatment.leash:g}"
    return f"adversary with λ = {treatment.lam:g}{leash}"


def _colour(treatment: Treatment, adversary: str) -> str:
    return NMF if treatment.lam is None else adversary


def _words(score: Score) -> str:
    return (
        f"<b>{name_of(score.candidate.treatment)}, K = {score.candidate.K}</b><br>"
        f"off by {three_digits(score.error)}, log density {score.log_density:.3f}"
    )


def _tried_line(choice: Choice, treatment: Treatment, colour: str, name: str, *, width: float = 1.5) -> Trace:
    own = [score for score in choice.scores if score.candidate.treatment == treatment]
    line = sorted(own, key=lambda score: score.candidate.K)
    return {
        "x": [score.candidate.K for score in line],
        "y": [score.error for score in line],
        "mode": "lines+markers",
        "name": name,
        "line": {"color": colour, "width": width},
        "marker": {"size": 8, "color": colour},
        "customdata": [_words(score) for score in line],
        "hovertemplate": CANDIDATE_HOVER,
    }


def _error_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two errors, the fewer the further these are apart."""
    steps: tuple[float, ...] = (1, 2, 5)
    if high < 40 * low:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8) if high < 4 * low else (1, 1.5, 2, 3, 5, 7)
    return log_ticks(low, high, steps)
