"""Two tables of `atnmf_core/reference/`, measured again, and the filled faces of the lesson, made again.

    python -m tests.benchmarks.bundled_tables sensitivity TABLE DRAWS ALPHA ...
    python -m tests.benchmarks.bundled_tables tuned TABLE
    python -m tests.benchmarks.bundled_tables faces

The first two need the paper's data (ATNMF_DATA_DIR), and print lines of start_sensitivity.csv and tuned.csv.
Masks, starts and K are those of the paper's tables, and hidden entries are unmarked: to the solver they are
zeros like any other.

sensitivity : how far Algorithm 1 at lambda 2 moves when every entry of the authors' first start changes by
    1e-6 of itself, times a standard normal number; draw 0 is the start as it is.
tuned : the exact solver with the lambda that has the lowest RMSE over a tenth of the entries that are not
    zero, left out of the fit, the mean over three such hold-outs; then fitted to all entries, from the first
    three starts.
"""

from __future__ import annotations

import csv
import statistics
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from PIL import Image

import atnmf_core.lesson
from atnmf_core import SOLVER_VERSIONS, factorize, load_dataset, paper_mask, rmse
from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.lesson.examples import FACES_HIDDEN, FACES_SHOWN, FILLED_BY, seen_of_faces
from atnmf_core.reference.paper_tables import PROTOCOLS
from atnmf_core.restoration import faces as face_field
from atnmf_core.restoration.holdout import hold_out_entries
from atnmf_core.restoration.rivals import inpaint
from atnmf_core.sweep import Measurement, paper_start
from atnmf_core.sweep.measurements import csv_table, csv_text

LAM, NOISE = 2.0, 1e-6
LAMS = (1.001, 1.002, 1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
REPLICATES = 3


def problem(table: str, alpha: float) -> tuple[np.ndarray, np.ndarray, int]:
    """V, what is observed, and K."""
    protocol = PROTOCOLS[table]
    return load_dataset(protocol.dataset).V, paper_mask(protocol.dataset, alpha), protocol.K


def sensitivity(table: str, draws: str, *alphas: str) -> None:
    lines = csv.writer(sys.stdout, lineterminator="\n")
    for alpha in map(float, alphas):
        V, observed, K = problem(table, alpha)
        start = paper_start(V.shape, K, alpha, 0)
        for draw in range(int(draws) + 1):
            random, noise = np.random.default_rng(draw), NOISE if draw else 0.0
            W, H = (np.abs(part * (1 + noise * random.standard_normal(part.shape))) for part in start)
            fit = factorize(
                V, observed, K=K, method="atnmf", lam=LAM, missing="zero", solver="paper", init=(W, H)
            )
            error = f"{rmse(V, fit.V_hat, ~observed):.6g}"
            lines.writerow((table, alpha, f"{LAM:g}", draw, error, SOLVER_VERSIONS["paper"]))
            sys.stdout.flush()


def filled(share: float) -> dict[str, np.ndarray]:
    """The bundled faces with hidden pixels predicted, by what the prediction knows."""
    data = load_dataset("lfw")
    observed = seen_of_faces(data, share)
    apart = face_field._displacements(data.layout)
    alone = inpaint(np.where(observed, data.V, 0), observed, data.layout)
    unknown = np.zeros((len(alone), len(alone)))
    for _ in range(face_field.PASSES):
        covariance = face_field._stationary(np.cov(alone) + unknown, apart)
        made, unknown = face_field._conditioned(data.V, observed, alone.mean(axis=1), covariance)
        alone = np.where(observed, data.V, made.predicted)
    both = face_field.filled(data.V, observed, data.layout, 0)
    parts = min(
        (factorize(data.V, observed, K=K).V_hat for K in (8, 12, 25)),
        key=lambda V_hat: rmse(data.V, V_hat, ~observed),
    )
    found = {"parts": parts, "neighbours": alone, "both": both.predicted}
    return {by: np.where(observed, data.V, found[by]) for by in FILLED_BY}


def faces() -> None:
    """Write the picture and its errors beside the lesson."""
    data, folder = load_dataset("lfw"), Path(atnmf_core.lesson.__file__).parent
    columns = np.array(FACES_SHOWN) - 1
    sheet, lines = [], [("hidden", *FILLED_BY)]
    for share in FACES_HIDDEN:
        made = filled(share)
        sheet += [made[by][:, columns].T for by in FILLED_BY]
        errors = (rmse(data.V, made[by], ~seen_of_faces(data, share)) for by in FILLED_BY)
        lines.append((share, *(f"{error:.4f}" for error in errors)))
    pixels = np.clip(np.rint(255 * np.array(sheet)), 0, 255).astype(np.uint8)
    Image.fromarray(pixels.reshape(len(sheet), -1)).save(folder / "faces.png", optimize=True)
    (folder / "faces.csv").write_text(csv_table(lines[0], lines[1:]))


def tuned(table: str) -> None:
    for alpha in PAPER_ALPHAS:
        print(csv_text([with_tuned_lambda(table, alpha)]).splitlines()[1], flush=True)


def with_tuned_lambda(table: str, alpha: float) -> Measurement:
    """AT-NMF at the lambda that the hold-outs choose. What is lost reads zero, so it is never held out."""
    V, observed, K = problem(table, alpha)
    recorded, seeds = np.where(observed, V, 0), range(REPLICATES)
    starts = [paper_start(V.shape, K, alpha, seed) for seed in seeds]

    def held_out_error(lam: float, seed: int) -> float:
        held = hold_out_entries(recorded > 0, seed=seed)
        fit = factorize(recorded, ~held, K=K, method="atnmf", lam=lam, init=starts[seed])
        return rmse(recorded, fit.V_hat, held)

    errors = {lam: statistics.mean(held_out_error(lam, seed) for seed in seeds) for lam in LAMS}
    lam = min(errors, key=lambda one: errors[one])
    fits = [factorize(recorded, K=K, method="atnmf", lam=lam, init=start) for start in starts]
    found = [rmse(V, fit.V_hat, ~observed) for fit in fits]
    return Measurement(
        alpha, "atnmf", lam, K, "zero", "fast", "float32",
        mean=statistics.mean(found),
        deviation=statistics.stdev(found),
        starts=REPLICATES,
        version=SOLVER_VERSIONS["fast"],
        date=datetime.now(UTC).date().isoformat(),
        dataset=PROTOCOLS[table].dataset,
        rmse_observed=statistics.mean(rmse(V, fit.V_hat, observed) for fit in fits),
        n_iter=statistics.mean(fit.n_iter for fit in fits),
    )  # fmt: skip


if __name__ == "__main__":
    {"sensitivity": sensitivity, "tuned": tuned, "faces": faces}[sys.argv[1]](*sys.argv[2:])
