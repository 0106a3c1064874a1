"""What is looked at on the Reproduce page, as plain data, and its spelling in the address bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.reference import NAMES, published
from atnmf_core.reference.compare import PAPER_OUTER, Place
from atnmf_core.reference.protocol import as_published, as_written
from atnmf_core.sweep.grid import Grid
from atnmf_core.sweep.starts import PAPER_STARTS
from pages.common.address import Address
from pages.common.setting import Reader, one_of, understood

__all__ = ["ADDRESS", "OUTER", "STARTS", "Choice", "columns", "key", "method_of", "read_choice"]

OUTER = (1, 10, 20, 50, PAPER_OUTER)
STARTS = (1, 2, 3, 5, PAPER_STARTS)
"""What a run may be held to, to take less time."""
Treatment = Literal["zero", "ignore"]
Look = Literal["table", "chart"]


@dataclass(frozen=True)
class Choice:
    """A table, one cell of it, and how that would be run again.

    Attributes
    ----------
    method : a column of the table: "nmf", "anmf", or "atnmf-3" for AT-NMF at lambda = 3.
    missing : "zero" runs the cell as it was published, "ignore" with hidden entries left out of the loss.
    outer : outer iterations that Algorithm 1 is allowed.
    look : whether the numbers are shown as a table or drawn.
    """

    table: str = "synthetic"
    alpha: float = 0.5
    method: str = "atnmf-3"
    missing: Treatment = "zero"
    starts: int = 1
    outer: int = PAPER_OUTER
    look: Look = "table"

    @property
    def place(self) -> Place:
        return self.alpha, *columns(self.table)[self.method]

    def grid(self) -> Grid:
        """The run of this cell, from the authors' masks and starts."""
        method, lam = columns(self.table)[self.method]
        lams = None if lam is None else [lam]
        zero = as_published(
            self.table, [self.alpha], [method], starts=self.starts, max_outer=self.outer, lams=lams
        )
        return zero if self.missing == "zero" else as_written(zero)

    def command_line(self) -> str:
        """The same run without the dashboard."""
        method, lam = columns(self.table)[self.method]
        words = f"python -m atnmf_core reproduce {self.table} --alpha {self.alpha:g} --methods {method}"
        if lam is not None:
            words += f" --lam {lam:g}"
        words += f" --starts {self.starts} --treatment {self.missing}"
        return words + (f" --max-outer {self.outer}" if self.missing == "zero" else "")


def columns(table: str) -> dict[str, tuple[Any, float | None]]:
    """Method and lambda of each column of a table."""
    found = dict.fromkeys((cell.method, cell.lam) for cell in published(table))
    return {method if lam is None else f"{method}-{lam:g}": (method, lam) for method, lam in found}


def method_of(table: str, method: str) -> str:
    """That column where the table has it, else its first of AT-NMF."""
    return method if method in columns(table) else "atnmf-2"


def key(name: str) -> str:
    """The session key of a field of `Choice`."""
    return f"reproduce_{name}"


def _among(values: tuple[Any, ...], kind: Callable[[str], Any] = str) -> Reader:
    return lambda text: kind(text) if kind(text) in values else None


_READERS: dict[str, Reader] = {
    "table": _among(NAMES),
    "alpha": _among(PAPER_ALPHAS, float),
    "method": lambda text: text if any(text in columns(name) for name in NAMES) else None,
    "missing": one_of(Treatment),
    "starts": _among(STARTS, int),
    "outer": _among(OUTER, int),
    "look": one_of(Look),
}


def _read(query: Mapping[str, str]) -> dict[str, Any]:
    found = {key(field.name): field.default for field in fields(Choice)}
    found |= {key(name): value for name, value in understood(_READERS, query).items()}
    found[key("method")] = method_of(found[key("table")], found[key("method")])
    return found


def _spell(values: Mapping[str, Any]) -> dict[str, str]:
    first = Choice()
    told = {field.name: values[key(field.name)] for field in fields(Choice)}
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in told.items()
        if value != getattr(first, name)
    }


ADDRESS = Address("reproduce", _read, _spell)


def read_choice() -> Choice:
    """What the widgets say now."""
    return Choice(**{name.removeprefix(key("")): value for name, value in ADDRESS.values().items()})
