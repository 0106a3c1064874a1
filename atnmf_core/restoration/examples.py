"""Bundled restorations: the first view of the Restore page, and its presets.

``python -m atnmf_core.restoration.examples`` makes the files again; a test compares them with `restore`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ..datasets import load_dataset
from .bench import Errors, Outcome, RestoreTask, run_task
from .damage import Damage
from .packed import PackedRestoration

FOLDER = Path(__file__).parent / "bundled"


class Example(NamedTuple):
    """A data set from the catalogue, and what is done to it."""

    data: str
    task: RestoreTask


EXAMPLES = {
    "dead": Example("simulated-scene", RestoreTask(Damage(dead=0.1))),
    "striped": Example("simulated-scene", RestoreTask(Damage(streaks=0.1))),
    "cosmic": Example("simulated-scene", RestoreTask(Damage(cosmic=0.03))),
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
    errors = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1)
    return Outcome(PackedRestoration.from_bytes(file.read_bytes()), Errors(*errors.tolist()))


def _make(names: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        example = EXAMPLES[name]
        # With more threads sums round differently, and 1 or 2 % of the entries in faces change sides.
        with threadpool_limits(1):
            outcome = run_task(lambda progress: None, load_dataset(example.data), example.task)
        (FOLDER / f"{name}.npz").write_bytes(outcome.packed.to_bytes())
        assert outcome.errors is not None
        errors = asdict(outcome.errors)
        (FOLDER / f"{name}.csv").write_text(
            ",".join(errors) + "\n" + ",".join(repr(error) for error in errors.values()) + "\n"
        )
        print(name, outcome.errors, outcome.packed.choice and outcome.packed.choice.verdict)


if __name__ == "__main__":
    import sys

    _make(sys.argv[1:] or tuple(EXAMPLES))
