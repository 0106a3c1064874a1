"""How K and the adversary were chosen: the held-out error against K, and as a map of lambda and leash."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..names import three_digits
from ..restoration import Candidate, Choice, Treatment
from ..restoration.candidates import PLAIN
from ..restoration.scoring import Score, limit_of_equals
from .gain_map import DARK
from .palette import ATNMF, NMF
from .plotting import TRANSPARENT, Trace, band, log_ticks, plot, ring

OTHER = "#DDB173"
"""A pale orange, for adversaries that were not chosen."""
TEAL_GREY = [(0.0, "#8FC9C1"), (1.0, "#E3E9EA")]
WORST = 2.0
"""Errors from this multiple of the lowest on have the lightest colour of the map."""
HOVER = "%{customdata}<extra></extra>"


def error_against_K(choice: Choice, height: int = 400, mark: str = "chosen") -> go.Figure:
    """A line for the chosen adversary, marked so in the legend, one for plain NMF, and pale ones for the
    others that were tried.

    The chosen one has a band of one standard error, and the chosen K a ring. Candidates below the dashed
    level count as equal to the best, and the simplest of them is chosen. Open circles are candidates that
    were dropped before all hold-outs were fitted; crosses are those that the rule leaves out, drawn in
    proportion to their typical errors.
    """
    chosen = choice.chosen.treatment
    tried = dict.fromkeys(score.candidate.treatment for score in choice.scores)
    others = [treatment for treatment in tried if treatment not in (chosen, PLAIN)]
    traces = [
        _line(choice, treatment, OTHER, "others tried", showlegend=number == 0)
        for number, treatment in enumerate(others)
    ]
    if PLAIN in tried and chosen != PLAIN:
        traces.append(_line(choice, PLAIN, NMF, "NMF"))
    colour = NMF if chosen.lam is None else ATNMF
    traces += _band(_of(choice, chosen), colour)
    traces.append(_line(choice, chosen, colour, f"{_name(chosen)}, {mark}", width=2.5))
    traces.append(ring(choice.chosen.K, _error(_chosen(choice), choice), 18, colour))
    Ks = sorted({score.candidate.K for score in choice.scores})
    errors = [error for score in choice.scores if (error := _error(score, choice)) > 0]
    ticks = _ticks(min(errors), max(errors)) if errors else []
    layout = {
        "xaxis": {
            "title": {"text": "number of parts K", "standoff": 6},
            "automargin": True,
            "type": "log",
            "tickvals": Ks,
            "ticktext": [str(K) for K in Ks],
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": "held-out error", "standoff": 8},
            "automargin": True,
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks],
            "zeroline": False,
        },
        **_level_of_equals(choice),
    }
    return plot(traces, height, **layout, **TRANSPARENT)


def candidate_at(choice: Choice, K: float, error: float) -> Candidate | None:
    """The candidate that `error_against_K` draws nearest to this point; None where it draws none with K
    parts.
    """
    drawn = [score for score in choice.scores if score.candidate.K == K]
    return min(drawn, key=lambda score: abs(_error(score, choice) - error)).candidate if drawn else None


def adversary_map(choice: Choice, row_height: int = 32) -> go.Figure:
    """A row per lambda, a column per leash: the lowest held-out error over K of each adversary that was
    tried. NMF has rows of its own, with and without suspects. The chosen one is outlined.
    """
    best: dict[Treatment, Score] = {}
    for score in choice.scores:
        best.setdefault(score.candidate.treatment, score)
    weakest_first = sorted(best, key=lambda treatment: (treatment.strength[0], treatment.leave_out))
    rows = list(dict.fromkeys(_row(treatment) for treatment in weakest_first))
    leashes = sorted({treatment.leash for treatment in best}, key=lambda g: -math.inf if g is None else -g)
    cells = {(_row(treatment), treatment.leash): score for treatment, score in best.items()}
    table = [[cells.get((row, leash)) for leash in leashes] for row in rows]
    heat = {
        "type": "heatmap",
        "x": ["no leash" if leash is None else f"leash {leash:g}" for leash in leashes],
        "y": rows,
        "z": [[_share(score, choice.scores[0]) for score in row] for row in table],
        "zmin": 1.0,
        "zmax": WORST,
        "colorscale": TEAL_GREY,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "text": [[_cell_text(score) for score in row] for row in table],
        "texttemplate": "%{text}",
        "textfont": {"color": DARK, "size": 12},
        "customdata": [[score and _words(score) for score in row] for row in table],
        "hovertemplate": HOVER,
        "hoverongaps": False,
    }
    chosen = choice.chosen.treatment
    x, y = leashes.index(chosen.leash), rows.index(_row(chosen))
    outline = {"type": "rect", "x0": x - 0.49, "x1": x + 0.49, "y0": y - 0.49, "y1": y + 0.49}
    axis = {"type": "category", "showgrid": False, "zeroline": False, "automargin": True}
    layout = {
        "xaxis": axis | {"side": "top"},
        "yaxis": axis | {"autorange": "reversed"},
        "shapes": [outline | {"line": {"color": NMF if chosen.lam is None else ATNMF, "width": 3}}],
    }
    return plot([heat], 48 + row_height * len(rows), **layout, **TRANSPARENT)


def _of(choice: Choice, treatment: Treatment) -> list[Score]:
    """The candidates with this adversary, by K."""
    own = [score for score in choice.scores if score.candidate.treatment == treatment]
    return sorted(own, key=lambda score: score.candidate.K)


def _error(score: Score, choice: Choice) -> float:
    """What is drawn: the error or, for candidates that the rule leaves out, one that is to their typical
    error as the chosen candidate's is to its own.
    """
    if math.isfinite(score.error):
        return score.error
    chosen = _chosen(choice)
    ratio = chosen.error / chosen.typical if math.isfinite(chosen.error) and chosen.typical > 0 else 1.0
    return score.typical * ratio


def _chosen(choice: Choice) -> Score:
    return next(score for score in choice.scores if score.candidate == choice.chosen)


def _words(score: Score) -> str:
    if math.isfinite(score.error):
        spread = "" if math.isnan(score.standard_error) else f" ± {score.standard_error:.2g}"
        number = f"{three_digits(score.error)}{spread}"
    else:
        number = f"left out for its typical error, {score.typical:.3g}"
    outs = "one hold-out" if score.replicates == 1 else f"mean of {score.replicates} hold-outs"
    return f"<b>{_name(score.candidate.treatment)}, K = {score.candidate.K}</b><br>{number}, {outs}"


def _line(
    choice: Choice,
    treatment: Treatment,
    colour: str,
    name: str,
    *,
    width: float = 1.5,
    showlegend: bool = True,
) -> Trace:
    line, full = _of(choice, treatment), max(score.replicates for score in choice.scores)
    symbols = [
        "x-open" if math.isinf(score.error) else "circle" if score.replicates == full else "circle-open"
        for score in line
    ]
    return {
        "x": [score.candidate.K for score in line],
        "y": [_error(score, choice) for score in line],
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "showlegend": showlegend,
        "line": {"color": colour, "width": width},
        "marker": {"size": 8, "color": colour, "symbol": symbols},
        "customdata": [_words(score) for score in line],
        "hovertemplate": HOVER,
    }


def _band(line: Sequence[Score], colour: str) -> list[Trace]:
    known = [score for score in line if math.isfinite(score.error) and score.standard_error > 0]
    if len(known) < 2:
        return []
    Ks, errors = [score.candidate.K for score in known], [score.error for score in known]
    return [band(Ks, errors, [score.standard_error for score in known], colour)]


def _level_of_equals(choice: Choice) -> dict[str, Any]:
    full = max(score.replicates for score in choice.scores)
    best = next((s for s in choice.scores if s.replicates == full and math.isfinite(s.error)), None)
    if best is None or not best.standard_error > 0:
        return {}
    level = limit_of_equals(best)
    return {
        "shapes": [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level, "y1": level}
            | {"line": {"color": "#7C8894", "width": 1, "dash": "dash"}}
        ],
        # Plotly wants the logarithm for an annotation on a logarithmic axis, and not for a shape.
        "annotations": [
            # On the left, where few parts seldom come near this level.
            {"xref": "paper", "x": 0, "y": math.log10(level), "xanchor": "left", "yanchor": "bottom"}
            | {"text": "as good as the best", "showarrow": False, "font": {"size": 12}}
        ],
    }


def _name(treatment: Treatment) -> str:
    if treatment.lam is None:
        return str(treatment)
    return f"λ = {treatment.lam:g}" + ("" if treatment.leash is None else f", leash {treatment.leash:g}")


def _row(treatment: Treatment) -> str:
    return f"λ = {treatment.lam:g}" if treatment.lam is not None else str(treatment)


def _share(score: Score | None, best: Score) -> float | None:
    """The error as a multiple of the lowest."""
    if score is None:
        return None
    return score.error / best.error if math.isfinite(score.error) and best.error > 0 else WORST


def _cell_text(score: Score | None) -> str:
    if score is None:
        return ""
    return three_digits(score.error) if math.isfinite(score.error) else "left out"


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two errors, the fewer the further these are apart."""
    steps: tuple[float, ...] = (1, 2, 5)
    if high < 40 * low:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8) if high < 4 * low else (1, 1.5, 2, 3, 5, 7)
    return log_ticks(low, high, steps)
