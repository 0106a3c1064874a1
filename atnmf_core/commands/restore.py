"""`python -m atnmf_core restore`: restore a damaged file in its own format."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import Dataset, ReadingOptions, UnreadableData, write_envi, write_like, write_mat, write_npz
from ..datasets.files.arrays import npy_bytes
from ..datasets.files.write import as_indexed
from ..datasets.marks import read_mask
from ..export import how_sure, report_settings, restoration_page
from ..jobs.whole_files import write_whole
from ..model.problem import InputError, Mask, Values
from ..restoration import ChoiceProgress, Restoration, restore
from ..sweep import load_source, save_dataset
from .arguments import (
    Subparsers,
    add_options,
    add_reading_options,
    numbers_of_parts,
    output_file,
    progress_bar,
    reading,
    stopped_by_ctrl_c,
)
from .by_blocks import MODEL, add_block_options, is_for_blocks, is_own_format, recipe_of, restore_by_blocks

BYTES_PER_ENTRY = 180
"""What `restore` takes at its peak for each entry of data that it holds in memory, about."""
EXAMPLE = """\
examples:
  python -m atnmf_core restore scene.hdr --out restored.hdr
  python -m atnmf_core restore scene.tif --out restored.tif --unmarked --nodata 0 --saturated 4095 \\
      --defects defects.npy --report report.html
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "restore",
        help="predict what is missing or wrong in a file",
        description="Predict the missing entries of a file, and with --unmarked also those that look wrong; "
        "write the file again in its own format. Everything else in it stays as it is. How many parts, and "
        "which adversary, is chosen by how well each entry is predicted from others.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("data", metavar="FILE|NAME", help="a file, or a name (see `data list`)")
    parser.add_argument(
        "--out",
        type=output_file,
        required=True,
        metavar="FILE",
        help="the restored data, in the format of FILE; a data set that has a name is written as .npz",
    )
    parser.add_argument("--unmarked", action="store_true", help="some entries are wrong, nobody knows which")
    parser.add_argument(
        "--fill",
        metavar="MASK",
        help="replace only what this file, laid out like the data, has other than 0 for",
    )
    parser.add_argument(
        "--missing", metavar="MASK", help="what this file has other than 0 for is wrong: it counts as missing"
    )
    parser.add_argument("--denoise", action="store_true", help="write the model's predictions everywhere")
    group = parser.add_argument_group("the model", "what is not given is chosen")
    group.add_argument(
        "--K", type=numbers_of_parts, help="number of parts, or those to choose from: 3:12 or 4,8,16"
    )
    group.add_argument("--lam", type=float, metavar="L", help="the adversary's price, above 1; inf: NMF")
    group.add_argument("--leash", type=float, metavar="G", help="the most that the adversary adds, times V")
    add_options(group, "seed", default=0, help="of samples and starts (default: 0)")
    _add_side_files(parser)
    add_block_options(parser.add_argument_group("where and how it runs"))
    add_reading_options(parser)


def _add_side_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("more files to write")
    formats = ".npy; for a cube also .npz, .mat or .hdr"
    files = {
        "defects": "1 where an entry looks wrong",
        "deviation": "the standard deviation of each prediction",
        "offsets": "what was subtracted from stripes",
    }
    for name, said in files.items():
        group.add_argument(f"--{name}", type=output_file, metavar="FILE", help=f"{said} ({formats})")
    group.add_argument(
        "--report",
        type=output_file,
        metavar="FILE.html",
        help="before, after, what was replaced, how the model was chosen: one page that opens offline",
    )


def run(args: argparse.Namespace) -> int:
    """Restore, write the files, print what was found; 130 if Ctrl-C ended the search early."""
    options = reading(args)
    if args.defects is not None and not args.unmarked:
        raise InputError(f"--defects {args.defects}: only with --unmarked are wrong entries looked for.")
    if is_for_blocks(args, ReadingOptions(**options), BYTES_PER_ENTRY):
        return restore_by_blocks(args, ReadingOptions(**options))
    if args.fill is not None and args.denoise:
        raise InputError("--fill and --denoise: the one changes nothing but what it names; give one of them.")
    if args.jobs != -1:
        raise InputError(f"--jobs {args.jobs}: a restoration in memory is one process; leave --jobs out.")
    data = _loaded(args, options)
    own_format = is_own_format(args.data, args.out)
    for path in (args.defects, args.deviation, args.offsets):
        if path is not None:
            check_side_file(path, data)
    fill = None if args.fill is None else _mask("fill", args.fill, data)
    restored = _restored(args, data, fill)
    print(*filter(None, (restored.summary, how_sure(data, restored))))
    if args.denoise:
        restored = replace(restored, V=restored.denoised_where_known)
    if fill is not None:
        fill &= ~np.isnan(restored.V)
        restored = replace(restored, V=np.where(fill, restored.denoised, data.V))
        print(f"{int(fill.sum()):,} entries of the mask were replaced.")
    try:
        written = write_restored(args.data, data, restored, args.out, own_format=own_format, **options)
    except (UnreadableData, OSError):
        # The other files are worth having all the same.
        _print_names(_write_side_files(args, data, restored))
        raise
    _print_names(written + _write_side_files(args, data, restored))
    early = restored.choice is not None and not restored.choice.complete
    return 128 + signal.SIGINT if early else 0


def _loaded(args: argparse.Namespace, options: dict[str, Any]) -> Dataset:
    data = load_source(args.data, **options)
    if args.missing is None:
        return data
    return replace(data, V=np.where(_mask("missing", args.missing, data), np.nan, data.V))


def _mask(option: str, file: str, data: Dataset) -> Mask:
    try:
        return read_mask(file, data)
    except InputError as error:
        raise InputError(f"--{option} {file}: {error}") from error


def _write_side_files(args: argparse.Namespace, data: Dataset, restored: Restoration) -> tuple[Path, ...]:
    written: tuple[Path, ...] = ()
    offsets = np.zeros(data.shape) if restored.offsets is None else restored.offsets
    for path, values in (
        (args.defects, restored.defects),
        (args.deviation, restored.deviation),
        (args.offsets, offsets),
    ):
        if path is not None:
            written += write_side_file(path, data, values)
    if args.report is not None:
        (F, N), recipe = data.shape, recipe_of(args)
        settings = report_settings(
            recipe, f"{data.title}: {data.kind}, {F} x {N}", restored.model, restored.choice, data.notes
        ) | {"command": recipe.command_line(str(args.out)), "content hash": data.content_hash}
        write_whole(args.report, restoration_page(data, restored, settings))
        written += (args.report,)
    return written


def _print_names(written: tuple[Path, ...]) -> None:
    if written:
        print("Written: " + ", ".join(map(str, written)))


def _restored(args: argparse.Namespace, data: Dataset, fill: Mask | None) -> Restoration:
    words = "Stopping: the best model so far is used. Ctrl-C again ends at once, and nothing is written."
    with stopped_by_ctrl_c(words) as asked, progress_bar(f"restore {data.name}", args.progress) as show:

        def report(progress: ChoiceProgress) -> bool:
            if progress.stage == "fit":
                # While the last model is fitted there is nothing to fall back on.
                signal.signal(signal.SIGINT, signal.default_int_handler)
            else:
                show(progress.done, progress.total)
            return asked.is_set()

        return restore(
            data,
            "unmarked" if args.unmarked else "marked",
            observed=None if fill is None else ~fill,
            **{name: getattr(args, name) for name in MODEL},
            callback=report,
        )


CUBE_FORMATS = {".npz": write_npz, ".mat": write_mat}


def write_restored(
    source: str, data: Dataset, restored: Restoration, out: Path, *, own_format: bool, **options: Any
) -> tuple[Path, ...]:
    def write(path: Path) -> tuple[Path, ...]:
        if own_format:
            return write_like(source, restored.V, path, keep_unmarkable=True, **options)
        save_dataset(replace(data, V=restored.V), path)
        return (path,)

    written = _moved_when_whole(write, out)
    count = int((np.isnan(restored.V) & data.observed).sum())
    if count:
        what = "1 entry looks wrong and cannot" if count == 1 else f"{count:,} entries look wrong and cannot"
        kept = "marked as missing where the format has a value for that, else left unchanged"
        print(f"{what} be restored: {kept}.", file=sys.stderr)
    return written


def _moved_when_whole(write: Callable[[Path], tuple[Path, ...]], out: Path) -> tuple[Path, ...]:
    """Write to temporary files, then move them: if writing fails, `out` is left unchanged."""
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".restore-") as aside:
        parts = write(Path(aside) / out.name)
        places = [out.parent / part.relative_to(aside) for part in parts]
        for part, place in zip(parts, places, strict=True):
            place.parent.mkdir(exist_ok=True)
            part.replace(place)
    return tuple(places)


def check_side_file(path: Path, data: Dataset) -> None:
    formats = [".npy", *CUBE_FORMATS, ".hdr"] if data.kind == "cube" else [".npy"]
    if path.suffix.lower() not in formats:
        raise InputError(f"{path}: choose a name that ends with {', '.join(formats)}.")


def write_side_file(path: Path, data: Dataset, values: Values) -> tuple[Path, ...]:
    """Write a matrix of the shape of V as people index it, see `as_indexed`."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        write_whole(path, npy_bytes(as_indexed(data, values)))
        return (path,)
    cube = replace(data, V=values.astype(np.float32))
    if suffix == ".hdr":
        binary = path.with_suffix(".img")
        for place, content in zip((path, binary), write_envi(cube), strict=True):
            write_whole(place, content)
        return path, binary
    write_whole(path, CUBE_FORMATS[suffix](cube))
    return (path,)
