"""Small examples of what the solvers do, slow enough to be followed by eye and by hand."""

from .examples import (
    EXAMPLE,
    PART,
    SERIES,
    BuildUp,
    HalfStep,
    PlayedGame,
    Verdict,
    Weighing,
    build_up,
    judge,
    play,
    weigh,
)
from .findings import (
    DEFECTS,
    FACES_HIDDEN,
    FACES_SHOWN,
    SCENE_K,
    Error,
    FilledFace,
    Finding,
    Mended,
    Recorded,
    filled_face,
    findings,
    mend,
    mend_known,
    mend_robust,
    recorded,
    small_scene,
)

__all__ = [
    "DEFECTS", "EXAMPLE", "FACES_HIDDEN", "FACES_SHOWN", "PART", "SCENE_K", "SERIES", "BuildUp",
    "Error", "FilledFace", "Finding", "HalfStep", "Mended", "PlayedGame", "Recorded", "Verdict",
    "Weighing", "build_up", "filled_face", "findings", "judge", "mend", "mend_known", "mend_robust",
    "play", "recorded", "small_scene", "weigh",
]  # fmt: skip
