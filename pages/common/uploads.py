"""Files that were uploaded to this server, so that a reload or a link finds them again."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

import streamlit as st
from cachetools import LRUCache

from atnmf_core import Dataset
from atnmf_core.datasets import Reading, ReadingOptions, read_or_ask

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
        self._owned: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def keep(self, data: Dataset) -> str:
        """Cache data that is read already; the word by which `read` finds it, whatever the options."""
        with self._lock:
            self._readings[data.content_hash, None] = Reading(ReadingOptions(), data, None)
        return data.content_hash

    def keep_files(
        self, files: Sequence[tuple[str, bytes]], owner: str | None = None, room: int = MAX_FILE_BYTES
    ) -> str:
        """Cache files; the word by which `read` finds them. Where an owner's files have more bytes than there
        is room for them, the oldest are dropped.
        """
        digest = hashlib.sha256()
        for name, data in files:
            digest.update(f"{len(name)} {name} {len(data)} ".encode(errors="replace"))
            digest.update(data)
        upload = digest.hexdigest()
        with self._lock:
            self._files[upload] = tuple(files)
            if owner is not None:
                others = [one for one in self._owned.get(owner, []) if one in self._files and one != upload]
                self._owned[owner] = [*others, upload]
                while len(self._owned[owner]) > 1 and self._bytes_of(owner) > room:
                    self._drop(self._owned[owner][0], owner)
        return upload

    def is_own(self, upload: str, owner: str | None) -> bool:
        """Whether this owner has uploaded it."""
        with self._lock:
            return owner is not None and upload in self._owned.get(owner, [])

    def drop(self, upload: str, owner: str) -> None:
        """Delete an upload of this owner's, and what was read from it, unless somebody else has it, too."""
        with self._lock:
            self._drop(upload, owner)

    def _bytes_of(self, owner: str) -> int:
        return sum(len(data) for one in self._owned[owner] for _, data in self._files.get(one, ()))

    def _drop(self, upload: str, owner: str) -> None:
        self._owned[owner].remove(upload)
        if any(upload in owned for owned in self._owned.values()):
            return
        self._files.pop(upload, None)
        for key in [key for key in self._readings if key[0] == upload]:
            del self._readings[key]

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
