"""Finished sweeps that come with the program, so that the first view of a curve needs no computing.

Each is a CSV file beside this one, written by the command that `atnmf_core.commands.sweep.command_line` gives
for its grid.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

from ..curves import CurvePoint, from_csv
from ..sweep.grid import Grid

__all__ = ["KEPT_GRIDS", "CurvePoint", "kept_curve", "kept_text", "lfw_curve"]

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
KEPT_GRIDS: dict[str, tuple[Grid, ...]] = {
    "lfw": (_LFW,),
    "scene": (_SCENE,),
    "synthetic": (replace(_SYNTHETIC, solver="paper"), replace(_SYNTHETIC, solver="fast")),
}
"""What each kept curve was made from: the bundled faces, the simulated scene, and the paper's figure with
either solver."""


def kept_curve(name: str) -> tuple[CurvePoint, ...]:
    """The points of a kept curve, "lfw", "scene" or "synthetic"."""
    return tuple(point for text in kept_text(name) for point in from_csv(text))


def kept_text(name: str) -> tuple[str, ...]:
    """The same as CSV, a text per grid."""
    folder = files(__package__)
    return tuple((folder / f"curve_{name}_{grid.solver}.csv").read_text() for grid in KEPT_GRIDS[name])


def lfw_curve() -> tuple[CurvePoint, ...]:
    """The bundled faces, K = 25, seeded mask 0, by the fast solver."""
    return kept_curve("lfw")
