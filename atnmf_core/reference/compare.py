"""The paper's cells beside ours: how far apart they are, and whether that is within the published spread."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..datasets import catalogue
from ..model.problem import ANMF_NOTE, METHOD_NAMES
from ..sweep.grid import PAPER_STARTS, Grid, Point, expected_sweep_seconds
from ..sweep.measurements import Measurement, csv_table
from .paper_tables import PROTOCOLS, Published, StartSensitivity, published, start_sensitivity, tuned

Agreement = Literal["within", "near", "outside"]
AGREEMENTS: dict[Agreement, str] = {
    "within": "within the published spread",
    "near": "within three deviations or 1%",
    "outside": "outside",
}
CellKey = tuple[float, str, float | None]  # alpha, method and lambda of a cell
SMALLEST = 0.001  # Errors below this are negligible beside those of the tables
CHAOTIC = 2.0  # At this lambda and below, Algorithm 1 oscillates
PAPER_OUTER = 100  # The authors' limit on outer iterations
COLUMNS = (
    "table", "alpha", "method", "lam", "K", "published", "published_deviation",
    "unmarked", "unmarked_deviation", "difference_percent", "agreement",
    "starts", "max_outer", "dtype", "version", "date",
    "marked", "marked_deviation", "marked_starts", "marked_version", "marked_date",
    "tuned_lam", "tuned", "tuned_deviation", "tuned_starts",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A published cell, and what was measured for it.

    zero, ignore : measured as the authors did, and with hidden entries left out; None if not.
    digits : decimals that the paper prints.
    tuned : of AT-NMF, unmarked by the fast solver at this alpha, with the lambda that held-out entries chose.
    """

    published: Published
    zero: Measurement | None
    ignore: Measurement | None
    digits: int
    tuned: Measurement | None = None
    sensitivity: StartSensitivity | None = None

    @property
    def key(self) -> CellKey:
        return self.published.alpha, self.published.method, self.published.lam

    @property
    def difference(self) -> float | None:
        return None if self.zero is None else self.zero.mean / self.published.mean - 1

    @property
    def agreement(self) -> Agreement | None:
        """Where the mean lies: "within" the published deviation, "near" (three of them, or 1%), "outside"."""
        if self.zero is None:
            return None
        distance = abs(self.zero.mean - self.published.mean)
        rounding = 10.0**-self.digits
        if distance <= self.published.deviation + rounding + 1e-12:
            return "within"
        near = max(3 * self.published.deviation, 0.01 * self.published.mean)
        return "near" if distance <= near else "outside"


def compare_table(name: str, rows: Iterable[Measurement]) -> tuple[Cell, ...]:
    found = {(row.alpha, row.method, row.lam, row.missing): row for row in rows}
    digits = 2 if name == "synthetic" else 3
    tuned_at, sensitivity = tuned(name), start_sensitivity(name)
    return tuple(
        Cell(
            cell,
            found.get((cell.alpha, cell.method, cell.lam, "zero")),
            found.get((cell.alpha, cell.method, cell.lam, "ignore")),
            digits,
            tuned_at.get(cell.alpha) if cell.method == "atnmf" else None,
            None if cell.lam is None else sensitivity.get((cell.alpha, cell.lam)),
        )
        for cell in published(name)
    )


def agreement_counts(cells: Sequence[Cell]) -> dict[str, str]:
    """How many cells were measured and how many of those agree, in a sentence for each group of methods. ANMF
    is counted apart, because what is measured for it is a reconstruction.

    >>> agreement_counts(compare_table("cbcl", []))
    {'NMF and AT-NMF': '0 of 21 cells measured.', 'ANMF': '0 of 7 cells measured.'}
    """
    return {
        "NMF and AT-NMF": _counted([cell for cell in cells if cell.published.method != "anmf"]),
        "ANMF": _counted([cell for cell in cells if cell.published.method == "anmf"]),
    }


def _counted(cells: Sequence[Cell]) -> str:
    counts = Counter(cell.agreement for cell in cells if cell.agreement is not None)
    parts = [f"{counts[agreement]} {words}" for agreement, words in AGREEMENTS.items()]
    measured = f"{counts.total()} of {len(cells)} cells measured"
    return f"{measured}: {', '.join(parts)}." if counts else f"{measured}."


def usual_budget(cells: Sequence[Cell]) -> tuple[int, int] | None:
    """The usual starts and limit on outer iterations of cells by Algorithm 1; None without any."""
    budgets = Counter(
        (cell.zero.starts, cell.zero.max_outer)
        for cell in cells
        if cell.zero is not None and cell.zero.solver == "paper"
    )
    return budgets.most_common(1)[0][0] if budgets else None


def usual_starts(cells: Sequence[Cell]) -> int | None:
    starts = Counter(cell.ignore.starts for cell in cells if cell.ignore is not None)
    return starts.most_common(1)[0][0] if starts else None


def method_title(method: str, lam: float | None) -> str:
    return METHOD_NAMES[method] if lam is None else f"{METHOD_NAMES[method]} (λ = {lam:g})"


def mean_and_deviation(mean: float, deviation: float | None, digits: int) -> str:
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def small_spread(mean: float, deviation: float | None) -> str:
    """As `mean_and_deviation`, for errors that differ by orders of magnitude: three digits of the mean.

    >>> small_spread(0.0084149, 0.00063), small_spread(157.8, 439.4), small_spread(2.6e-5, 1e-5)
    ('0.00841 ± 0.00063', '158 ± 439', '< 0.001')
    """
    if mean < SMALLEST:
        return f"< {SMALLEST:g}"
    return mean_and_deviation(mean, deviation, max(0, 2 - math.floor(math.log10(mean))))


def percent(share: float) -> str:
    """A difference with its sign, to a tenth of a per cent.

    >>> percent(0.1071), percent(-0.004), percent(-0.0001)
    ('+10.7%', '−0.4%', '0.0%')
    """
    rounded = round(100 * share, 1)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return f"{sign}{abs(rounded):.1f}%"


def provenance(row: Measurement) -> str:
    starts = f"{row.starts} of {PAPER_STARTS} starts"
    if row.solver == "paper":
        how = f"Algorithm 1, {row.max_outer} of {PAPER_OUTER} outer iterations allowed"
    else:
        how = "its own descent" if row.method == "anmf" else "fast solver"
    return f"{starts}, {how}, {row.dtype}, solver version {row.version}, {row.date}"


def exception_reason(cell: Cell) -> str:
    """Why a measurement may lie outside the published spread: what differs from the authors' run."""
    assert cell.zero is not None
    if cell.zero.method == "anmf":
        return ANMF_NOTE
    reasons = []
    if cell.zero.max_outer < PAPER_OUTER:
        reasons.append(f"it was stopped after {cell.zero.max_outer} of {PAPER_OUTER} outer iterations")
    if cell.zero.starts < PAPER_STARTS:
        reasons.append(f"it is the mean of {cell.zero.starts} of the authors' {PAPER_STARTS} starts")
    if cell.zero.lam is not None and cell.zero.lam <= CHAOTIC:
        reasons.append("at this λ Algorithm 1 oscillates, and stops wherever the last iteration leaves it")
    return "; ".join(reasons) or "the reason is not known"


def comparison_csv(name: str, cells: Sequence[Cell]) -> str:
    return csv_table(COLUMNS, (_csv_line(name, cell) for cell in cells))


def _csv_line(name: str, cell: Cell) -> tuple[object, ...]:
    row, zero, ignore = cell.published, cell.zero, cell.ignore
    difference = "" if cell.difference is None else f"{100 * cell.difference:.3f}"
    budget = [getattr(zero, key, "") for key in ("starts", "max_outer", "dtype", "version", "date")]
    ignore_budget = [getattr(ignore, key, "") for key in ("starts", "version", "date")]
    printed = (mean_and_deviation(value, None, cell.digits) for value in (row.mean, row.deviation))
    verdict = cell.agreement or "not measured"
    tuned_lam, tuned_starts = (getattr(cell.tuned, key, "") for key in ("lam", "starts"))
    return (
        *(name, row.alpha, row.method, row.lam, PROTOCOLS[name].K, *printed),
        *(*_six_digits(zero), difference, verdict, *budget),
        *(*_six_digits(ignore), *ignore_budget),
        *(tuned_lam, *_six_digits(cell.tuned), tuned_starts),
    )


def _six_digits(row: Measurement | None) -> tuple[str, str]:
    if row is None:
        return "", ""
    return f"{row.mean:.6g}", "" if row.deviation is None else f"{row.deviation:.6g}"


def expected_run_seconds(name: str, grid: Grid, known: Iterable[Measurement], workers: int) -> float:
    """Seconds that a table's grid takes on so many cores, by `known` times or the solvers' cost model."""
    known = tuple(known)
    shape = next(entry.shape for entry in catalogue() if entry.name == PROTOCOLS[name].dataset)
    model = expected_sweep_seconds(grid, shape) / len(grid) * _scale(grid.solver, grid.max_outer, PAPER_OUTER)
    each = [_measured(point, known) or model for point in grid.points()]
    return sum(each) / min(workers, len(each))


def _measured(point: Point, known: tuple[Measurement, ...]) -> float | None:
    seconds = [
        row.seconds * _scale(row.solver, point.max_outer, row.max_outer)
        for row in known
        if row.seconds is not None and (row.method, row.missing) == (point.method, point.missing)
    ]
    return statistics.median(seconds) if seconds else None


def _scale(solver: str, max_outer: int, measured_outer: int) -> float:
    """Only Algorithm 1 is limited by outer iterations."""
    return max_outer / measured_outer if solver == "paper" else 1.0
