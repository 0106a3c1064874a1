"""How large the files and arrays that are read may be."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .errors import UnreadableData, size_text


@dataclass(frozen=True)
class Limits:
    """Limits that are checked against headers before memory is allocated.

    Each can be set by an environment variable: ATNMF_MAX_ and its name in capitals, such as
    ATNMF_MAX_ENTRIES.

    Attributes
    ----------
    entries : of V.
    bytes : of all files together, and of compressed contents once unpacked.
    members : files in one upload or zip archive.
    ratio : the highest compression ratio of an archive or array; small ones may have any.
    float32_above : a V with more entries is stored in float32.
    """

    entries: int = 100_000_000
    bytes: int = 1 << 30
    members: int = 20_000
    ratio: int = 300
    float32_above: int = 20_000_000

    @classmethod
    def from_environment(cls) -> Limits:
        """The default limits, unless the environment says otherwise."""
        named = {field.name: os.environ.get(f"ATNMF_MAX_{field.name.upper()}") for field in fields(cls)}
        try:
            return cls(**{name: int(float(value)) for name, value in named.items() if value})
        except (ValueError, OverflowError) as error:
            raise UnreadableData(
                f"A limit in the environment (ATNMF_MAX_...) is not a number: {error}."
            ) from error

    def float_type(self, entries: int) -> type[np.floating[Any]]:
        """The type of a V with this many entries."""
        return np.float32 if entries > self.float32_above else np.float64

    def check_shape(self, shape: Iterable[int], name: str) -> int:
        """The number of entries of an array; an error if it is empty or too large."""
        sizes = tuple(int(size) for size in shape)
        count = math.prod(sizes)
        if len(sizes) > MAX_AXES:
            raise UnreadableData(f"{name} has {len(sizes)} axes: a matrix has 2, a cube 3.")
        described = " x ".join(map(size_text, sizes)) or "0"
        if any(size <= 0 for size in sizes) or not sizes:
            raise UnreadableData(f"{name} is empty ({described}).")
        if count > self.entries:
            raise UnreadableData(
                f"{name} has {described} = {size_text(count)} entries; at most {self.entries:,} are read. "
                "Cut out a part, or raise ATNMF_MAX_ENTRIES."
            )
        return count

    def check_bytes(self, count: int, name: str) -> None:
        if count > self.bytes:
            raise UnreadableData(
                f"{name} has {size_text(count)} bytes; at most {self.bytes:,} are read. Cut out a part, or "
                "raise ATNMF_MAX_BYTES."
            )

    def check_growth(self, packed: int, unpacked: int, name: str) -> None:
        """Reject contents that grow out of all proportion: decompression bombs do, real data does not."""
        self.check_bytes(unpacked, name)
        if unpacked > SMALL and unpacked > self.ratio * max(packed, 1):
            raise UnreadableData(
                f"{name} would grow from {packed:,} to {size_text(unpacked)} bytes, more than {self.ratio} "
                "times: "
                "this looks like a decompression bomb."
            )


# No file of images has more; NumPy itself allows 64.
MAX_AXES = 8
# Below this size growth is harmless, and small constant arrays do compress a thousandfold.
SMALL = 1 << 24
