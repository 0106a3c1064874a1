"""`restore` and `fit` for scenes larger than memory: block by block, resumable."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from ..datasets import ReadingOptions, UnreadableData
from ..datasets.catalogue import LOADERS, is_saved_dataset
from ..datasets.files.scene_file import files_of, open_scene
from ..datasets.files.sources import Limits
from ..export import report_settings, scene_page
from ..jobs.whole_files import write_whole
from ..model.problem import InputError
from ..recipe import RestoreRecipe
from ..restoration import Candidate
from ..restoration.scenes import BLOCK_ENTRIES, SceneRestoration, fit_scene, restore_scene
from .arguments import TakesArguments, add_worker_options, ended_by_signals, progress_bar, reading, workers

STEPS = 1000  # The resolution of one fit's progress bar
MODEL = ("K", "lam", "leash", "seed")  # The options of the model
SMALL = 1 << 26
"""Files of fewer bytes are taken to fit; a compressed one that does not is refused when it is read."""


def add_block_options(group: TakesArguments) -> None:
    group.add_argument(
        "--blocks",
        action=argparse.BooleanOptionalAction,
        help="learn from a sample of pixels and go on block by block (default: where the file is too large "
        "for memory); ENVI, NPY, HDF5, NetCDF 4 and GeoTIFF",
    )
    # Tests and benchmarks need small ones; it changes no result.
    group.add_argument("--block-entries", type=workers, default=BLOCK_ENTRIES, help=argparse.SUPPRESS)
    add_worker_options(group)


def is_for_blocks(args: argparse.Namespace, options: ReadingOptions, bytes_per_entry: float) -> bool:
    """Whether the user says so or, if not, the file is too large to be read as a whole."""
    if args.blocks is not None:
        return bool(args.blocks)
    path, limits = Path(args.data), Limits.from_environment()
    if not path.is_file() or sum(file.stat().st_size for file in files_of(path)) < SMALL:
        return False
    try:
        scene = open_scene(path, options)
    except UnreadableData:
        return False
    return (
        scene.entries > limits.entries
        or scene.bytes > limits.bytes
        or bytes_per_entry * scene.entries > psutil.virtual_memory().available
    )


def restore_by_blocks(args: argparse.Namespace, options: ReadingOptions) -> int:
    if args.deviation is not None:
        raise InputError("--deviation: not for a scene that is restored block by block; leave it out.")
    for name in ("fill", "missing", "denoise", "offsets"):
        if getattr(args, name):
            raise InputError(f"--{name}: not for a scene that is restored block by block; leave it out.")
    if args.defects is not None and args.defects.suffix.lower() != ".npy":
        raise InputError(f"--defects {args.defects}: choose a name that ends with .npy.")
    if not is_own_format(args.data, args.out):
        raise InputError(f"--blocks: {args.data} is not a file; leave --blocks out.")
    with _resumable(args.progress) as bars:
        done = restore_scene(
            args.data,
            args.out,
            "unmarked" if args.unmarked else "marked",
            **{name: getattr(args, name) for name in MODEL},
            options=options,
            defects=args.defects,
            block_entries=args.block_entries,
            n_jobs=args.jobs,
            dask=args.dask,
            callback=lambda progress: bars.show("learn", progress.done, progress.total),
            progress=partial(bars.show, "blocks"),
        )
    files = done.files
    if args.report is not None:
        _write_report(args, options, done)
        files = (*files, args.report)
    print(done.summary)
    print("Written: " + ", ".join(map(str, files)))
    return 0


def fit_by_blocks(args: argparse.Namespace, options: ReadingOptions, **fitting: Any) -> int:
    """Fit, write W and H, print what was found; `fitting` goes to `fit_scene`."""
    with _resumable(args.progress) as bars:
        done = fit_scene(
            args.data,
            args.out,
            options=options,
            block_entries=args.block_entries,
            n_jobs=args.jobs,
            dask=args.dask,
            callback=lambda progress: bars.show("learn", round(STEPS * progress.share), STEPS),
            progress=partial(bars.show, "blocks"),
            **fitting,
        )
    print(done.summary)
    print("Written: " + ", ".join(map(str, done.files)))
    return 0


def _write_report(args: argparse.Namespace, options: ReadingOptions, done: SceneRestoration) -> None:
    scene, after = open_scene(args.data, options), open_scene(args.out, options)
    size = f"{scene.path.name}: {scene.rows} x {scene.cols} pixels, {scene.bands} bands"
    recipe = recipe_of(args)
    model = Candidate(done.model.K, done.model.treatment)
    settings = report_settings(recipe, size, model, done.model.choice, scene.notes)
    settings["command"] = f"{recipe.command_line(str(args.out))} --blocks"
    write_whole(args.report, scene_page(scene, after, done, settings))


@contextmanager
def _resumable(progress: bool | None) -> Iterator[_Bars]:
    try:
        with ended_by_signals(), _Bars(progress) as bars:
            yield bars
    except KeyboardInterrupt:
        print("Stopped. What is done is stored; the same command resumes it.", file=sys.stderr)
        raise


class _Bars(ExitStack):
    """One progress bar for the model, then one for the blocks, whose pace is theirs alone."""

    def __init__(self, shown: bool | None) -> None:
        super().__init__()
        self._shown = shown
        self._show: Callable[[int, int], None] | None = None
        self._label = ""

    def show(self, label: str, done: int, total: int) -> None:
        if self._show is None or label != self._label:
            self.close()
            self._show, self._label = self.enter_context(progress_bar(label, self._shown)), label
        self._show(done, total)


def is_own_format(source: str, out: Path) -> bool:
    """Whether the source is a file whose format can be written; rejects names that cannot be meant."""
    path = Path(source)
    if source in LOADERS or is_saved_dataset(path):
        if out.suffix.lower() != ".npz":
            raise InputError(f"--out {out}: {source} is written as .npz.")
        return False
    if out.resolve().with_suffix("") == path.resolve().with_suffix(""):
        raise InputError(f"--out {out}: this would replace the file that is read; choose another name.")
    if path.is_file() and _format(out) != _format(path):
        raise InputError(f"--out {out}: the format of {path.name} is kept; choose a name with {path.suffix}.")
    return True


def _format(path: Path) -> str:
    return path.suffix.lower().replace(".tiff", ".tif")


def recipe_of(args: argparse.Namespace) -> RestoreRecipe:
    return RestoreRecipe(
        args.data,
        "unmarked" if args.unmarked else "marked",
        **{name: getattr(args, name) for name in MODEL},
        reading=ReadingOptions(**reading(args)),
        is_file=Path(args.data).exists(),
        denoise=args.denoise,
        missing=args.missing or "",
        fill=args.fill or "",
    )
