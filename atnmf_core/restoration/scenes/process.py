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
    """The progress of the restoration to a file; `pid` is that of the process at work, None if there is
    none.
    """

    done: int
    total: int
    pid: int | None


def status_of(out: Path) -> SceneStatus | None:
    """The stored state of an unfinished restoration; None if there is none."""
    holder = Record.holder(out)
    if holder is None:
        return None
    pid = holder["pid"] if is_running(holder["pid"], holder["created"]) else None
    return SceneStatus(Record.count(out), holder["blocks"], pid)


def start_scene(command: str, log: Path) -> subprocess.Popen[bytes]:
    """Start a command such as `python -m atnmf_core restore ...`; it outlives the process that starts it.

    Its output goes to the log, whose last line gives the reason if it fails.
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
