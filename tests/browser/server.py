"""Start the real dashboard as a process of its own and wait until it answers."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

APP = Path(__file__).resolve().parents[2] / "app.py"
LOOPBACK = "127.0.0.1"
SECONDS_TO_START = 90


@contextmanager
def serve(
    script: Path = APP, *flags: str, abruptly: bool = False, port: int | None = None, **environment: str
) -> Iterator[str]:
    """Run a Streamlit script on a port of the loopback address, any that is free; yields its address.

    At the end it is asked to stop, or killed `abruptly`, as by a power cut. Flags are Streamlit's; keywords
    are added to the environment.
    """
    port = port or free_port()
    with tempfile.TemporaryFile(mode="w+") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(script), *_flags(port), *flags],
            cwd=script.parent,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for_health(server, f"http://{LOOPBACK}:{port}", log)
            yield f"http://{LOOPBACK}:{port}"
        finally:
            if abruptly:
                server.kill()
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _flags(port: int) -> list[str]:
    return [
        f"--server.address={LOOPBACK}",
        f"--server.port={port}",
        "--server.headless=true",
        "--server.fileWatcherType=none",
        "--browser.gatherUsageStats=false",
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def wait_for_health(
    server: subprocess.Popen[bytes], address: str, log: tempfile._TemporaryFileWrapper | None = None
) -> None:
    """Return when the server answers; `log` is where it writes."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    if log is not None:
        log.seek(0)
    said = "" if log is None else f"; it wrote:\n{log.read()}"
    raise RuntimeError(f"the dashboard did not answer at {address}{said}")
