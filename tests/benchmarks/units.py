"""Whether `restore` depends on units, on the type of the numbers, or on one entry, band or constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from atnmf_core import Dataset, Restoration, rmse

from .damage import Array, Mask, undamaged, unmarked

DATA = ("moffet", "simulated-scene")
KIND = "dark10"


@dataclass(frozen=True)
class Change:
    """Data in another form: times `scale`, or with something else at entries that are not the `same`."""

    V: Array
    scale: float = 1.0
    same: Mask | None = None


def _scaled(V: Array, scale: float) -> Change:
    return Change(V.astype(np.float64) * scale, scale)


def _as_uint16(V: Array) -> Change:
    scale = 60_000 / float(V.max())
    return Change(np.round(V * scale).astype(np.uint16), scale)


def _with_band(V: Array, value: float) -> Change:
    changed, same = V.copy(), np.ones(V.shape, dtype=bool)
    changed[len(V) // 2], same[len(V) // 2] = value, False
    return Change(changed, same=same)


def _with_outlier(V: Array) -> Change:
    changed, same = V.copy(), np.ones(V.shape, dtype=bool)
    changed[len(V) // 2, V.shape[1] // 2] = 1e6
    same[len(V) // 2, V.shape[1] // 2] = False
    return Change(changed, same=same)


CHANGES: dict[str, Callable[[Array], Change] | None] = {
    "times 1e4": lambda V: _scaled(V, 1e4),
    "times 1e-9": lambda V: _scaled(V, 1e-9),
    "uint16": _as_uint16,
    "float64": lambda V: Change(V.astype(np.float64)),
    "one entry of 1e6": _with_outlier,
    "zero band": lambda V: _with_band(V, 0.0),
    "constant band": lambda V: _with_band(V, float(V.mean())),
    **dict.fromkeys(("2 bands", "3 bands", "4 bands")),
}
"""To data that is float32; the last ones have too few bands to tell, which the summary has to say."""


def measure(
    name: str,
    change: str,
    seed: int,
    run: Callable[[Dataset, str, int], tuple[Restoration, dict[str, object]]],
) -> dict[str, object]:
    """The difference in predictions to those for the data as it is, as a share of its root mean square."""
    data = _quarter(undamaged(name))
    spoiled = unmarked(data, KIND, seed).data
    changer = CHANGES[change]
    if changer is None:
        bands = np.linspace(0, data.shape[0] - 1, int(change[0])).astype(int)
        few, took = run(spoiled.subset(bands=bands), "unmarked", seed)
        return {**took, "chosen": str(few.choice.chosen) if few.choice else "", "summary": few.summary}
    other = changer(spoiled.V)
    before, _ = run(spoiled, "unmarked", seed)
    after, took = run(replace(spoiled, V=other.V), "unmarked", seed)
    off = np.abs(_model(after) / other.scale - _model(before))
    off = off.ravel() if other.same is None else off[other.same]
    size = rmse(spoiled.V, np.zeros(spoiled.shape))
    return {
        **took,
        "same choice": float(str(before.choice.chosen) == str(after.choice.chosen)),
        "difference": float(np.sqrt(np.mean(off**2))) / size,
        "largest difference": float(off.max()) / size,
        "chosen": str(after.choice.chosen),
        "summary": after.summary,
    }


def _quarter(data: Dataset) -> Dataset:
    rows, cols = data.image_shape or (1, 1)
    return data.subset(rows=slice(rows // 2), cols=slice(cols // 2))


def _model(r: Restoration) -> Array:
    model = getattr(r, "denoised", None)
    return np.asarray(r.fit.V_hat if model is None else model, dtype=np.float64)
