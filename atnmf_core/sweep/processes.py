"""Whether the process that claimed a point still lives, and how a process lets others go first."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["SIGN_OF_LIFE", "birth_mark", "give_way", "host_name", "is_alive"]

SIGN_OF_LIFE = 10.0
"""A running sweep renews its sign of life so often, in seconds."""
PATIENCE = 12 * SIGN_OF_LIFE
"""A process on another host without a sign of life for so long is taken for dead."""
NICENESS = 4
"""Enough for a dashboard in use to have most of a core, too little to keep a busy machine from sweeps."""
AUTOGROUP = Path("/proc/self/autogroup")


def host_name() -> str:
    return socket.gethostname()


def birth_mark(pid: int) -> str:
    """What tells a process from a later one with the same number; empty where the system does not say."""
    stat = _stat(pid)
    return stat[19] if stat else ""


def is_alive(pid: int, host: str, born: str, sign_of_life: float) -> bool:
    """Whether the process (pid, host, born), last heard of at `sign_of_life`, still runs."""
    if host != host_name():
        return time.time() - sign_of_life < PATIENCE
    stat = _stat(pid)
    if stat:
        return stat[0] != "Z" and born in ("", stat[19])
    if Path("/proc/self/stat").exists():
        return False
    return _answers(pid) and time.time() - sign_of_life < PATIENCE


def give_way() -> None:
    """Let everything else on this machine go first: this process and all that it starts from now on."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if AUTOGROUP.exists() and os.getsid(0) == os.getpid():
        # Linux shares the cores among sessions first, and niceness counts within one only.
        with suppress(OSError):
            AUTOGROUP.write_text(str(NICENESS))


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name, which may itself hold spaces and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
