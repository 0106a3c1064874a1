"""Small examples of what the solvers do, slow enough to be followed by eye and by hand."""

from .building import BuildUp, build_up
from .findings import Error, Finding, findings
from .game import EXAMPLE, HalfStep, PlayedGame, play
from .guessing import Verdict, judge
from .weighing import PART, SERIES, Weighing, weigh

__all__ = [
    "EXAMPLE",
    "PART",
    "SERIES",
    "BuildUp",
    "Error",
    "Finding",
    "HalfStep",
    "PlayedGame",
    "Verdict",
    "Weighing",
    "build_up",
    "findings",
    "judge",
    "play",
    "weigh",
]
