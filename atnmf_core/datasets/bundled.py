"""Data that needs no download: faces from scikit-image and the paper's synthetic model."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np

from ..model.problem import Array, InputError, Wide, check_count, check_seed
from .dataset import Dataset, Truth

# Made-up reflectance spectra of common ground materials, 400 to 2500 nm.
#
# The shapes follow textbook features (red edge, water bands near 1450 and 1940 nm, clay near 2200 nm, iron
# oxide near 870 nm); they are drawn from formulas, not measured, so that scenes made of them are free to
# use.

SPECTRAL_RANGE = (400.0, 2500.0)


def _bump(nm: Wide, centre: float, width: float) -> Wide:
    return np.exp(-0.5 * ((nm - centre) / width) ** 2)


def _edge(nm: Wide, centre: float, width: float) -> Wide:
    return 1 / (1 + np.exp(-(nm - centre) / width))


def _absorbed(nm: Wide, *features: tuple[float, float, float]) -> Wide:
    """The share of light that absorption features (centre, width, depth) let through."""
    passed = np.ones_like(nm)
    for centre, width, depth in features:
        passed *= 1 - depth * _bump(nm, centre, width)
    return passed


def _water(nm: Wide) -> Wide:
    return 0.008 + 0.085 * _bump(nm, 500, 90) * _edge(nm, 380, 30)


def _vegetation(nm: Wide) -> Wide:
    plateau = 0.50 * _edge(nm, 718, 16) * np.exp(-np.maximum(nm - 900, 0) / 1600)
    visible = 0.030 + 0.075 * _bump(nm, 552, 32)
    return (visible + plateau) * _absorbed(
        nm, (975, 35, 0.10), (1190, 45, 0.16), (1450, 75, 0.70), (1940, 95, 0.85), (2500, 150, 0.6)
    )


def _soil(nm: Wide) -> Wide:
    rise = 0.09 + 0.36 * (1 - np.exp(-(nm - 400) / 650))
    return rise * _absorbed(nm, (1410, 30, 0.12), (1915, 45, 0.22), (2205, 35, 0.20), (2500, 120, 0.15))


def _clay_tile(nm: Wide) -> Wide:
    red = 0.07 + 0.33 * _edge(nm, 592, 22) + 0.08 * _edge(nm, 1150, 120)
    return red * _absorbed(nm, (870, 80, 0.22), (2210, 40, 0.08))


def _concrete(nm: Wide) -> Wide:
    bright = 0.30 + 0.13 * (1 - np.exp(-(nm - 400) / 280)) - 0.05 * _edge(nm, 1900, 180)
    return bright * _absorbed(nm, (1930, 60, 0.14), (2335, 40, 0.22))


def _dry_grass(nm: Wide) -> Wide:
    straw = 0.07 + 0.46 * (1 - np.exp(-(nm - 400) / 420)) * np.exp(-np.maximum(nm - 1250, 0) / 2600)
    return straw * _absorbed(nm, (1460, 55, 0.22), (1930, 60, 0.30), (2100, 60, 0.30), (2310, 45, 0.28))


def _asphalt(nm: Wide) -> Wide:
    return 0.075 + 0.065 * (nm - 400) / 2100 - 0.02 * _bump(nm, 2310, 45)


def _gypsum(nm: Wide) -> Wide:
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


MATERIALS: dict[str, Callable[[Wide], Wide]] = {
    "water": _water, "vegetation": _vegetation, "soil": _soil, "clay tile": _clay_tile,
    "concrete": _concrete, "dry grass": _dry_grass, "asphalt": _asphalt, "gypsum": _gypsum,
}  # fmt: skip

MAX_ENTRIES = 100_000_000
# How strongly the leading material dominates a pixel: low values mix everything, high values give sharp
# borders.
SHARPNESS = 3.0
PURE_PIXEL_LEAD = 5.0
# In the order of MATERIALS: a landscape has more vegetation and soil than roofs.
COMMONNESS = (0.0, 0.7, 0.3, -0.5, -0.4, 0.2, -0.4, -0.9)


def simulated_scene(
    rows: int = 64, cols: int = 64, bands: int = 100, materials: int = 5, noise: float = 0.002, seed: int = 0
) -> Dataset:
    """A river landscape seen by an imaging spectrometer, V = E A + noise, clipped at zero.

    Parameters
    ----------
    rows, cols, bands : size of the cube; V is bands x (rows * cols).
    materials : number of materials, 2 to 8; each has some nearly pure pixels.
    noise : standard deviation of the Gaussian noise, in units of reflectance.
    seed : the same seed gives the same landscape and the same noise.

    Returns
    -------
    data : `truth` has the endmember spectra E (bands x materials) and the abundances A (materials x pixels),
        of which every column sums to one.
    """
    _check(rows, cols, bands, materials, noise)
    random = np.random.default_rng(check_seed(seed))
    wavelengths = np.linspace(*SPECTRAL_RANGE, bands)
    names = tuple(MATERIALS)[:materials]
    E = np.stack([MATERIALS[name](wavelengths) for name in names], axis=1)
    A = np.stack([one.reshape(-1, order="F") for one in _abundances(rows, cols, materials, random)])
    V = E @ A
    if noise > 0:
        for band in V:  # one band at a time: no second array of the size of V
            band += random.normal(scale=noise, size=band.size)
            np.maximum(band, 0, out=band)
    return Dataset(
        V=V,
        kind="cube",
        name="simulated-scene",
        title=f"Simulated scene, {materials} materials",
        image_shape=(rows, cols),
        order="F",
        wavelengths=wavelengths,
        citation="Simulated by this program.",
        terms="Generated by this program; free to use.",
        truth=Truth(E, A, names),
    )


def _check(rows: int, cols: int, bands: int, materials: int, noise: float) -> None:
    for name, value, least in (
        ("rows", rows, 4),
        ("cols", cols, 4),
        ("bands", bands, 2),
        ("materials", materials, 2),
    ):
        check_count(name, value, least)
    if materials > len(MATERIALS):
        raise InputError(f"materials={materials}: there are {len(MATERIALS)} materials to choose from.")
    if not isinstance(noise, Real) or not 0 <= float(noise) <= 1:
        raise InputError(f"noise={noise!r}: a standard deviation from 0 to 1 is needed.")
    if rows * cols * bands > MAX_ENTRIES:
        raise InputError(
            f"rows * cols * bands = {rows * cols * bands:,}: at most {MAX_ENTRIES:,} entries are made."
        )


def _abundances(rows: int, cols: int, materials: int, random: np.random.Generator) -> Array:
    """Smooth shares (materials x rows x cols) that sum to one; each material is nearly alone somewhere."""
    heights = np.stack([_terrain(rows, cols, random) for _ in range(materials)])
    heights += np.array(COMMONNESS[:materials])[:, None, None]
    heights[0] = _river(rows, cols, random)
    heights *= SHARPNESS
    for k in range(1, materials):
        _add_pure_spot(heights, k)
    heights -= heights.max(axis=0)
    shares = np.exp(heights)
    total: Array = shares / shares.sum(axis=0)
    return total


def _add_pure_spot(heights: Array, k: int) -> None:
    """Raise field k around the spot where it dominates most, until its share there is about 0.98."""
    lead = heights[k] - np.delete(heights, k, axis=0).max(axis=0)
    row, col = np.unravel_index(np.argmax(lead), lead.shape)
    lacking = PURE_PIXEL_LEAD - lead[row, col]
    if lacking > 0:
        rows, cols = lead.shape
        y, x = np.ogrid[:rows, :cols]
        radius = 0.06 * max(rows, cols)
        heights[k] += lacking * np.exp(-((y - row) ** 2 + (x - col) ** 2) / radius**2)


def _terrain(rows: int, cols: int, random: np.random.Generator) -> Array:
    """A random field with large patches and finer texture, of mean 0 and standard deviation 1."""
    field = np.zeros((rows, cols))
    for share, weight in ((0.11, 1.0), (0.035, 0.35), (0.012, 0.12)):
        layer = _smooth(random.normal(size=(rows, cols)), share * max(rows, cols))
        field += weight * layer / max(float(layer.std()), 1e-12)
    standard: Array = (field - field.mean()) / max(float(field.std()), 1e-12)
    return standard


def _smooth(field: Array, sigma: float) -> Array:
    """As `scipy.ndimage.gaussian_filter`, to the last bit, without an import that a page would wait for."""
    reach = int(4.0 * sigma + 0.5)
    weights = np.exp(-0.5 / sigma**2 * np.arange(-reach, reach + 1) ** 2)
    weights /= weights.sum()
    for _ in range(2):
        size = len(field)
        padded = np.pad(field, ((reach, reach), (0, 0)), mode="symmetric")
        total = field * weights[reach]
        for step in range(reach):
            opposite = 2 * reach - step
            total += (padded[step : step + size] + padded[opposite : opposite + size]) * weights[step]
        field = np.ascontiguousarray(total.T)
    return field


def _river(rows: int, cols: int, random: np.random.Generator) -> Array:
    """A field that is high in a winding band from the top edge to the bottom edge and low elsewhere."""
    y = np.linspace(0, 1, rows)[:, None]
    x = np.linspace(0, 1, cols)[None, :]
    phase, swing = random.uniform(0, 2 * np.pi), random.uniform(0.12, 0.2)
    middle = random.uniform(0.35, 0.65) + swing * np.sin(phase + 4.5 * y) + 0.05 * np.sin(2 * phase + 11 * y)
    width = 0.05 + 0.025 * np.sin(phase + 7 * y)
    bank: Array = np.maximum(3.0 - 1.6 * (np.abs(x - middle) / width) ** 1.5, -3.0)
    return bank


FACES_IN_LFW_SUBSET = 100


def lfw() -> Dataset:
    """100 faces of 25 x 25 pixels from Labeled Faces in the Wild, grey levels in [0, 1]; V is 625 x 100."""
    # Importing scikit-image's data module takes a while, and only this set needs it.
    from skimage import data

    faces: Array = data.lfw_subset()[:FACES_IN_LFW_SUBSET]
    count, rows, cols = faces.shape
    V = faces.transpose(0, 2, 1).reshape(count, rows * cols).T
    return Dataset(
        V=np.ascontiguousarray(V, dtype=np.float64),
        kind="faces",
        name="lfw",
        title="Faces in the wild (100, bundled)",
        image_shape=(rows, cols),
        order="F",
        citation="G. Huang, M. Mattar, H. Lee, E. Learned-Miller: Learning to align from scratch. NIPS 2012. "
        "Subset distributed with scikit-image.",
        terms="Part of scikit-image; the photographs come from the public research set Labeled Faces in "
        "the Wild.",
    )


def synthetic(seed: int = 0, F: int = 100, N: int = 50, K: int = 5) -> Dataset:
    """A draw from the paper's synthetic model: V = W H of exact rank K.

    K scales are drawn from the inverse-Gamma distribution with shape 50 and scale 70; column k of W and row k
    of H are half-normal with the k-th scale as standard deviation of the underlying normal distribution. With
    this reading of the scales the mean of V agrees with the matrix that the authors published.
    """
    check_seed(seed)
    for name, value in (("F", F), ("N", N), ("K", K)):
        check_count(name, value)
    random = np.random.default_rng(seed)
    scales = 70 / random.gamma(shape=50, size=K)
    W = np.abs(random.normal(size=(F, K))) * scales
    H = np.abs(random.normal(size=(K, N))) * scales[:, None]
    return Dataset(
        V=W @ H,
        kind="matrix",
        name="synthetic",
        title=f"Synthetic, rank {K}",
        citation="The synthetic model of T. Cai, V. Y. F. Tan, C. Févotte: Adversarially-Trained Nonnegative "
        "Matrix Factorization. IEEE Signal Processing Letters 28, 2021.",
        terms="Generated by this program; free to use.",
        truth=Truth(W, H),
    )
