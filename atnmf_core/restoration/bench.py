"""Restorations of data that was damaged on purpose, measured against the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count

from ..datasets import Dataset
from ..factorization import factorize
from ..metrics import rmse
from ..problem import Mask
from .choice import ChoiceProgress, Losses
from .damage import Damage, damaged
from .packed import PackedRestoration, pack
from .path import MapTrials
from .restore import Restoration, restore
from .trials import stored_trials

NO_DAMAGE = Damage()


@dataclass(frozen=True)
class RestoreTask:
    """How to damage and restore a data set.

    Attributes
    ----------
    damage : how to damage the data first; a false value leaves it as it is.
    losses : as in `restore`; with "marked" ones the damage becomes missing entries.
    K, lam, leash, seed, keep_suspects : as in `restore`; None to have them chosen.
    """

    damage: Damage = NO_DAMAGE
    losses: Losses = "unmarked"
    K: int | None = None
    lam: float | None = None
    leash: float | None = None
    seed: int = 0
    keep_suspects: bool = field(default=False, repr=False)

    def python(self, name: str) -> str:
        """A script that does this for a data set from the catalogue and prints the first three `Errors`."""
        marked = self.losses == "marked"
        options = "".join(
            f", {name}={value!r}" if value != math.inf else f', {name}=float("inf")'
            for name, value in (("K", self.K), ("lam", self.lam), ("leash", self.leash))
            if value is not None
        ) + (", keep_suspects=True" if self.keep_suspects else "")
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
            f'print(f"restored {{rmse(data.V, {"r.V" if marked else "r.fit.V_hat"}, where):.6f}}")',
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
    restored : of the restoration, which does not know what is wrong.
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
    """A restoration and, where the truth is known, its errors."""

    packed: PackedRestoration
    errors: Errors | None

    @property
    def nbytes(self) -> int:
        return self.packed.nbytes


def damaged_dataset(data: Dataset, task: RestoreTask) -> tuple[Dataset, Mask]:
    """The data to restore, and which of its entries were damaged."""
    if not task.damage:
        return data, np.zeros(data.shape, dtype=bool)
    spoiled = damaged(data, task.damage, marked=task.losses == "marked")
    return replace(data, V=spoiled.V, truth=None), spoiled.wrong


def search_workers() -> int:
    """Processes of a search whose trials `run_task` stores: one core stays free for other users."""
    return max(1, int(cpu_count()) - 1)


def run_task(
    report: Callable[[ChoiceProgress], None], data: Dataset, task: RestoreTask, trials: Path | None = None
) -> Outcome:
    """Damage the data if the task says so, restore it, and measure; for another process. Trials that are in
    the folder are not fitted again.
    """
    spoiled, wrong = damaged_dataset(data, task)
    where: MapTrials | None = None if trials is None else stored_trials(trials, search_workers())
    restoration = restore(
        spoiled,
        task.losses,
        K=task.K,
        lam=task.lam,
        leash=task.leash,
        keep_suspects=task.keep_suspects,
        seed=task.seed,
        callback=report,
        map_trials=where,
    )
    errors = restoration_errors(data, spoiled, wrong, restoration, task) if task.damage else None
    return Outcome(pack(restoration), errors)


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
    restored = restoration.V if marked else restoration.fit.V_hat
    suspects = restoration.defects
    found = int((suspects & wrong).sum())
    return Errors(
        restored=rmse(truth.V, restored, where),
        nmf=rmse(truth.V, nmf, where),
        told=rmse(truth.V, told, where),
        damaged=rmse(truth.V, V, where),
        precision=found / max(int(suspects.sum()), 1),
        recall=found / max(int(wrong.sum()), 1),
    )
