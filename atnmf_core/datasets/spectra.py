"""Made-up reflectance spectra of common ground materials, 400 to 2500 nm.

The shapes follow textbook features (red edge, water bands near 1450 and 1940 nm, clay near 2200 nm, iron
oxide near 870 nm); they are drawn from formulas, not measured, so that scenes made of them are free to use.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Spectrum = npt.NDArray[np.float64]
SPECTRAL_RANGE = (400.0, 2500.0)


def _bump(nm: Spectrum, centre: float, width: float) -> Spectrum:
    return np.exp(-0.5 * ((nm - centre) / width) ** 2)


def _edge(nm: Spectrum, centre: float, width: float) -> Spectrum:
    return 1 / (1 + np.exp(-(nm - centre) / width))


def _absorbed(nm: Spectrum, *features: tuple[float, float, float]) -> Spectrum:
    """The share of light that absorption features (centre, width, depth) let through."""
    passed = np.ones_like(nm)
    for centre, width, depth in features:
        passed *= 1 - depth * _bump(nm, centre, width)
    return passed


def _water(nm: Spectrum) -> Spectrum:
    return 0.008 + 0.085 * _bump(nm, 500, 90) * _edge(nm, 380, 30)


def _vegetation(nm: Spectrum) -> Spectrum:
    plateau = 0.50 * _edge(nm, 718, 16) * np.exp(-np.maximum(nm - 900, 0) / 1600)
    visible = 0.030 + 0.075 * _bump(nm, 552, 32)
    return (visible + plateau) * _absorbed(
        nm, (975, 35, 0.10), (1190, 45, 0.16), (1450, 75, 0.70), (1940, 95, 0.85), (2500, 150, 0.6)
    )


def _soil(nm: Spectrum) -> Spectrum:
    rise = 0.09 + 0.36 * (1 - np.exp(-(nm - 400) / 650))
    return rise * _absorbed(nm, (1410, 30, 0.12), (1915, 45, 0.22), (2205, 35, 0.20), (2500, 120, 0.15))


def _clay_tile(nm: Spectrum) -> Spectrum:
    red = 0.07 + 0.33 * _edge(nm, 592, 22) + 0.08 * _edge(nm, 1150, 120)
    return red * _absorbed(nm, (870, 80, 0.22), (2210, 40, 0.08))


def _concrete(nm: Spectrum) -> Spectrum:
    bright = 0.30 + 0.13 * (1 - np.exp(-(nm - 400) / 280)) - 0.05 * _edge(nm, 1900, 180)
    return bright * _absorbed(nm, (1930, 60, 0.14), (2335, 40, 0.22))


def _dry_grass(nm: Spectrum) -> Spectrum:
    straw = 0.07 + 0.46 * (1 - np.exp(-(nm - 400) / 420)) * np.exp(-np.maximum(nm - 1250, 0) / 2600)
    return straw * _absorbed(nm, (1460, 55, 0.22), (1930, 60, 0.30), (2100, 60, 0.30), (2310, 45, 0.28))


def _asphalt(nm: Spectrum) -> Spectrum:
    return 0.075 + 0.065 * (nm - 400) / 2100 - 0.02 * _bump(nm, 2310, 45)


def _gypsum(nm: Spectrum) -> Spectrum:
    white = 0.62 + 0.18 * _edge(nm, 520, 60)
    return white * _absorbed(
        nm,
        (1450, 40, 0.35),
        (1535, 25, 0.18),
        (1750, 35, 0.28),
        (1945, 50, 0.60),
        (2215, 35, 0.32),
        (2430, 80, 0.5),
    )


MATERIALS: dict[str, Callable[[Spectrum], Spectrum]] = {
    "water": _water,
    "vegetation": _vegetation,
    "soil": _soil,
    "clay tile": _clay_tile,
    "concrete": _concrete,
    "dry grass": _dry_grass,
    "asphalt": _asphalt,
    "gypsum": _gypsum,
}
