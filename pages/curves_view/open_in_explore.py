"""From a point of a curve to the Explore page, with the setting that gave it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from atnmf_core import SOLVER_VERSIONS
from atnmf_core.datasets import catalogue
from atnmf_core.sweep import Grid, load_source
from pages.common.data_choice import UPLOAD
from pages.common.setting import ALPHAS, MAX_K, MAX_SEED, Setting
from pages.common.sweeps import reading_store
from pages.common.uploads import uploads

from .curve import Curve
from .state import CHART, key

_CLICKED = "curves_clicked"


def opens_in_explore(curve: Curve) -> bool:
    """Whether Explore makes the same fits as this curve: with seeded masks and starts, in the same
    precision.
    """
    grid = curve.grid
    if grid is None or grid.masks != "seeded" or grid.draws != "seeded":
        return False
    plain = Grid(grid.dataset, grid.alphas, grid.Ks, lams=(2.0,))
    limits = ("dtype", "max_outer", "max_inner", "tol_inner", "tol_outer")
    return (
        all(getattr(grid, name) == getattr(plain, name) for name in limits)
        and set(grid.alphas) <= set(ALPHAS)
        and max(grid.Ks) <= MAX_K
        and max(grid.seed + grid.starts - 1, grid.mask_seed) <= MAX_SEED
        and all(point.version == SOLVER_VERSIONS[point.solver] for point in curve.points)
    )


def remember_click() -> None:
    """Remember what was clicked for the next run."""
    points = st.session_state[CHART]["selection"]["points"]
    if points and points[0].get("customdata"):
        st.session_state[_CLICKED] = points[0]["customdata"]


def follow_click(curve: Curve) -> None:
    """Open Explore if a point was clicked."""
    clicked = st.session_state.pop(_CLICKED, None)
    if clicked is None or curve.grid is None:
        return
    alpha, method, lam, solver, _ = clicked
    grid = curve.grid
    if method == "anmf":
        st.toast("Explore compares AT-NMF with NMF; it does not show ANMF.", icon=":material/info:")
        return
    setting = Setting(
        data=grid.dataset,
        alpha=alpha,
        pattern=grid.pattern,
        lam=lam if lam is not None else Setting().lam,
        K=st.session_state[key("at_K")],
        missing=st.session_state[key("at_missing")],
        solver=solver,
        seed=grid.seed + _nearest_start(curve, alpha, method, lam),
        mask_seed=grid.mask_seed,
    )
    if grid.dataset not in {entry.name for entry in catalogue()}:
        setting = _uploaded(setting)
    st.session_state["run_asked"] = True
    st.switch_page("pages/explore.py", query_params=spelled_out(setting))


def spelled_out(setting: Setting) -> dict[str, str]:
    """The address of a setting, defaults included, so that nothing is left of Explore's last view."""
    names = ("data", "upload", "alpha", "pattern", "lam", "K", "missing", "solver", "seed", "mask_seed")
    return {name: f"{getattr(setting, name)}" for name in names if getattr(setting, name) != ""}


def _nearest_start(curve: Curve, alpha: float, method: str, lam: float | None) -> int:
    """Of a sweep's starts at a point, the one whose error is closest to their mean."""
    state = st.session_state
    wanted = {
        "alpha": alpha,
        "method": method,
        "lam": lam,
        "K": state[key("at_K")],
        "missing": state[key("at_missing")],
    }
    with reading_store() as store:
        outcomes = [] if store is None or curve.record is None else list(store.outcomes(curve.name))
    errors = {
        one.identity["start"]: one.measures["rmse_hidden"]
        for one in outcomes
        if one.measures and wanted.items() <= one.identity.items()
    }
    mean = sum(errors.values()) / max(len(errors), 1)
    return min(errors, key=lambda start: abs(errors[start] - mean), default=0)


def _uploaded(setting: Setting) -> Setting:
    """The same setting on uploaded data, cached where Explore finds it."""
    return replace(setting, data=UPLOAD, upload=uploads().keep(load_source(setting.data)))
