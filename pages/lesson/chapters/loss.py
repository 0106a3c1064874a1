"""Chapter 5: the loss that the game comes down to."""

from __future__ import annotations

from pages.common.setting import LAMBDAS

from ..chapter import Chapter, Stage
from ..control import Stops
from ..dials import show_with_dials

__all__ = ["LOSS"]

V = tuple(round(0.05 * step, 2) for step in range(21))
P = tuple(round(0.05 * step, 2) for step in range(41))
CONTROLS = (
    Stops("v", "v, the number in the data", 0.4, V, "{:.2f}", inside=True),
    Stops("p", "p, its prediction", 1.2, P, "{:.2f}", inside=True),
    Stops("lam", "λ, the attacker's price", 2.0, LAMBDAS, inside=True),
)


def show(stage: Stage) -> None:
    show_with_dials("loss", CONTROLS, stage)


LOSS = Chapter(
    name="loss",
    short="Loss",
    controls=CONTROLS,
    show=show,
)
