"""A scene worked through block by block, in processes or on a cluster; an interrupted run is resumed."""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ...datasets.files.scene_file import SceneFile
from ...jobs.processes import created, is_running, on_workers, run_until_done, start_detached
from ...jobs.whole_files import moved_when_whole
from ...model.problem import InputError, Mask

# The progress on a scene, in a folder beside the output: the models and every finished block.
#
# Each file appears whole or not at all, so a run that ended in any way is resumed by the next one.


Pass = Literal["block", "refined"]
"""Blocks as the first model restores them, and those that the refined model has improved."""
PROCESS = "process.json"
VERSION = 7
"""Of the folder's contents and of how they come about: folders of another version are not continued."""


class Record:
    """The folder of one run. It is emptied if the settings have changed.

    Raises
    ------
    InputError : another process is at work on it.
    """

    def __init__(self, out: Path, settings: Mapping[str, Any], blocks: int) -> None:
        self.folder = _folder(out)
        holder = self.holder(out)
        if holder and holder["pid"] != os.getpid() and is_running(holder["pid"], holder["created"]):
            raise InputError(
                f"{out}: process {holder['pid']} is at work on this file; wait for it, or end it."
            )
        wanted = json.dumps({"version": VERSION, **settings}, sort_keys=True, default=str)
        place = self.folder / "settings.json"
        if not place.is_file() or place.read_text() != wanted:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            self._write("settings.json", wanted.encode())
        mine = {"pid": os.getpid(), "created": created(os.getpid()), "began": time.time(), "blocks": blocks}
        self._write(PROCESS, json.dumps(mine).encode())

    @staticmethod
    def holder(out: Path) -> dict[str, Any] | None:
        """The last process at work (pid, created), when it began, and the number of all blocks."""
        try:
            found: dict[str, Any] = json.loads((_folder(out) / PROCESS).read_text())
        except FileNotFoundError:
            return None
        return found

    @staticmethod
    def times(out: Path) -> list[float]:
        """When each finished block was, in seconds since 1970, in that order."""
        return sorted(file.stat().st_mtime for file in _folder(out).glob("block-*.npz"))

    def keep(self, name: str, **fields: Any) -> None:
        """Store arrays, and other values as JSON."""
        arrays = {key: value for key, value in fields.items() if isinstance(value, np.ndarray)}
        others = {key: value for key, value in fields.items() if key not in arrays}
        stream = io.BytesIO()
        np.savez(stream, allow_pickle=False, others=np.array(json.dumps(others)), **arrays)
        self._write(f"{name}.npz", stream.getvalue())

    def read(self, name: str) -> dict[str, Any] | None:
        """What was stored under this name; None if nothing."""
        place = self.folder / f"{name}.npz"
        if not place.is_file():
            return None
        with np.load(place, allow_pickle=False) as stored:
            fields = dict(stored)
        others: dict[str, Any] = json.loads(fields.pop("others").item())
        return others | fields

    def done(self, stage: Pass = "block") -> set[int]:
        """The numbers of the blocks that are finished."""
        return {int(file.stem.removeprefix(f"{stage}-")) for file in self.folder.glob(f"{stage}-*.npz")}

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    def _write(self, name: str, contents: bytes) -> None:
        with moved_when_whole(self.folder / name) as (part,), part.open("wb") as file:
            file.write(contents)
            file.flush()
            # A name must not reach the disk before the contents do, or a power cut leaves an empty block.
            os.fsync(file.fileno())


def _folder(out: Path) -> Path:
    return out.with_name(f"{out.name}.blocks")


# A scene restored by a process beside this one: the command line, in a session of its own.


class SceneStatus(NamedTuple):
    """The progress of the restoration to a file.

    Attributes
    ----------
    done, total : blocks.
    pid : of the process at work, None if there is none.
    seconds_left : at its pace so far; None before two blocks tell that.
    """

    done: int
    total: int
    pid: int | None
    seconds_left: float | None = None


def status_of(out: Path) -> SceneStatus | None:
    """The stored state of an unfinished restoration; None if there is none."""
    holder = Record.holder(out)
    if holder is None:
        return None
    pid = holder["pid"] if is_running(holder["pid"], holder["created"]) else None
    times = Record.times(out)
    waiting = holder["blocks"] - len(times)
    # Earlier blocks are those of a run that ended.
    since = [finished for finished in times if finished > holder.get("began", 0)]
    pace = (since[-1] - since[0]) / (len(since) - 1) if len(since) > 1 else None
    return SceneStatus(len(times), holder["blocks"], pid, None if pace is None else pace * waiting)


def start_scene(command: str, log: Path) -> subprocess.Popen[bytes]:
    """Start a command such as `python -m atnmf_core restore ...`, whose log says why if it fails."""
    return start_detached(shlex.split(command)[1:], log)


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
    request : what the user asked for. Only a run with the same request is resumed.
    needed : disk space for the output and for the blocks until it is whole, in bytes.
    block_entries, n_jobs, dask, progress : as in `restore_scene`.
    beside : more files that will be written.
    """

    def __init__(
        self,
        scene: SceneFile,
        out: Path,
        request: dict[str, Any],
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
        settings = {"files": files, "options": scene.options.arguments(), "request": request}
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

    def far_pixels(self, is_far: Callable[[dict[str, Any]], Mask]) -> dict[int, Index]:
        """Pixels that are unlike the sample, by what is stored of their block; counted row by row."""
        found = {}
        for number, block in enumerate(self.blocks):
            places = np.flatnonzero(is_far(self.result(number)))
            rows, cols = np.divmod(places, block.right - block.left)
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


def far_text(far: FarRows) -> str:
    """How many pixels are unlike the sample, and where."""
    named = ", ".join(f"{first} to {last}" for first, last, _ in far[:MAX_NAMED])
    more = " and elsewhere" if len(far) > MAX_NAMED else ""
    count = sum(pixels for *_, pixels in far)
    return f"{count} pixels are fit far worse than the sample, in image rows {named}{more}"


def _name(stage: Pass, number: int) -> str:
    return f"{stage}-{number:06}"
