"""What the engine and the store ask of a grid and of its points, whatever they compute.

`Grid` and `Point` are one kind: fits, measured on the hidden entries. Another kind defines two frozen
dataclasses with the attributes below and enters its grid in `GRID_KINDS`; the engine then runs, resumes and
stores its points in the same way, on this machine or on a cluster.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset

__all__ = ["GRID_KINDS", "AnyGrid", "AnyPoint", "identify"]


class AnyPoint(Protocol):
    """One unit of work: a picklable, frozen dataclass whose fields are plain values that JSON can hold."""

    @property
    def version(self) -> str:
        """Changes whenever the numbers that `measure` gives do."""

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """The names, in the grid's `inputs`, of the arrays that `measure` takes, in its order."""

    def measure(self, *arrays: Any) -> Any:
        """Compute the point, in a worker process: a dataclass whose fields are plain values."""


class AnyGrid(Protocol):
    """A sweep as plain data: a frozen dataclass that can be written as JSON."""

    kind: ClassVar[str]
    point: ClassVar[type[Any]]
    """The class of its points."""

    @property
    def dataset(self) -> str:
        """A name of the catalogue, or the path of a file."""

    def __len__(self) -> int: ...

    def points(self) -> Iterator[Any]:
        """All points, in the order in which they are to be computed."""

    def check(self, data: Dataset) -> None:
        """Raise `InputError` for what would fail in the workers."""

    def inputs(self, data: Dataset) -> Mapping[Hashable, npt.NDArray[np.generic]]:
        """The arrays that the points need, by name; each is sent to every worker once."""

    def as_json(self) -> str: ...

    @classmethod
    def from_json(cls, text: str) -> Self: ...


GRID_KINDS: dict[str, type[AnyGrid]] = {}
"""The class of the grids of each kind, by which a store reads them back."""


def identify(point: AnyPoint, content_hash: str) -> tuple[str, str]:
    """A short key for a point's result, the same in every process and store, and what it stands for: the
    point's fields, the data and the version, as JSON.
    """
    identity = json.dumps({**vars(point), "data": content_hash, "version": point.version}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:32], identity
