"""How much an upload may ask for."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields

from .errors import UnreadableData, shown

__all__ = ["MOST_AXES", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Bounds that are checked from headers, before memory is taken.

    Each can be set by an environment variable of its name in capitals with ATNMF_MAX_ in front, for example
    ATNMF_MAX_ENTRIES.

    Attributes
    ----------
    entries : of V.
    bytes : of all files together, and of what compressed contents grow to.
    members : files in one upload or zip archive.
    ratio : how many times its packed size an archive or a compressed array may grow to; small contents may
        always.
    float32_above : a V of more entries is kept in float32.
    """

    entries: int = 100_000_000
    bytes: int = 1 << 30
    members: int = 20_000
    ratio: int = 300
    float32_above: int = 20_000_000

    @classmethod
    def from_environment(cls) -> Limits:
        """The default limits, where the environment does not say otherwise."""
        named = {field.name: os.environ.get(f"ATNMF_MAX_{field.name.upper()}") for field in fields(cls)}
        try:
            return cls(**{name: int(float(value)) for name, value in named.items() if value})
        except (ValueError, OverflowError) as error:
            raise UnreadableData(
                f"A limit in the environment (ATNMF_MAX_...) is not a number: {error}."
            ) from error

    def check_shape(self, shape: Iterable[int], name: str) -> int:
        """The number of entries of an array, if it is allowed."""
        sizes = tuple(int(size) for size in shape)
        count = math.prod(sizes)
        if len(sizes) > MOST_AXES:
            raise UnreadableData(f"{name} has {len(sizes)} axes: a matrix has 2, a cube 3.")
        described = " x ".join(map(shown, sizes)) or "0"
        if any(size <= 0 for size in sizes) or not sizes:
            raise UnreadableData(f"{name} is empty ({described}).")
        if count > self.entries:
            raise UnreadableData(
                f"{name} has {described} = {shown(count)} entries; at most {self.entries:,} are read. "
                "Cut out a part, or raise ATNMF_MAX_ENTRIES."
            )
        return count

    def check_bytes(self, count: int, name: str) -> None:
        if count > self.bytes:
            raise UnreadableData(
                f"{name} has {shown(count)} bytes; at most {self.bytes:,} are read. Cut out a part, or raise "
                "ATNMF_MAX_BYTES."
            )

    def check_growth(self, packed: int, unpacked: int, name: str) -> None:
        """Refuse contents that grow out of all proportion: real data does not, a decompression bomb does."""
        self.check_bytes(unpacked, name)
        if unpacked > SMALL and unpacked > self.ratio * max(packed, 1):
            raise UnreadableData(
                f"{name} would grow from {packed:,} to {shown(unpacked)} bytes, more than {self.ratio} "
                "times: "
                "this looks like a decompression bomb."
            )


# More are in no file of images; NumPy itself gives up beyond 64.
MOST_AXES = 8
# Below this size growth does no harm, and tiny constant arrays do compress a thousandfold.
SMALL = 1 << 24
