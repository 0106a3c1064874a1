"""A scene worked through block by block, in processes or on a cluster; an interrupted run is resumed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Generator, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ...datasets.scene_file import SceneFile
from ...problem import InputError
from ...sweep.engine import on_workers, run_until_done
from .record import Pass, Record

BLOCK_ENTRIES = 4_000_000
"""Of one block: what a worker reads at once, and what is done again after a kill."""
MAX_NAMED = 5
BlocksCallback: TypeAlias = Callable[[int, int], object]
FarRows: TypeAlias = tuple[tuple[int, int, int], ...]
"""Image rows with pixels unlike the sample: the first and last, from 1, and how many pixels these are."""
Index = npt.NDArray[np.intp]


class SceneRun:
    """The blocks of a scene, what is stored of them, and where the others are worked on.

    Parameters
    ----------
    out : the file to be written; progress is stored in a folder beside it.
    wish : what the user asked for. Only a run with the same wish is resumed.
    needed : disk space for the output and for the blocks until it is whole, in bytes.
    block_entries, n_jobs, dask, progress : as in `restore_scene`.
    beside : more files that will be written.
    """

    def __init__(
        self,
        scene: SceneFile,
        out: Path,
        wish: dict[str, Any],
        needed: float,
        block_entries: int,
        n_jobs: int,
        dask: str | None,
        progress: BlocksCallback,
        beside: Collection[Path] = (),
    ) -> None:
        written = {file.resolve() for file in (out, *beside)}
        if written & {file.resolve() for file in scene.files}:
            raise InputError(f"{out}: this would replace the file that is read; choose another name.")
        self.scene, self.blocks = scene, scene.blocks(block_entries)
        self._n_jobs, self._dask, self._progress = n_jobs, dask, progress
        files = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in scene.files]
        settings = {"files": files, "options": scene.options.arguments(), "wish": wish}
        self.record = Record(out, settings | {"block": block_entries}, len(self.blocks))
        self._check_room(out, needed)

    def model(self, name: str, learn: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The fields of a model: stored, or else those that `learn` gives."""
        fields = self.record.read(name)
        if fields is None:
            # A sample is so small that more threads would spend their time waiting for each other.
            try:
                with threadpool_limits(limits=1, user_api="blas"):
                    fields = learn()
            except InputError:
                if not self.record.done():
                    self.record.remove()
                raise
            self.record.keep(name, **fields)
        return fields

    def work(
        self,
        stage: Pass,
        numbers: Collection[int],
        function: Callable[..., tuple[int, Any]],
        call: Callable[[int], tuple[Any, ...]],
    ) -> None:
        """Call the function for the blocks of these numbers that are not done yet, and store the results:
        each a number and a dataclass.
        """

        def waiting() -> list[int]:
            done = self.record.done(stage)
            return [number for number in numbers if number not in done]

        def begin_round() -> Generator[tuple[int, Any]]:
            return on_workers(function, map(call, waiting()), [], self._n_jobs, self._dask)

        run_until_done(
            lambda: len(waiting()),
            begin_round,
            lambda found: self.record.keep(_name(stage, found[0]), **vars(found[1])),
            lambda: self._progress(len(self.blocks) - len(waiting()), len(self.blocks)),
        )

    def result(self, number: int) -> dict[str, Any]:
        """What is stored of a finished block; of its last stage, if it went through several."""
        fields = self.record.read(_name("refined", number)) or self.record.read(_name("block", number))
        assert fields is not None
        return fields

    def results(self) -> Iterator[tuple[tuple[slice, slice], dict[str, Any]]]:
        """Image rows and columns of each block, and what is stored of it."""
        for number, block in enumerate(self.blocks):
            yield (slice(block.top, block.bottom), slice(block.left, block.right)), self.result(number)

    def far_pixels(self, far: float) -> dict[int, Index]:
        """Pixels whose residuals are larger, counted row by row, in the blocks that have some."""
        found = {}
        for number, block in enumerate(self.blocks):
            scale = self.result(number)["scale"]
            rows, cols = np.divmod(np.flatnonzero(scale > far), block.right - block.left)
            if rows.size:
                found[number] = (rows + block.top) * self.scene.cols + cols + block.left
        return found

    def _check_room(self, out: Path, needed: float) -> None:
        needed -= sum(file.stat().st_size for file in self.record.folder.iterdir())
        free = shutil.disk_usage(out.resolve().parent).free
        if free < needed:
            raise InputError(
                f"{out}: {needed / 1e9:.2g} GB of disk space are needed there, for the output and for the "
                f"blocks until it is whole; {free / 1e9:.2g} GB are free."
            )


def row_runs(rows: Index) -> FarRows:
    """Neighbouring rows as (first, last, how many pixels), counted from 1."""
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    return tuple((int(run[0]) + 1, int(run[-1]) + 1, int(run.size)) for run in runs)


def in_words(far: FarRows) -> str:
    """How many pixels are unlike the sample, and where."""
    named = ", ".join(f"{first} to {last}" for first, last, _ in far[:MAX_NAMED])
    more = " and elsewhere" if len(far) > MAX_NAMED else ""
    count = sum(pixels for *_, pixels in far)
    return f"{count} pixels are far worse described than the sample, in image rows {named}{more}"


def _name(stage: Pass, number: int) -> str:
    return f"{stage}-{number:06}"
