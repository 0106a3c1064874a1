"""Restoring scenes larger than memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...datasets import ReadingOptions
from ...datasets.scene_file import open_scene, rewritten
from ...problem import check_one_of, check_seed
from ..choice import ChoiceCallback, Losses
from ..workers import trials_on_workers
from .blocks import BlockResult, masks, refine_block, restore_block
from .learning import FEWEST_FAR, SceneSettings, learn, refine
from .pixels import SceneModel
from .run import BLOCK_ENTRIES, BlocksCallback, FarRows, SceneRun, in_words, row_runs

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
        if self.unknown:
            said.append(f"{self.unknown:.2%} cannot be restored and are left as they are or missing.")
        if self.far:
            said.append(
                f"{in_words(self.far)}: they were restored by a model that was refined with pixels from "
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

    A model is chosen and learned from a sample of pixels that covers the scene. Then every pixel's column of
    H follows from W alone, so blocks of pixels are restored one by one, in processes. Pixels that the model
    describes far worse than the sample are restored again, by a model that was refined with some of them.
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
    wish = SceneSettings(losses, K, lam, leash, seed)
    run = SceneRun(scene, out, vars(wish), ROOM * scene.bytes, block_entries, n_jobs, dask, progress)
    trials = trials_on_workers(n_jobs, dask)
    model = SceneModel.from_fields(run.model("model", lambda: learn(scene, wish, callback, trials).fields))
    run.work(
        "block",
        range(len(run.blocks)),
        restore_block,
        lambda number: (scene, number, run.blocks[number], model),
    )
    far = _refined(run, model, lambda places: refine(scene, model, places, wish, trials))
    found = _written(run, out, None if defects is None else Path(defects))
    run.record.remove()
    return SceneRestoration(model=model, far=far, **found)


def _refined(
    run: SceneRun, model: SceneModel, refine: Callable[[npt.NDArray[np.intp]], SceneModel]
) -> FarRows:
    """Restore again, by a refined model, what is unlike the sample; the image rows where that is."""
    far = run.far_pixels(model.far)
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
    with rewritten(scene, out) as (copy, files):
        part = out.with_name(f".part-defects-{out.name}.npy")
        shape = (scene.rows, scene.cols, scene.bands)
        mask = np.lib.format.open_memmap(part, "w+", np.uint8, shape) if defects_out else None
        for block, (here, fields) in zip(run.blocks, run.results(), strict=True):
            result = BlockResult(**fields)
            changed, defects = masks(result, (scene.bands, block.pixels))
            copy.write(block, changed, result.numbers)
            wrong, unknown = wrong + int(defects.sum()), unknown + result.unknown
            replaced[here] = changed.mean(axis=0).reshape(replaced[here].shape)
            if mask is not None:
                mask[here] = defects.T.reshape(mask[here].shape)
    if defects_out is not None:
        part.replace(defects_out)
        files = (*files, defects_out)
    return {
        "files": files,
        "predicted": float(replaced.mean(dtype=np.float64)),
        "defects": wrong / scene.entries,
        "unknown": unknown / scene.entries,
        "replaced": replaced,
    }
