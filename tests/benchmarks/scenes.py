"""Scenes larger than memory: ``python -m tests.benchmarks.scenes FOLDER [--gigabytes 0.1 0.4]``.

A simulated scene of 285 bands in single precision is written to disk, 10 % of its entries too dark and
unmarked, 5 % missing. `restore` goes over it block by block, and over a quarter of it in memory; so does
`fit`, with a model that is given. Printed are time per entry, the peak memory of all processes together, and
the error: for `restore` that of predicted entries, for `fit` that of observed ones.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from atnmf_core.datasets.bundled import simulated_scene

BANDS, MATERIALS, NOISE = 285, 6, 0.002
DARK, MISSING = 0.10, 0.05
GIVEN = ("--method", "atnmf", "--K", "8", "--lam", "1.2")
"""For the fits: what `restore` chose at 0.1 GB; at 0.4 and 1.6 GB it chose K = 12."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Threads that wait for each other would count as processor time."""
STRIP = 16
"""Image rows that are made at a time, each strip from a seed of its own: the truth can be made again."""
HEADER = """ENVI
samples = {cols}
lines = {rows}
bands = {bands}
data type = 4
interleave = bil
byte order = 0
wavelength units = Nanometers
wavelength = {{{wavelengths}}}
"""


@dataclass(frozen=True)
class Simulated:
    """A square scene on disk, or its upper left part."""

    side: int
    of: int
    """The side of the scene that this is a part of."""
    path: Path

    @property
    def entries(self) -> int:
        return self.side**2 * BANDS

    def strips(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Rows, their sound entries and which are wrong and missing, as rows x bands x cols."""
        spectra = simulated_scene(4, 4, BANDS, MATERIALS).truth.endmembers
        abundances = simulated_scene(self.of, self.of, 2, MATERIALS, noise=0).truth.abundances
        maps = abundances.reshape(MATERIALS, self.of, self.of, order="F")
        for top in range(0, self.side, STRIP):
            random = np.random.default_rng(top)
            shares = maps[:, top : top + STRIP]
            shape = (shares.shape[1], BANDS, self.of)
            sound = np.einsum("bk,krc->rbc", spectra, shares).astype(np.float32)
            sound += NOISE * random.standard_normal(shape, np.float32)
            np.maximum(sound, 0, out=sound)
            drawn = random.random(shape, np.float32)
            rows = slice(top, min(top + STRIP, self.side))
            part = (slice(rows.stop - top), slice(None), slice(self.side))
            yield rows, sound[part], (drawn < DARK)[part], (drawn > 1 - MISSING)[part]

    def write(self) -> None:
        wavelengths = ", ".join(f"{nm:.1f}" for nm in np.linspace(400, 2500, BANDS))
        sizes = {"rows": self.side, "cols": self.side, "bands": BANDS}
        self.path.write_text(HEADER.format(**sizes, wavelengths=wavelengths))
        random = np.random.default_rng(0)
        with self.path.with_suffix(".img").open("wb") as file:
            for _, cube, wrong, missing in self.strips():
                cube[wrong] *= random.uniform(0, 0.6, int(wrong.sum())).astype(np.float32)
                cube[missing] = np.nan
                file.write(np.ascontiguousarray(cube).tobytes())

    def error(self, restored: Path, side: int) -> tuple[float, float]:
        """RMSE of what was wrong or missing in the upper left part, and the share of it missing now."""
        shape = (self.side, BANDS, self.side)
        found = np.memmap(restored.with_suffix(".img"), np.float32, "r", shape=shape)
        squares, count, lost = 0.0, 0, 0
        for rows, sound, wrong, missing in self.strips():
            if rows.start >= side:
                break
            part = (slice(max(0, min(rows.stop, side) - rows.start)), slice(None), slice(side))
            damaged = (wrong | missing)[part]
            difference = (found[rows][part] - sound[part])[damaged].astype(np.float64)
            known = difference[~np.isnan(difference)]
            squares, count, lost = squares + float(known @ known), count + known.size, lost + damaged.sum()
        return float(np.sqrt(squares / count)), 1 - count / lost


@dataclass(frozen=True)
class Took:
    seconds: float
    cpu: float
    pss: float
    rss: float
    said: str


def run(words: list[str], **environment: str) -> Took:
    """Run a command, watching its processes: seconds, processor seconds, and peak memory in GB."""
    began, cpu = time.perf_counter(), _cpu_of_children()
    process = psutil.Popen(
        [sys.executable, "-m", "atnmf_core", *words],
        env=os.environ | ONE_THREAD | environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    peak = {"pss": 0.0, "rss": 0.0}
    watcher = threading.Thread(target=_watch, args=(process, peak))
    watcher.start()
    said, _ = process.communicate()
    watcher.join()
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}")
    return Took(
        time.perf_counter() - began, _cpu_of_children() - cpu, peak["pss"] / 1e9, peak["rss"] / 1e9, said
    )


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _watch(process: psutil.Process, peak: dict[str, float]) -> None:
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        taken = {"pss": 0, "rss": 0}
        try:
            for one in (process, *process.children(recursive=True)):
                memory = one.memory_full_info()
                taken["pss"] += memory.pss
                taken["rss"] += memory.rss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        for name, value in taken.items():
            peak[name] = max(peak[name], value)
        time.sleep(0.2)


def measure(folder: Path, gigabytes: float, in_memory: bool) -> None:
    side = round((gigabytes * 1e9 / 4 / BANDS) ** 0.5)
    whole = Simulated(side, side, folder / "scene.hdr")
    quarter = Simulated(side // 2, side, folder / "quarter.hdr")
    print(f"\n{side} x {side} x {BANDS}: {4 * whole.entries / 1e9:.2f} GB, load {os.getloadavg()[0]:.1f}")
    whole.write()
    out = folder / "restored.hdr"
    took = run(["restore", str(whole.path), "--out", str(out), "--unmarked", "--blocks"])
    (error, lost), (same, _) = whole.error(out, side), whole.error(out, quarter.side)
    _say(
        "restored by blocks",
        whole,
        took,
        f"RMSE {error:.5f}, in the quarter {same:.5f}, {lost:.2%} left missing",
    )
    print(" ", took.said.splitlines()[0])
    words = ["fit", *GIVEN, "--data"]
    fit = run([*words, str(whole.path), "--blocks", "--out", str(folder / "H.hdr")])
    _say("fit by blocks", whole, fit, fit.said.splitlines()[0])
    if in_memory:
        quarter.write()
        limits = {"ATNMF_MAX_ENTRIES": "1e10", "ATNMF_MAX_BYTES": "1e11"}
        memory_fit = run([*words, str(quarter.path), "--no-blocks"], **limits)
        _say("fit of the quarter in memory", quarter, memory_fit, memory_fit.said.splitlines()[0])
        restoring = ["restore", str(quarter.path), "--out", str(out), "--unmarked", "--no-blocks"]
        memory = run(restoring, **limits)
        there, lost = quarter.error(out, quarter.side)
        _say("restored in memory, the quarter", quarter, memory, f"RMSE {there:.5f}, {lost:.2%} left missing")
        print(" ", memory.said.splitlines()[0])

        def pace(by_blocks: Took, in_memory: Took) -> float:
            return by_blocks.cpu / whole.entries / (in_memory.cpu / quarter.entries)

        print(
            f"  by blocks / in memory: error {same / there:.3f}; processor time per entry: restore "
            f"{pace(took, memory):.2f}, fit {pace(fit, memory_fit):.2f}, restore / fit "
            f"{pace(took, memory_fit):.2f}; load {os.getloadavg()[0]:.1f}"
        )
    for file in folder.glob("*.img"):
        file.unlink()


def _say(what: str, scene: Simulated, took: Took, more: str) -> None:
    pace, cpu = (1e9 * seconds / scene.entries for seconds in (took.seconds, took.cpu))
    print(
        f"  {what}: {took.seconds:.0f} s, {pace:.0f} ns an entry (processor {cpu:.0f}), peak of all "
        f"processes {took.pss:.2f} GB (PSS), {took.rss:.2f} GB (RSS); {more}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="with room for two and a half times the largest scene")
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.1, 0.4, 1.6])
    parser.add_argument("--in-memory", action=argparse.BooleanOptionalAction, default=True)
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    for gigabytes in args.gigabytes:
        measure(args.folder, gigabytes, args.in_memory)


if __name__ == "__main__":
    main()
