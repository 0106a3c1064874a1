"""`python -m atnmf_core fit`: one factorization, its numbers, and files to take away."""

import argparse
import math
from dataclasses import replace
from typing import Any

from ..analysis import pictures
from ..analysis.pictures import compare_picture, reach_of, unreached_in_words
from ..datasets import Dataset, ReadingOptions
from ..export import factors_npz
from ..figures.images import HIDDEN, Panel, given_panels, learned_panels
from ..figures.publish import look_of, save_panels
from ..jobs.whole_files import write_whole
from ..model.metrics import rmse
from ..model.problem import InputError, Mask, Missing
from ..model.result import Fit
from ..solvers.factorization import factorize
from ..sweep import load_source
from ..sweep.grid import drawn_mask
from .arguments import (
    FITTING,
    Subparsers,
    add_options,
    add_reading_options,
    given,
    output_file,
    print_notes,
    progress_bar,
    reading,
)
from .by_blocks import STEPS, add_block_options, fit_by_blocks, is_for_blocks

PASSED_ON = ("K", "method", "lam", "leash", "mu", "gamma", "missing", "n_init", "unit_sum", *FITTING)
"""The options that mean the same to `factorize`."""
BYTES_PER_ENTRY = 32  # What a fit takes at its peak for each entry of data that it holds in memory, about
BY_BLOCKS = ("K", "method", "lam", "leash", "n_init", *FITTING)  # Those of them that `fit_scene` has too
WHOLE = ("alpha", "masks", "mask_seed", "pattern", "missing", "mu", "gamma", "unit_sum", "png", "picture")
"""Options that need all of the data at once."""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "fit",
        help="factorize one data set",
        description="Hide a share of the entries, factorize the rest, measure the error on what was hidden.",
        epilog="example: python -m atnmf_core fit --data lfw --alpha 0.3 --K 25 --method atnmf --lam 2 "
        "--png faces.png",
    )
    parser.set_defaults(run=run)
    add_options(parser, "data", "K", required=True)
    add_options(parser, "alpha", "masks", "mask_seed", "pattern", "missing")
    parser.add_argument("--method", choices=["nmf", "atnmf", "anmf"], help="default: nmf")
    parser.add_argument("--lam", type=float, metavar="L", help="the adversary's price, above 1; for atnmf")
    parser.add_argument(
        "--leash", type=float, metavar="G", help="the most that the adversary adds, times V; for atnmf"
    )
    parser.add_argument("--mu", type=float, help="the attacker's price of moving the dictionary; for anmf")
    parser.add_argument("--gamma", type=float, help="weight of the attacked error, 0 to 1; for anmf")
    parser.add_argument("--start", choices=["random", "pure-pixels"], help="pure-pixels: for cubes")
    parser.add_argument(
        "--unit-sum", action="store_true", default=None, help="materials: abundances sum to one; for cubes"
    )
    parser.add_argument("--n-init", type=int, metavar="N", help="starts, of which the best is kept")
    add_options(parser, *FITTING)
    parser.add_argument(
        "--out",
        type=output_file,
        metavar="FILE.npz",
        help="write W, H and the mask; with --blocks FILE.npy or FILE.hdr: H as K maps, and W beside it",
    )
    parser.add_argument(
        "--png",
        type=output_file,
        metavar="FILE.png",
        help="write original, masked and restored picture (or FILE.svg, FILE.pdf)",
    )
    parser.add_argument("--picture", type=int, metavar="N", help="which face or band (default: 1)")
    add_block_options(parser.add_argument_group("where and how it runs"))
    add_reading_options(parser)


def run(args: argparse.Namespace) -> int:
    options = ReadingOptions(**reading(args))
    by_blocks = is_for_blocks(args, options, BYTES_PER_ENTRY)
    _refuse_idle(args, by_blocks)
    if by_blocks:
        start = {} if args.start is None else {"init": args.start}
        return fit_by_blocks(args, options, **{"seed": 0} | start | given(args, *BY_BLOCKS))
    data = load_source(args.data, **reading(args))
    print_notes(data)
    index = _picture_index(args, data)
    observed = data.observed
    if args.alpha is not None:
        how: dict[str, Any] = {"seed": args.mask_seed or 0, "pattern": args.pattern or "entries"}
        observed = observed & drawn_mask(data, args.alpha, args.masks or "seeded", **how)
    with progress_bar(f"fit {data.name}", args.progress) as show:
        fit = factorize(
            data.V,
            observed,
            init=args.start if args.start != "random" else None,
            callback=lambda progress: show(round(STEPS * progress.share), STEPS),
            **given(args, *PASSED_ON),
        )
    print(_report(data, observed, fit))
    if args.out:
        write_whole(args.out, factors_npz({fit.method: fit}, observed))
    if args.png:
        panels = _drawn(data, observed, fit, index, args.missing or "ignore")
        write_whole(args.png, save_panels(panels, look_of(args.png)))
    return 0


def _refuse_idle(args: argparse.Namespace, by_blocks: bool) -> None:
    idle = (
        (by_blocks, WHOLE, "not for a scene that is fitted block by block"),
        (args.start == "pure-pixels", ("n_init",), "--start pure-pixels is one start"),
        (args.alpha is None, ("masks", "mask_seed", "pattern"), "nothing is hidden without --alpha"),
        (args.masks == "paper", ("mask_seed", "pattern"), "--masks paper takes the authors' own masks"),
        (args.png is None, ("picture",), "no picture is drawn without --png"),
    )
    for holds, names, why in idle:
        for name, value in given(args, *names).items() if holds else ():
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} {value}: {why}; leave {option} out.")
    if by_blocks and args.out is None:
        raise InputError(f"{args.data} is fitted block by block: give --out FILE.npy or FILE.hdr, for H.")
    if not by_blocks and args.jobs != -1:
        raise InputError(f"--jobs {args.jobs}: a fit in memory is one process; leave --jobs out.")


def _picture_index(args: argparse.Namespace, data: Dataset) -> int:
    """Counted from 0; the option counts from 1."""
    number = 1 if args.picture is None else int(args.picture)
    if not 1 <= number <= pictures.count(data):
        raise InputError(f"--picture {number}: {data.name} has pictures 1 to {pictures.count(data)}.")
    return number - 1


def _report(data: Dataset, observed: Mask, fit: Fit) -> str:
    way = "stopping rule met" if fit.converged else "iteration limit"
    lines = [
        f"RMSE, observed   {rmse(data.V, fit.V_hat, observed):.6g}",
        f"loss             {fit.history['adversarial_loss'][-1]:.6g}",
        f"iterations       {fit.n_iter} ({way})",
        f"seconds          {fit.seconds:.3g}",
    ]
    hidden = data.observed & ~observed
    if hidden.any():
        lines.insert(0, f"RMSE, hidden     {rmse(data.V, fit.V_hat, hidden):.6g}")
    lost = unreached_in_words(data, reach_of(observed))
    if lost:
        lines.append(f"Nothing is observed of {lost}: there is nothing to predict them from.")
    return "\n".join(lines)


def _drawn(data: Dataset, observed: Mask, fit: Fit, index: int, missing: Missing) -> list[Panel]:
    """Original, masked, for AT-NMF the attack and the attacked picture, and the restored one."""
    name, red = pictures.picture_name(data, index), HIDDEN["red"]
    lam, factors = math.inf if fit.lam is None else fit.lam, (fit.W, fit.H)
    picture = compare_picture(
        data, observed, factors, factors, index, lam=lam, leash=fit.leash, missing=missing
    )
    attack, attacked, by_atnmf, by_nmf = learned_panels(picture, red, name)
    if fit.method == "anmf":
        by_nmf = replace(by_nmf, title="ANMF restores", alt=f"{name} restored by ANMF")
    learned = (attack, attacked, by_atnmf) if fit.method == "atnmf" else (by_nmf,)
    return [*given_panels(picture.v, picture.observed, red, name), *learned]
