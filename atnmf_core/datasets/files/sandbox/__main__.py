"""Serve files, each in a process of its own: `python -m sandbox` with a socket as its standard input.

Each message on that socket names a format and brings a second socket, for one file. The libraries of the
format are imported once, here; then a copy of this process is forked for the file, works within limits, and
ends with it. Where there is no fork, `python -m sandbox FORMAT` serves one file on standard input and
output.

A file's connection has the same form in both directions: a line of JSON, followed by as many bytes as it
says. It begins with the file; then its description is sent, and requests are answered until the input ends.
"""

import json
import math
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np

MEGABYTE = 1 << 20
# SciPy unpacks 128 kB of a MATLAB file at once, which can grow a thousandfold, and joins the pieces.
SPARE = 320 * MEGABYTE
LEAST_SECONDS = 3
BYTES_PER_SECOND = 20 * MEGABYTE
CLOCK_PER_PROCESSOR_SECOND = 6  # On a busy machine CPU time passes more slowly than the clock


def bound(extra_bytes: int) -> None:
    """Limit the process to this much memory beyond what it has now, and to a matching time."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's clock remains
        return
    statm = "/proc/self/statm"
    if os.path.exists(statm):
        with open(statm) as pages:
            present = int(pages.read().split()[0]) * resource.getpagesize()
    else:
        present = 1024 * MEGABYTE
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = LEAST_SECONDS + extra_bytes / BYTES_PER_SECOND
    # No handler: the alarm ends the process even inside a library that loops or waits.
    signal.alarm(math.ceil(CLOCK_PER_PROCESSOR_SECOND * allowed))
    seconds = used.ru_utime + used.ru_stime + allowed
    for limit, value in (
        (resource.RLIMIT_AS, present + extra_bytes + SPARE),
        (resource.RLIMIT_CPU, math.ceil(seconds)),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(ValueError, OSError):  # macOS lacks some limits; the parent's clock remains
            resource.setrlimit(limit, (value, hard))


LONGEST_MESSAGE = 100


def serve(form: str, source: BinaryIO, sink: BinaryIO) -> None:
    decoder = import_module(f".{form}", __package__)
    size = json.loads(source.readline())["bytes"]
    bound(2 * size)  # The file itself, and once more for what a library makes of it
    opened = decoder.open_file(source.read(size))
    _send(sink, opened.description)
    while line := source.readline():
        request: dict[str, Any] = json.loads(line)
        bound(4 * size + 3 * 8 * request["entries"])  # The array as stored, as decoded and as sent
        if "read" in request:
            values = opened.read(request["read"])
            if values.size > request["entries"]:
                sys.exit(f"{values.size} entries")
            # In memory order: transposing costs more than sending.
            turned = values.flags.f_contiguous and not values.flags.c_contiguous
            answer = {"dtype": values.dtype.str, "shape": values.shape, "turned": turned}
            _send(sink, answer, np.ascontiguousarray(values.T if turned else values).data)
        else:
            dtype, shape = np.dtype(request["dtype"]), request["shape"]
            flat = np.frombuffer(source.read(dtype.itemsize * request["entries"]), dtype)
            changed = opened.replace(request["replace"], flat.reshape(shape))
            _send(sink, {"bytes": len(changed)}, changed)


def serve_in_forks(control: socket.socket) -> None:
    while True:
        form, connections, _, _ = socket.recv_fds(control, LONGEST_MESSAGE, 1)
        _forget_the_ended(0 if not form else os.WNOHANG)
        if not form:
            return
        import_module(f".{form.decode()}", __package__)
        if os.fork() == 0:
            try:
                control.close()
                with socket.socket(fileno=connections[0]) as file:
                    serve(form.decode(), file.makefile("rb"), file.makefile("wb"))
            finally:
                os._exit(0)
        os.close(connections[0])


def _forget_the_ended(options: int) -> None:
    """Wait for the copies that have ended; with options=0, for all of them."""
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:  # there are none
        return


def _send(sink: BinaryIO, answer: object, payload: Any = b"") -> None:
    sink.write(json.dumps(answer).encode() + b"\n")
    sink.write(payload)
    sink.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(sys.argv[1], sys.stdin.buffer, sys.stdout.buffer)
    else:
        serve_in_forks(socket.socket(fileno=0))
