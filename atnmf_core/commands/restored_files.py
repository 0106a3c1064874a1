"""The files that `restore` writes: the data in the format that it came in, and masks beside it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..datasets import (
    Dataset,
    ReadingOptions,
    UnreadableData,
    catalogue,
    write_envi,
    write_like,
    write_mat,
    write_npz,
)
from ..datasets.readers.numpy_files import npy_bytes
from ..datasets.writers import as_indexed
from ..problem import InputError
from ..recipe import RestoreRecipe
from ..restoration import Restoration
from ..sweep import is_saved_dataset, save_dataset
from .arguments import write_whole
from .reading import reading

CUBE_FORMATS = {".npz": write_npz, ".mat": write_mat}


def is_own_format(source: str, out: Path) -> bool:
    """Whether the source is a file whose format can be written; rejects names that cannot be meant."""
    path = Path(source)
    if source in {entry.name for entry in catalogue()} or is_saved_dataset(path):
        if out.suffix.lower() != ".npz":
            raise InputError(f"--out {out}: {source} is written as .npz.")
        return False
    if out.resolve().with_suffix("") == path.resolve().with_suffix(""):
        raise InputError(f"--out {out}: this would replace the file that is read; choose another name.")
    if path.is_file() and _format(out) != _format(path):
        raise InputError(f"--out {out}: the format of {path.name} is kept; choose a name with {path.suffix}.")
    return True


def _format(path: Path) -> str:
    return path.suffix.lower().replace(".tiff", ".tif")


def write_restored(
    source: str, data: Dataset, restored: Restoration, out: Path, *, own_format: bool, **options: Any
) -> tuple[Path, ...]:
    """Write the restored data, and return the files written."""

    def write(V: npt.NDArray[Any], path: Path) -> tuple[Path, ...]:
        if own_format:
            return write_like(source, V, path, **options)
        save_dataset(replace(data, V=V), path)
        return (path,)

    try:
        return _moved_when_whole(write, restored.V, out)
    except UnreadableData:
        lost = np.isnan(restored.V) & data.observed
        if not lost.any():
            raise
        written = _moved_when_whole(write, np.where(lost, data.V, restored.V), out)
        count = int(lost.sum())
        what = "1 entry looks wrong and cannot" if count == 1 else f"{count:,} entries look wrong and cannot"
        print(f"{what} be restored: left as it was, for the format has no missing value.", file=sys.stderr)
        return written


def _moved_when_whole(
    write: Callable[[npt.NDArray[Any], Path], tuple[Path, ...]], V: npt.NDArray[Any], out: Path
) -> tuple[Path, ...]:
    """Write to temporary files, then move them: if writing fails, `out` is left as it was."""
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".restore-") as aside:
        parts = write(V, Path(aside) / out.name)
        places = [out.parent / part.relative_to(aside) for part in parts]
        for part, place in zip(parts, places, strict=True):
            place.parent.mkdir(exist_ok=True)
            part.replace(place)
    return tuple(places)


def check_side_file(path: Path, data: Dataset) -> None:
    """Reject, before the work is done, a format that cannot be written."""
    formats = [".npy", *CUBE_FORMATS, ".hdr"] if data.kind == "cube" else [".npy"]
    if path.suffix.lower() not in formats:
        raise InputError(f"{path}: choose a name that ends with {', '.join(formats)}.")


def write_side_file(path: Path, data: Dataset, values: npt.NDArray[Any]) -> tuple[Path, ...]:
    """Write a matrix of the shape of V as people index it, see `as_indexed`."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        write_whole(path, npy_bytes(as_indexed(data, values)))
        return (path,)
    cube = replace(data, V=values.astype(np.float32))
    if suffix == ".hdr":
        binary = path.with_suffix(".img")
        for place, content in zip((path, binary), write_envi(cube), strict=True):
            write_whole(place, content)
        return path, binary
    write_whole(path, CUBE_FORMATS[suffix](cube))
    return (path,)


def recipe_of(args: argparse.Namespace) -> RestoreRecipe:
    """What the user asked for."""
    return RestoreRecipe(
        args.data,
        "unmarked" if args.unmarked else "marked",
        args.K,
        args.lam,
        args.leash,
        args.seed,
        ReadingOptions(**reading(args)),
        is_file=Path(args.data).exists(),
        keep_suspects=args.keep_suspects,
    )
