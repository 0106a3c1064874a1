"""Sweeps as processes of their own, the way a user or the dashboard starts them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from atnmf_core.model.problem import InputError
from atnmf_core.sweep import FinishedPoint, StoreError, read_store

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 120.0


def command(*words: str) -> list[str]:
    return [sys.executable, "-X", "faulthandler", "-m", "atnmf_core", *words]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(REPOSITORY), "OPENBLAS_NUM_THREADS": "1"}


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in the given folder."""
    return subprocess.run(
        command(*words), cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )


@contextmanager
def started(*words: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A command under way, leader of its own process group, of which nothing is left at the end."""
    process = subprocess.Popen(
        command(*words),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill_tree(process)
        process.communicate()


def kill_tree(process: subprocess.Popen[str]) -> None:
    """End the command and all its workers at once, without a chance to tidy up."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str], what: str) -> None:
    """Wait for what a command should bring about; where it does not, show what the command was doing."""
    ends = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None or time.monotonic() > ends:
            # The fault handler answers with what each thread is at.
            process.send_signal(signal.SIGABRT)
            pytest.fail(f"waited in vain for {what}; the command said: {process.communicate()[1]}")
        time.sleep(0.05)


def done(store: Path, name: str) -> int:
    """How many points of a sweep are finished; 0 while there is no store yet."""
    try:
        with read_store(store) as reader:
            return reader.sweep(name).done
    except (StoreError, InputError):
        return 0


def measured(store: Path, name: str) -> dict[str, tuple[float, float, int]]:
    """By key, what was measured and does not depend on the clock; fails where a point is there twice."""
    with read_store(store) as reader:
        results = list(reader.outcomes(name))
    found = {result.key: _numbers(result) for result in results}
    assert len(found) == len(results)
    return found


def _numbers(result: FinishedPoint) -> tuple[float, float, int]:
    assert result.measures is not None
    return tuple(result.measures[name] for name in ("rmse_hidden", "adversarial_loss", "n_iter"))
