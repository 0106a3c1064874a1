"""How long it takes to run a cell of the paper's tables again, from how long it took before."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from ..cost import expected_seconds
from ..datasets import catalogue
from .compare import PAPER_OUTER
from .protocol import PROTOCOLS
from .tables import Measured

__all__ = ["expected_cell_seconds"]

ANMF_FACTOR = 3
"""A sweep of ANMF costs about so many of the fast solver's."""


def expected_cell_seconds(
    name: str, method: str, missing: str, max_outer: int, known: Iterable[Measured]
) -> float:
    """Seconds of one fit for the table `name`.

    `known` are measurements of that table; without one of the same method and treatment a model is asked.
    """
    alike = [cell for cell in known if (cell.method, cell.missing) == (method, missing)]
    if alike:
        return statistics.median(
            cell.seconds * _scale(cell.solver, max_outer, cell.max_outer) for cell in alike
        )
    protocol = PROTOCOLS[name]
    shape = next(entry.shape for entry in catalogue() if entry.name == protocol.dataset)
    if method == "anmf":
        return ANMF_FACTOR * expected_seconds(shape, protocol.K, missing="zero")
    if missing == "ignore":
        return expected_seconds(shape, protocol.K)
    whole = expected_seconds(shape, protocol.K, solver="paper", missing="zero")
    return whole * _scale("paper", max_outer, PAPER_OUTER)


def _scale(solver: str, max_outer: int, measured_outer: int) -> float:
    """Only Algorithm 1 is cut short by outer iterations."""
    return max_outer / measured_outer if solver == "paper" else 1.0
