"""Files that were uploaded to this server, so that a reload or a link finds them again."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

import streamlit as st
from cachetools import LRUCache

from atnmf_core import Dataset
from atnmf_core.datasets import Reading, ReadingOptions, read_or_ask

__all__ = ["Files", "Uploads", "uploads"]

Files = tuple[tuple[str, bytes], ...]
"""Names, which are never paths, and contents."""
MAX_DATA_BYTES = 2_000_000_000
MAX_FILE_BYTES = 1_000_000_000


class Uploads:
    """Files, and what was read from them, by the hash of their contents, while there is room."""

    def __init__(self) -> None:
        # The last one must find room, however large it is.
        self._files = LRUCache[str, Files](
            MAX_FILE_BYTES, lambda files: min(sum(len(data) for _, data in files), MAX_FILE_BYTES)
        )
        self._readings = LRUCache[tuple[str, ReadingOptions | None], Reading](MAX_DATA_BYTES, _size)
        self._lock = threading.Lock()

    def keep(self, data: Dataset) -> str:
        """Cache data that is read already; the word by which `read` finds it, whatever the options."""
        with self._lock:
            self._readings[data.content_hash, None] = Reading(ReadingOptions(), data, None)
        return data.content_hash

    def keep_files(self, files: Sequence[tuple[str, bytes]]) -> str:
        """Cache files; the word by which `read` finds them."""
        digest = hashlib.sha256()
        for name, data in files:
            digest.update(f"{len(name)} {name} {len(data)} ".encode(errors="replace"))
            digest.update(data)
        with self._lock:
            self._files[digest.hexdigest()] = tuple(files)
        return digest.hexdigest()

    def files(self, upload: str) -> Files:
        """The files of this name; none where they are not here, or were never files."""
        with self._lock:
            return self._files.get(upload, ())

    def read(self, upload: str, options: ReadingOptions) -> Reading | None:
        """What comes of reading files with these options; None where they are not here."""
        with self._lock:
            reading = self._readings.get((upload, options)) or self._readings.get((upload, None))
            files = self._files.get(upload)
        if reading is not None or files is None:
            return reading
        reading = read_or_ask(list(files), options)
        with self._lock:
            self._readings[upload, options] = reading
        return reading


def _size(reading: Reading) -> int:
    return 1 if reading.data is None else min(reading.data.V.nbytes, MAX_DATA_BYTES)


@st.cache_resource(show_spinner=False)
def uploads() -> Uploads:
    """Those of this server."""
    return Uploads()
