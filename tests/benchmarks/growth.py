"""Time per sweep and peak memory against the number of entries, each size in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atnmf_core import factorize, hide_entries, load_dataset

from .clock import now

SIZES = ((50, 50, 162), (100, 100, 162), (160, 160, 162), (220, 220, 162), (307, 307, 162))
"""(rows, columns, bands) of simulated scenes, from 0.4 M to 15 M entries."""
SWEEPS, K, ALPHA = 8, 5, 0.5


@dataclass(frozen=True)
class Size:
    entries: int
    method: str
    seconds_per_sweep: float
    peak_over_V: float
    """Peak memory of the fit, V and the mask included, in units of V in single precision."""


def measure(shape: tuple[int, int, int], method: str) -> Size:
    rows, cols, bands = shape
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "V.npy"
        V = load_dataset("simulated-scene", rows=rows, cols=cols, bands=bands).V
        np.save(file, V.astype(np.float32))
        command = [sys.executable, "-m", __name__, str(file), method]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return Size(V.size, method, found["seconds_per_sweep"], found["peak"] / (4 * V.size))


def child(file: str, method: str) -> None:
    """Fit and print what that took. The peak is counted from what the process had before it read V."""
    price = {"lam": 2.0} if method == "atnmf" else {}
    small = np.random.default_rng(0).random((30, 40))
    factorize(small, hide_entries(small.shape, 0.5), K=K, method=method, max_inner=3, **price)
    before = most_memory()
    V = np.load(file)
    observed = hide_entries(V.shape, ALPHA)
    stamps: list[float] = []
    factorize(
        V,
        observed,
        K=K,
        method=method,
        tol_outer=0,
        max_inner=SWEEPS,
        callback=lambda _: stamps.append(now()),
        **price,
    )
    peak = most_memory() - before
    print(json.dumps({"seconds_per_sweep": min(np.diff(stamps)), "peak": peak}))


def most_memory() -> int:
    """The most bytes that this process has held so far, as Linux counts them."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def table(sizes: list[Size]) -> str:
    lines = [f"\ngrowth: simulated scenes, K {K}, alpha {ALPHA}"]
    lines.append(f"{'method':7}{'entries':>12}{'ms/sweep':>10}{'ns/entry':>10}{'peak / V':>10}")
    for size in sizes:
        per_entry = 1e9 * size.seconds_per_sweep / size.entries
        lines.append(
            f"{size.method:7}{size.entries:12}{1e3 * size.seconds_per_sweep:10.1f}{per_entry:10.2f}"
            f"{size.peak_over_V:10.2f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    child(*sys.argv[1:])
