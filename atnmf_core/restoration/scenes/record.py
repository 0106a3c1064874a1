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
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...problem import InputError
from ...sweep.processes import created, is_running

Pass = Literal["block", "refined"]
"""Blocks as the first model restores them, and those that the refined model has improved."""
PROCESS = "process.json"
VERSION = 5
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
        part = self.folder / f".{name}.part"
        with part.open("wb") as file:
            file.write(contents)
            file.flush()
            # A name must not reach the disk before the contents do, or a power cut leaves an empty block.
            os.fsync(file.fileno())
        part.replace(self.folder / name)


def _folder(out: Path) -> Path:
    return out.with_name(f"{out.name}.blocks")
