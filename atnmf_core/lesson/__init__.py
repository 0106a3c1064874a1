"""Small examples of what the solvers do, slow enough to be followed by eye and by hand."""

from .building import BuildUp, build_up
from .defects import (
    DEFECTS,
    SCENE_K,
    Mended,
    Recorded,
    mend,
    mend_known,
    mend_robust,
    recorded,
    small_scene,
)
from .findings import Error, Finding, findings
from .game import EXAMPLE, HalfStep, PlayedGame, play
from .guessing import Verdict, judge
from .weighing import PART, SERIES, Weighing, weigh

__all__ = [
    "DEFECTS",
    "EXAMPLE",
    "PART",
    "SCENE_K",
    "SERIES",
    "BuildUp",
    "Error",
    "Finding",
    "HalfStep",
    "Mended",
    "PlayedGame",
    "Recorded",
    "Verdict",
    "Weighing",
    "build_up",
    "findings",
    "judge",
    "mend",
    "mend_known",
    "mend_robust",
    "play",
    "recorded",
    "small_scene",
    "weigh",
]
