"""The dashboard's store of sweeps, and what people read instead of a traceback when it cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import ParamSpec

import streamlit as st

from atnmf_core import InputError
from atnmf_core.datasets import DataUnavailable
from atnmf_core.sweep import StoreError, StoreReader, default_store, find_store

from .markdown import plain

__all__ = ["STORE_ERRORS", "reading_store", "refusing", "show_refusal", "telling_store_errors"]

STORE_ERRORS = (StoreError, OSError)
"""A disk that is full or read-only, a file that is damaged or stays locked."""
_REFUSAL = "sweep_refusal"
Arguments = ParamSpec("Arguments")


@contextmanager
def reading_store() -> Iterator[StoreReader | None]:
    """The store, for reading; None where nothing was stored yet."""
    with find_store(default_store()) or nullcontext() as store:
        yield store


@contextmanager
def telling_store_errors() -> Iterator[None]:
    """Show why the store cannot be used in place of what should have been drawn from it."""
    try:
        yield
    except STORE_ERRORS as error:
        st.error(f"The sweeps on this machine cannot be read. {plain(str(error))}", icon=":material/error:")


def refusing(action: Callable[Arguments, object]) -> Callable[Arguments, None]:
    """The action as a callback of a widget; why it could not be done is shown by `show_refusal`."""

    @wraps(action)
    def callback(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            action(*args, **kwargs)
        except (*STORE_ERRORS, InputError, DataUnavailable) as error:
            st.session_state[_REFUSAL] = str(error)

    return callback


def show_refusal() -> None:
    """Why the last action could not be done, once."""
    if refusal := st.session_state.pop(_REFUSAL, ""):
        st.error(plain(refusal), icon=":material/error:")
