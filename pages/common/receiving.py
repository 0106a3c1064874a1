"""Files that come from a browser: how large they may be, and where they go."""

from __future__ import annotations

import sys
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from atnmf_core.datasets import Limits

from .hosting import person, quotas
from .streamlit_private import drop_uploaded_files
from .uploads import uploads

MAX_MEGABYTES = 200
"""Of one file."""


def max_megabytes() -> int:
    """How large one file may be."""
    limits = quotas()
    return MAX_MEGABYTES if limits is None else min(MAX_MEGABYTES, limits.upload_mb)


def keep_received(files: list[Any], key: str) -> str:
    """Cache files from Streamlit's uploader that are new since the last run, and return the name under which
    `uploads` has them; empty if there are none, or they are too large. The session remembers under `key`
    which were there.
    """
    identity, known = tuple(file.file_id for file in files), st.session_state.get(key, ())
    if not files or identity == known:
        return ""
    if refusal := _refusal(sum(file.size for file in files)):
        drop_uploaded_files(set(identity) - set(known))
        st.error(refusal, icon=":material/error:")
        return ""
    st.session_state[key] = identity
    names = (PurePosixPath(file.name.replace("\\", "/")).name or "upload" for file in files)
    received = [(name, file.getvalue()) for name, file in zip(names, files, strict=True)]
    return uploads().keep_files(received, person(), _room())


def _refusal(size: int) -> str:
    """Why files of this size, in bytes, are refused; empty if they are accepted."""
    limit, room = Limits.from_environment().bytes, _room()
    if size > room:
        return (
            f"These files take {size / 1e6:,.0f} MB; this server has room for {room / 1e6:,.0f} MB of each "
            "person's files. They were not kept: choose fewer or smaller ones."
        )
    return f"These files are larger than the {limit:,} bytes that can be read." if size > limit else ""


def _room() -> int:
    """How many bytes of files a person may have."""
    limits = quotas()
    return sys.maxsize if limits is None else limits.upload_mb * 1_000_000
