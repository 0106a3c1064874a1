"""The progress on a scene, in a folder beside the output: the models and every finished block.

Each file appears whole or not at all, so a run that ended in any way is resumed by the next one.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...problem import InputError
from ...sweep.processes import created, is_running
from ..defects import Spread
from .pixels import SceneModel

__all__ = ["BlockResult", "Record"]

PROCESS = "process.json"
VERSION = 2
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
    refined : whether pixels unlike the sample were restored by the refined model.
    """

    changed: npt.NDArray[np.uint8]
    defects: npt.NDArray[np.uint8]
    numbers: npt.NDArray[Any]
    scale: npt.NDArray[np.float32]
    unknown: int
    refined: bool = False


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
        mine = {"pid": os.getpid(), "created": created(os.getpid()), "blocks": blocks}
        self._write(PROCESS, json.dumps(mine).encode())

    @staticmethod
    def holder(out: Path) -> dict[str, Any] | None:
        """The last process at work (pid, created), and the number of all blocks."""
        try:
            found: dict[str, Any] = json.loads((_folder(out) / PROCESS).read_text())
        except FileNotFoundError:
            return None
        return found

    @staticmethod
    def count(out: Path) -> int:
        """How many blocks are finished."""
        return len(list(_folder(out).glob("block-*.npz")))

    def model(self, name: str) -> SceneModel | None:
        fields = self._read(f"{name}.npz")
        if fields is None:
            return None
        lam, leash, middle, far, *limits = fields["numbers"].tolist()
        return SceneModel(
            W=fields["W"],
            lam=None if np.isnan(lam) else lam,
            leash=None if np.isnan(leash) else leash,
            losses="unmarked" if fields["unmarked"] else "marked",
            scales=Spread(fields["by_row"], np.empty(0), middle),
            limits=(limits[0], limits[1]),
            top=fields["top"],
            poor=fields["poor"],
            far=far,
        )

    def keep_model(self, name: str, model: SceneModel) -> None:
        gaps = [np.nan if value is None else value for value in (model.lam, model.leash)]
        self._save(
            f"{name}.npz",
            W=model.W,
            numbers=np.array([*gaps, model.scales.middle, model.far, *model.limits]),
            unmarked=model.losses == "unmarked",
            by_row=model.scales.by_row,
            top=model.top,
            poor=model.poor,
        )

    def words(self, name: str) -> str | None:
        place = self.folder / f"{name}.txt"
        return place.read_text() if place.is_file() else None

    def keep_words(self, name: str, words: str) -> None:
        self._write(f"{name}.txt", words.encode())

    def block(self, number: int) -> BlockResult | None:
        fields = self._read(_name(number))
        if fields is None:
            return None
        unknown, refined = fields.pop("about").tolist()
        return BlockResult(**fields, unknown=unknown, refined=bool(refined))

    def keep_block(self, number: int, result: BlockResult) -> None:
        self._save(
            _name(number),
            changed=result.changed,
            defects=result.defects,
            numbers=result.numbers,
            scale=result.scale,
            about=np.array([result.unknown, result.refined]),
        )

    def done(self) -> set[int]:
        """The numbers of the blocks that are finished."""
        return {int(file.stem.removeprefix("block-")) for file in self.folder.glob("block-*.npz")}

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    def _save(self, name: str, **arrays: npt.ArrayLike) -> None:
        stream = io.BytesIO()
        np.savez(stream, allow_pickle=False, **{key: np.asarray(value) for key, value in arrays.items()})
        self._write(name, stream.getvalue())

    def _read(self, name: str) -> dict[str, Any] | None:
        place = self.folder / name
        if not place.is_file():
            return None
        with np.load(place, allow_pickle=False) as arrays:
            return dict(arrays)

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


def _name(number: int) -> str:
    return f"block-{number:06}.npz"
