"""The one exception that leaves the readers, and how foreign errors are turned into it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["UnreadableData", "foreign_code", "shown"]

# Without a handler of its own a library's complaints about a damaged file would be printed on the console.
for _library in ("tifffile", "PIL", "h5py"):
    logging.getLogger(_library).addHandler(logging.NullHandler())


class UnreadableData(ValueError):
    """Files that cannot be used, with the reason in words.

    Attributes
    ----------
    choices : names to choose from with `variable=`, where a file holds several arrays that could be meant.
    """

    def __init__(self, message: str, choices: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.choices = choices


def shown(number: int) -> str:
    """A number from a file for a message; a damaged header can state one of thousands of digits."""
    return f"{number:,}" if abs(number) < 10**15 else "more than 10^15"


@contextmanager
def foreign_code(message: str) -> Iterator[None]:
    """Run a library on bytes of unknown origin: whatever it raises becomes UnreadableData(message).

    Libraries answer damaged files with errors of every type, so this is the one place that catches them all.
    Only the library call belongs inside: a mistake of our own must not be blamed on the file.
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
