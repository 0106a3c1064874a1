"""Finished sweeps bundled with the program, so that the first view of a curve needs no computing.

Each is a CSV file beside this one, written by the command that `atnmf_core.recipe.sweep_command` gives for
its grid.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

from ..sweep.grid import Grid
from ..sweep.measurements import Measurement, read_csv

_LFW = Grid(
    "lfw",
    alphas=(0.1, 0.3, 0.5, 0.7, 0.9),
    Ks=(25,),
    lams=(1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 7, 10, 20, 50, 100),
    methods=("nmf", "atnmf", "anmf"),
    missing=("zero", "ignore"),
    starts=5,
)
_SYNTHETIC = Grid(
    "synthetic-paper",
    alphas=(0.5,),
    Ks=(5,),
    lams=(1.2, 1.5, 1.7, 2, 2.5, 3, 4, 5, 7, 10, 20, 50, 100),
    missing=("zero",),
    starts=3,
    masks="paper",
)
_SCENE = Grid(
    "simulated-scene",
    alphas=(0.5,),
    Ks=(5,),
    lams=_LFW.lams,
    missing=("zero", "ignore"),
    starts=5,
)
BUNDLED_GRIDS: dict[str, tuple[Grid, ...]] = {
    "lfw": (_LFW,),
    "scene": (_SCENE,),
    "synthetic": (replace(_SYNTHETIC, solver="paper"), replace(_SYNTHETIC, solver="fast")),
}
"""The grids of the bundled curves: the bundled faces, the simulated scene, and the paper's figure with either
solver.
"""


def bundled_curve(name: str) -> tuple[Measurement, ...]:
    """The points of the bundled curve "lfw", "scene" or "synthetic"."""
    tables = (files(__package__) / f"curve_{name}_{grid.solver}.csv" for grid in BUNDLED_GRIDS[name])
    return tuple(point for table in tables for point in read_csv(table.read_text()))
