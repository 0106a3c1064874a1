"""`python -m atnmf_core restore`: restore a damaged file in its own format."""

from __future__ import annotations

import argparse
import signal
import warnings

from ..datasets import Dataset, ReadingOptions
from ..figures.restoration_report import report_settings, restoration_page
from ..problem import InputError
from ..restoration import ChoiceProgress, Restoration, restore
from ..restoration.workers import trials_on_workers
from ..sweep import load_source
from .arguments import Subparsers, add_options, numbers_of_parts, output_file, write_whole
from .by_blocks import add_block_options, is_for_blocks, restore_by_blocks
from .reading import add_reading_options, reading
from .restored_files import check_side_file, is_own_format, recipe_of, write_restored, write_side_file
from .running import progress_bar, stopped_by_ctrl_c

BYTES_PER_ENTRY = 180
"""What `restore` takes at its peak for each entry of data that it holds in memory, about."""
EXAMPLE = """\
examples:
  python -m atnmf_core restore scene.hdr --out restored.hdr
  python -m atnmf_core restore scene.tif --out restored.tif --unmarked --nodata 0 --saturated 4095 \\
      --defects defects.npy --report report.html
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add `restore` to the command line."""
    parser = subparsers.add_parser(
        "restore",
        help="predict what is missing or wrong in a file",
        description="Predict the missing entries of a file, and with --unmarked also those that look wrong; "
        "write the file again in its own format. Everything else in it stays as it is. How many parts, and "
        "which adversary, is chosen by how well held-out entries are predicted.",
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
    parser.add_argument(
        "--unmarked", action="store_true", help="some entries are wrong, and it is not known which"
    )
    _add_model_options(parser)
    _add_side_files(parser)
    group = parser.add_argument_group("where and how it runs")
    add_block_options(group)
    add_reading_options(parser)


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the model", "what is not given is chosen")
    group.add_argument(
        "--K", type=numbers_of_parts, help="number of parts, or those to choose from: 3:12 or 4,8,16"
    )
    group.add_argument("--lam", type=float, metavar="L", help="the adversary's price, above 1; inf: NMF")
    group.add_argument("--leash", type=float, metavar="G", help="the most that the adversary adds, times V")
    group.add_argument(
        "--keep-suspects",
        action="store_true",
        help="entries that look wrong are replaced, but count in the fit, as in plain NMF; with --lam",
    )
    add_options(group, "seed", default=0, help="of hold-outs and starts (default: 0)")


def _add_side_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("more files to write")
    formats = ".npy; for a cube also .npz, .mat or .hdr"
    group.add_argument(
        "--defects", type=output_file, metavar="FILE", help=f"1 where an entry looks wrong ({formats})"
    )
    group.add_argument(
        "--deviation",
        type=output_file,
        metavar="FILE",
        help=f"the standard deviation of each prediction ({formats})",
    )
    group.add_argument(
        "--report",
        type=output_file,
        metavar="FILE.html",
        help="before, after, what was replaced, how the model was chosen: one page that opens offline",
    )


def run(args: argparse.Namespace) -> int:
    """Restore, write the files, print what was found; 130 if Ctrl-C ended the search early."""
    options = reading(args)
    if args.unmarked is False and args.defects is not None:
        raise InputError(
            f"--defects {args.defects}: only with --unmarked are entries looked for that are wrong."
        )
    if is_for_blocks(args, ReadingOptions(**options), BYTES_PER_ENTRY):
        return restore_by_blocks(args, ReadingOptions(**options))
    data = load_source(args.data, **options)
    own_format = is_own_format(args.data, args.out)
    for path in (args.defects, args.deviation):
        if path is not None:
            check_side_file(path, data)
    restored = _restored(args, data)
    written = write_restored(args.data, data, restored, args.out, own_format=own_format, **options)
    for path, values in ((args.defects, restored.defects), (args.deviation, restored.deviation)):
        if path is not None:
            written += write_side_file(path, data, values)
    if args.report is not None:
        (F, N), recipe = data.shape, recipe_of(args)
        settings = report_settings(
            recipe, f"{data.title}: {data.kind}, {F} x {N}", restored.fit, restored.choice, data.notes
        ) | {"command": recipe.command_line(str(args.out)), "content hash": data.content_hash}
        write_whole(args.report, restoration_page(data, restored, settings))
        written += (args.report,)
    print(restored.summary)
    print("Written: " + ", ".join(map(str, written)))
    early = restored.choice is not None and not restored.choice.complete
    return 128 + signal.SIGINT if early else 0


def _restored(args: argparse.Namespace, data: Dataset) -> Restoration:
    words = "Stopping: the best model so far is used. Ctrl-C again ends at once, and nothing is written."
    with (
        warnings.catch_warnings(),
        stopped_by_ctrl_c(words) as asked,
        progress_bar(f"restore {data.name}", args.progress) as show,
    ):
        # joblib warns about the trials that an early end cancels, which the user has just asked for.
        warnings.filterwarnings("ignore", category=UserWarning, module="joblib")

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
            K=args.K,
            lam=args.lam,
            leash=args.leash,
            keep_suspects=args.keep_suspects,
            seed=args.seed,
            callback=report,
            map_trials=trials_on_workers(args.jobs, args.dask),
        )
