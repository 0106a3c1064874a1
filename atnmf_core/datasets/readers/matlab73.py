"""MATLAB .mat files of version 7.3, which are HDF5; libhdf5 runs in a child process (see _child.py)."""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .choose import chosen
from .errors import UnreadableData, foreign_code
from .limits import Limits
from .options import Options
from .raw import RawData, Variable
from .sources import Source

__all__ = ["is_hdf5", "read_matlab73"]

SIGNATURE = b"\x89HDF\r\n\x1a\n"
CHILD = Path(__file__).with_name("_child.py")


def is_hdf5(data: bytes) -> bool:
    """HDF5's signature stands at the start, or after a user block, which MATLAB makes 512 bytes long."""
    return data.startswith(SIGNATURE) or data[512 : 512 + len(SIGNATURE)] == SIGNATURE


def read_matlab73(source: Source, options: Options, limits: Limits) -> RawData:
    answer = _child(source, "list")
    with foreign_code(f"{source.label} is damaged"):
        listing = [(str(one["name"]), tuple(one["shape"]), one.get("values")) for one in json.loads(answer)]
    variables = [_variable(source, limits, name, stored, values) for name, stored, values in listing]
    return chosen(variables, source.label, options, limits, order="F")


def _variable(
    source: Source, limits: Limits, name: str, stored: tuple[int, ...], values: list[float] | None
) -> Variable:
    # MATLAB counts columns first: HDF5 has the axes of its arrays the other way round.
    shape = stored[::-1]

    def load() -> npt.NDArray[Any]:
        if values is not None:
            return np.array(values).reshape(shape)
        limits.check_shape(shape, f"{name} in {source.label}")
        answer = _child(source, "read", name, str(math.prod(shape)), announced=math.prod(shape) * 8)
        with foreign_code(f"{name} in {source.label} is damaged"):
            array: npt.NDArray[Any] = np.load(io.BytesIO(answer), allow_pickle=False)
        if array.shape != stored:
            raise UnreadableData(f"{name} in {source.label} is damaged: its numbers do not fit its size.")
        return array.T

    return Variable(name, shape, load)


def _child(source: Source, *task: str, announced: int = 0) -> bytes:
    """The answer of a child process that opens the file; its crash means no more than a damaged file."""
    patience = 20 + (len(source.data) + announced) / 5e6
    # No filter plug-ins: they are shared libraries that a file can ask for by number.
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "HDF5_PLUGIN_PRELOAD": "::",
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(CHILD), *task],
            input=source.data,
            capture_output=True,
            timeout=patience,
            check=False,
            env=environment,
        )
    except (subprocess.TimeoutExpired, OSError, ValueError) as error:
        raise UnreadableData(
            f"{source.label} could not be read in {patience:.0f} seconds; it is probably damaged."
        ) from error
    if done.returncode != 0:
        raise UnreadableData(f"{source.label} is a damaged MATLAB 7.3 (HDF5) file.")
    return done.stdout
