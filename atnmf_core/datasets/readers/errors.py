"""The one exception that the readers raise, and how errors of libraries are converted to it."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# Without a handler a library's complaints about a damaged file would be printed on the console.
logging.getLogger("PIL").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Remedy:
    """A setting of `ReadingOptions` that would help.

    Attributes
    ----------
    setting : its name.
    value : what to set it to; None if only the user can know.
    effect : what that does, phrased to follow the word "to".
    """

    setting: str
    value: Any
    effect: str

    def python(self) -> str:
        """As an argument of `read_dataset`."""
        if self.value is None:
            return f"{self.setting}=..."
        return f"{self.setting}={_literal(self.value)}"


@dataclass(frozen=True)
class ArrayInFile:
    """An array in a file, to be chosen by name."""

    name: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name[:60]} ({' x '.join(map(size_text, self.shape))})"


class UnreadableData(ValueError):
    """Files that cannot be used, or not without an answer to a question.

    Attributes
    ----------
    message : what is wrong, in words for every front end.
    remedies : settings that would help. Each front end names its own controls: see `explained`.
    arrays : what to choose from with the setting `variable`, where that is the question.
    setting : the name of the setting whose value cannot be used; None if the file is at fault.
    """

    def __init__(
        self,
        message: str,
        remedies: Sequence[Remedy] = (),
        arrays: Sequence[ArrayInFile] = (),
        setting: str | None = None,
    ) -> None:
        self.message = message
        self.remedies = tuple(remedies)
        self.arrays = tuple(arrays)
        self.setting = setting
        super().__init__(self.explained(Remedy.python))

    def explained(self, spelled: Callable[[Remedy], str]) -> str:
        """The message and the remedies; `spelled` says how to give a setting."""
        advice = "; ".join(f"to {remedy.effect}, give {spelled(remedy)}" for remedy in self.remedies)
        return f"{self.message} {advice[0].upper()}{advice[1:]}." if advice else self.message


def size_text(number: int) -> str:
    """A number from a file for a message; a damaged header can state one of thousands of digits."""
    return f"{number:,}" if abs(number) < 10**15 else "more than 10^15"


@contextmanager
def foreign_code(message: str) -> Iterator[None]:
    """Run a library on untrusted bytes: whatever it raises becomes UnreadableData(message).

    Libraries raise errors of every type on damaged files, so this is the one place that catches them all.
    Only the library call belongs inside: our own bugs must not be blamed on the file.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except UnreadableData:
        raise
    except MemoryError as error:
        raise UnreadableData(f"{message}: there is not enough memory for it.") from error
    except Exception as error:
        raise UnreadableData(f"{message}.") from error


def number_text(value: float) -> str:
    """A number in at most ten digits if these read back as the same number."""
    return f"{value:.10g}" if float(f"{value:.10g}") == value else repr(float(value))


def _literal(value: Any) -> str:
    if isinstance(value, str):
        # Names come from files, and people run what they copy: a quote inside must stay inside.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, tuple):
        inside = ", ".join(_literal(one) for one in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)
