"""What the engine and the store ask of a grid and of its points, whatever they compute.

`Grid` and `Point` are one kind: fits, measured on the hidden entries. Another kind defines two frozen
dataclasses with the attributes below and enters its grid in `GRID_KINDS`; the engine then runs, resumes and
stores its points in the same way, on this machine or on a cluster.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset

__all__ = ["GRID_KINDS", "AnyGrid", "AnyPoint", "identity_of", "key_of", "parameters_of"]


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


def identity_of(point: AnyPoint, content_hash: str) -> str:
    """Everything that decides a point's result, as JSON: its fields, the data, and the version."""
    identity = {**parameters_of(point), "data": content_hash, "version": point.version}
    return json.dumps(identity, sort_keys=True)


def key_of(identity: str) -> str:
    """A short name for a point's result: the same for the same data, parameters and version, anywhere."""
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


def parameters_of(point: Any) -> dict[str, Any]:
    """The fields of a point with their values."""
    return {field.name: getattr(point, field.name) for field in fields(point)}
