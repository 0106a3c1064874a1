"""The controls of the Curves page: the sweep that is planned, and the curve that is looked at.

What means the same on the Explore page has the same session key there.
"""

from __future__ import annotations

from dataclasses import dataclass

from pages.common.address import Address, change, last_shown
from pages.common.control import Number, OneOf, Real, Text, declare
from pages.common.file_setting import FILE_CONTROLS, FileSetting

from .plan import MISSING_CONTROL, TREATMENTS, Plan

SHARED = ("data", "upload", *FILE_CONTROLS, "K", "solver", "seed", "mask_seed", "pattern")
FIRST = "kept:lfw"
"""Shown by default, or if the requested curve cannot be found."""
CHART = "curves_figure"
"""The session key of the chart."""
VIEWS = {"lambda": "against λ", "alpha": "against α", "map": "λ × α map"}


@dataclass(frozen=True)
class CurveSelection:
    """Which curve is shown, and how.

    Attributes
    ----------
    show : "kept:" and the name of a bundled curve, as existing links have it, or "sweep:" and that of a
        sweep.
    at_alpha, at_missing, at_K : the combination shown; None for the curve's default.
    """

    show: str = declare(Text(FIRST, pattern=r"[^\x00-\x1f\x7f]{0,100}"))
    view: str = declare(OneOf("lambda", "RMSE", VIEWS))
    at_alpha: float | None = declare(Real(None, "Hidden share α"))
    at_missing: str | None = declare(OneOf(None, MISSING_CONTROL.label, TREATMENTS))
    at_K: int | None = declare(Number(None, "Parts K", 1))


def key(name: str) -> str:
    """The session key of a control of this page."""
    return name if name in SHARED else f"curves_{name}"


ADDRESS = Address("curves", Plan, CurveSelection, FileSetting, key=key)


def arrive() -> None:
    """Give the controls their values; the first visit from Explore takes over its data."""
    there, is_first = last_shown("explore"), last_shown("curves") is None
    if ADDRESS.follow() and is_first and there is not None:
        change(**{name: there[name] for name in SHARED})
        alphas = (there["alpha"],) if there["alpha"] else Plan().alphas
        change(**{key("alphas"): alphas, key("missing"): (there["missing"],)})


def select_curve(curve: str, view: str | None = None) -> None:
    """Show another curve, at its default combination, and perhaps in another view."""
    change(**{key("show"): curve, key("at_alpha"): None, key("at_missing"): None, key("at_K"): None})
    if view is not None:
        change(**{key("view"): view})
