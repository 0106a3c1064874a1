"""`python -m atnmf_core reproduce`: the paper's tables, published and measured side by side."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from ..datasets import PAPER_ALPHAS
from ..factorization import SOLVER_VERSIONS
from ..problem import InputError
from ..reference import NAMES, Measured
from ..reference.protocol import PROTOCOLS, as_published, as_written
from ..reference.stored import cells_of, stored_cells, sweep_name
from ..reference.tables import merged, read_measured, write_measured
from ..sweep import Grid, load_source, open_store, read_store
from ..sweep.grid import Point
from ..sweep.starts import PAPER_STARTS
from .arguments import output_file
from .comparison import comparison
from .running import add_running_options, run_grid, tell_failures

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `reproduce` to the command line."""
    parser = subparsers.add_parser(
        "reproduce",
        help="run the paper's experiments again and compare",
        description="Run the experiments behind the paper's tables with the authors' data, masks, starts and "
        "algorithm, and print published and measured RMSE side by side; beside them the same cells with "
        "hidden entries left out of the loss, by the fast solver. Finished fits are kept, so a larger table "
        "goes on from a smaller one.",
    )
    parser.set_defaults(run=run)
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument(
        "--alpha",
        type=float,
        nargs="+",
        default=list(PAPER_ALPHAS),
        metavar="A",
        help="share of hidden entries (default: all seven)",
    )
    methods = ["nmf", "anmf", "atnmf"]
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods, help="default: all three")
    parser.add_argument(
        "--lam",
        type=float,
        nargs="+",
        metavar="L",
        help="prices of the adversary, of those in the table (default: all of them)",
    )
    parser.add_argument(
        "--starts", type=int, default=PAPER_STARTS, metavar="N", help="the first N of the authors' ten starts"
    )
    parser.add_argument(
        "--K", type=int, help="parts, where not those of the table (5; CBCL 49; the hyperspectral data 3)"
    )
    parser.add_argument(
        "--max-outer",
        type=int,
        default=100,
        metavar="N",
        help="end Algorithm 1 after so many outer iterations, for a quicker look (the authors: 100)",
    )
    parser.add_argument(
        "--treatment",
        choices=["zero", "ignore", "both"],
        default="both",
        help="zero: as published; ignore: hidden entries left out, fast solver; default both",
    )
    parser.add_argument(
        "--csv",
        type=output_file,
        metavar="FILE",
        help="write what was measured as CSV too; cells that FILE has already are kept where they are better",
    )
    parser.add_argument("--no-run", action="store_true", help="run nothing, show what the store has")
    add_running_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run what the store lacks, print the table, write the CSV; 1 where fits failed."""
    grids = _grids(args)
    earlier = _earlier(args.csv)
    cells, failed = _kept(args, grids) if args.no_run else _run(args, grids)
    print(comparison(args.name, cells))
    if args.csv:
        with args.csv.open("w", newline="") as file:
            write_measured(merged(earlier, cells), file)
    return 1 if failed else 0


def _run(args: argparse.Namespace, grids: dict[str, Grid]) -> tuple[list[Measured], bool]:
    """The cells of the grids, run where the store lacks them, and whether fits failed."""
    data = load_source(PROTOCOLS[args.name].dataset)
    cells, failed = [], False
    with open_store(args.store) as store:
        for treatment, grid in grids.items():
            name = sweep_name(args.name, grid)
            run_grid(args, store, name, grid, data, label=f"{args.name}, {treatment}")
            cells += stored_cells(store, name)
            failed |= tell_failures(store, name)
    return cells, failed


def _kept(args: argparse.Namespace, grids: dict[str, Grid]) -> tuple[list[Measured], bool]:
    """What the store has of the cells of the grids, from however many starts; nothing is written."""
    wanted = {_place(point) for grid in grids.values() for point in grid.points()}
    with read_store(args.store) as store:
        cells = [cell for cell in cells_of(store, args.name) if cell.version == SOLVER_VERSIONS[cell.solver]]
    return list(merged((), (cell for cell in cells if _place(cell) in wanted))), False


def _place(fit: Point | Measured) -> tuple[object, ...]:
    return fit.alpha, fit.K, fit.missing, fit.method, fit.lam, fit.max_outer


def _grids(args: argparse.Namespace) -> dict[str, Grid]:
    _check(args)
    zero = as_published(
        args.name, sorted(args.alpha), args.methods, args.starts, args.K, args.max_outer, args.lam
    )
    grids = {"zero": zero, "ignore": as_written(zero)}
    return grids if args.treatment == "both" else {args.treatment: grids[args.treatment]}


def _check(args: argparse.Namespace) -> None:
    """Refuse what the paper does not have."""
    if args.starts > PAPER_STARTS:
        raise InputError(f"--starts {args.starts}: the authors made {PAPER_STARTS} starts.")
    unknown = [alpha for alpha in args.alpha if alpha not in PAPER_ALPHAS]
    if unknown:
        raise InputError(f"--alpha {unknown[0]:g}: the paper has {', '.join(map(str, PAPER_ALPHAS))}.")
    foreign = [lam for lam in args.lam or () if lam not in PROTOCOLS[args.name].lams]
    if foreign:
        lams = ", ".join(f"{lam:g}" for lam in PROTOCOLS[args.name].lams)
        raise InputError(f"--lam {foreign[0]:g}: the table {args.name} has lambda = {lams}.")


def _earlier(path: Path | None) -> tuple[Measured, ...]:
    """The cells of a CSV file that is there already; looked at before hours of fits, not after them."""
    if path is None or not path.exists():
        return ()
    try:
        return read_measured(csv.DictReader(path.read_text().splitlines()))
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"--csv {path}: not a file that `reproduce` wrote; choose another name.") from error
