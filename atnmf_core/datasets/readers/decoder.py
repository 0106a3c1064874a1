"""Decoding in separate processes, for formats whose libraries a damaged file can crash.

`decoding` runs there, with limits on memory and time. A crash or an endless loop ends the process of one file
and is reported as a damaged file; nothing else is affected.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from .errors import UnreadableData
from .limits import Limits
from .local import LocalDecoder, MappedFile
from .sources import Source

PACKAGE = Path(__file__).with_name("decoding")
MAX_ANSWER = 64 << 20
# The decoding process ends itself long before; this is for a machine that hardly makes progress.
LONGEST_SILENCE = 600.0


class Decoder:
    """One file in a decoding process; use it in a `with` statement.

    Attributes
    ----------
    description : what the format's module says about the file.
    """

    def __init__(self, form: str, source: Source, limits: Limits) -> None:
        self._form, self._source, self._limits = form, source, limits

    def __enter__(self) -> Decoder:
        self._connection = _connect(self._form)
        try:
            data = self._source.data
            self.description: Any = self._ask({"bytes": len(data)}, data)
        except BaseException:
            self._connection.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def read(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """One array of the file, which must have the described shape."""
        label = f"{name} in {self._source.label}"
        entries = self._limits.check_shape(shape, label)
        answer = self._ask({"read": name, "entries": entries})
        if tuple(answer["shape"]) != shape:
            raise UnreadableData(f"{label} is damaged: it does not have as many numbers as its size says.")
        values = np.empty(shape, np.dtype(answer["dtype"]), order="F" if answer["turned"] else "C")
        self._receive(values.reshape(-1, order="A").view(np.uint8).data)
        return values

    def replace(self, name: str, values: npt.NDArray[Any]) -> bytes:
        """The file with one of its arrays replaced."""
        request = {
            "replace": name,
            "entries": values.size,
            "dtype": values.dtype.str,
            "shape": values.shape,
        }
        answer = self._ask(request, np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
        changed = bytearray(answer["bytes"])
        self._receive(memoryview(changed))
        return bytes(changed)

    def _ask(self, request: dict[str, Any], payload: bytes | memoryview = b"") -> Any:
        try:
            self._connection.sink.write(json.dumps(request).encode() + b"\n")
            self._connection.sink.write(payload)
            self._connection.sink.flush()
            return json.loads(self._connection.answers.readline(MAX_ANSWER))
        except (OSError, ValueError) as error:
            raise self._damaged() from error

    def _receive(self, room: memoryview) -> None:
        filled = 0
        while filled < len(room):
            try:
                count = self._connection.answers.readinto(room[filled:])  # type: ignore[attr-defined]
            except OSError as error:
                raise self._damaged() from error
            if not count:
                raise self._damaged()
            filled += count

    def _damaged(self) -> UnreadableData:
        return UnreadableData(f"{self._source.label} is damaged, or it is not a {self._source.suffix} file.")


def decoder_for(form: str, source: Source, limits: Limits) -> Decoder | LocalDecoder:
    """What decodes this file: a separate process, unless it is a file that is opened and not read."""
    if isinstance(source, MappedFile):
        return LocalDecoder(form, source)
    return Decoder(form, source, limits)


def replace_array(
    form: str, source: Source, name: str, limits: Limits, values: npt.NDArray[Any]
) -> list[Source]:
    """The file with other values in one of its arrays."""
    with Decoder(form, source, limits) as decoder:
        return [Source(source.name, decoder.replace(name, values))]


class _Connection:
    """The two directions of a connection to the process that has one file."""

    def __init__(self, sink: BinaryIO, answers: BinaryIO, end: Any) -> None:
        self.sink, self.answers, self._end = sink, answers, end

    def close(self) -> None:
        for stream in (self.sink, self.answers):
            try:
                stream.close()
            except OSError:  # The process has ended, so what could not be sent is not needed.
                continue
        self._end()


class _ForkServer:
    """The process that forks one process per file, started for the first file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self._end)

    def connect(self, form: str) -> _Connection:
        mine, theirs = socket.socketpair()
        with theirs:
            self._hand_over(form, theirs)
        mine.settimeout(LONGEST_SILENCE)
        sink = cast("BinaryIO", mine.makefile("wb"))
        return _Connection(sink, cast("BinaryIO", mine.makefile("rb")), mine.close)

    def _hand_over(self, form: str, connection: socket.socket) -> None:
        with self._lock:
            for _ in range(2):
                # A fork of this process must not share its connection.
                if self._control is None or self._owner != os.getpid():
                    self._start()
                assert self._control is not None
                try:
                    socket.send_fds(self._control, [form.encode()], [connection.fileno()])
                    return
                except OSError:  # it was killed from outside: start another
                    self._end()
                    self._control = None
        raise UnreadableData("The process that decodes files cannot be started on this machine.")

    def _start(self) -> None:
        mine, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            self._process = _popen([], stdin=theirs, stdout=subprocess.DEVNULL)
        self._control, self._owner = mine, os.getpid()

    def _end(self) -> None:
        """Closing the control socket ends the process."""
        if self._control is not None and self._process is not None and self._owner == os.getpid():
            self._control.close()
            self._process.wait()


_fork_server = _ForkServer()


def _connect(form: str) -> _Connection:
    if sys.platform == "linux":
        return _fork_server.connect(form)
    # Elsewhere forking after imports is unsafe or impossible: start a new process for each file.
    process = _popen([form], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def end() -> None:
        process.kill()
        process.wait()

    return _Connection(cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout), end)


def _popen(arguments: list[str], **streams: Any) -> subprocess.Popen[bytes]:
    # Filter plug-ins are shared libraries that an HDF5 file can request by number: allow none.
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(PACKAGE.parent)]),
        "HDF5_PLUGIN_PRELOAD": "::",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-P", "-m", PACKAGE.name, *arguments]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment, **streams)
