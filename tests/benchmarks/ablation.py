"""`python -m tests.benchmarks.ablation`: what each part of `restore` is worth.

Cells of `tests.benchmarks.restoration` are measured with one part left out at a time. The table has the error
in multiples of that of the whole method: above 1 the part pays, below 1 it costs. With noise the denoised
data counts, with marked losses what was missing.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np

from atnmf_core import restore, rmse
from atnmf_core.restoration import choice, faces, odds, prediction, span
from atnmf_core.restoration.holdout import hold_out_entries

from .restoration import Cell, filled_in

# Its function has the module's name.
whole = importlib.import_module("atnmf_core.restoration.restore")

CELLS = {
    "cubes": [
        ("unmarked", "moffet", "dark10"),
        ("unmarked", "moffet", "dark50"),
        ("unmarked", "moffet", "bright5"),
        ("unmarked", "moffet", "dead columns"),
        ("unmarked", "moffet", "stripes"),
        ("unmarked", "simulated-scene", "salt20"),
        ("unmarked", "gamsberg", "dark50"),
        ("unmarked", "simulated-scene", "everything"),
        ("blocks", "moffet", "dark10 + dark"),
        ("marked", "moffet", "half bands"),
        ("marked", "simulated-scene", "lost block"),
        ("six", "sixcases", "case6"),
    ],
    "faces": [("faces", "lfw", kind) for kind in ("dark10", "dark30", "random30")],
}


def _ones(columns: span.Columns, miss: np.ndarray) -> np.ndarray:
    return np.ones(columns.V.shape[1], np.float32)


def _both(judgement: faces._Judgement, deviation: np.ndarray, quantile: float) -> float:
    z = np.abs((judgement.V - judgement.others) / deviation)[judgement.seen]
    return float(np.quantile(z, quantile)) / faces.NORMAL


Part = tuple[object, str, object]
PARTS: dict[str, list[tuple[str, list[Part]]]] = {
    "cubes": [
        ("values that repeat exactly", [(odds, "repeated_values", lambda values: [])]),
        ("clipped values stand for a tail", [(odds.Odds, "stands_for", lambda self, V, *_: V)]),
        ("loudness of columns", [(span.Columns, "_loudness", _ones)]),
        ("columns explained otherwise", [(prediction, "explain_otherwise", lambda *_: None)]),
        ("rows explained otherwise", [(span, "explain_rows_otherwise", lambda columns, made, **_: made)]),
        ("rows taken for noise explained otherwise", [(span, "NOISIER", np.inf)]),
        ("blocks judged together", [(prediction, "_judged_together", lambda columns, _: columns.sound)]),
        ("offsets of lines", [(prediction, "line_offsets", lambda missed, *_: np.zeros_like(missed))]),
        ("an adversary's first prediction", [(choice, "STRONG", None)]),
        ("the span learned from all columns", [(prediction, "ROUNDS", 1)]),
        (
            "pixels that look alike, lost pixels",
            [(prediction, "_with_alike_pixels", lambda model, layout: model)],
        ),
        ("blocks by their edges", [(whole, "sharp_edged", lambda V, *_: np.zeros(V.shape, dtype=bool))]),
        (
            "gaps of the real shape held out",
            [(whole, "hold_out_gaps", lambda seen, layout, **seed: hold_out_entries(seen, **seed))],
        ),
    ],
    "faces": [
        ("neighbouring pixels", [(prediction, "face_field", lambda V, *_: faces.Field(*[V * np.inf] * 5))]),
        (
            "what is around a pixel",
            [(faces._Judgement, "_around", lambda self, deviation, layout: np.ones_like(deviation))],
        ),
        ("the choice of a cut: 0.3", [(faces, "CUTS", (0.3,))]),
        ("the choice of a cut: 0.5", [(faces, "CUTS", (0.5,))]),
        ("the scale of the cleaner side", [(faces._Judgement, "_cleaner", _both)]),
        ("the biharmonic equation", [(faces, "LEAST_MIXED", 2.0)]),
        ("the stationary covariance", [(faces, "_stationary", lambda covariance, apart: covariance)]),
    ],
}


def error(cell: Cell, parts: list[Part]) -> float:
    s = cell.spoiled()
    with ExitStack() as stack:
        for owner, name, instead in parts:
            stack.enter_context(patch.object(owner, name, instead))
        losses = "marked" if s.marked else "unmarked"
        adversary = {} if choice.STRONG is not None else {"lam": np.inf}
        r = restore(s.data, losses, seed=cell.seed, **adversary)
    return rmse(s.truth, filled_in(r.denoised if s.noisy else r.V, s), s.wrong if s.marked else None)


def table(kind: str, seeds: int, said: Callable[[str], None]) -> None:
    cells = [[Cell(*cell, seed) for seed in range(seeds)] for cell in CELLS[kind]]
    base = [[error(draw, []) for draw in draws] for draws in cells]
    said(f"| {kind}, without | " + " | ".join(f"{name} {damage}" for _, name, damage in CELLS[kind]) + " |")
    said("|---" * (1 + len(cells)) + "|")
    said("| (whole) | " + " | ".join(f"{np.mean(errors):.4g}" for errors in base) + " |")
    for words, parts in PARTS[kind]:
        ratios = [
            np.mean([error(draw, parts) for draw in draws]) / np.mean(errors)
            for draws, errors in zip(cells, base, strict=True)
        ]
        said(f"| {words} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.ablation", description=__doc__)
    parser.add_argument("--kind", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    for kind in options.kind:
        table(kind, options.seeds, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
