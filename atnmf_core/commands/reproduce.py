"""`python -m atnmf_core reproduce`: the paper's tables, published and measured side by side."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..datasets import PAPER_ALPHAS
from ..jobs.whole_files import write_whole
from ..model.problem import ANMF_NOTE, METHOD_NAMES, InputError
from ..reference import NAMES, measured
from ..reference.compare import (
    AGREEMENTS,
    Cell,
    agreement_counts,
    compare_table,
    mean_and_deviation,
    method_title,
    percent,
    small_spread,
)
from ..reference.paper_tables import (
    PROTOCOLS,
    best_of_each,
    ignoring_hidden,
    local_runs,
    published_grid,
    sweep_name,
)
from ..sweep import Grid, Measurement, load_source, open_store, read_store
from ..sweep.grid import PAPER_STARTS, Point
from ..sweep.measurements import csv_text, read_csv
from .arguments import Subparsers, add_options, add_running_options, output_file, print_failures, run_grid

MARKS = {"within": "=", "near": "~", "outside": "!", None: ""}


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "reproduce",
        help="run the paper's experiments again and compare",
        description="Run the experiments behind the paper's tables with the authors' data, masks, starts and "
        "algorithm, which leaves hidden entries unmarked, and print published and measured RMSE side by "
        "side; beside them the same cells with hidden entries marked and left out, by the fast solver. "
        "Finished fits are stored, not run again.",
    )
    parser.set_defaults(run=run)
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    alphas = list(PAPER_ALPHAS)
    add_options(
        parser, "alpha", nargs="+", default=alphas, help="share of hidden entries (default: all seven)"
    )
    methods = ["nmf", "anmf", "atnmf"]
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods, help="default: all three")
    parser.add_argument(
        "--lam",
        type=float,
        nargs="+",
        metavar="L",
        help="only these of the table's lambdas (default: all of them)",
    )
    parser.add_argument(
        "--starts", type=int, default=PAPER_STARTS, metavar="N", help="the first N of the authors' ten starts"
    )
    K = "number of parts (default: the table's own: 5; CBCL 49; the hyperspectral data 3)"
    add_options(parser, "K", help=K)
    outer = "stop Algorithm 1 after N outer iterations, for a quicker look (the authors: 100)"
    add_options(parser, "max_outer", default=100, help=outer)
    parser.add_argument(
        "--treatment",
        choices=["zero", "ignore", "both"],
        default="both",
        help="zero: hidden entries unmarked, as published; ignore: marked, fast solver; default both",
    )
    parser.add_argument(
        "--csv",
        type=output_file,
        metavar="FILE",
        help="also write the measurements as CSV; of those already in FILE the better ones stay",
    )
    parser.add_argument(
        "--no-run",
        action="store_true",
        help="run nothing; show the best of what is bundled with the program and what the store has",
    )
    add_running_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run what the store lacks, print the table, write the CSV; 1 if fits failed."""
    grids = _grids(args)
    earlier = _earlier(args.csv)
    rows, failed = (_known(args, grids), False) if args.no_run else _run(args, grids)
    print(_comparison(args.name, rows))
    if args.csv:
        write_whole(args.csv, csv_text(best_of_each([*earlier, *rows])))
    return 1 if failed else 0


def _run(args: argparse.Namespace, grids: dict[str, Grid]) -> tuple[list[Measurement], bool]:
    data = load_source(PROTOCOLS[args.name].dataset)
    rows, failed = [], False
    with open_store(args.store) as store:
        for treatment, grid in grids.items():
            name = sweep_name(args.name, grid)
            run_grid(args, store, name, grid, data, label=f"{args.name}, {treatment}", reproduces=args.name)
            rows += store.summary(name)
            failed |= print_failures(store, name)
    return rows, failed


def _known(args: argparse.Namespace, grids: dict[str, Grid]) -> list[Measurement]:
    """The best measurement of each cell of the grids, bundled or stored, from any number of starts."""
    wanted = {_combination(point) for grid in grids.values() for point in grid.points()}
    rows = list(measured(args.name))
    if args.store.exists():
        with read_store(args.store) as store:
            rows += local_runs(store, args.name, args.K)
    rows = [row for row in rows if row.solver != "paper" or row.max_outer <= args.max_outer]
    return list(best_of_each(row for row in rows if _combination(row) in wanted))


def _combination(row: Point | Measurement) -> tuple[object, ...]:
    return row.alpha, row.K, row.missing, row.method, row.lam


def _grids(args: argparse.Namespace) -> dict[str, Grid]:
    _check(args)
    zero = published_grid(
        args.name, sorted(args.alpha), args.methods, args.starts, args.K, args.max_outer, args.lam
    )
    grids = {"zero": zero, "ignore": ignoring_hidden(zero)}
    return grids if args.treatment == "both" else {args.treatment: grids[args.treatment]}


def _check(args: argparse.Namespace) -> None:
    if args.starts > PAPER_STARTS:
        raise InputError(f"--starts {args.starts}: the authors made {PAPER_STARTS} starts.")
    unknown = [alpha for alpha in args.alpha if alpha not in PAPER_ALPHAS]
    if unknown:
        raise InputError(f"--alpha {unknown[0]:g}: the paper has {', '.join(map(str, PAPER_ALPHAS))}.")
    foreign = [lam for lam in args.lam or () if lam not in PROTOCOLS[args.name].lams]
    if foreign:
        lams = ", ".join(f"{lam:g}" for lam in PROTOCOLS[args.name].lams)
        raise InputError(f"--lam {foreign[0]:g}: the table {args.name} has lambda = {lams}.")


def _earlier(path: Path | None) -> tuple[Measurement, ...]:
    """The measurements of an existing CSV file, read before hours of fits and not after them."""
    if path is None or not path.exists() or path.stat().st_size == 0:
        return ()
    try:
        return read_csv(path.read_text())
    except ValueError as error:
        raise InputError(f"--csv {path}: not a file that `reproduce` wrote; choose another name.") from error


def _comparison(name: str, rows: Sequence[Measurement]) -> str:
    head = f"{'alpha':5}  {'method':22}{'published':>16}{'unmarked':>18}{'difference':>13}"
    cells = compare_table(name, rows)
    lines = [f"{head}  {'marked':>17}"]
    lines += [_line(cell) for cell in cells if cell.zero or cell.ignore]
    starts = [row.starts for row in rows]
    counted = " to ".join(dict.fromkeys((str(min(starts)), str(max(starts))))) if starts else "none"
    lines.append(f"RMSE on hidden entries, mean ± standard deviation; starts: {counted}.")
    if any(row.missing == "zero" for row in rows):
        lines.append(", ".join(f"{MARKS[one]} {words}" for one, words in AGREEMENTS.items()) + ".")
        lines += [f"{group}: {counts}" for group, counts in agreement_counts(cells).items()]
        lines += _tuned(name, cells)
    if any(row.method == "anmf" for row in rows):
        lines.append(f"{METHOD_NAMES['anmf']}: {ANMF_NOTE}")
    return "\n".join(lines)


def _tuned(name: str, cells: Sequence[Cell]) -> list[str]:
    """What the fast solver reaches with the lambda that held-out entries chose, where AT-NMF is shown."""
    shown = [cell for cell in cells if cell.zero is not None and cell.zero.K == PROTOCOLS[name].K]
    tuned = {cell.tuned.alpha: cell.tuned for cell in shown if cell.tuned is not None}
    head = "Unmarked by the fast solver, with the lambda that best predicts held-out entries (bundled):"
    return [head] * bool(tuned) + [
        f"  {alpha:<5g}{method_title(row.method, row.lam):22}{small_spread(row.mean, row.deviation):>16}"
        for alpha, row in tuned.items()
    ]


def _line(cell: Cell) -> str:
    row, zero = cell.published, cell.zero
    unmarked = "" if zero is None else mean_and_deviation(zero.mean, zero.deviation, cell.digits)
    difference = "" if cell.difference is None else percent(cell.difference)
    marked = "" if cell.ignore is None else small_spread(cell.ignore.mean, cell.ignore.deviation)
    return (
        f"{row.alpha:<5g}  {method_title(row.method, row.lam):22}"
        f"{mean_and_deviation(row.mean, row.deviation, cell.digits):>16}"
        f"{unmarked:>18}{difference:>13} {MARKS[cell.agreement]:1}{marked:>17}"
    )
