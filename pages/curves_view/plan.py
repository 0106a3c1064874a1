"""The sweep that the sidebar describes, as plain data: its problems, and its grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

from atnmf_core import InputError
from atnmf_core.names import TREATMENT_NAMES
from atnmf_core.problem import Method, Missing, Solver
from atnmf_core.sweep import Grid, lambda_series
from pages.common.control import Number, Real, Several, controls_of, declare, redeclare
from pages.common.setting import ALPHAS, MAX_LAM, Setting

METHODS: dict[Method, str] = {"nmf": "NMF", "atnmf": "AT-NMF", "anmf": "ANMF"}
MISSING_CONTROL = controls_of(Setting)["missing"]
TREATMENTS: dict[Missing, str] = {name: TREATMENT_NAMES[name] for name in ("zero", "ignore")}
"""The paper's comes first: it is the default for a curve that has both."""
MIN_LAM = 1.0001
"""From here up, six digits, as in a figure or an address, give the exact number."""
MAX_FITS = 20_000
"""Larger sweeps are for the command line, where nobody waits for a page."""


@dataclass(frozen=True)
class Plan:
    """What to fit. `low`, `high` and `count` are the range of lambda."""

    data: str = redeclare(Setting, "data")
    upload: str = redeclare(Setting, "upload")
    alphas: tuple[float, ...] = declare(
        Several(
            (0.3,),
            "Hidden shares α",
            {alpha: f"{alpha:.2f}" for alpha in ALPHAS},
            help="The share of entries that is hidden. Several make a curve against α and a map.",
        )
    )
    low: float = declare(
        Real(
            1.05,
            "λ from",
            0.05,
            help="Just above 1 the adversary is strong; far above, there is hardly any. Values are evenly "
            "spaced in log(λ − 1).",
        )
    )
    high: float = declare(Real(100.0, "to", help="The largest λ."))
    count: int = declare(Number(12, "points", 1, 500, typed=True, help="How many values of λ."))
    K: int = redeclare(Setting, "K")
    methods: tuple[Method, ...] = declare(
        Several(("nmf", "atnmf"), "Methods", METHODS, help="NMF and ANMF have no λ: one fit per α.")
    )
    missing: tuple[Missing, ...] = declare(
        Several(("zero",), MISSING_CONTROL.label, TREATMENTS, help=MISSING_CONTROL.help)
    )
    solver: Solver = redeclare(Setting, "solver")
    starts: int = declare(
        Number(
            3,
            "Starts",
            1,
            50,
            help="Each point is fitted from this many random starts; the curve shows mean and deviation.",
        )
    )
    seed: int = redeclare(Setting, "seed")
    mask_seed: int = redeclare(Setting, "mask_seed")
    pattern: str = redeclare(Setting, "pattern")

    def lams(self) -> tuple[float, ...]:
        """The values of lambda; none if the range is invalid, and `problems` says why."""
        if "atnmf" not in self.methods or self._range_problem() is not None:
            return ()
        return lambda_series(self.low, self.high, self.count)

    def problems(self, shape: tuple[int, int]) -> list[str]:
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
        """The sweep, for the data that another process finds under `source`."""
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
        if low < MIN_LAM:
            return f"The range of λ begins at {low:.10g}, too near 1 to be shown: begin at {MIN_LAM:g}."
        if count > 1 and high == low:
            return f"The range of λ begins and ends at {low:g}, so {count} values cannot differ: widen it."
        return None
