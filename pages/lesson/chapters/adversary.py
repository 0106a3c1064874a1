"""Chapter 3: what an adversary does to one number."""

from __future__ import annotations

from pages.common.setting import LAMBDAS

from ..chapter import Chapter, Stage
from ..control import Stops
from ..dials import show_with_dials

__all__ = ["ADVERSARY"]

V = tuple(round(0.05 * step, 2) for step in range(21))
P = tuple(round(0.05 * step, 2) for step in range(31))
CONTROLS = (
    Stops("v", "v, the number in the data", 0.6, V, "{:.2f}", inside=True),
    Stops("p", "p, its prediction", 0.2, P, "{:.2f}", inside=True),
    Stops("lam", "λ, the attacker's price", 2.0, LAMBDAS, inside=True),
)


def show(stage: Stage) -> None:
    show_with_dials("attack", CONTROLS, stage)


ADVERSARY = Chapter(
    name="adversary",
    short="Adversary",
    controls=CONTROLS,
    show=show,
)
