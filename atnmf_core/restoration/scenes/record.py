"""The progress on a scene, in a folder beside the output: the models and every finished block.

Each file appears whole or not at all, so a run that ended in any way is resumed by the next one.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...problem import InputError
from ...sweep.processes import created, is_running
from ..packed import choice_from_json, choice_to_json
from .pixels import SceneModel

__all__ = ["BlockResult", "Record", "Stage"]

Stage = Literal["block", "refined"]
"""Blocks as the first model restores them, and those that the refined model has improved."""
PROCESS = "process.json"
VERSION = 3
"""Of the folder's contents and of how a scene is restored: folders of another version are not continued."""


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


class Record:
    """The folder of one run. It is emptied if the settings have changed.

    Raises
    ------
    InputError : another process is at it.
    """

    def __init__(self, out: Path, settings: Mapping[str, Any], blocks: int) -> None:
        self.folder = _folder(out)
        holder = self.holder(out)
        if holder and holder["pid"] != os.getpid() and is_running(holder["pid"], holder["created"]):
            raise InputError(
                f"{out}: process {holder['pid']} is restoring to this file; wait for it, or end it."
            )
        self._settings = json.dumps({"version": VERSION, **settings}, sort_keys=True, default=str)
        place = self.folder / "settings.json"
        if not place.is_file() or place.read_text() != self._settings:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            self._write("settings.json", self._settings.encode())
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

    def model(self, name: str) -> SceneModel | None:
        fields = self._read(name)
        if fields is None:
            return None
        rest = json.loads(fields.pop("rest"))
        as_before = {"choice": choice_from_json(rest["choice"]), "limits": tuple(rest["limits"])}
        return SceneModel(**fields, **rest | as_before)

    def keep_model(self, name: str, model: SceneModel) -> None:
        fields = vars(model) | {"choice": choice_to_json(model.choice)}
        arrays = {key: value for key, value in fields.items() if isinstance(value, np.ndarray)}
        rest = {key: value for key, value in fields.items() if key not in arrays}
        self._save(name, rest=json.dumps(rest), **arrays)

    def block(self, number: int) -> BlockResult:
        """What changes in a finished block; by the refined model where there is such."""
        fields = self._read(f"refined-{number:06}") or self._read(f"block-{number:06}")
        assert fields is not None
        return BlockResult(**fields)

    def keep_block(self, number: int, result: BlockResult, stage: Stage = "block") -> None:
        self._save(f"{stage}-{number:06}", **vars(result))

    def done(self, stage: Stage = "block") -> set[int]:
        """The numbers of the blocks that are finished."""
        return {int(file.stem.removeprefix(f"{stage}-")) for file in self.folder.glob(f"{stage}-*.npz")}

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    def _save(self, name: str, **fields: npt.ArrayLike) -> None:
        stream = io.BytesIO()
        np.savez(stream, allow_pickle=False, **{key: np.asarray(value) for key, value in fields.items()})
        self._write(f"{name}.npz", stream.getvalue())

    def _read(self, name: str) -> dict[str, Any] | None:
        place = self.folder / f"{name}.npz"
        if not place.is_file():
            return None
        with np.load(place, allow_pickle=False) as fields:
            return {key: value if value.ndim else value.item() for key, value in fields.items()}

    def _write(self, name: str, contents: bytes) -> None:
        part = self.folder / f".{name}.part"
        with part.open("wb") as file:
            file.write(contents)
            file.flush()
            # A name must not reach the disk before the contents do, or a power cut leaves an empty block.
            os.fsync(file.fileno())
        part.replace(self.folder / name)


def _folder(out: Path) -> Path:
    return out.with_name(f"{out.name}.blocks")
