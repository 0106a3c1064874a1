"""Decoding in separate processes, for formats whose libraries a damaged file can crash.

`decoding` runs there, with limits on memory and time. A crash or an endless loop ends the process of one file
and is reported as a damaged file; nothing else is affected.
"""

from __future__ import annotations

import atexit
import json
import mmap
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from ...jobs.processes import start_python
from ...model.problem import Values
from .sources import Limits, Source, UnreadableData, foreign_code

PACKAGE = Path(__file__).with_name("sandbox")
MAX_ANSWER = 64 << 20
# The decoding process ends itself long before; this is for a machine that hardly makes progress.
LONGEST_SILENCE = 600.0


class Decoder:
    """One file in a decoding process, for `with`; `description` is what its format's module says of it."""

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

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def read(self, name: str, shape: tuple[int, ...]) -> Values:
        label = f"{name} in {self._source.label}"
        entries = self._limits.check_shape(shape, label)
        answer = self._ask({"read": name, "entries": entries})
        if tuple(answer["shape"]) != shape:
            raise UnreadableData(f"{label} is damaged: it does not have as many numbers as its size says.")
        values = np.empty(shape, np.dtype(answer["dtype"]), order="F" if answer["turned"] else "C")
        self._receive(values.reshape(-1, order="A").view(np.uint8).data)
        return values

    def replace(self, name: str, values: Values) -> bytes:
        request = {"replace": name, "entries": values.size, "dtype": values.dtype.str, "shape": values.shape}
        try:
            answer = self._ask(request, np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
            changed = bytearray(answer["bytes"])
            self._receive(memoryview(changed))
        except UnreadableData as error:
            raise UnreadableData(
                f"{self._source.label} could be read, but not written with other numbers: its "
                f"{self._source.suffix} variant cannot be changed here. Choose another format."
            ) from error
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


def replace_array(form: str, source: Source, name: str, limits: Limits, values: Values) -> list[Source]:
    with Decoder(form, source, limits) as decoder:
        return [Source(source.name, decoder.replace(name, values))]


class _Connection:
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
        "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(PACKAGE.parent)]),
        "HDF5_PLUGIN_PRELOAD": "::",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = ["-P", "-m", PACKAGE.name, *arguments]
    return start_python(command, environment, stderr=subprocess.DEVNULL, **streams)


# Files that are opened by their path and not read, with the interface of `Decoder`. Their libraries run in
# this very process, not in one of their own: for a user's own files, never for uploads.

CACHE_MB = 128  # What GDAL may keep of a file; its own default is a share of all memory, in every process
Slices = tuple[slice, slice, slice]


@dataclass(frozen=True)
class MappedFile(Source):
    """A file whose contents are mapped into memory; `opened` is what libraries have open of it."""

    path: Path = Path()
    writable: bool = False
    opened: list[Any] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path, writable: bool) -> MappedFile:
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        try:
            with path.open("r+b" if writable else "rb") as file:
                contents = memoryview(mmap.mmap(file.fileno(), 0, access=access))
        except (OSError, ValueError) as error:
            # Without the number that the system has for it.
            why = str(getattr(error, "strerror", None) or error)
            raise UnreadableData(f"{path} cannot be opened: {why.lower()}.") from error
        # It has what readers use of bytes: a length, slices and a buffer.
        return cls(path.name, contents, path, writable)  # type: ignore[arg-type]

    def close(self) -> None:
        """Close what libraries have open. The mapping itself goes with the last array that looks at it."""
        for file in self.opened:
            file.close()


class LocalDecoder:
    """One file, opened here. Arrays that it gives are read, or written, as they are indexed."""

    def __init__(self, form: str, source: MappedFile) -> None:
        self._open = {"hdf5": _open_hdf5, "raster": _open_raster}.get(form)
        if self._open is None:
            raise UnreadableData(f"{source.label} cannot be read in parts: save it as NetCDF 4.")
        self._source = source

    def __enter__(self) -> LocalDecoder:
        assert self._open is not None
        with foreign_code(f"{self._source.label} is damaged, or it is not a {self._source.suffix} file"):
            self._file, self.description = self._open(
                self._source.path, "r+" if self._source.writable else "r"
            )
        self._source.opened.append(self._file)
        return self

    def __exit__(self, *_: object) -> None:
        """The file stays open: arrays still read from it."""

    def read(self, name: str, shape: tuple[int, ...]) -> Any:
        """One array of the file; a cube is not read yet."""
        if name == "bands":
            return RasterArray(self._file)
        if name == "mask":
            return self._file.dataset_mask()
        array = self._file[name]
        return array if array.ndim > 2 else array[()]


def _open_hdf5(path: Path, mode: str) -> tuple[Any, dict[str, Any]]:
    import h5py

    from .sandbox.hdf5 import described

    file = h5py.File(path, mode)
    return file, described(file)


def _open_raster(path: Path, mode: str) -> tuple[Any, dict[str, Any]]:
    import rasterio

    from .sandbox.raster import DRIVER, EDITING, described

    file = rasterio.open(path, **(EDITING if mode == "r+" else {"driver": DRIVER}))
    about = described(file, 1)
    if file.subdatasets or about["palette"]:
        raise UnreadableData(f"{path.name} has several pages or a palette: it cannot be read in parts.")
    return file, about


class RasterArray:
    ndim = 3

    def __init__(self, file: Any) -> None:
        self._file = file
        self.shape = (file.count, file.height, file.width)
        self.dtype = np.dtype(file.dtypes[0])
        self.chunks = (1, *file.block_shapes[0])

    def __getitem__(self, index: Slices) -> Values:
        import rasterio

        bands, window = self._window(index)
        with rasterio.Env(GDAL_CACHEMAX=CACHE_MB):
            values: Values = self._file.read(bands, window=window)
        return values

    def __setitem__(self, index: Slices, values: Values) -> None:
        import rasterio

        bands, window = self._window(index)
        with rasterio.Env(GDAL_CACHEMAX=CACHE_MB):
            self._file.write(values, bands, window=window)

    def _window(self, index: Slices) -> tuple[list[int], Any]:
        from rasterio.windows import Window

        bands, rows, cols = (range(size)[one] for one, size in zip(index, self.shape, strict=True))
        return [band + 1 for band in bands], Window(cols.start, rows.start, len(cols), len(rows))
