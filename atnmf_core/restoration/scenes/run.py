"""The entry point for scenes larger than memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...datasets import ReadingOptions
from ...datasets.scene_file import Block, SceneFile, open_scene, rewritten
from ...problem import InputError, check_one_of, check_seed
from ...sweep.engine import on_workers, run_until_done
from ..choice import Callback, Losses
from ..workers import trials_on_workers
from .blocks import masks, refine_block, restore_block, write_block
from .learning import FEWEST_FAR, SceneSettings, learn, refine
from .pixels import SceneModel
from .record import BlockResult, Record, Stage

__all__ = ["BLOCK_ENTRIES", "SceneRestoration", "restore_scene"]

BLOCK_ENTRIES = 4_000_000
"""Of one block: what a worker reads at once, and what is done again after a kill."""
ROOM = 1.5
"""Free disk space that is asked for, as a multiple of the scene's own size: for the output and the blocks."""
MAX_NAMED = 5
Progress = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class SceneRestoration:
    """What was done to a scene.

    Attributes
    ----------
    files : that were written.
    model : what the pixels were restored by.
    predicted, defects, unknown : shares of the entries that were predicted, that looked wrong, and that
        nothing could be told about.
    far : image rows (first and last, from 1) with pixels unlike the sample, and how many pixels these are.
    replaced : rows x cols, the share of each pixel's bands that were predicted.
    """

    files: tuple[Path, ...]
    model: SceneModel
    predicted: float
    defects: float
    unknown: float
    far: tuple[tuple[int, int, int], ...]
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
            named = ", ".join(f"{first} to {last}" for first, last, _ in self.far[:MAX_NAMED])
            more = " and elsewhere" if len(self.far) > MAX_NAMED else ""
            count = sum(pixels for *_, pixels in self.far)
            said.append(
                f"{count} pixels are far worse described than the sample, in image rows {named}{more}: "
                "they were restored by a model that was refined with pixels from there."
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
    callback: Callback | None = None,
    progress: Progress = lambda done, total: None,
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
    if out.resolve() in {file.resolve() for file in scene.files}:
        raise InputError(f"{out}: this would replace the file that is read; choose another name.")
    wish = SceneSettings(losses, K, lam, leash, seed)
    blocks = scene.blocks(block_entries)
    record = Record(out, _settings(scene, wish, block_entries), len(blocks))
    _check_room(scene, out, record)
    run = _Run(scene, blocks, record, n_jobs, dask, progress)
    model = record.model("model")
    if model is None:
        model = learn(scene, wish, callback, trials_on_workers(n_jobs, dask))
        record.keep_model("model", model)
    run.all_blocks(model)
    far = run.refine(model, wish)
    found = run.write(out, None if defects is None else Path(defects))
    record.remove()
    return SceneRestoration(model=model, far=far, **found)


def _settings(scene: SceneFile, wish: SceneSettings, block_entries: int) -> dict[str, Any]:
    files = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in scene.files]
    return {"files": files, "options": scene.options.arguments(), "wish": vars(wish), "block": block_entries}


def _check_room(scene: SceneFile, out: Path, record: Record) -> None:
    used = sum(file.stat().st_size for file in record.folder.iterdir())
    needed, free = ROOM * scene.bytes - used, shutil.disk_usage(out.resolve().parent).free
    if free < needed:
        raise InputError(
            f"{out}: {needed / 1e9:.2g} GB of disk space are needed there, for the output and for the blocks "
            f"until it is whole; {free / 1e9:.2g} GB are free."
        )


class _Run:
    """The blocks of a scene, where they are restored, and which are done."""

    def __init__(
        self,
        scene: SceneFile,
        blocks: list[Block],
        record: Record,
        n_jobs: int,
        dask: str | None,
        progress: Progress,
    ) -> None:
        self._scene, self._blocks, self._record = scene, blocks, record
        self._n_jobs, self._dask, self._progress = n_jobs, dask, progress

    def all_blocks(self, model: SceneModel) -> None:
        """Restore the blocks that are not done yet."""
        self._work(
            "block",
            range(len(self._blocks)),
            restore_block,
            lambda number: (self._scene, number, self._blocks[number], model),
        )

    def refine(self, model: SceneModel, wish: SceneSettings) -> tuple[tuple[int, int, int], ...]:
        """Restore again, by a refined model, what is unlike the sample; the image rows where that is."""
        far = self._far_pixels(model.far)
        if sum(pixels.size for pixels in far.values()) < FEWEST_FAR:
            return ()
        places = np.sort(np.concatenate(list(far.values())))
        refined = self._record.model("refined")
        if refined is None:
            refined = refine(self._scene, model, places, wish, trials_on_workers(self._n_jobs, self._dask))
            self._record.keep_model("refined", refined)
        self._work(
            "refined",
            list(far),
            refine_block,
            lambda number: (
                *(self._scene, number, self._blocks[number]),
                *(refined, model.far, self._record.block(number)),
            ),
        )
        return _row_runs(places // self._scene.cols)

    def write(self, out: Path, defects_out: Path | None) -> dict[str, Any]:
        """Write the restored scene, and its defects if wanted, and describe it."""
        scene = self._scene
        replaced = np.zeros((scene.rows, scene.cols), np.float32)
        wrong = unknown = 0
        with rewritten(scene, out) as (copy, files):
            part = out.with_name(f".part-defects-{out.name}.npy")
            shape = (scene.rows, scene.cols, scene.bands)
            mask = np.lib.format.open_memmap(part, "w+", np.uint8, shape) if defects_out else None
            for number, block in enumerate(self._blocks):
                result = self._record.block(number)
                write_block(copy, block, result)
                changed, defects = masks(result, (scene.bands, block.pixels))
                wrong, unknown = wrong + int(defects.sum()), unknown + result.unknown
                here = slice(block.top, block.bottom), slice(block.left, block.right)
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

    def _work(
        self,
        stage: Stage,
        numbers: Collection[int],
        function: Callable[..., tuple[int, BlockResult]],
        call: Callable[[int], tuple[Any, ...]],
    ) -> None:
        """Call the function for the blocks of these numbers that are not done yet, and store the results."""

        def waiting() -> list[int]:
            done = self._record.done(stage)
            return [number for number in numbers if number not in done]

        def begin_round() -> Generator[tuple[int, BlockResult]]:
            return on_workers(function, map(call, waiting()), [], self._n_jobs, self._dask)

        run_until_done(
            lambda: len(waiting()),
            begin_round,
            lambda found: self._record.keep_block(*found, stage),
            lambda: self._progress(len(self._blocks) - len(waiting()), len(self._blocks)),
        )

    def _far_pixels(self, far: float) -> dict[int, npt.NDArray[np.intp]]:
        """Pixels unlike the sample, counted row by row, in the blocks that have some."""
        found = {}
        for number, block in enumerate(self._blocks):
            rows, cols = np.divmod(
                np.flatnonzero(self._record.block(number).scale > far), block.right - block.left
            )
            if rows.size:
                found[number] = (rows + block.top) * self._scene.cols + cols + block.left
        return found


def _row_runs(rows: npt.NDArray[np.intp]) -> tuple[tuple[int, int, int], ...]:
    """Neighbouring rows as (first, last, how many pixels), counted from 1."""
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    return tuple((int(run[0]) + 1, int(run[-1]) + 1, int(run.size)) for run in runs)
