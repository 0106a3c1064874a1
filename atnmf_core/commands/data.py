"""`python -m atnmf_core data`: list data sets, fetch the paper's, look into a file."""

import argparse
from pathlib import Path

import numpy as np

from ..datasets import PAPER_FOLDERS, Dataset, catalogue, fetch, read_dataset
from ..datasets.download import data_dir
from ..sweep import load_source, save_dataset
from .arguments import Subparsers, add_reading_options, output_file, progress_bar, reading


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "data",
        help="list, fetch and inspect data sets",
        description="List the data sets, fetch the paper's, or look into a file of your own.",
    )
    parser.set_defaults(run=run)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="the data sets that can be loaded by name")
    parser = actions.add_parser("fetch", help="download one of the paper's data sets and verify it")
    parser.add_argument(
        "name", choices=[*PAPER_FOLDERS, "all"], metavar="NAME", help=", ".join([*PAPER_FOLDERS, "all"])
    )
    parser.add_argument(
        "--folder", type=Path, help="where to store the files (default: ATNMF_DATA_DIR, else the cache)"
    )
    _add_files(actions.add_parser("info", help="how a file is read: kind, size, wavelengths, missing values"))
    parser = actions.add_parser("convert", help="read a file and write it for `fit` and `sweep`")
    _add_files(parser)
    parser.add_argument("--out", type=output_file, required=True, metavar="FILE.npz", help="the data as read")


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="images, .zip, .mat, .npy, .hdr, .tif, .nc, .csv ...; or a name",
    )
    add_reading_options(parser)


def run(args: argparse.Namespace) -> int:
    if args.action == "convert":
        save_dataset(_read(args), args.out)
    else:
        {"list": _list, "fetch": _fetch, "info": _info}[args.action](args)
    return 0


def _list(_: argparse.Namespace) -> None:
    for entry in catalogue():
        F, N = entry.shape
        here = "here" if entry.available else f"fetch, {entry.download_size}"
        state = "bundled" if entry.bundled else here
        print(f"{entry.name:16} {entry.kind:7} {f'{F} x {N}':>11}  {state:14} {entry.title}")


def _fetch(args: argparse.Namespace) -> None:
    names = list(PAPER_FOLDERS) if args.name == "all" else [args.name]
    for name in names:
        with progress_bar(name, None, unit="B") as show:
            paths = fetch(
                PAPER_FOLDERS[name], folder=args.folder, progress=lambda done, total, file: show(done, total)
            )
        print(f"{name}: {len(paths)} files, verified, in {(args.folder or data_dir()) / PAPER_FOLDERS[name]}")


def _info(args: argparse.Namespace) -> None:
    data = _read(args)
    for label, value in _facts(data):
        print(f"{label:14} {value}")


def _read(args: argparse.Namespace) -> Dataset:
    several = len(args.files) > 1
    return read_dataset(args.files, **reading(args)) if several else load_source(*args.files, **reading(args))


def _facts(data: Dataset) -> list[tuple[str, str]]:
    F, N = data.shape
    facts = [("name", data.name), ("kind", data.kind), ("V", f"{F} x {N}, {data.V.dtype}")]
    if data.image_shape is not None:
        way = "column by column" if data.order == "F" else "row by row"
        facts.append(("images", f"{data.image_shape[0]} x {data.image_shape[1]}, {way}"))
    if data.wavelengths is not None:
        facts.append(("wavelengths", f"{data.wavelengths.min():.4g} to {data.wavelengths.max():.4g} nm"))
    if data.georeference is not None:
        facts.append(("coordinates", "kept"))
    if data.truth is not None:
        facts.append(("truth", f"{data.truth.count} materials"))
    facts.append(("values", f"{np.nanmin(data.V):.4g} to {np.nanmax(data.V):.4g}"))
    facts.append(("not observed", f"{1 - data.observed.mean():.1%}"))
    facts.append(("content hash", data.content_hash))
    facts.extend(("note", note) for note in data.notes)
    return facts
