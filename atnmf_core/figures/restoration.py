"""How K and the first prediction were chosen: the error of entries predicted from others, against K."""

from __future__ import annotations

import plotly.graph_objects as go

from ..model.problem import three_digits
from ..restoration import Candidate, Choice, Treatment
from ..restoration.choice import Score
from .images import ATNMF, NMF
from .plotting import TRANSPARENT, Trace, log_ticks, plot, ring

OTHER = "#DDB173"
"""A pale orange, for adversaries that were not chosen."""
HOVER = "%{customdata}<extra></extra>"


def error_against_K(choice: Choice, height: int = 400, mark: str = "chosen") -> go.Figure:
    """A line for each first prediction, the chosen one marked in the legend; a ring at the chosen K."""
    chosen = choice.chosen.treatment
    tried = dict.fromkeys(score.candidate.treatment for score in choice.scores)
    others = [treatment for treatment in tried if treatment != chosen]
    traces = [_line(choice, treatment, _colour(treatment, OTHER), name_of(treatment)) for treatment in others]
    colour = _colour(chosen, ATNMF)
    traces.append(_line(choice, chosen, colour, f"{name_of(chosen)}, {mark}", width=2.5))
    traces.append(ring(choice.chosen.K, choice.error, 18, colour))
    Ks = sorted({score.candidate.K for score in choice.scores})
    errors = [score.error for score in choice.scores if score.error > 0]
    ticks = _ticks(min(errors), max(errors)) if errors else []
    layout = {
        "xaxis": {
            "title": {"text": "number of parts K", "standoff": 6},
            "type": "log",
            "tickvals": Ks,
            "ticktext": [str(K) for K in Ks],
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": "typical error", "standoff": 8},
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks],
            "zeroline": False,
        },
    }
    return plot(traces, height, **layout, **TRANSPARENT)


def candidate_at(choice: Choice, K: float, error: float) -> Candidate | None:
    """The candidate that `error_against_K` draws nearest to this point; None where it draws none with K
    parts.
    """
    drawn = [score for score in choice.scores if score.candidate.K == K]
    return min(drawn, key=lambda score: abs(score.error - error)).candidate if drawn else None


def name_of(treatment: Treatment) -> str:
    """What a first prediction is called in a legend."""
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


def _line(choice: Choice, treatment: Treatment, colour: str, name: str, *, width: float = 1.5) -> Trace:
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
        "hovertemplate": HOVER,
    }


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two errors, the fewer the further these are apart."""
    steps: tuple[float, ...] = (1, 2, 5)
    if high < 40 * low:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8) if high < 4 * low else (1, 1.5, 2, 3, 5, 7)
    return log_ticks(low, high, steps)
