"""What is chosen on the Reproduce page, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.model.problem import Missing
from atnmf_core.recipe import command_line
from atnmf_core.reference import NAMES, published
from atnmf_core.reference.compare import PAPER_OUTER, CellKey
from atnmf_core.reference.tables import ignoring_hidden, published_grid
from atnmf_core.sweep.grid import PAPER_STARTS, Grid
from pages.common.state import Address, OneOf, Setting, change, declare, redeclare

OUTER = (1, 10, 20, 50, PAPER_OUTER)
STARTS = (1, 2, 3, 5, PAPER_STARTS)
"""Limits for a quicker run."""


def columns(table: str) -> dict[str, tuple[Any, float | None]]:
    """Method and lambda of each column of a table."""
    found = dict.fromkeys((cell.method, cell.lam) for cell in published(table))
    return {method if lam is None else f"{method}-{lam:g}": (method, lam) for method, lam in found}


def _names(values: Iterable[Any]) -> dict[Any, str]:
    return {value: str(value) for value in values}


@dataclass(frozen=True)
class ReproduceSetting:
    """A table, one of its cells, and how to rerun that.

    Attributes
    ----------
    method : a column of the table: "nmf", "anmf", or "atnmf-3" for AT-NMF at lambda = 3.
    missing : "zero" runs the cell as it was published, "ignore" with hidden entries left out of the loss.
    outer : limit on the outer iterations of Algorithm 1.
    look : whether the numbers are shown as a table or a plot.
    """

    table: str = declare(OneOf("synthetic", "Table", _names(NAMES)))
    alpha: float = declare(OneOf(0.5, "Hidden share α", _names(PAPER_ALPHAS)))
    method: str = declare(OneOf("atnmf-3", "Method", _names(name for t in NAMES for name in columns(t))))
    missing: Missing = redeclare(Setting, "missing")
    starts: int = declare(
        OneOf(
            1, "Starts", _names(STARTS), help="How many of the authors' ten starts to run, from the first on."
        )
    )
    outer: int = declare(
        OneOf(
            PAPER_OUTER,
            "Outer iterations",
            _names(OUTER),
            help="Algorithm 1 stops after this many; the authors allowed 100. Other methods have none.",
        )
    )
    look: str = declare(OneOf("table", "Show as", {"table": "Numbers", "chart": "Chart"}))

    @property
    def cell_key(self) -> CellKey:
        return self.alpha, *columns(self.table)[self.method]

    def grid(self) -> Grid:
        """The run of this cell, from the authors' masks and starts."""
        method, lam = columns(self.table)[self.method]
        lams = None if lam is None else [lam]
        zero = published_grid(
            self.table, [self.alpha], [method], starts=self.starts, max_outer=self.outer, lams=lams
        )
        return zero if self.missing == "zero" else ignoring_hidden(zero)

    def command_line(self) -> str:
        """The command for the same run."""
        method, lam = columns(self.table)[self.method]
        return command_line(
            "reproduce",
            self.table,
            alpha=self.alpha,
            methods=method,
            lam=lam,
            starts=self.starts,
            treatment=self.missing,
            max_outer=self.outer if self.missing == "zero" else None,
        )


def method_of(table: str, method: str) -> str:
    """That column if the table has it, else its first of AT-NMF."""
    return method if method in columns(table) else "atnmf-2"


def key(name: str) -> str:
    """The session key of a field of `ReproduceSetting`."""
    return f"reproduce_{name}"


ADDRESS = Address("reproduce", ReproduceSetting, key=key)


def arrive() -> None:
    """Give the controls their values; if the table lacks the column in the address, another one."""
    ADDRESS.load_from_address()
    asked = st.session_state[key("method")]
    if (method := method_of(st.session_state[key("table")], asked)) != asked:
        change(**{key("method"): method})
