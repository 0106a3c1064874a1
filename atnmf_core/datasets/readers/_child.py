"""Reads one HDF5 file from standard input, in a process of its own.

libhdf5 can be made to crash or to loop by a damaged file. It therefore runs here, with bounds on memory and
processor time, and takes nothing down with it. This file is started by its path and imports nothing of the
package.

    _child.py list                 names and shapes, as JSON
    _child.py read NAME ENTRIES    one array of at most ENTRIES entries, in .npy format
"""

import io
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import h5py
import numpy as np

MOST_NAMES = 1000
LONGEST_INLINE = 20_000
MEGABYTE = 1 << 20
NUMERIC = {"double", "single", "logical"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def bound(extra_bytes: int) -> None:
    """Allow this much memory beyond what the interpreter has now, and a matching processor time."""
    try:
        import resource
    except ImportError:  # not on Windows; the parent's clock remains
        return
    statm = "/proc/self/statm"
    if os.path.exists(statm):
        with open(statm) as pages:
            now = int(pages.read().split()[0]) * resource.getpagesize()
    else:
        now = 1024 * MEGABYTE
    allowed = now + extra_bytes + 64 * MEGABYTE
    seconds = math.ceil(resource.getrusage(resource.RUSAGE_SELF).ru_utime + 3 + extra_bytes / (20 * MEGABYTE))
    for limit, value in (
        (resource.RLIMIT_AS, allowed),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(ValueError, OSError):  # macOS does not know every limit; the parent's clock remains
            resource.setrlimit(limit, (value, hard))


def plain_arrays(file: h5py.File) -> Iterator[tuple[str, Any]]:
    """Numeric datasets inside this very file: links and external storage could name any file here."""
    for name in list(file)[:MOST_NAMES]:
        if (
            not isinstance(file.get(name, getlink=True), h5py.HardLink)
            or file.get(name, getclass=True) is not h5py.Dataset
        ):
            continue
        dataset = file[name]
        matlab_class = dataset.attrs.get("MATLAB_class", b"double")
        known = (
            matlab_class.decode("ascii", "replace") if isinstance(matlab_class, bytes) else str(matlab_class)
        )
        inside = dataset.external is None and not dataset.is_virtual
        if inside and known in NUMERIC and dataset.shape and dataset.dtype.kind in "biuf":
            yield name, dataset


def listed(file: h5py.File) -> list[dict[str, Any]]:
    found = []
    for name, dataset in plain_arrays(file):
        entry = {"name": name, "shape": list(dataset.shape)}
        # Sizes and wavelengths are sent along, which saves starting this process once more for each.
        if sum(size > 1 for size in dataset.shape) <= 1 and 0 < dataset.size <= LONGEST_INLINE:
            entry["values"] = np.asarray(dataset[()], dtype=float).reshape(-1).tolist()
        found.append(entry)
    return found


def main() -> None:
    data = sys.stdin.buffer.read()
    reading = sys.argv[1] == "read"
    entries = int(sys.argv[3]) if reading else 0
    # The array as stored, once more converted and once as output.
    bound(2 * len(data) + 3 * 8 * entries)
    with h5py.File(io.BytesIO(data), "r") as file:
        if not reading:
            json.dump(listed(file), sys.stdout)
            return
        values = dict(plain_arrays(file))[sys.argv[2]]
        if values.size > entries:
            sys.exit(f"{values.size} entries")
        # NumPy asks a file for its position, which a pipe does not have.
        answer = io.BytesIO()
        np.save(answer, values[()], allow_pickle=False)
        sys.stdout.buffer.write(answer.getbuffer())


if __name__ == "__main__":
    main()
