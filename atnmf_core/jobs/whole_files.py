"""Files that are there as a whole or not at all: written beside their place, then renamed."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def moved_when_whole(*places: Path, shared: bool = False) -> Iterator[list[Path]]:
    """Temporary names for files, final if the block succeeds; `shared` if several may write the same."""
    mark = f"{os.getpid()}-{threading.get_ident()}-" if shared else ""
    parts = [place.with_name(f".part-{mark}{place.name}") for place in places]
    try:
        yield parts
        for part, place in zip(parts, places, strict=True):
            part.replace(place)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file; if the disk is full or the process is killed, `path` is left unchanged."""
    with moved_when_whole(path, shared=True) as (part,):
        part.write_bytes(content.encode() if isinstance(content, str) else content)
