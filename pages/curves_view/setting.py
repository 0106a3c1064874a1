"""The controls of Curves: the planned sweep, the curve in view. What Explore has too has its session key."""

import math
import os
import time
from dataclasses import dataclass

import streamlit as st

from atnmf_core import Dataset, InputError
from atnmf_core.jobs.fit_task import beside_others, rough_duration
from atnmf_core.model.problem import TREATMENT_NAMES, Method, Missing, Shape, Solver
from atnmf_core.sweep import (
    Grid,
    default_store,
    expected_sweep_seconds,
    lambda_series,
    open_store,
    save_upload,
    upload_path,
)
from pages.common.address import Address, change, last_shown
from pages.common.controls import Number, OneOf, Real, Several, Text, controls_of, redeclare
from pages.common.data import UPLOAD, choose_data, chosen_data
from pages.common.setting import ALPHAS, MAX_LAM, Setting
from pages.common.sweeps import add_sweep, queue_sweep, reading_store, report_errors
from pages.common.uploads import FILE_CONTROLS, FileSetting
from pages.common.widgets import clamp_to_data, component, draw_K, draw_pattern

METHODS: dict[Method, str] = {"nmf": "NMF", "atnmf": "AT-NMF", "anmf": "ANMF"}
MISSING_CONTROL = controls_of(Setting)["missing"]
TREATMENTS: dict[Missing, str] = {name: TREATMENT_NAMES[name] for name in ("zero", "ignore")}
"""The paper's comes first: it is the default for a curve that has both."""
MIN_SHOWN_LAM = 1.0001  # From here up, six digits, as in a figure, give the exact number
MAX_FITS = 20_000  # Larger sweeps are for the command line, where nobody waits for a page


@dataclass(frozen=True)
class Plan:
    """What to fit. `low`, `high` and `count` are the range of lambda."""

    data: str = redeclare(Setting, "data")
    upload: str = redeclare(Setting, "upload")
    alphas: tuple[float, ...] = Several.field(
        (0.3,),
        "Hidden shares α",
        {alpha: f"{alpha:.2f}" for alpha in ALPHAS},
        help="The share of entries that is hidden. Several make a curve against α and a map.",
    )
    low: float = Real.field(
        1.05,
        "λ from",
        0.05,
        help="Just above 1 the adversary is strong; far above, there is hardly any. Values are evenly "
        "spaced in log(λ − 1).",
    )
    high: float = Real.field(100.0, "to", help="The largest λ.")
    count: int = Number.field(12, "points", 1, 500, typed=True, help="How many values of λ.")
    K: int = redeclare(Setting, "K")
    methods: tuple[Method, ...] = Several.field(
        ("nmf", "atnmf"), "Methods", METHODS, help="NMF and ANMF have no λ: one fit per α."
    )
    missing: tuple[Missing, ...] = Several.field(
        ("zero",), MISSING_CONTROL.label, TREATMENTS, help=MISSING_CONTROL.help
    )
    solver: Solver = redeclare(Setting, "solver")
    starts: int = Number.field(
        3,
        "Starts",
        1,
        50,
        help="Each point is fitted from this many random starts; the curve shows mean and deviation.",
    )
    seed: int = redeclare(Setting, "seed")
    mask_seed: int = redeclare(Setting, "mask_seed")
    pattern: str = redeclare(Setting, "pattern")

    def lams(self) -> tuple[float, ...]:
        """The values of lambda; none if the range is invalid, and `problems` says why."""
        if "atnmf" not in self.methods or self._range_problem() is not None:
            return ()
        return lambda_series(self.low, self.high, self.count)

    def problems(self, shape: Shape) -> list[str]:
        """Why this cannot be started, each in a sentence that says what to do; empty if it can."""
        found = []
        if not self.alphas:
            found.append("Choose at least one hidden share α.")
        if not self.methods:
            found.append("Choose at least one method.")
        if not self.missing:
            found.append("Choose whether hidden entries are unmarked, marked, or both in turn.")
        if "atnmf" in self.methods and (problem := self._range_problem()) is not None:
            found.append(problem)
        if min(shape) < self.K:
            found.append(f"K = {self.K} is too many parts for {shape[0]} × {shape[1]}: at most {min(shape)}.")
        if found:
            return found
        try:
            fits = len(self.grid(self.data))
        except InputError as error:
            return [str(error)]
        if fits > MAX_FITS:
            found.append(
                f"These are {fits:,} fits; up to {MAX_FITS:,} are started from here. Choose fewer values, "
                "or run it from the command line."
            )
        return found

    def grid(self, source: str) -> Grid:
        same = ("methods", "missing", "solver", "starts", "seed", "mask_seed", "pattern")
        settings = {name: getattr(self, name) for name in same}
        return Grid(source, tuple(sorted(self.alphas)), (self.K,), self.lams(), **settings)

    def _range_problem(self) -> str | None:
        low, high, count = self.low, self.high, self.count
        if not (math.isfinite(low) and math.isfinite(high)) or max(low, high) > MAX_LAM:
            return f"λ goes up to {MAX_LAM:,.0f}; far above that there is no adversary left."
        if low <= 1:
            return f"The range of λ begins at {low:g}: it must begin above 1, or the adversary has no bound."
        if high < low:
            return f"The range of λ ends at {high:g}, before it begins at {low:g}: exchange the two."
        if low < MIN_SHOWN_LAM:
            return f"The range of λ begins at {low:.10g}, too near 1 to be shown: begin at {MIN_SHOWN_LAM:g}."
        if count > 1 and high == low:
            return f"The range of λ begins and ends at {low:g}, so {count} values cannot differ: widen it."
        return None


SHARED = ("data", "upload", *FILE_CONTROLS, "K", "solver", "seed", "mask_seed", "pattern")
FIRST = "kept:lfw"  # Shown by default, or if the requested curve cannot be found
CHART = "curves_figure"  # The session key of the chart
VIEWS = {"lambda": "against λ", "alpha": "against α", "map": "λ × α map"}


@dataclass(frozen=True)
class CurveSelection:
    """Which curve is shown, and how.

    show : "kept:" and the name of a bundled curve, as existing links have it, or "sweep:" and a sweep's.
    at_alpha, at_missing, at_K : the combination shown; None for the curve's default.
    beside : curves drawn in the same chart, named as in `show`, one in a line.
    """

    show: str = Text.field(FIRST, pattern=r"[^\x00-\x1f\x7f]{0,100}")
    view: str = OneOf.field("lambda", "RMSE", VIEWS)
    at_alpha: float | None = Real.field(None, "Hidden share α")
    at_missing: str | None = OneOf.field(None, MISSING_CONTROL.label, TREATMENTS)
    at_K: int | None = Number.field(None, "Parts K", 1)
    beside: str = Text.field("", pattern=r"[^\x00-\x09\x0b-\x1f\x7f]{0,1000}")


def key(name: str) -> str:
    return name if name in SHARED else f"curves_{name}"


ADDRESS = Address("curves", Plan, CurveSelection, FileSetting, key=key)


def arrive() -> None:
    there, is_first = last_shown("explore"), last_shown("curves") is None
    if ADDRESS.load_from_address() and is_first and there is not None:
        change(**{name: there[name] for name in SHARED})
        alphas = (there["alpha"],) if there["alpha"] else Plan().alphas
        change(**{key("alphas"): alphas, key("missing"): (there["missing"],)})


def select_curve(curve: str, view: str | None = None) -> None:
    """Show another curve, at its default combination, and perhaps in another view."""
    change(**{key("show"): curve, key("at_alpha"): None, key("at_missing"): None, key("at_K"): None})
    if view is not None:
        change(**{key("view"): view})


CORES = os.cpu_count() or 1
SECONDS_TO_START = 3.0  # Seconds until the process that makes the fits is ready


def show_form() -> tuple[Plan, Dataset | None]:
    """The sweep that the sidebar describes and its data, if available."""
    with st.sidebar:
        data = chosen_data(choose_data())
        if data is not None:
            clamp_to_data(data)
        _draw_controls(data)
        plan = ADDRESS.get(Plan)
        if data is not None:
            _start(plan, data)
        component("copy")(key="copy")
    return plan, data


def _draw_controls(data: Dataset | None) -> None:
    ADDRESS.draw("alphas", widget=st.multiselect, placeholder="one or more")
    for column, name in zip(st.columns(3, gap="small"), ("low", "high", "count"), strict=True):
        with column:
            ADDRESS.draw(name)
    draw_K(ADDRESS, data)
    for name in ("methods", "missing", "solver"):
        ADDRESS.draw(name, width="stretch")
    ADDRESS.draw("starts")
    with st.expander("Seeds and pattern"):
        ADDRESS.draw("seed", help="Decides the first random start; the others count up from it.")
        ADDRESS.draw("mask_seed")
        draw_pattern(ADDRESS, data)


def _start(plan: Plan, data: Dataset) -> None:
    problems = plan.problems(data.shape)
    for problem in problems:
        st.warning(problem, icon=":material/edit:")
    if not problems:
        st.markdown(_cost(plan.grid(plan.data), data))
    st.button(
        "Start", type="primary", icon=":material/play_arrow:", width="stretch",
        disabled=bool(problems), on_click=report_errors(_begin), args=(plan, data),
        key="curves_start",
    )  # fmt: skip


def _cost(grid: Grid, data: Dataset) -> str:
    """How many fits, how many of them are already stored, and how long the others take."""
    with reading_store() as store:
        tried = {} if store is None else store.tried(grid, data.content_hash)
    stored = sum(tried.values())
    fits = f"**{len(grid):,} fits**" if len(grid) > 1 else "**One fit**"
    if stored == len(grid):
        return f"{fits}, already stored"
    known = f", {stored:,} of them already stored" if stored else ""
    seconds = SECONDS_TO_START + expected_sweep_seconds(grid, data.shape, tried) / CORES
    if "ATNMF_DASK" not in os.environ:
        seconds = beside_others(seconds, CORES)
    return f"{fits}{known}, about **{rough_duration(seconds)}** {_where()}"


def _where() -> str:
    address = os.environ.get("ATNMF_DASK")
    if address:
        return f"of one core, on the Dask cluster at `{address}`"
    return f"on {CORES} cores" if CORES > 1 else "on one core"


def _begin(plan: Plan, data: Dataset) -> None:
    path = default_store()
    uploaded = plan.data == UPLOAD
    grid = plan.grid(str(upload_path(path, data)) if uploaded else plan.data)
    with open_store(path) as store:
        first, taken = _name(plan, data), store.names()
        names = (first, *(f"{first} ({number})" for number in range(2, len(taken) + 2)))
        name = next(one for one in names if one not in taken)
        add_sweep(store, name, grid, data.content_hash)
    if uploaded:
        save_upload(path, data)
    queue_sweep(name)
    select_curve(f"sweep:{name}")


def _name(plan: Plan, data: Dataset) -> str:
    alphas = plan.alphas if len(plan.alphas) < 4 else (min(plan.alphas), max(plan.alphas))
    what = (", " if len(plan.alphas) < 4 else "–").join(f"{alpha:g}" for alpha in sorted(alphas))
    return f"{data.name}, α {what}, K {plan.K}, {time.strftime('%d %b %H:%M')}"
