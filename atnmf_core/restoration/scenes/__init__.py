"""Scenes larger than memory: a model is learned from a sample of pixels and applied block by block."""

from .blockwise import BLOCK_ENTRIES, SceneStatus, start_scene, status_of
from .fitting import SceneFit, fit_scene
from .restoring import SceneRestoration, restore_scene
from .scene_model import SceneModel

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
