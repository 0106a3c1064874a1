"""The curve on display, in one form whether it is bundled with the program or a sweep on this machine."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from atnmf_core import SOLVER_VERSIONS, InputError
from atnmf_core.datasets.catalogue import LOADERS, is_upload_of
from atnmf_core.recipe import command_line, sweep_command
from atnmf_core.reference import TITLES, measured
from atnmf_core.reference.paper_tables import BUNDLED_GRIDS, PROTOCOLS, bundled_curve
from atnmf_core.sweep import FinishedPoint, Grid, SweepRecord, load_source
from atnmf_core.sweep.measurements import Measurement, baseline, best, gain
from pages.common.data import UPLOAD
from pages.common.hosting import is_hosted
from pages.common.setting import ALPHAS, MAX_K, MAX_LAM, MAX_SEED, Setting
from pages.common.sweeps import own_sweep, reading_store
from pages.common.uploads import uploads

from .setting import ADDRESS, CHART, CurveSelection

# How to read the bundled curves, in words; each number is taken from the curve.

ALPHA = 0.3
PAPER_LAM = 2.0
SMALLEST_GAIN = 0.02  # A smaller gain counts as none

NOTES = {
    "synthetic": (
        "**Why the two solvers differ at small λ.** Each round of Algorithm 1 fits V + R\\*, and so steps "
        "towards the data λ/(λ − 1) times as far as it should: 1.1 times at λ = 10, twice at λ = 2, six "
        "times at λ = 1.2. At large λ that does no harm, and the curves agree. At 2 and below its iterates "
        "swing past their goal and do not settle, and the error rises again. The fast solver lowers the "
        "adversarial loss itself and cannot overshoot: its curve is that of the model."
    ),
    "table": (
        "The cells as measured with the authors' masks and starts. Unmarked is how the paper's tables were "
        "made, marked is what its text describes. The Reproduce page shows the published numbers beside them."
    ),
}


def note_of(name: str) -> str:
    return _faces_note() if name == "lfw" else NOTES[name]


def _faces_note() -> str:
    """Both problems at one hidden share, and where a strong adversary helps although everything is marked."""
    unmarked = _points("zero", ALPHA)
    nmf, strongest = _nmf(unmarked), _best(unmarked)
    paper = next(point for point in unmarked if point.lam == PAPER_LAM)
    marked = {point.alpha: _points("ignore", point.alpha) for point in bundled_curve("lfw")}
    gains = {alpha: gain(_best(marked[alpha]), _nmf(marked[alpha])) for alpha in sorted(marked)}
    paid = {alpha: share for alpha, share in gains.items() if share >= SMALLEST_GAIN}
    most = " and ".join(f"{share:.0%} at α = {alpha:g}" for alpha, share in paid.items())
    return (
        "**Unmarked**, hidden pixels look like zeros and pull every prediction towards black. Here an "
        f"adversary helps, and a strong one most: at α = {ALPHA:g} the error of :blue[NMF] is "
        f"{nmf.mean:.3f}, that of :orange[AT-NMF] {paper.mean:.3f} at the paper's λ = {PAPER_LAM:g} and "
        f"{strongest.mean:.3f} at λ = {strongest.lam:g}. **Marked**, they are left out and pull nothing: the "
        f"best λ gains less than {SMALLEST_GAIN:.0%} over NMF, except where most is hidden ({most})."
    )


def _points(missing: str, alpha: float) -> list[Measurement]:
    return [point for point in bundled_curve("lfw") if (point.missing, point.alpha) == (missing, alpha)]


def _nmf(points: list[Measurement]) -> Measurement:
    found = baseline(points, "nmf")
    assert found is not None
    return found


def _best(points: list[Measurement]) -> Measurement:
    found = best(points)
    assert found is not None
    return found


_TABLE = "kept:table:"
BUNDLED = {
    "kept:lfw": "Bundled faces",
    "kept:synthetic": "The paper's figure: Synthetic",
    **{
        f"{_TABLE}{name}": f"Table {number}: {title}"
        for number, (name, title) in enumerate(TITLES.items(), 1)
    },
}
"""Curves that need no computing, by address: two sweeps, and the measured cells of the paper's tables."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve with everything that the page says about it, as Markdown or empty; `commands` reproduce it.

    rows : everything that was measured, as in its CSV file.
    grid : the grid of the sweep; None for the paper's tables, which come from several.
    record, failures : of a sweep on this machine.
    """

    name: str
    title: str
    rows: tuple[Measurement, ...]
    provenance: str
    note: str
    commands: tuple[str, ...]
    grid: Grid | None = None
    record: SweepRecord | None = None
    failures: tuple[FinishedPoint, ...] = ()

    @property
    def points(self) -> tuple[Measurement, ...]:
        return tuple(row for row in self.rows if math.isfinite(row.mean))


def find_curve(address: str) -> Curve | None:
    if address in BUNDLED:
        table = address.removeprefix(_TABLE)
        return _bundled(address) if table == address else _table(table, BUNDLED[address])
    kind, _, name = address.partition(":")
    return _sweep(name) if kind == "sweep" else None


def _bundled(address: str) -> Curve:
    name = address.removeprefix("kept:")
    rows, grids = bundled_curve(name), BUNDLED_GRIDS[name]
    return Curve(
        name=name,
        title=BUNDLED[address],
        rows=rows,
        provenance=f"Bundled with the program: {_versions(rows)}",
        note=note_of(name),
        commands=tuple(sweep_command(grid, f"curve_{name}_{grid.solver}.csv") for grid in grids),
        grid=grids[0],
    )


def _table(name: str, title: str) -> Curve:
    rows = measured(name)
    return Curve(
        name=f"table-{name}",
        title=title,
        rows=rows,
        provenance=f"Bundled with the program: {_versions(rows)}, K = {PROTOCOLS[name].K}",
        note=note_of("table"),
        commands=(command_line("reproduce", name, csv=f"measured_{name}.csv"),),
    )


def _sweep(name: str) -> Curve | None:
    with reading_store() as store:
        if store is None:
            return None
        try:
            record = own_sweep(store, name)
        except InputError:
            return None
        is_upload = is_upload_of(store.path, record.grid.dataset)
        rows = tuple(store.summary(name))
        failures = tuple(store.outcomes(name, failed=True)) if record.failed else ()
    return Curve(
        name=name,
        title=name,
        rows=rows,
        provenance=f"A sweep on this machine: {_versions(rows)}" if rows else "A sweep on this machine",
        note="",
        # A server for others does not reveal where it stores uploads.
        commands=() if is_hosted() and is_upload else (sweep_command(record.grid),),
        grid=record.grid,
        record=record,
        failures=failures,
    )


def _versions(rows: Sequence[Measurement]) -> str:
    versions = " and ".join(sorted({row.version for row in rows}))
    dates = sorted({row.date for row in rows})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    starts = sorted({row.starts for row in rows})
    number = f"{starts[0]}" if len(starts) == 1 else f"{starts[0]} to {starts[-1]}"
    return f"solver version {versions}, {when}, {number} start{'' if starts == [1] else 's'} each"


_CLICKED = "curves_clicked"


def opens_in_explore(curve: Curve) -> bool:
    """Whether Explore makes the same fits as this curve."""
    grid = curve.grid
    if grid is None or grid.masks != "seeded" or grid.draws != "seeded":
        return False
    plain = Grid(grid.dataset, grid.alphas, grid.Ks, lams=(2.0,))
    limits = ("dtype", "max_outer", "max_inner", "tol_inner", "tol_outer")
    return (
        all(getattr(grid, name) == getattr(plain, name) for name in limits)
        and set(grid.alphas) <= set(ALPHAS)
        and max(grid.Ks) <= MAX_K
        and max(grid.lams, default=0.0) <= MAX_LAM
        and max(grid.seed + grid.starts - 1, grid.mask_seed) <= MAX_SEED
        and all(point.version == SOLVER_VERSIONS[point.solver] for point in curve.points)
    )


def remember_click() -> None:
    points = st.session_state[CHART]["selection"]["points"]
    if points and points[0].get("customdata"):
        st.session_state[_CLICKED] = points[0]["customdata"]


def follow_click(curve: Curve) -> None:
    clicked = st.session_state.pop(_CLICKED, None)
    if clicked is None or curve.grid is None:
        return
    alpha, method, lam, solver, _ = clicked
    grid = curve.grid
    if method == "anmf":
        st.toast("Explore compares AT-NMF with NMF; it does not show ANMF.", icon=":material/info:")
        return
    chosen = ADDRESS.get(CurveSelection)
    combination = {"K": chosen.at_K, "missing": chosen.at_missing}
    setting = Setting(
        data=grid.dataset,
        alpha=alpha,
        pattern=grid.pattern,
        lam=lam if lam is not None else Setting().lam,
        **combination,
        solver=solver,
        seed=grid.seed + _nearest_start(curve, {"alpha": alpha, "method": method, "lam": lam} | combination),
        mask_seed=grid.mask_seed,
    )
    if grid.dataset not in LOADERS:
        setting = replace(setting, data=UPLOAD, upload=uploads().keep(load_source(grid.dataset)))
    st.session_state["run_asked"] = True
    st.switch_page("pages/explore.py", query_params=spelled_out(setting))


def spelled_out(setting: Setting) -> dict[str, str]:
    """The address of a setting, defaults included, so that nothing is left of Explore's last view."""
    names = ("data", "upload", "alpha", "pattern", "lam", "K", "missing", "solver", "seed", "mask_seed")
    return {name: f"{getattr(setting, name)}" for name in names if getattr(setting, name) != ""}


def _nearest_start(curve: Curve, wanted: Mapping[str, object]) -> int:
    """Of a sweep's starts at a point, the one whose error is closest to their mean."""
    with reading_store() as store:
        outcomes = [] if store is None or curve.record is None else list(store.outcomes(curve.name))
    errors = {
        one.identity["start"]: one.measures["rmse_hidden"]
        for one in outcomes
        if one.measures and wanted.items() <= one.identity.items()
    }
    mean = sum(errors.values()) / max(len(errors), 1)
    return min(errors, key=lambda start: abs(errors[start] - mean), default=0)
