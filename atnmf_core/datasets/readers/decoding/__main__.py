"""Serve one file: read it from standard input, describe it, then send the arrays that are asked for.

Both directions have the same form: a line of JSON, followed by as many bytes as it says.
"""

import json
import sys
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np

from .bounds import bound


def main() -> None:
    decoder = import_module(f".{sys.argv[1]}", __package__)
    stdin = sys.stdin.buffer
    size = json.loads(stdin.readline())["bytes"]
    # The file itself, and once more for what a library makes of it.
    bound(2 * size)
    opened = decoder.open_file(stdin.read(size))
    send(opened.description)
    while line := stdin.readline():
        request: dict[str, Any] = json.loads(line)
        # The array as stored, as decoded and as sent.
        bound(2 * size + 3 * 8 * request["entries"])
        values = opened.read(request["read"])
        if values.size > request["entries"]:
            sys.exit(f"{values.size} entries")
        send({"dtype": values.dtype.str, "shape": values.shape}, np.ascontiguousarray(values))


def send(answer: object, values: Any = b"", stdout: BinaryIO = sys.stdout.buffer) -> None:
    stdout.write(json.dumps(answer).encode() + b"\n")
    stdout.write(values)
    stdout.flush()


if __name__ == "__main__":
    main()
