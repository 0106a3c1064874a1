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

PACKAGE = Path(__file__).parents[2]


class SceneStatus(NamedTuple):
    """The progress of the restoration to a file.

    Attributes
    ----------
    done, total : blocks.
    pid : of the process at work, None if there is none.
    seconds_left : at its pace so far; None before two blocks tell that.
    """

    done: int
    total: int
    pid: int | None
    seconds_left: float | None = None


def status_of(out: Path) -> SceneStatus | None:
    """The stored state of an unfinished restoration; None if there is none."""
    holder = Record.holder(out)
    if holder is None:
        return None
    pid = holder["pid"] if is_running(holder["pid"], holder["created"]) else None
    times = Record.times(out)
    waiting = holder["blocks"] - len(times)
    # Earlier blocks are those of a run that ended.
    since = [finished for finished in times if finished > holder.get("began", 0)]
    pace = (since[-1] - since[0]) / (len(since) - 1) if len(since) > 1 else None
    return SceneStatus(len(times), holder["blocks"], pid, None if pace is None else pace * waiting)


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
