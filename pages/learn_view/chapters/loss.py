"""Chapter 5: the loss that the game comes down to."""

from __future__ import annotations

from ..chapter import Chapter, Stage
from ..dials import dials_of_one_number, show_with_dials

__all__ = ["LOSS"]

CONTROLS = dials_of_one_number(v=0.4, p=1.2, max_p=2.0)


def show(stage: Stage) -> None:
    show_with_dials("loss", CONTROLS, stage)


LOSS = Chapter(
    name="loss",
    short="Loss",
    controls=CONTROLS,
    show=show,
    in_picture=CONTROLS,
)
