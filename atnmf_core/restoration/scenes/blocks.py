"""One block of a scene, restored by any worker that can read the file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ...datasets.scene_file import Block, SceneFile
from ...problem import Array, Mask
from .pixels import Pixels, SceneModel, restore_pixels


@dataclass(frozen=True, eq=False)
class BlockResult:
    """What changes in a block.

    Attributes
    ----------
    changed, defects : bool F x n, as bits.
    numbers : for the changed entries, as the file stores them.
    scale : n, the size of each pixel's residuals with the first model.
    unknown : how many entries cannot be predicted.
    """

    changed: npt.NDArray[np.uint8]
    defects: npt.NDArray[np.uint8]
    numbers: npt.NDArray[Any]
    scale: npt.NDArray[np.float32]
    unknown: int


def restore_block(scene: SceneFile, number: int, block: Block, model: SceneModel) -> tuple[int, BlockResult]:
    """The number of the block, and what changes in it."""
    with threadpool_limits(limits=1, user_api="blas"):
        V = scene.read(block)
        restored = restore_pixels(V, model)
    return number, _result(scene, V, restored)


def refine_block(
    scene: SceneFile, number: int, block: Block, model: SceneModel, far: float, first: BlockResult
) -> tuple[int, BlockResult]:
    """Restore the pixels that are unlike the sample by another model, where that describes them better."""
    with threadpool_limits(limits=1, user_api="blas"):
        V = scene.read(block)
        pixels = np.flatnonzero(first.scale > far)
        restored = restore_pixels(V[:, pixels], model)
    better = restored.scale < first.scale[pixels]
    pixels = pixels[better]
    again = _result(
        scene,
        V[:, pixels],
        Pixels(
            restored.predicted[:, better],
            restored.defects[:, better],
            restored.unknown[:, better],
            restored.scale[better],
        ),
    )
    return number, _merged(first, again, pixels, V.shape)


def masks(result: BlockResult, shape: tuple[int, ...]) -> tuple[Mask, Mask]:
    """The changed entries and the defects, F x n."""
    count = int(np.prod(shape))
    changed, defects = (
        np.unpackbits(bits, count=count).reshape(shape).astype(bool)
        for bits in (result.changed, result.defects)
    )
    return changed, defects


def _result(scene: SceneFile, V: Array, restored: Pixels) -> BlockResult:
    wanted = np.isnan(V) | restored.defects
    # A defect that cannot be predicted becomes missing, if the file has a value for that.
    lost = restored.unknown & restored.defects & scene.can_miss
    changed = (wanted & ~restored.unknown) | lost
    values = np.where(lost, np.nan, restored.predicted)[changed]
    return BlockResult(
        np.packbits(changed),
        np.packbits(restored.defects),
        scene.numbers(values),
        restored.scale.astype(np.float32),
        int(restored.unknown.sum()),
    )


def _merged(
    first: BlockResult, again: BlockResult, pixels: npt.NDArray[np.intp], shape: tuple[int, ...]
) -> BlockResult:
    changed, defects = masks(first, shape)
    newly_changed, newly_defects = masks(again, (shape[0], pixels.size))
    numbers = np.zeros(shape, first.numbers.dtype)
    numbers[changed] = first.numbers
    part = np.zeros(newly_changed.shape, first.numbers.dtype)
    part[newly_changed] = again.numbers
    numbers[:, pixels], changed[:, pixels], defects[:, pixels] = part, newly_changed, newly_defects
    return replace(
        first,
        changed=np.packbits(changed),
        defects=np.packbits(defects),
        numbers=numbers[changed],
    )
