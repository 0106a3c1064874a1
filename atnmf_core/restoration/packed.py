"""A restoration stored compactly: for a cache, another process, or a file that comes with the program."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..problem import Array
from ..result import Fit
from .candidates import Candidate, Treatment
from .choice import Choice
from .lines import BadLine
from .restore import Restoration
from .scoring import Score

Bits = npt.NDArray[np.uint8]
UNSUSPECTED = 0.3
"""Suspicions below this are stored as none in files."""
MOST = 250.0
"""Suspicions beyond this are stored as this: half precision has no room for very large ones."""


@dataclass(frozen=True, eq=False)
class PackedRestoration:
    """All of a `Restoration` but the data: masks as bits, suspicion and deviation in half precision.

    Attributes
    ----------
    deviation_unit : what the stored deviations are multiples of.
    held : the values of the predictions that were held at their bound.
    """

    W: Array
    H: Array
    defects: Bits
    unrestorable: Bits
    bounded: Bits
    held: Array
    suspicion: npt.NDArray[np.float16]
    deviation: npt.NDArray[np.float16]
    deviation_unit: float
    lines: tuple[BadLine, ...]
    choice: Choice | None
    lam: float | None
    leash: float | None
    seed: int
    sweeps: int
    seconds: float

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def unpack(self, data: Dataset) -> Restoration:
        """The restoration of this data, which is what was restored."""
        defects, unrestorable, bounded = (
            np.unpackbits(bits, count=data.V.size).reshape(data.shape).astype(bool)
            for bits in (self.defects, self.unrestorable, self.bounded)
        )
        use = data.observed & ~defects
        fit = Fit(
            W=self.W,
            H=self.H,
            history={},
            converged=True,
            n_iter=self.sweeps,
            seconds=self.seconds,
            method="nmf" if self.lam is None else "atnmf",
            lam=self.lam,
            missing="ignore",
            solver="fast",
            seed=self.seed,
            V=data.V,
            observed=use,
            leash=self.leash,
        )
        V = np.where(use, data.V, fit.V_hat)
        V[bounded] = self.held
        V[unrestorable] = np.nan
        return Restoration(
            V=V,
            defects=defects,
            suspicion=self.suspicion.astype(np.float32),
            deviation=self.deviation.astype(np.float32) * self.deviation_unit,
            unrestorable=unrestorable,
            bounded=bounded,
            lines=self.lines,
            choice=self.choice,
            fit=fit,
        )

    def to_bytes(self) -> bytes:
        """As the contents of an NPZ file."""
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        # What nobody tells apart is left out: it would be most of the file.
        arrays["suspicion"] = _rounded(np.where(self.suspicion < UNSUSPECTED, 0, self.suspicion))
        arrays["deviation"] = _rounded(self.deviation)
        rest = {name: value for name, value in vars(self).items() if name not in arrays}
        rest["lines"] = [asdict(line) for line in self.lines]
        rest["choice"] = choice_to_json(self.choice)
        file = io.BytesIO()
        np.savez_compressed(file, rest=np.array(json.dumps(rest)), **arrays)  # type: ignore[arg-type]
        return file.getvalue()

    @classmethod
    def from_bytes(cls, contents: bytes) -> PackedRestoration:
        with np.load(io.BytesIO(contents)) as stored:
            arrays = {name: stored[name] for name in stored.files}
        rest = json.loads(str(arrays.pop("rest")))
        rest["lines"] = tuple(_line(line) for line in rest["lines"])
        rest["choice"] = choice_from_json(rest["choice"])
        return cls(**arrays, **rest)


def pack(restoration: Restoration) -> PackedRestoration:
    fit, deviation = restoration.fit, restoration.deviation
    unit = float(np.nanmax(deviation, initial=0.0)) or 1.0
    return PackedRestoration(
        W=fit.W,
        H=fit.H,
        defects=np.packbits(restoration.defects),
        unrestorable=np.packbits(restoration.unrestorable),
        bounded=np.packbits(restoration.bounded),
        held=restoration.V[restoration.bounded],
        suspicion=np.minimum(restoration.suspicion, MOST).astype(np.float16),
        deviation=(deviation / unit).astype(np.float16),
        deviation_unit=unit,
        lines=restoration.lines,
        choice=restoration.choice,
        lam=fit.lam,
        leash=fit.leash,
        seed=fit.seed,
        sweeps=fit.n_iter,
        seconds=fit.seconds,
    )


def _rounded(values: npt.NDArray[np.float16]) -> npt.NDArray[np.float16]:
    """To one part in 64, so that they compress."""
    bits = values.astype(np.float16).view(np.uint16).astype(np.uint32) + 0x10
    return np.minimum(bits, 0x7BE0).astype(np.uint16).__and__(np.uint16(0xFFE0)).view(np.float16)


def _line(stored: dict[str, object]) -> BadLine:
    bands = stored.pop("bands")
    return BadLine(**stored, bands=None if bands is None else tuple(bands))  # type: ignore[arg-type]


def choice_to_json(choice: Choice | None) -> dict[str, Any] | None:
    """All of a choice but its parts W, as what JSON can hold."""
    return None if choice is None else asdict(replace(choice, W=None))


def choice_from_json(stored: dict[str, Any] | None) -> Choice | None:
    if stored is None:
        return None
    scores = [Score(**score | {"candidate": _candidate(score["candidate"])}) for score in stored["scores"]]
    return Choice(**stored | {"chosen": _candidate(stored["chosen"]), "scores": tuple(scores)})


def _candidate(stored: dict[str, Any]) -> Candidate:
    return Candidate(stored["K"], Treatment(**stored["treatment"]))
