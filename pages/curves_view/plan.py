"""A sweep as the sidebar describes it, as plain data: what is wrong with it, and the grid that it means."""

from __future__ import annotations

import math
from dataclasses import dataclass

from atnmf_core import InputError
from atnmf_core.problem import Method, Missing, Solver
from atnmf_core.sweep import Grid, lambda_series
from pages.common.setting import LAM_MOST

__all__ = ["METHODS", "MOST_FITS", "TREATMENTS", "Plan"]

METHODS = {"nmf": "NMF", "atnmf": "AT-NMF", "anmf": "ANMF"}
TREATMENTS = {"zero": "zeros (paper)", "ignore": "ignored"}
LAM_LEAST = 1.0001
"""From here on, what a figure or an address spells with six digits is the very number."""
MOST_FITS = 20_000
"""A larger sweep is planned at the command line, where nobody waits for a page."""


@dataclass(frozen=True)
class Plan:
    """What to fit. `low`, `high` and `count` are the range of lambda."""

    data: str = "lfw"
    upload: str = ""
    alphas: tuple[float, ...] = (0.3,)
    low: float = 1.05
    high: float = 100.0
    count: int = 12
    K: int = 25
    methods: tuple[Method, ...] = ("nmf", "atnmf")
    missing: tuple[Missing, ...] = ("zero",)
    solver: Solver = "fast"
    starts: int = 3
    seed: int = 0
    mask_seed: int = 0
    pattern: str = "entries"

    def lams(self) -> tuple[float, ...]:
        """The values of lambda; none where the range is none, and `problems` says why."""
        if "atnmf" not in self.methods or self._range_problem() is not None:
            return ()
        return lambda_series(self.low, self.high, self.count)

    def problems(self, shape: tuple[int, int]) -> list[str]:
        """Why this cannot be started, each in a sentence that says what to do; empty where it can."""
        found = []
        if not self.alphas:
            found.append("Choose at least one hidden share α.")
        if not self.methods:
            found.append("Choose at least one method.")
        if not self.missing:
            found.append("Choose whether hidden entries are zeros, ignored, or both in turn.")
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
        if fits > MOST_FITS:
            found.append(
                f"These are {fits:,} fits; up to {MOST_FITS:,} are started from here. Choose fewer values, "
                "or run it from the command line."
            )
        return found

    def grid(self, source: str) -> Grid:
        """The sweep, on the data that `source` names for another process."""
        return Grid(
            dataset=source,
            alphas=tuple(sorted(self.alphas)),
            Ks=(self.K,),
            lams=self.lams(),
            methods=self.methods,
            missing=self.missing,
            solver=self.solver,
            starts=self.starts,
            seed=self.seed,
            mask_seed=self.mask_seed,
            pattern=self.pattern,
        )

    def _range_problem(self) -> str | None:
        low, high, count = self.low, self.high, self.count
        if not (math.isfinite(low) and math.isfinite(high)) or max(low, high) > LAM_MOST:
            return f"λ goes up to {LAM_MOST:,.0f}; far above that there is no adversary left."
        if low <= 1:
            return (
                f"The range of λ begins at {low:g}: it must begin above 1, where the adversary pays anything."
            )
        if high < low:
            return f"The range of λ ends at {high:g}, before it begins at {low:g}: exchange the two."
        if low < LAM_LEAST:
            return f"The range of λ begins at {low:.10g}, too near 1 to be shown: begin at {LAM_LEAST:g}."
        if count > 1 and high == low:
            return f"The range of λ begins and ends at {low:g}, so {count} values cannot differ: widen it."
        return None
