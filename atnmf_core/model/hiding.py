"""Which entries are hidden from the learner, to be predicted."""

from numbers import Integral

import numpy as np
from numpy.random import Generator

from .problem import Array, InputError, Mask, Order, Shape, check_alpha, check_one_of, check_seed

PATTERNS = ("entries", "block", "stripes", "bands")


def hide_entries(
    shape: Shape,
    alpha: float,
    seed: int = 0,
    pattern: str = "entries",
    image_shape: Shape | None = None,
    order: Order = "F",
) -> Mask:
    """Hide a share alpha of the entries of an F x N matrix.

    Parameters
    ----------
    shape : (F, N)
    alpha : share of the entries to hide, from 0 (none) to below 1.
    seed : the same seed gives the same draw. With "entries" and "stripes", what one seed hides at a smaller
        alpha it also hides at a larger one.
    pattern : one of
        "entries", a share alpha of the entries, drawn at random, as in the paper;
        "block", one rectangle in each image (columns of V are images of `image_shape`);
        "stripes", dead lines: whole image columns of single bands (rows of V are bands of `image_shape`);
        "bands", noisy bands: a share sqrt(alpha) of the bands loses a share sqrt(alpha) of its entries.
    image_shape : (rows, columns) of one image; needed by "block" and "stripes".
    order : "F" where images are flattened column by column (the paper's data), "C" for row by row.

    Returns
    -------
    observed : bool array F x N, True where the entry stays observed. The hidden share is alpha up to
        rounding to whole entries, rectangles or lines.

    Examples
    --------
    >>> observed = hide_entries((40, 50), alpha=0.3, seed=1)
    >>> float((~observed).mean())
    0.3
    """
    if not _are_sizes(shape):
        raise InputError(f"shape={shape!r}: a matrix of at least 1 x 1 is needed, as (F, N).")
    check_alpha(alpha)
    check_one_of("pattern", pattern, PATTERNS)
    check_one_of("order", order, ("F", "C"))
    rng = np.random.default_rng(check_seed(seed))
    if alpha == 0:
        return np.ones(shape, dtype=bool)
    if pattern == "entries":
        return ~_smallest(rng.random(shape, dtype=np.float32), alpha)
    if pattern == "bands":
        return _bands(shape, alpha, rng)
    return (_block if pattern == "block" else _stripes)(shape, alpha, rng, image_shape, order)


def _block(shape: Shape, alpha: float, rng: Generator, image_shape: Shape | None, order: Order) -> Mask:
    rows, cols = _checked_image_shape("block", image_shape, shape[0], "F, the number of pixels of an image")
    height = min(rows, max(1, round(rows * np.sqrt(alpha))))
    width = min(cols, max(1, round(alpha * rows * cols / height)))
    # Positions are drawn as shares of the free room, so that a growing rectangle stays where it was.
    up, left = rng.random(shape[1]), rng.random(shape[1])
    top = np.floor(up * (rows - height + 1)).astype(int)
    start = np.floor(left * (cols - width + 1)).astype(int)
    r, c = np.arange(rows), np.arange(cols)
    in_rows = (r >= top[:, None]) & (r < top[:, None] + height)
    in_cols = (c >= start[:, None]) & (c < start[:, None] + width)
    hidden = in_rows[:, :, None] & in_cols[:, None, :]
    flat: Mask = hidden.transpose(0, 2, 1) if order == "F" else hidden
    return np.logical_not(flat.reshape(shape[1], shape[0]).T)


def _stripes(shape: Shape, alpha: float, rng: Generator, image_shape: Shape | None, order: Order) -> Mask:
    rows, cols = _checked_image_shape("stripes", image_shape, shape[1], "N, the number of pixels of a band")
    dead = _smallest(rng.random((shape[0], cols)), alpha)
    return ~(np.repeat(dead, rows, axis=1) if order == "F" else np.tile(dead, (1, rows)))


def _bands(shape: Shape, alpha: float, rng: Generator) -> Mask:
    noisy = np.flatnonzero(_smallest(rng.random(shape[0]), np.sqrt(alpha)))
    observed = np.ones(shape, dtype=bool)
    if noisy.size:
        share = min(1.0, alpha * shape[0] / noisy.size)
        for band in noisy:
            observed[band] = ~_smallest(rng.random(shape[1]), share)
    return observed


def _smallest(draws: Array, share: float) -> Mask:
    """True for a share of the smallest draws: an exact count, which a larger share includes."""
    count = round(share * draws.size)
    picked = np.zeros(draws.size, dtype=bool)
    if count:
        picked[np.argpartition(draws, count - 1, axis=None)[:count]] = True
    return picked.reshape(draws.shape)


def _checked_image_shape(
    pattern: str, image_shape: Shape | None, pixels: int, meaning: str
) -> tuple[int, int]:
    if image_shape is None or not _are_sizes(image_shape) or image_shape[0] * image_shape[1] != pixels:
        raise InputError(
            f"image_shape={image_shape!r}: pattern {pattern!r} needs (rows, columns) whose product is"
            f" {meaning} = {pixels}."
        )
    return image_shape


def _are_sizes(given: object) -> bool:
    sizes = given if isinstance(given, tuple | list) else ()
    return len(sizes) == 2 and all(isinstance(size, Integral) and int(size) > 0 for size in sizes)
