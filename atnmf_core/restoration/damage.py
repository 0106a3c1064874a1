"""Damage for trying out restoration: sound data is damaged on purpose, so that errors can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..datasets.dataset import Layout
from ..model.problem import Array, InputError, Mask, check_seed

T = TypeVar("T", bound=np.generic)

STRETCH = 3
"""A block in a cube damages one in this many bands: a pixel that is dark in all of them cannot be
distinguished from a sound dark pixel.
"""
STRIPED, WITH_DEAD_COLUMNS = 3, 4
"""One in this many bands or images, drawn at random, has stripes, and one in this many has dead columns."""
LARGEST_OFFSET = 0.25
"""Of a stripe, as a share of the data's 99th percentile."""
QUIETEST = 0.2
"""The noise of the best band, as a share of that of the worst."""


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
    band_noise : the same for noise that differs by band or image: its standard deviation in the worst of
        them.
    stripes : share of image columns with an offset, in a third of the bands or images.
    dead_columns : share of image columns that read zero, in a quarter of the bands or images.
    salt : share of single entries that read either zero or the largest value (salt and pepper).
    shadow : share of the pixels that lie in shadow: one disc, dark in all bands.
    drift : how much brighter, as a share, the last image row has become: all bands grow from row to row.
    lost : share of the pixels that are lost in all bands: one rectangle, missing even where other damage is
        not marked.
    seed : of all draws. A larger share of one kind includes the entries of a smaller one.
    """

    dead: float = 0.0
    streaks: float = 0.0
    block: float = 0.0
    cosmic: float = 0.0
    noise: float = 0.0
    band_noise: float = 0.0
    stripes: float = 0.0
    dead_columns: float = 0.0
    salt: float = 0.0
    shadow: float = 0.0
    drift: float = 0.0
    lost: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name, share in self.shares.items():
            if not 0 <= share <= 1:
                raise InputError(f"{name}={share!r}: a share from 0 to 1 is needed.")

    def __bool__(self) -> bool:
        return any(self.shares.values())

    @property
    def shares(self) -> dict[str, float]:
        """All kinds of damage, by name."""
        return {name: value for name, value in vars(self).items() if name != "seed"}


@dataclass(frozen=True, eq=False)
class Damaged:
    """Damaged data, F x N, and which entries are wrong. Noise and drift do not count: all have it."""

    V: Array
    wrong: Mask


def damaged(
    V: Array | Dataset,
    damage: Damage,
    layout: Layout | None = None,
    *,
    marked: bool = False,
    negative: bool = False,
) -> Damaged:
    """Damage some entries.

    Parameters
    ----------
    V : F x N, sound, NaN where missing; or a `Dataset`, which includes its layout.
    layout : how entries lie in images; by default V is a plain matrix.
    marked : whether damaged entries become NaN instead of wrong values.
    negative : whether noise and offsets may take values below zero, which are recorded as zero otherwise.

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
    factor, wrong = _darkened(damage, layout, V.shape)
    bright, added = _struck(damage, V)
    offsets = _offsets(damage, layout, V)
    spoiled: Array = (
        V * factor * _drift(damage, layout, V.shape) + added + offsets + _noise(damage, layout, V)
    )
    if not negative:
        spoiled = np.maximum(spoiled, np.minimum(V, 0))
    spoiled, replaced = _replaced(damage, layout, spoiled, top=float(np.nanmax(V)))
    lost = _lost(damage, layout, V.shape)
    wrong = (wrong | bright | (offsets != 0) | replaced | lost) & known
    return Damaged(np.where(~known | (wrong if marked else lost), np.nan, spoiled), wrong)


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
    folded = _flat(stack * _shade(damage, layout, stack.shape), layout)
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


def _noise(damage: Damage, layout: Layout, V: Array) -> Array:
    mean = float(np.nanmean(V))
    noise = np.zeros(V.shape)
    if damage.noise:
        noise += _generator(damage, 4).normal(0, damage.noise * mean, V.shape)
    if damage.band_noise:
        rng = _generator(damage, 5)
        stack = _stack(V, layout)
        deviation = damage.band_noise * mean * rng.uniform(QUIETEST, 1, (len(stack), 1, 1))
        noise += _flat(deviation * rng.standard_normal(stack.shape), layout)
    return noise


def _offsets(damage: Damage, layout: Layout, V: Array) -> Array:
    """What stripes add to each entry."""
    images, rows, cols = _stack(V, layout).shape
    offsets: Array = np.zeros((images, 1, cols))
    if damage.stripes:
        rng, largest = _generator(damage, 6), LARGEST_OFFSET * float(np.nanpercentile(V, 99))
        for image in _some(rng, images, STRIPED):
            drawn = rng.permutation(cols)[: round(damage.stripes * cols)]
            offsets[image, 0, drawn] = rng.uniform(-largest, largest, (cols,))[drawn]
    return _flat(np.broadcast_to(offsets, (images, rows, cols)), layout)


def _replaced(damage: Damage, layout: Layout, V: Array, top: float) -> tuple[Array, Mask]:
    """V with values that have nothing to do with what was there: zero or `top`; and where these are."""
    stack = _stack(V, layout).copy()
    replaced = np.zeros(stack.shape, dtype=bool)
    if damage.salt:
        rng = _generator(damage, 7)
        drawn = rng.permutation(stack.size)[: round(damage.salt * stack.size)]
        bright = rng.random(stack.size) < 0.5
        stack.ravel()[drawn] = np.where(bright[drawn], top, 0)
        replaced.ravel()[drawn] = True
    if damage.dead_columns:
        images, _, cols = stack.shape
        rng = _generator(damage, 8)
        for image in _some(rng, images, WITH_DEAD_COLUMNS):
            dead = rng.permutation(cols)[: round(damage.dead_columns * cols)]
            stack[image, :, dead] = 0
            replaced[image, :, dead] = True
    return _flat(stack, layout), _flat(replaced, layout)


def _some(rng: np.random.Generator, images: int, one_in: int) -> list[int]:
    return sorted(rng.permutation(images)[: max(1, round(images / one_in))].tolist())


def _shade(damage: Damage, layout: Layout, shape: tuple[int, ...]) -> Array:
    """The factor of each pixel: below one in a disc, the same in all bands; in faces, a disc in each."""
    images, rows, cols = shape
    scenes = images if layout.kind == "faces" else 1
    factor = np.ones((scenes, rows * cols))
    if damage.shadow:
        rng = _generator(damage, 9)
        at_row, at_col = np.divmod(np.arange(rows * cols), cols)
        for scene in factor:
            row, col = rng.uniform(0, rows), rng.uniform(0, cols)
            nearest = np.argsort(np.hypot(at_row - row, at_col - col), kind="stable")
            scene[nearest[: round(damage.shadow * rows * cols)]] = rng.uniform(0.3, 0.6)
    return factor.reshape(scenes, rows, cols)


def _drift(damage: Damage, layout: Layout, shape: tuple[int, ...]) -> Array:
    """The factor of each entry, which grows from image row to image row."""
    stack = _stack(np.ones(shape), layout)
    rows = stack.shape[1]
    return _flat(stack * (1 + damage.drift * np.arange(rows)[:, None] / max(rows - 1, 1)), layout)


def _lost(damage: Damage, layout: Layout, shape: tuple[int, ...]) -> Mask:
    """A rectangle of pixels, the same in all bands; in faces, one in each."""
    lost = _stack(np.zeros(shape, dtype=bool), layout).copy()
    if damage.lost:
        _, rows, cols = lost.shape
        rng = _generator(damage, 10)
        for scene in lost if layout.kind == "faces" else lost[None]:
            row, col = _rectangle(damage.lost * rows * cols, rows, cols, rng.random(), rng.random())
            scene[..., row, col] = True
    return _flat(lost, layout)


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
    found = []
    for band in bands:
        at, left, darkness = rng.random(), rng.random(), rng.uniform(0.1, 0.3)
        found.append((band, *_rectangle(area, rows, cols, at, left), float(darkness)))
    return found


def _rectangle(area: float, rows: int, cols: int, at: float, left: float) -> tuple[slice, slice]:
    """Rows and columns of a rectangle of the image's own shape; `at` and `left`, from 0 to 1, say where."""
    tall = max(1, min(rows, round(rows * (area / (rows * cols)) ** 0.5)))
    wide = max(1, min(cols, round(area / tall)))
    top, side = round(at * (rows - tall)), round(left * (cols - wide))
    return slice(top, top + tall), slice(side, side + wide)


def _stack(matrix: npt.NDArray[T], layout: Layout) -> npt.NDArray[T]:
    """Bands or images x rows x columns, where a plain matrix is a cube with one row of pixels."""
    stack = layout.unfold(matrix)
    return np.ascontiguousarray(stack.transpose(0, 2, 1) if layout.kind == "matrix" else stack)


def _flat(stack: npt.NDArray[T], layout: Layout) -> npt.NDArray[T]:
    folded: npt.NDArray[T] = layout.fold(stack.transpose(0, 2, 1) if layout.kind == "matrix" else stack)
    return folded
