"""A server for others: who its visitors are, and how much of it each of them may use.

A server that answers to this machine alone has one user, who sees everything and has no quotas.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import secrets
from dataclasses import dataclass, fields

import streamlit as st

from .streamlit_private import browser_token

_PERSON = "hosting_person"


@dataclass(frozen=True)
class Quotas:
    """Limits of a server for others.

    Each can be set by an environment variable of its name in capitals with ATNMF_MAX_ in front, for example
    ATNMF_MAX_SESSIONS.

    Attributes
    ----------
    sessions : open pages of all people together.
    upload_mb : megabytes of uploaded files per person.
    sweeps : stored sweeps per person.
    queue : sweeps of all people that wait or run.
    long_fits : fits of more than a moment per person, under way at a time. Every picture needs two.
    """

    sessions: int = 60
    upload_mb: int = 400
    sweeps: int = 20
    queue: int = 20
    long_fits: int = 4


def quotas() -> Quotas | None:
    """Those of this server; None where it is for this machine alone."""
    if not is_hosted():
        return None
    named = {one.name: os.environ.get(f"ATNMF_MAX_{one.name.upper()}") for one in fields(Quotas)}
    return Quotas(**{name: int(value) for name, value in named.items() if value})


def is_hosted() -> bool:
    """Whether people other than this machine's user can connect: by the address that the server listens on
    or, behind a proxy on the same machine, by ATNMF_HOSTED=1.
    """
    forced = os.environ.get("ATNMF_HOSTED")
    return forced != "0" if forced else not _is_loopback(st.get_option("server.address"))


def _is_loopback(address: str | None) -> bool:
    try:
        return address == "localhost" or ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def person() -> str | None:
    """Who this visitor is: the same in all tabs of a browser, before and after a reload, and nothing that
    others could guess. None where the server is for this machine alone.
    """
    if not is_hosted():
        return None
    if _PERSON not in st.session_state:
        token = browser_token() or secrets.token_bytes(16)
        st.session_state[_PERSON] = hashlib.sha256(token).hexdigest()
    return str(st.session_state[_PERSON])
