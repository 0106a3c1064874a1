"""Scenes larger than memory: a model learned from a sample of pixels, the rest restored block by block."""

from .pixels import SceneModel
from .process import SceneStatus, start_scene, status_of
from .run import BLOCK_ENTRIES, SceneRestoration, restore_scene

__all__ = [
    "BLOCK_ENTRIES",
    "SceneModel",
    "SceneRestoration",
    "SceneStatus",
    "restore_scene",
    "start_scene",
    "status_of",
]
