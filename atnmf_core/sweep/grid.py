"""A sweep as plain data: which fits to make, and how long they will take."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import product
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ..datasets import PAPER_ALPHAS, Dataset, paper_mask
from ..jobs.fit_task import expected_seconds
from ..model.hiding import PATTERNS, hide_entries
from ..model.metrics import rmse
from ..model.problem import (
    MIN_LAM,
    Array,
    InputError,
    Mask,
    Method,
    Missing,
    Shape,
    Solver,
    Wide,
    check_alpha,
    check_count,
    check_one_of,
    check_seed,
    check_tolerance,
)
from ..solvers.factorization import SOLVER_VERSIONS, factorize

PAPER_STARTS = 10
_PASSED_ON = (
    *("K", "method", "lam", "missing", "solver", "dtype"),
    *("max_outer", "max_inner", "tol_inner", "tol_outer"),
)
"""The fields that mean the same to `factorize`."""

Draw = Literal["seeded", "paper"]


@dataclass(frozen=True)
class Measures:
    """What is measured for one fit.

    rmse_hidden, rmse_observed : RMSE over the hidden and over the observed entries.
    squared_error, adversarial_loss : the last values of the fit's history.
    n_iter, converged, seconds : as in `Fit`.
    """

    rmse_hidden: float
    rmse_observed: float
    squared_error: float
    adversarial_loss: float
    n_iter: int
    converged: bool
    seconds: float


@dataclass(frozen=True)
class Point:
    """One fit of a sweep: everything that determines its result, apart from the data itself.

    masks : "paper" for the authors' own mask at this alpha, "seeded" for `hide_entries` with mask_seed and
        pattern.
    start : number of the start, from 0.
    draws : "seeded" draws start factors from seed + start; "paper" takes them from `paper_start`.
    """

    alpha: float
    K: int
    method: Method
    lam: float | None
    missing: Missing
    solver: Solver
    start: int
    masks: Draw
    mask_seed: int
    pattern: str
    draws: Draw
    seed: int
    dtype: str
    max_outer: int
    max_inner: int
    tol_inner: float
    tol_outer: float

    @property
    def version(self) -> str:
        return SOLVER_VERSIONS[self.solver]

    def measure(self, V: Array, packed: npt.NDArray[np.uint8]) -> Measures:
        """Compute the fit; `packed` has a bit for each entry of V, set where it is observed."""
        observed = np.unpackbits(packed, count=V.size).reshape(V.shape).astype(bool)
        start: dict[str, Any] = {"seed": self.seed + self.start}
        if self.draws == "paper":
            start = {"init": paper_start((V.shape[0], V.shape[1]), self.K, self.alpha, self.start)}
        fit = factorize(V, observed, **start, **{name: getattr(self, name) for name in _PASSED_ON})
        if not np.isfinite(fit.V_hat).all():
            raise ArithmeticError("the factors left the range of numbers, and W H is not finite")
        squared_error, loss = (float(fit.history[name][-1]) for name in ("squared_error", "adversarial_loss"))
        errors = rmse(V, fit.V_hat, ~observed), rmse(V, fit.V_hat, observed)
        return Measures(*errors, squared_error, loss, fit.n_iter, fit.converged, fit.seconds)


def drawn_mask(
    data: Dataset, alpha: float, masks: Draw = "seeded", seed: int = 0, pattern: str = "entries"
) -> Mask:
    """Which entries are not hidden: by the authors' own mask of their data, or by `hide_entries`."""
    if masks == "paper":
        return paper_mask(data.name, alpha)
    return hide_entries(data.shape, alpha, seed, pattern, data.image_shape, data.order)


def identify(point: Point, content_hash: str) -> tuple[str, str]:
    """A short key of a point's result, the same everywhere, and what it stands for, as JSON."""
    identity = json.dumps({**vars(point), "data": content_hash, "version": point.version}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:32], identity


def paper_start(shape: Shape, K: int, alpha: float, start: int) -> tuple[Wide, Wide]:
    """The W (F x K) and H (K x N) that the authors drew for one of their alphas and ten starts.

    Their released program seeds NumPy once with 1 and then, for alpha = 0.3, 0.4 ... 0.9 and ten starts each,
    draws W and then H as |N(0, 1)|; every start serves all methods. Start s at the a-th alpha is therefore
    number 10 a + s of one stream; to get there, the earlier ones are drawn and discarded.
    """
    if alpha not in PAPER_ALPHAS:
        raise InputError(
            f"alpha={alpha!r}: the authors' starts are for alpha = {', '.join(map(str, PAPER_ALPHAS))}."
        )
    if not 0 <= start < PAPER_STARTS:
        raise InputError(f"start={start}: the authors made {PAPER_STARTS} starts, numbered from 0.")
    F, N = shape
    stream = np.random.RandomState(1)
    for _ in range(PAPER_STARTS * PAPER_ALPHAS.index(alpha) + start):
        stream.standard_normal(F * K + K * N)
    return np.abs(stream.standard_normal((F, K))), np.abs(stream.standard_normal((K, N)))


MAX_POINTS = 1_000_000  # A larger grid is a typing error, and would fill the store before the first fit
SEEDS = 2**32  # The number of seeds; see `check_seed`
_ANMF_FACTOR = 3  # A fit by ANMF costs about this many fits of the fast solver


@dataclass(frozen=True)
class Grid:
    """All combinations of the listed values for one data set; NMF and ANMF, which have no lambda, are fitted
    once.

    dataset : a name in the catalogue, or the path of a file.
    starts : number of starts of each combination.
    Everything else is as in `Point` and `factorize`.
    """

    dataset: str
    alphas: tuple[float, ...]
    Ks: tuple[int, ...]
    lams: tuple[float, ...] = ()
    methods: tuple[Method, ...] = ("nmf", "atnmf")
    missing: tuple[Missing, ...] = ("ignore",)
    solver: Solver = "fast"
    starts: int = 1
    masks: Draw = "seeded"
    mask_seed: int = 0
    pattern: str = "entries"
    draws: Draw = "seeded"
    seed: int = 0
    dtype: str = "float32"
    max_outer: int = 100
    max_inner: int = 1000
    tol_inner: float = 1e-2
    tol_outer: float = 1e-2

    def __post_init__(self) -> None:
        for name in ("alphas", "Ks", "lams", "methods", "missing"):
            object.__setattr__(self, name, _distinct(name, getattr(self, name)))
        object.__setattr__(self, "alphas", tuple(_measurable(alpha) for alpha in self.alphas))
        object.__setattr__(self, "lams", tuple(_checked_lam(lam) for lam in self.lams))
        self._check()

    def _check(self) -> None:
        for K in self.Ks:
            check_count("Ks", K)
        for name in ("starts", "max_outer", "max_inner"):
            check_count(name, getattr(self, name))
        for name in ("tol_inner", "tol_outer"):
            check_tolerance(name, getattr(self, name))
        check_seed(self.seed)
        check_seed(self.mask_seed)
        for name, allowed in _CHOICES.items():
            values = getattr(self, name)
            for value in values if isinstance(values, tuple) else (values,):
                check_one_of(name, value, allowed)
        if not isinstance(self.dataset, str) or not self.dataset:
            raise InputError(f"dataset={self.dataset!r}: a name of the catalogue or a path is needed.")
        if "atnmf" in self.methods and not self.lams:
            raise InputError("lams is empty: method 'atnmf' needs at least one lambda above 1.")
        if len(self) > MAX_POINTS:
            raise InputError(f"the grid has {len(self)} points; at most {MAX_POINTS} are run as one sweep.")

    def points(self) -> Iterator[Point]:
        """All points, first starts before second ones, so that a curve is complete early."""
        shared = {name: getattr(self, name) for name in _SHARED}
        for start, alpha, K, missing in product(range(self.starts), self.alphas, self.Ks, self.missing):
            for method in self.methods:
                # ANMF has only one algorithm, so it is in a grid of either solver.
                settings = shared | {"solver": "fast"} if method == "anmf" else shared
                for lam in self.lams if method == "atnmf" else (None,):
                    yield Point(
                        alpha=alpha, K=K, method=method, lam=lam, missing=missing, start=start, **settings
                    )

    def __len__(self) -> int:
        per_cell = sum(len(self.lams) if method == "atnmf" else 1 for method in self.methods)
        return self.starts * len(self.alphas) * len(self.Ks) * len(self.missing) * per_cell

    def check(self, data: Dataset) -> None:
        F, N = data.shape
        if max(self.Ks) > min(F, N):
            raise InputError(f"K={max(self.Ks)}: {data.name} is {F} x {N}, so K is at most {min(F, N)}.")
        least = min(self.lams, default=MIN_LAM)
        if least < MIN_LAM:
            raise InputError(f"lams: {least!r} is too near 1 to compute with; {MIN_LAM} is the least.")
        if self.seed + self.starts > SEEDS:
            raise InputError(
                f"seed={self.seed} with starts={self.starts}: begin at {SEEDS - self.starts} or below, as "
                f"each start takes the next seed and {SEEDS - 1} is the last."
            )

    def packed_masks(self, data: Dataset) -> dict[float, npt.NDArray[np.uint8]]:
        """For each alpha a bit per entry, set where it is observed: small enough to send to every worker."""
        return {
            alpha: np.packbits(drawn_mask(data, alpha, self.masks, self.mask_seed, self.pattern))
            for alpha in self.alphas
        }

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.as_json().encode()).hexdigest()[:8]

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes, **changes: Any) -> Grid:
        """The grid of a JSON object, some settings changed; a single value stands for a list of one."""
        try:
            settings = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the grid is not valid JSON: {error}.") from error
        if not isinstance(settings, dict):
            raise InputError("the grid must be a JSON object, with keys such as dataset, alphas and Ks.")
        settings |= changes
        known = [field.name for field in fields(cls)]
        unknown = sorted(settings.keys() - set(known))
        if unknown:
            raise InputError(f"a grid has no {', '.join(unknown)}; it has {', '.join(known)}.")
        lacking = [name for name in ("dataset", "alphas", "Ks") if name not in settings]
        if lacking:
            raise InputError(f"the grid lacks {', '.join(lacking)}.")
        return cls(**settings)


_SHARED = {one.name for one in fields(Point)} & {one.name for one in fields(Grid)} - {"missing"}
_CHOICES: dict[str, tuple[str, ...]] = {
    "methods": get_args(Method),
    "missing": get_args(Missing),
    "solver": get_args(Solver),
    "masks": get_args(Draw),
    "draws": get_args(Draw),
    "dtype": ("float32", "float64"),
    "pattern": PATTERNS,
}


def _measurable(alpha: float) -> float:
    if check_alpha(alpha) == 0:
        raise InputError("alpha=0: a sweep measures hidden entries, so some have to be hidden.")
    return float(alpha)


def _distinct(name: str, values: Any) -> tuple[Any, ...]:
    """The distinct values as a tuple, in order; a single value counts as a list of one."""
    listed = tuple(values) if isinstance(values, list | tuple) else (values,)
    if not listed and name != "lams":
        raise InputError(f"{name} is empty: at least one value is needed.")
    try:
        return tuple(dict.fromkeys(listed))
    except TypeError as error:
        raise InputError(f"{name}={values!r}: a list of plain values is needed.") from error


def _checked_lam(lam: Any) -> float:
    if not isinstance(lam, Real) or isinstance(lam, bool) or not 1 < float(lam) < float("inf"):
        raise InputError(f"lams: {lam!r} is not a finite number above 1.")
    return float(lam)


def lambda_series(low: float, high: float, count: int) -> tuple[float, ...]:
    """At most `count` values from low to high, above 1, evenly spaced in the logarithm of lambda - 1.

    On that scale the adversary's strength changes evenly. Values that round to the same number are merged.

    >>> lambda_series(1.1, 11, 3), lambda_series(2, 5, 1)
    ((1.1, 2.0, 11.0), (2.0,))
    """
    steps = np.geomspace(low - 1, high - 1, count)
    return tuple(dict.fromkeys(rounded_lambda(1 + step) for step in steps))


def rounded_lambda(lam: float) -> float:
    """Round to four digits, or to as many as leave two in lambda - 1, which is what matters to the adversary.

    >>> rounded_lambda(12.3456), rounded_lambda(1.00041234)
    (12.35, 1.00041)
    """
    decimals = max(3 - math.floor(math.log10(lam)), 1 - math.floor(math.log10(lam - 1)))
    return round(float(lam), decimals)


def expected_sweep_seconds(
    grid: Grid, shape: Shape, tried: Mapping[tuple[int, str, str], int] = MappingProxyType({})
) -> float:
    """Seconds of a grid's fits in sequence; `tried`, by K, treatment and method, are done."""
    total = 0.0
    for K in grid.Ks:
        for missing in grid.missing:
            for method in grid.methods:
                solver: Solver = "fast" if method == "anmf" else grid.solver
                each = expected_seconds(shape, K, solver=solver, missing=missing)
                fits = len(grid.alphas) * grid.starts * (len(grid.lams) if method == "atnmf" else 1)
                fits -= tried.get((K, missing, method), 0)
                total += fits * each * (_ANMF_FACTOR if method == "anmf" else 1)
    return total
