"""Chapter 3: what an adversary does to one number."""

from __future__ import annotations

from ..chapter import Chapter, Stage
from ..dials import dials_of_one_number, show_with_dials

__all__ = ["ADVERSARY"]

CONTROLS = dials_of_one_number(v=0.6, p=0.2, max_p=1.5)


def show(stage: Stage) -> None:
    show_with_dials("attack", CONTROLS, stage)


ADVERSARY = Chapter(
    name="adversary",
    short="Adversary",
    controls=CONTROLS,
    show=show,
    in_picture=CONTROLS,
)
