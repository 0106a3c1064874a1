"""Files of formats whose libraries a damaged file can crash, decoded in a process of its own.

`decoding` is what runs there, within bounds on memory and processor time. A crash or an endless loop ends
that process and is reported as a damaged file; nothing else is affected.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import UnreadableData
from .limits import Limits
from .sources import Source

__all__ = ["Decoder"]

PACKAGE = Path(__file__).with_name("decoding")
MAX_ANSWER = 64 << 20
LEAST_SECONDS = 20.0
BYTES_PER_SECOND = 5e6


class Decoder:
    """One file in a decoding process; to be used in a `with` statement.

    Attributes
    ----------
    description : what the format's module says about the file.
    """

    def __init__(self, form: str, source: Source, limits: Limits) -> None:
        self._form, self._source, self._limits = form, source, limits

    def __enter__(self) -> Decoder:
        # Filter plug-ins are shared libraries that an HDF5 file can ask for by number: there are none.
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(PACKAGE.parent)]),
            "HDF5_PLUGIN_PRELOAD": "::",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", PACKAGE.name, self._form],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        try:
            data = self._source.data
            self.description: Any = self._ask({"bytes": len(data)}, data)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def read(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """One array of the file, which has to have the shape that the description says."""
        label = f"{name} in {self._source.label}"
        entries = self._limits.check_shape(shape, label)
        answer = self._ask({"read": name, "entries": entries}, announced=8 * entries)
        if tuple(answer["shape"]) != shape:
            raise UnreadableData(f"{label} is damaged: it does not have as many numbers as its size says.")
        values = np.empty(shape, np.dtype(answer["dtype"]))
        self._receive(values.reshape(-1).view(np.uint8).data)
        return values

    def _ask(self, request: dict[str, Any], payload: bytes = b"", announced: int = 0) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        seconds = LEAST_SECONDS + (len(self._source.data) + announced) / BYTES_PER_SECOND
        clock = threading.Timer(seconds, self._process.kill)
        clock.start()
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.write(payload)
            self._process.stdin.flush()
            line = self._process.stdout.readline(MAX_ANSWER)
            return json.loads(line)
        except (OSError, ValueError) as error:
            raise self._damaged() from error
        finally:
            clock.cancel()

    def _receive(self, room: memoryview) -> None:
        assert self._process.stdout is not None
        filled = 0
        while filled < len(room):
            count = self._process.stdout.readinto(room[filled:])  # type: ignore[attr-defined]
            if not count:
                raise self._damaged()
            filled += count

    def _damaged(self) -> UnreadableData:
        return UnreadableData(f"{self._source.label} is damaged, or it is not a {self._source.suffix} file.")

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()
