"""The data sets of the benchmark, as objectives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from atnmf_core import hide_entries, load_dataset, paper_mask

from .objective import Objective

K_OF = {"moffet": 5, "madonna": 5, "cbcl": 49}
"""What the paper uses."""


def of_the_paper(name: str, alpha: float, K: int | None = None, missing: str = "ignore") -> Objective:
    """The paper's data under the authors' own mask."""
    return _objective(
        f"{name}, alpha {alpha}", load_dataset(name).V, paper_mask(name, alpha), K or K_OF[name], missing
    )


def hidden_at_random(name: str, alpha: float, K: int, missing: str = "ignore", **options: int) -> Objective:
    """Any data set with a share alpha of its entries hidden."""
    V = load_dataset(name, **options).V
    return _objective(f"{name}, alpha {alpha}", V, hide_entries(V.shape, alpha), K, missing)


def _objective(name: str, V: np.ndarray, observed: np.ndarray, K: int, missing: str) -> Objective:
    return Objective(name, np.where(observed, V, 0.0), observed, K, missing, V)


DATASETS: dict[str, Callable[[], Objective]] = {
    "moffet": lambda: of_the_paper("moffet", 0.5),
    "madonna": lambda: of_the_paper("madonna", 0.9),
    "cbcl": lambda: of_the_paper("cbcl", 0.5),
    "lfw": lambda: hidden_at_random("lfw", 0.5, 25),
    "scene": lambda: hidden_at_random("simulated-scene", 0.5, 5),
}
"""The first three are the paper's; the others come with the project and need no files."""
