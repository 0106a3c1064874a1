"""`python -m tests.benchmarks.materials [LIBRARY ...]`: mean spectral angle and abundance RMSE of factorize
with unit_sum, of pure pixels with fully constrained least squares and, if it is installed, of PySptools'
endmembers with the same, on scenes simulated from a spectral library; and what each part of it is worth.
"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np

from atnmf_core import factorize
from atnmf_core.analysis.unmixing import pure_materials, spectral_angles, unit_sum_abundances
from atnmf_core.datasets import bundled, read_library
from atnmf_core.solvers import unit_sum

KINDS = ("pure", "mixed", "sparse", "bright")
CASES = ((3, 20), (3, 30), (4, 40), (5, 30), (6, 25), (8, 35))
PIXELS = 1600


def simulate(kind: str, spectra: np.ndarray, snr: float, rng: np.random.Generator) -> tuple:
    """V and the abundances: pure pixels and mixtures, no pixel purer than .8, few materials in each, or a
    brightness that varies by an eighth.
    """
    K = spectra.shape[1]
    A = rng.dirichlet(np.full(K, {"pure": 0.3, "bright": 0.5}.get(kind, 1.0)), 8 * PIXELS).T
    if kind == "mixed":
        A = A[:, A.max(axis=0) < 0.8]
    if kind == "sparse":
        A *= np.sort(A, axis=0)[-min(K, 2)] <= A
    A = A[:, :PIXELS] / A[:, :PIXELS].sum(axis=0)
    X = spectra @ A * (np.clip(rng.normal(1, 0.12, PIXELS), 0.5, 1.5) if kind == "bright" else 1.0)
    noise = np.sqrt((X**2).mean() / 10 ** (snr / 10))
    return np.maximum(X + rng.normal(0, noise, X.shape), 0), A


def errors(W: np.ndarray, H: np.ndarray, E: np.ndarray, A: np.ndarray) -> tuple[float, float]:
    from scipy.optimize import linear_sum_assignment

    angles = spectral_angles(E, W)
    rows, columns = linear_sum_assignment(angles)
    return float(angles[rows, columns].mean()), float(np.sqrt(((H[columns] - A) ** 2).mean(axis=1)).mean())


def pysptools(V: np.ndarray, K: int) -> np.ndarray | None:
    try:
        from pysptools.eea import ATGP
    except ImportError:
        return None
    # It asks for names that NumPy no longer has.
    with patch.multiple(np, create=True, int=int, float=float):
        return np.maximum(ATGP().extract(V.T[:, None, :], K).T, 0)


def measure(V: np.ndarray, E: np.ndarray, A: np.ndarray) -> dict[str, tuple[float, float]]:
    K = E.shape[1]
    found = {"pure pixels + FCLS": errors(*pure_materials(V, K=K), E, A)}
    if (W := pysptools(V, K)) is not None:
        found["ATGP + FCLS"] = errors(W, unit_sum_abundances(V, W), E, A)
    changes = {
        "unit_sum": {},
        "no volume term": {"STAYS": 0.0},
        "volume weight x 4": {"STAYS": 4 * unit_sum.STAYS},
        "sums held to one": {"MAX_SPREAD": 0.0},
    }
    for name, constants in changes.items():
        with patch.multiple(unit_sum, **constants) if constants else patch.dict({}):
            fit = factorize(V, K=K, unit_sum=True)
        found[name] = errors(fit.W, fit.H, E, A)
    plain = factorize(V, K=K, init="pure-pixels")
    found["parts"] = errors(*unit_sum.with_unit_sums(plain.W, plain.H), E, A)
    return found


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    if files:
        library = read_library([(file.name, file.read_bytes()) for file in files]).spectra
        library = library[~np.isnan(library).any(axis=1)]
    else:
        nm = np.linspace(400, 2500, 120)
        library = np.stack([spectrum(nm) for spectrum in bundled.MATERIALS.values()], axis=1)
    rng = np.random.default_rng(0)
    rows: dict[str, list] = {}
    for kind in KINDS:
        for K, snr in CASES:
            E = library[:, rng.choice(library.shape[1], K, replace=False)] / library.max()
            for name, pair in measure(*_scene(kind, E, snr, rng)).items():
                rows.setdefault(f"{kind:8}{name:20}", []).append(pair)
    print(f"{'':28}{'angle':>8}{'RMSE':>8}   means of {len(CASES)} scenes")
    for name, pairs in rows.items():
        angle, rmse = np.mean(pairs, axis=0)
        print(f"{name}{angle:8.2f}{rmse:8.3f}", flush=True)


def _scene(kind: str, E: np.ndarray, snr: float, rng: np.random.Generator) -> tuple:
    V, A = simulate(kind, E, snr, rng)
    return V, E, A


if __name__ == "__main__":
    main()
