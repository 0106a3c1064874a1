"""Restoring scenes larger than memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ...datasets import ReadingOptions
from ...datasets.files.scene_file import Block, SceneFile, open_scene, rewritten
from ...jobs.whole_files import moved_when_whole
from ...model.problem import Array, Mask, check_one_of, check_seed
from ..choice import ChoiceCallback, Losses
from ..lines import in_short
from .blockwise import BLOCK_ENTRIES, BlocksCallback, FarRows, SceneRun, far_text, row_runs
from .scene_model import FEWEST_FAR, Pixels, SceneModel, SceneSettings, learn, refine, restore_pixels

# One block of a scene, restored by any worker that can read the file.


@dataclass(frozen=True, eq=False)
class BlockResult:
    """What changes in a block.

    Attributes
    ----------
    changed, defects : bool F x n, as bits.
    numbers : for the changed entries, as the file stores them.
    density : n, how well the first model describes each pixel; see `Pixels`.
    predicted, unknown : n, how many entries of each pixel were predicted, and cannot be.
    """

    changed: npt.NDArray[np.uint8]
    defects: npt.NDArray[np.uint8]
    numbers: npt.NDArray[Any]
    density: npt.NDArray[np.float32]
    predicted: npt.NDArray[np.uint32]
    unknown: npt.NDArray[np.uint32]


def restore_block(scene: SceneFile, number: int, block: Block, model: SceneModel) -> tuple[int, BlockResult]:
    """The number of the block, and what changes in it."""
    with threadpool_limits(limits=1, user_api="blas"):
        offsets = _offsets(block, model)
        V = scene.read(block) - offsets
        restored = restore_pixels(V, model)
    return number, _result(scene, V, offsets != 0, restored)


def refine_block(
    scene: SceneFile, number: int, block: Block, model: SceneModel, far: float, first: BlockResult
) -> tuple[int, BlockResult]:
    """Restore the pixels that are unlike the sample by another model, where that describes them better."""
    with threadpool_limits(limits=1, user_api="blas"):
        offsets = _offsets(block, model)
        V = scene.read(block) - offsets
        pixels = np.flatnonzero(first.density < far)
        restored = restore_pixels(V[:, pixels], model)
    better = restored.density > first.density[pixels]
    kept = Pixels(**{name: values[..., better] for name, values in vars(restored).items()})
    pixels = pixels[better]
    again = _result(scene, V[:, pixels], offsets[:, pixels] != 0, kept)
    return number, _merged(first, again, pixels, V.shape)


def _offsets(block: Block, model: SceneModel) -> Array:
    """Of the pixels of a block."""
    return np.tile(model.offsets[:, block.left : block.right], block.bottom - block.top)


def masks(result: BlockResult, shape: tuple[int, ...]) -> tuple[Mask, Mask]:
    """The changed entries and the defects, F x n."""
    count = int(np.prod(shape))
    changed, defects = (
        np.unpackbits(bits, count=count).reshape(shape).astype(bool)
        for bits in (result.changed, result.defects)
    )
    return changed, defects


def _result(scene: SceneFile, V: Array, striped: Mask, restored: Pixels) -> BlockResult:
    missing = np.isnan(V)
    predicted = (missing | restored.defects) & ~restored.unknown
    # A defect that cannot be predicted becomes missing, if the file has a value for that.
    lost = restored.unknown & restored.defects & scene.can_miss
    shifted = striped & ~missing & ~restored.defects
    values = np.where(lost, np.nan, np.where(shifted, V, restored.predicted))
    changed = predicted | lost | shifted
    return BlockResult(
        np.packbits(changed),
        np.packbits(restored.defects),
        scene.numbers(values[changed]),
        restored.density.astype(np.float32),
        predicted.sum(axis=0, dtype=np.uint32),
        restored.unknown.sum(axis=0, dtype=np.uint32),
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
    predicted, unknown = first.predicted.copy(), first.unknown.copy()
    predicted[pixels], unknown[pixels] = again.predicted, again.unknown
    return replace(
        first,
        changed=np.packbits(changed),
        defects=np.packbits(defects),
        numbers=numbers[changed],
        predicted=predicted,
        unknown=unknown,
    )


ROOM = 1.5
"""Free disk space that is asked for, as a multiple of the scene's own size: for the output and the blocks."""


@dataclass(frozen=True, eq=False)
class SceneRestoration:
    """What was done to a scene.

    Attributes
    ----------
    files : that were written.
    model : what the pixels were restored by.
    predicted, defects, unknown : shares of the entries that were predicted, that looked wrong, and that
        nothing could be told about.
    far : where pixels are unlike the sample.
    replaced : rows x cols, the share of each pixel's bands that were predicted.
    """

    files: tuple[Path, ...]
    model: SceneModel
    predicted: float
    defects: float
    unknown: float
    far: FarRows
    replaced: npt.NDArray[np.float32] = field(repr=False)

    @property
    def summary(self) -> str:
        """What was done, in a few sentences."""
        return " ".join([self.model.words, *self.findings])

    @property
    def findings(self) -> list[str]:
        """What was found in the scene, one sentence each."""
        said = [f"{self.predicted:.2%} of the entries were predicted."]
        if self.model.losses == "unmarked":
            said.append(f"{self.defects:.2%} of the entries look wrong.")
        if self.model.striped:
            said.append(f"Offsets taken off: {in_short(self.model.striped)}.")
        if self.unknown:
            said.append(f"{self.unknown:.2%} cannot be restored and are left as they are or missing.")
        if self.far:
            said.append(
                f"{far_text(self.far)}: they were restored by a model that was refined with pixels from "
                "there."
            )
        return said


def restore_scene(
    path: str | Path,
    out: str | Path,
    losses: Losses = "marked",
    *,
    K: int | tuple[int, ...] | None = None,
    lam: float | None = None,
    leash: float | None = None,
    seed: int = 0,
    options: ReadingOptions | None = None,
    defects: str | Path | None = None,
    block_entries: int = BLOCK_ENTRIES,
    n_jobs: int = -1,
    dask: str | None = None,
    callback: ChoiceCallback | None = None,
    progress: BlocksCallback = lambda done, total: None,
) -> SceneRestoration:
    """Restore a cube on disk that need not fit into memory, and write it in its own format.

    A model is chosen and learned from a sample of pixels that covers the scene. Then every pixel follows from
    its own entries alone, so blocks of pixels are restored one by one, in processes. Pixels that the model
    describes far worse than the sample are restored again, by a model that was refined with some of them.
    Other than in `restore`, pixels that look alike are not averaged, lost pixels not interpolated, and only
    image columns are searched for stripes.
    Progress is stored in a folder beside `out` until everything is done: the same call resumes an interrupted
    run.

    Parameters
    ----------
    path : a cube in ENVI, NPY, HDF5, NetCDF 4 or GeoTIFF; on a cluster, where all workers see it.
    out : the file to write, in the same format.
    losses, K, lam, leash, seed : as in `restore`.
    options : how the file is read.
    defects : an .npy file for the entries that look wrong, rows x cols x bands, 1 where they do.
    block_entries : about how many entries are read and restored at once; does not affect the result.
    n_jobs, dask : as in `run_sweep`.
    callback : as in `restore`, while the model is chosen; it cannot end the choice.
    progress : called with the numbers of finished and of all blocks.
    """
    check_one_of("losses", losses, ("marked", "unmarked"))
    check_seed(seed)
    scene, out = open_scene(path, options), Path(out)
    request = SceneSettings(losses, K, lam, leash, seed)
    run = SceneRun(scene, out, vars(request), ROOM * scene.bytes, block_entries, n_jobs, dask, progress)
    model = SceneModel.from_fields(run.model("model", lambda: learn(scene, request, callback).fields))
    run.work(
        "block",
        range(len(run.blocks)),
        restore_block,
        lambda number: (scene, number, run.blocks[number], model),
    )
    far = _refined(run, model, lambda places: refine(scene, model, places, request))
    found = _written(run, out, None if defects is None else Path(defects))
    run.record.remove()
    return SceneRestoration(model=model, far=far, **found)


def _refined(
    run: SceneRun, model: SceneModel, refine: Callable[[npt.NDArray[np.intp]], SceneModel]
) -> FarRows:
    """Restore again, by a refined model, what is unlike the sample; the image rows where that is."""
    far = run.far_pixels(lambda block: block["density"] < model.far)
    if sum(pixels.size for pixels in far.values()) < FEWEST_FAR:
        return ()
    places = np.sort(np.concatenate(list(far.values())))
    refined = SceneModel.from_fields(run.model("refined", lambda: refine(places).fields))
    run.work(
        "refined",
        list(far),
        refine_block,
        lambda number: (
            *(run.scene, number, run.blocks[number]),
            *(refined, model.far, BlockResult(**run.result(number))),
        ),
    )
    return row_runs(places // run.scene.cols)


def _written(run: SceneRun, out: Path, defects_out: Path | None) -> dict[str, Any]:
    """Write the restored scene, and its defects if wanted, and describe it."""
    scene = run.scene
    replaced = np.zeros((scene.rows, scene.cols), np.float32)
    wrong = unknown = 0
    beside = () if defects_out is None else (defects_out,)
    with rewritten(scene, out) as (copy, files), moved_when_whole(*beside) as parts:
        shape = (scene.rows, scene.cols, scene.bands)
        mask = np.lib.format.open_memmap(parts[0], "w+", np.uint8, shape) if parts else None
        for block, (here, fields) in zip(run.blocks, run.results(), strict=True):
            result = BlockResult(**fields)
            changed, defects = masks(result, (scene.bands, block.pixels))
            copy.write(block, changed, result.numbers)
            wrong, unknown = wrong + int(defects.sum()), unknown + int(result.unknown.sum())
            replaced[here] = (result.predicted / scene.bands).reshape(replaced[here].shape)
            if mask is not None:
                mask[here] = defects.T.reshape(mask[here].shape)
    return {
        "files": (*files, *beside),
        "predicted": float(replaced.mean(dtype=np.float64)),
        "defects": wrong / scene.entries,
        "unknown": unknown / scene.entries,
        "replaced": replaced,
    }
