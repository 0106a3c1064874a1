"""Scenes larger than memory: a model is learned from a sample of pixels and applied block by block."""

from .fitting import SceneFit, fit_scene
from .pixels import SceneModel
from .process import SceneStatus, start_scene, status_of
from .restoring import SceneRestoration, restore_scene
from .run import BLOCK_ENTRIES

__all__ = [
    "BLOCK_ENTRIES",
    "SceneFit",
    "SceneModel",
    "SceneRestoration",
    "SceneStatus",
    "fit_scene",
    "restore_scene",
    "start_scene",
    "status_of",
]
