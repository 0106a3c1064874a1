"""What the Curves page's widgets say, and its spelling in the address bar: the sweep that is planned, and the
curve that is looked at.

Widgets that mean the same on the Explore page have the same session keys there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import streamlit as st

from pages.common.address import EXPLORE, Address, change
from pages.common.setting import ALPHAS, K_MOST, SEED_MOST, Pattern, Reader, Solver, one_of, understood, whole

from .plan import METHODS, TREATMENTS, Plan

__all__ = ["ADDRESS", "CHART", "VIEWS", "Look", "arrive", "key", "read_plan", "remember"]

SHARED = ("data", "upload", "K", "solver", "seed", "mask_seed", "pattern")
STARTS_MOST = 50
COUNT_MOST = 500
CHART = "curves_figure"
"""The session key of the chart."""
NAME_MOST = 100
View = Literal["lambda", "alpha", "map"]
VIEWS: dict[View, str] = {"lambda": "against λ", "alpha": "against α", "map": "λ × α map"}


@dataclass(frozen=True)
class Look:
    """Which curve is shown, and how.

    Attributes
    ----------
    show : "kept:" and the name of a curve that comes with the program, or "sweep:" and that of a sweep.
    at_alpha, at_missing, at_K : of which combination; None for the curve's own first.
    """

    show: str = "kept:lfw"
    view: View = "lambda"
    at_alpha: float | None = None
    at_missing: str | None = None
    at_K: int | None = None


def key(name: str) -> str:
    """The session key of a field of `Plan` or `Look`."""
    return name if name in SHARED else f"curves_{name}"


def arrive() -> None:
    """Give the widgets their values; a first visit from Explore brings its data along."""
    first = ADDRESS.remembered is None
    if ADDRESS.follow() and first and EXPLORE.remembered is not None:
        there = EXPLORE.remembered
        change(**{name: there[name] for name in SHARED})
        change(**{key("alphas"): [there["alpha"]], key("missing"): [there["missing"]]})


def remember() -> None:
    """Give back what Streamlit forgets of widgets that the last run did not draw; fragments need it too."""
    for name, value in (ADDRESS.remembered or {}).items():
        st.session_state.setdefault(name, value)


def read_plan() -> Plan:
    """The sweep that the sidebar describes."""
    values = {field.name: st.session_state[key(field.name)] for field in fields(Plan)}
    return Plan(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    )


def _several(allowed: tuple[Any, ...], kind: Callable[[str], Any] = str) -> Reader:
    """A list of allowed values, in the order in which they are offered."""

    def read(text: str) -> list[Any]:
        asked = {kind(word) for word in text.split(",") if word}
        return [value for value in allowed if value in asked]

    return read


def _number(text: str) -> float | None:
    return float(text) if math.isfinite(float(text)) else None


def _text(text: str) -> str | None:
    return text if len(text) <= NAME_MOST and text.isprintable() else None


_READERS: dict[str, Reader] = {
    "data": _text,
    "upload": _text,
    "alphas": _several(ALPHAS, float),
    "low": _number,
    "high": _number,
    "count": whole(1, COUNT_MOST),
    "K": whole(1, K_MOST),
    "methods": _several(tuple(METHODS)),
    "missing": _several(tuple(TREATMENTS)),
    "solver": one_of(Solver),
    "starts": whole(1, STARTS_MOST),
    "seed": whole(0, SEED_MOST),
    "mask_seed": whole(0, SEED_MOST),
    "pattern": one_of(Pattern),
    "show": _text,
    "view": lambda text: text if text in get_args(View) else None,
    "at_alpha": _number,
    "at_missing": lambda text: text if text in TREATMENTS else None,
    "at_K": whole(1, 10**6),
}


def _read(query: Mapping[str, str]) -> dict[str, Any]:
    found = {
        key(field.name): list(field.default) if isinstance(field.default, tuple) else field.default
        for kind in (Plan, Look)
        for field in fields(kind)
    }
    return found | {key(name): value for name, value in understood(_READERS, query).items()}


def _spell(values: Mapping[str, Any]) -> dict[str, str]:
    first = _read({})
    told = {name: values[key(name)] for name in _READERS if values[key(name)] != first[key(name)]}
    return {name: _word(value) for name, value in told.items() if value is not None}


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_word(one) for one in value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)


ADDRESS = Address("curves", _read, _spell)
