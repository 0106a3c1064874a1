"""A scene restored by a process beside this one: the command line, in a session of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from ...sweep.processes import is_running
from .record import Record

__all__ = ["SceneStatus", "start_scene", "status_of"]

PACKAGE = Path(__file__).parents[2]


class SceneStatus(NamedTuple):
    """How far the restoration to a file is; `pid` is of the process that is at it, None where none is."""

    done: int
    total: int
    pid: int | None


def status_of(out: Path) -> SceneStatus | None:
    """What is stored of a restoration that is not finished; None where there is nothing."""
    holder = Record.holder(out)
    if holder is None:
        return None
    pid = holder["pid"] if is_running(holder["pid"], holder["created"]) else None
    return SceneStatus(Record.count(out), holder["blocks"], pid)


def start_scene(command: str, log: Path) -> subprocess.Popen[bytes]:
    """Start a command such as `python -m atnmf_core restore ...`; it outlives the process that starts it.

    The log gets what it writes, its last line the reason where it fails.
    """
    words = shlex.split(command)
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    with log.open("w") as file:
        return subprocess.Popen(
            [sys.executable, *words[1:]],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
