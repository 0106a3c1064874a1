"""Damage for trying out restoration: sound data is damaged on purpose, so that errors can be measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..datasets import Dataset
from ..datasets.dataset import Layout
from ..problem import Array, InputError, Mask, check_seed

STRETCH = 3
"""A block in a cube damages one in this many bands: a pixel that is dark in all of them cannot be
distinguished from a sound dark pixel.
"""


@dataclass(frozen=True)
class Damage:
    """Damage to sound data.

    Attributes
    ----------
    dead : share of single entries, drawn at random, that become dark (0 to 0.6 times their value).
    streaks : share of image columns that are dark, drawn at random in each band or image.
    block : share of entries in one dark rectangle of each image or of a third of the bands.
    cosmic : share of single entries that become far too bright.
    noise : standard deviation of normal noise on every entry, as a share of the mean value.
    seed : of all draws. A larger share of one kind includes the entries of a smaller one.
    """

    dead: float = 0.0
    streaks: float = 0.0
    block: float = 0.0
    cosmic: float = 0.0
    noise: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name in ("dead", "streaks", "block", "cosmic", "noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}={getattr(self, name)!r}: a share from 0 to 1 is needed.")

    def __bool__(self) -> bool:
        return any((self.dead, self.streaks, self.block, self.cosmic, self.noise))


@dataclass(frozen=True, eq=False)
class Damaged:
    """Damaged data, F x N, and which entries are wrong. Noise does not count: all entries have it."""

    V: Array
    wrong: Mask


def damaged(
    V: Array | Dataset, damage: Damage, layout: Layout | None = None, *, marked: bool = False
) -> Damaged:
    """Damage some entries.

    Parameters
    ----------
    V : F x N, sound, NaN where missing; or a `Dataset`, which includes its layout.
    layout : how entries lie in images; by default V is a plain matrix.
    marked : whether damaged entries become NaN instead of wrong values.

    Examples
    --------
    >>> spoiled = damaged(np.ones((40, 50)), Damage(dead=0.1))
    >>> int(spoiled.wrong.sum()), bool((spoiled.V[spoiled.wrong] < 0.6).all())
    (200, True)
    """
    if isinstance(V, Dataset):
        layout, V = V.layout, V.V
    layout = layout or Layout()
    layout.check((V.shape[0], V.shape[1]))
    known = ~np.isnan(V)
    factor, dark = _darkened(damage, layout, V.shape)
    spoiled = V * factor
    bright, added = _struck(damage, V)
    spoiled = spoiled + added
    if damage.noise:
        deviation = damage.noise * float(V[known].mean())
        spoiled = np.maximum(spoiled + _generator(damage, 4).normal(0, deviation, V.shape), 0)
    wrong = (dark | bright) & known
    return Damaged(np.where(wrong, np.nan, spoiled) if marked else spoiled, wrong)


def _generator(damage: Damage, kind: int) -> np.random.Generator:
    """A generator for each kind of damage, so that more of one leaves the others unchanged."""
    return np.random.default_rng((damage.seed, kind))


def _darkened(damage: Damage, layout: Layout, shape: tuple[int, ...]) -> tuple[Array, Mask]:
    """The factor of each entry, and which entries have one."""
    factor = np.ones(shape)
    if damage.dead:
        rng = _generator(damage, 0)
        place, depth = rng.permutation(factor.size), rng.uniform(0, 0.6, factor.size)
        drawn = place[: round(damage.dead * factor.size)]
        factor.ravel()[drawn] = depth[drawn]
    stack = _stack(factor, layout)
    for band, row, col, darkness in _streaks(damage, stack.shape) + _blocks(damage, layout, stack.shape):
        stack[band, row, col] *= darkness
    folded = _flat(stack, layout)
    return folded, folded < 1


def _struck(damage: Damage, V: Array) -> tuple[Mask, Array]:
    """Which entries are hit by a cosmic ray, and what it adds."""
    if not damage.cosmic:
        return np.zeros(V.shape, dtype=bool), np.zeros(V.shape)
    rng = _generator(damage, 3)
    place, strength = rng.permutation(V.size), rng.uniform(0.5, 2.0, V.size)
    drawn = place[: round(damage.cosmic * V.size)]
    added = np.zeros(V.size)
    added[drawn] = strength[drawn] * float(np.nanpercentile(V, 99))
    return (added > 0).reshape(V.shape), added.reshape(V.shape)


Place = tuple[slice, slice, slice, float]
"""Bands or images, rows and columns, and the factor of their entries."""


def _streaks(damage: Damage, shape: tuple[int, ...]) -> list[Place]:
    """Whole image columns, of one band or image each, as from a bad element of a line detector."""
    if not damage.streaks:
        return []
    images, _, cols = shape
    rng = _generator(damage, 1)
    order, depth = rng.permutation(images * cols), rng.uniform(0.1, 0.5, images * cols)
    found = []
    for number in range(round(damage.streaks * images * cols)):
        image, col = divmod(int(order[number]), cols)
        found.append((slice(image, image + 1), slice(None), slice(col, col + 1), float(depth[number])))
    return found


def _blocks(damage: Damage, layout: Layout, shape: tuple[int, ...]) -> list[Place]:
    if not damage.block:
        return []
    images, rows, cols = shape
    rng = _generator(damage, 2)
    if layout.kind == "faces":
        bands = [slice(image, image + 1) for image in range(images)]
        area = damage.block * rows * cols
    else:
        length = max(1, images // STRETCH)
        first = int(rng.integers(0, images - length + 1))
        bands = [slice(first, first + length)]
        area = min(rows * cols, damage.block * images * rows * cols / length)
    tall = max(1, min(rows, round(rows * (area / (rows * cols)) ** 0.5)))
    wide = max(1, min(cols, round(area / tall)))
    found = []
    for band in bands:
        at, left, darkness = rng.random(), rng.random(), rng.uniform(0.1, 0.3)
        top, side = round(at * (rows - tall)), round(left * (cols - wide))
        found.append((band, slice(top, top + tall), slice(side, side + wide), float(darkness)))
    return found


def _stack(matrix: Array, layout: Layout) -> Array:
    """Bands or images x rows x columns, where a plain matrix is a cube with one row of pixels."""
    stack = layout.unfold(matrix)
    return np.ascontiguousarray(stack.transpose(0, 2, 1) if layout.kind == "matrix" else stack)


def _flat(stack: Array, layout: Layout) -> Array:
    folded: Array = layout.fold(stack.transpose(0, 2, 1) if layout.kind == "matrix" else stack)
    return folded
