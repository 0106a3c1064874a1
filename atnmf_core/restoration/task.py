"""Restorations of data that was damaged on purpose, measured against the truth."""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ..datasets import Dataset, load_dataset
from ..model.metrics import rmse
from ..model.problem import Array, Mask
from ..model.result import Fit
from ..solvers.factorization import factorize
from .choice import ENTRIES, Candidate, Choice, ChoiceProgress, Losses, Score, Treatment
from .damage import Damage, damaged
from .lines import BadLine
from .restore import Restoration, restore

# A restoration stored compactly: for a cache, another process, or a file that comes with the program.


Bits = npt.NDArray[np.uint8]
UNSUSPECTED = 0.5
"""Suspicions below this are stored as none in files."""
MOST = 250.0
"""Suspicions beyond this are stored as this: half precision has no room for very large ones."""
NO_MORE, EXACT = 1e-7, 1e-6
"""Singular values below this share of the largest are rounding, and two factors may be off by so much."""


@dataclass(frozen=True, eq=False)
class PackedRestoration:
    """All of a `Restoration` but the data: masks as bits, suspicion and deviation in half precision.

    Attributes
    ----------
    deviation_unit : what the stored deviations are multiples of.
    """

    W: Array
    H: Array
    denoised: npt.NDArray[np.float32]
    defects: Bits
    unrestorable: Bits
    bounded: Bits
    suspicion: npt.NDArray[np.float16]
    deviation: npt.NDArray[np.float16]
    deviation_unit: float
    offsets: npt.NDArray[np.float32] | None
    noise: Array
    is_smoothed: bool
    expected_error: float
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
        measured = data.V if self.offsets is None else data.V - self.offsets
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
            V=np.maximum(np.nan_to_num(measured), 0),
            observed=use,
            leash=self.leash,
        )
        V = np.where(use, measured, self.denoised)
        V[unrestorable] = np.nan
        return Restoration(
            V=V,
            denoised=self.denoised,
            defects=defects,
            suspicion=self.suspicion.astype(np.float32),
            deviation=self.deviation.astype(np.float32) * self.deviation_unit,
            unrestorable=unrestorable,
            bounded=bounded,
            lines=self.lines,
            offsets=self.offsets,
            noise=self.noise,
            is_smoothed=self.is_smoothed,
            expected_error=self.expected_error,
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
        arrays |= _factors(arrays.pop("denoised"))
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
        if "left" in arrays:
            left, right = arrays.pop("left"), arrays.pop("right")
            arrays["denoised"] = (left.astype(np.float64) @ right).astype(np.float32)
        return cls(**arrays, **rest)


def pack(restoration: Restoration) -> PackedRestoration:
    fit, deviation, offsets = restoration.fit, restoration.deviation, restoration.offsets
    unit = float(np.nanmax(deviation, initial=0.0)) or 1.0
    return PackedRestoration(
        W=fit.W,
        H=fit.H,
        denoised=restoration.denoised.astype(np.float32),
        defects=np.packbits(restoration.defects),
        unrestorable=np.packbits(restoration.unrestorable),
        bounded=np.packbits(restoration.bounded),
        suspicion=np.minimum(restoration.suspicion, MOST).astype(np.float16),
        deviation=(deviation / unit).astype(np.float16),
        deviation_unit=unit,
        offsets=None if offsets is None else offsets.astype(np.float32),
        noise=restoration.noise,
        is_smoothed=restoration.is_smoothed,
        expected_error=restoration.expected_error,
        lines=restoration.lines,
        choice=restoration.choice,
        lam=fit.lam,
        leash=fit.leash,
        seed=fit.seed,
        sweeps=fit.n_iter,
        seconds=fit.seconds,
    )


def _factors(denoised: npt.NDArray[np.float32]) -> dict[str, Array]:
    """The model of a cube as the product of two small matrices; as it is where there are none."""
    U, values, right = np.linalg.svd(denoised.astype(np.float64), full_matrices=False)
    left = (U * values)[:, values > NO_MORE * values[0]].astype(np.float32)
    right = right[: left.shape[1]].astype(np.float32)
    off = np.abs(left.astype(np.float64) @ right - denoised).max()
    if left.size + right.size < denoised.size / 2 and off < EXACT * np.abs(denoised).max():
        return {"left": left, "right": right}
    return {"denoised": denoised}


def _rounded(values: npt.NDArray[np.float16]) -> npt.NDArray[np.float16]:
    """To one part in 64, so that they compress."""
    bits = values.astype(np.float16).view(np.uint16).astype(np.uint32) + 0x10
    return np.minimum(bits, 0x7BE0).astype(np.uint16).__and__(np.uint16(0xFFE0)).view(np.float16)


def _line(stored: dict[str, object]) -> BadLine:
    bands = stored.pop("bands")
    return BadLine(**stored, bands=None if bands is None else tuple(bands))  # type: ignore[arg-type]


def choice_to_json(choice: Choice | None) -> dict[str, Any] | None:
    """As what JSON can hold."""
    return None if choice is None else asdict(choice)


def choice_from_json(stored: dict[str, Any] | None) -> Choice | None:
    if stored is None:
        return None
    scores = [Score(**score | {"candidate": _candidate(score["candidate"])}) for score in stored["scores"]]
    return Choice(**stored | {"chosen": _candidate(stored["chosen"]), "scores": tuple(scores)})


def _candidate(stored: dict[str, Any]) -> Candidate:
    return Candidate(stored["K"], Treatment(**stored["treatment"]))


NO_DAMAGE = Damage()


@dataclass(frozen=True)
class RestoreTask:
    """How to damage and restore a data set.

    Attributes
    ----------
    damage : how to damage the data first; a false value leaves it as it is.
    losses : as in `restore`; with "marked" ones the damage becomes missing entries.
    K, lam, leash, seed : as in `restore`; None to have them chosen.
    """

    damage: Damage = NO_DAMAGE
    losses: Losses = "unmarked"
    K: int | None = None
    lam: float | None = None
    leash: float | None = None
    seed: int = 0

    def python(self, name: str) -> str:
        """A script that does this for a data set from the catalogue and prints the first three `Errors`."""
        marked = self.losses == "marked"
        options = "".join(
            f", {name}={value!r}" if value != math.inf else f', {name}=float("inf")'
            for name, value in (("K", self.K), ("lam", self.lam), ("leash", self.leash))
            if value is not None
        )
        shares = ", ".join(f"{name}={value!r}" for name, value in vars(self.damage).items() if value)
        where = "spoiled.wrong & ~r.unrestorable" if marked else "None"
        lines = (
            "from dataclasses import replace",
            "",
            "import numpy as np",
            "",
            "from atnmf_core import factorize, load_dataset, restore, rmse",
            "from atnmf_core.restoration.damage import Damage, damaged",
            "",
            f'data = load_dataset("{name}")',
            f"spoiled = damaged(data, Damage({shares}), marked={marked})",
            f'r = restore(replace(data, V=spoiled.V), "{self.losses}"{options}, seed={self.seed})',
            f"same, where = dict(K=r.fit.W.shape[1], seed={self.seed}), {where}",
            "nmf = factorize(np.nan_to_num(spoiled.V), **same)",
            "told = factorize(np.nan_to_num(spoiled.V), ~spoiled.wrong, **same)",
            f'print(f"restored {{rmse(data.V, {"r.V" if marked else "r.denoised"}, where):.6f}}")',
            'print(f"NMF {rmse(data.V, nmf.V_hat, where):.6f}")',
            'print(f"NMF told {rmse(data.V, told.V_hat, where):.6f}")',
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class Errors:
    """Root mean square errors against the undamaged data.

    With unmarked losses, errors of the models over the whole matrix; with marked ones, of the predictions of
    missing entries.

    Attributes
    ----------
    restored : of the restoration, which does not know what is wrong: denoised everywhere, or with marked
        losses what was filled in.
    nmf : of NMF with the same K, which takes everything as sound, and marked losses as zeros.
    told : of NMF with the same K that knows which entries are wrong.
    damaged : of the damaged data itself; with marked losses, of zeros.
    precision, recall : share of the suspects that are wrong, and of the wrong entries that are suspect.
    """

    restored: float
    nmf: float
    told: float
    damaged: float
    precision: float
    recall: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """A restoration and, where the truth is known, its errors; and the seconds that it took."""

    packed: PackedRestoration
    errors: Errors | None
    seconds: float

    @property
    def nbytes(self) -> int:
        return self.packed.nbytes


def damaged_dataset(data: Dataset, task: RestoreTask) -> tuple[Dataset, Mask]:
    """The data to restore, and which of its entries were damaged."""
    if not task.damage:
        return data, np.zeros(data.shape, dtype=bool)
    spoiled = damaged(data, task.damage, marked=task.losses == "marked")
    return replace(data, V=spoiled.V, truth=None), spoiled.wrong


def run_task(report: Callable[[ChoiceProgress], None], data: Dataset, task: RestoreTask) -> Outcome:
    """Damage the data if the task says so, restore it, and measure; for another process."""
    spoiled, wrong = damaged_dataset(data, task)
    began = time.perf_counter()
    restoration = restore(
        spoiled,
        task.losses,
        K=task.K,
        lam=task.lam,
        leash=task.leash,
        seed=task.seed,
        callback=report,
    )
    seconds = time.perf_counter() - began
    errors = restoration_errors(data, spoiled, wrong, restoration, task) if task.damage else None
    return Outcome(pack(restoration), errors, seconds)


SECONDS_AN_ENTRY, SECONDS_MORE, SECONDS_OF_FACES = 8e-6, 3e-6, 100e-6
"""For each entry that a model is chosen by, for each further one, and for each of faces."""


def expected_restore_seconds(data: Dataset) -> float:
    """Seconds that `restore` takes on a current machine, about."""
    entries = data.V.size
    if data.kind == "faces":
        return SECONDS_OF_FACES * entries
    return SECONDS_AN_ENTRY * min(entries, ENTRIES) + SECONDS_MORE * max(entries - ENTRIES, 0)


def restoration_errors(
    truth: Dataset, spoiled: Dataset, wrong: Mask, restoration: Restoration, task: RestoreTask
) -> Errors:
    """Errors of the restoration, and of NMF that does and does not know what is wrong."""
    V = np.nan_to_num(spoiled.V)
    common: dict[str, Any] = {"K": restoration.fit.W.shape[1], "seed": task.seed}
    marked = task.losses == "marked"
    told = factorize(V, truth.observed & ~wrong, **common).V_hat
    # NMF without that knowledge takes marked losses as zeros, which they are in V.
    nmf = factorize(V, truth.observed, **common).V_hat
    where = wrong & ~restoration.unrestorable if marked else truth.observed
    restored = restoration.V if marked else restoration.denoised
    # What had an offset is found as well, and is sound without it.
    suspects = (
        restoration.defects
        if restoration.offsets is None
        else restoration.defects | (restoration.offsets != 0)
    )
    found = int((suspects & wrong).sum())
    return Errors(
        restored=rmse(truth.V, restored, where),
        nmf=rmse(truth.V, nmf, where),
        told=rmse(truth.V, told, where),
        damaged=rmse(truth.V, V, where),
        precision=found / max(int(suspects.sum()), 1),
        recall=found / max(int((wrong & spoiled.observed).sum()), 1),
    )


# Bundled restorations: the first view of the Restore page, and its presets.
#
# ``python -m atnmf_core.restoration.task`` makes the files again; a test compares them with `restore`.


FOLDER = Path(__file__).parent / "bundled"


class Example(NamedTuple):
    """A data set from the catalogue, and what is done to it."""

    data: str
    task: RestoreTask


EXAMPLES = {
    "dead": Example("simulated-scene", RestoreTask(Damage(dead=0.1))),
    "stripes": Example("simulated-scene", RestoreTask(Damage(stripes=0.2))),
    "everything": Example(
        "simulated-scene",
        RestoreTask(
            Damage(dead=0.05, cosmic=0.02, band_noise=0.05, stripes=0.1, dead_columns=0.05, salt=0.03)
        ),
    ),
    "lost": Example("simulated-scene", RestoreTask(Damage(dead=0.5), "marked")),
    "faces": Example("lfw", RestoreTask(Damage(dead=0.3))),
}


@cache
def bundled(data: str, task: RestoreTask) -> Outcome | None:
    """The bundled outcome of a task, if there is one."""
    name = next((name for name, example in EXAMPLES.items() if example == (data, task)), "")
    file = FOLDER / f"{name}.npz"
    if not name or not file.is_file():
        return None
    *errors, seconds = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1).tolist()
    return Outcome(PackedRestoration.from_bytes(file.read_bytes()), Errors(*errors), seconds)


def _make(names: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        example = EXAMPLES[name]
        # With more threads sums round differently, and 1 or 2 % of the entries in faces change sides.
        with threadpool_limits(1):
            outcome = run_task(lambda progress: None, load_dataset(example.data), example.task)
        (FOLDER / f"{name}.npz").write_bytes(outcome.packed.to_bytes())
        assert outcome.errors is not None
        errors = asdict(outcome.errors) | {"seconds": outcome.seconds}
        (FOLDER / f"{name}.csv").write_text(
            ",".join(errors) + "\n" + ",".join(repr(error) for error in errors.values()) + "\n"
        )
        print(name, outcome.errors, outcome.packed.choice and outcome.packed.choice.verdict)


if __name__ == "__main__":
    import sys

    _make(sys.argv[1:] or tuple(EXAMPLES))
