"""Sound or wrong: the probability that an entry is what it should be, given what the others predict.

An entry v that is predicted as p, with deviation d, is sound with the density of Student's t distribution
around p; or it is wrong, with a density that is flat from p to the end of its row's range on that side. How
large the share of wrong entries is, below and above their prediction, is learned for each row.

Values that repeat exactly, such as 0, the largest value or a fill value, are *atoms*: probabilities instead
of densities. At an end of the range an entry may be sound and clipped, with the probability of the tail
beyond that end; then it stands for the mean of that tail (as in Tobit regression). Any other atom is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.problem import Array, Mask

Index = npt.NDArray[np.intp]

FREEDOM, PEAK = 7, 0.385
"""Degrees of freedom of sound entries: real residuals have heavier tails than a normal distribution. With
seven the density is a fourth power, which is fast. And the density at the centre.
"""
NARROWEST = 10.0
"""Wrong entries spread over at least so many deviations; nearer ones are not told from sound ones."""
USUAL = 20.0
"""How many entries of the average row a row's own shares are mixed with."""
START = 0.02
"""Share of wrong entries on each side at first."""
ATOM, ATOM_STANDS_OUT = 1e-3, 5
"""An atom has such a share of the entries, and so many times the number of entries of comparable values."""
FEW_BEYOND = 0.1
"""At most so many entries, in multiples of those at an end, lie beyond it, as stripes came after clipping."""
LOOKED_AT = 500_000
"""Atoms are looked for among so many entries."""


@dataclass(frozen=True, eq=False)
class Atom:
    """A value that many entries have exactly. `end` is -1 or 1 at an end of the range, 0 inside."""

    value: float
    end: int
    places: Index


class Shares(NamedTuple):
    """What is learned of rows, in arrays that can be stored.

    Attributes
    ----------
    low, high : F x 1, the range.
    below, above : F x 1, shares of wrong entries.
    values, ends, at_atom : n, n and n x F, the atoms and their shares of wrong entries.
    """

    low: Array
    high: Array
    below: Array
    above: Array
    values: Array
    ends: Array
    at_atom: Array


class Odds:
    """The distribution of sound and wrong entries of V (F x N), where `seen`."""

    def __init__(self, V: Array, seen: Mask, like: Shares | None = None) -> None:
        """With `like`, for other columns of the rows that this was learned from."""
        F = len(V)
        self.seen = seen
        self.count = np.maximum(seen.sum(axis=1, keepdims=True), 1).astype(np.float32)
        if like is None:
            self.low, self.high = _range(V, seen)
            self.below = np.full((F, 1), START, np.float32)
            self.above = self.below.copy()
            values = repeated_values(V[seen])
        else:
            self.low, self.high = like.low, like.high
            self.below, self.above = like.below, like.above
            values = [(float(value), int(end)) for value, end in zip(like.values, like.ends, strict=True)]
        self.atoms = [Atom(value, end, np.flatnonzero((value == V) & seen)) for value, end in values]
        self.is_atom = np.zeros(V.shape, dtype=bool)
        for atom in self.atoms:
            self.is_atom.flat[atom.places] = True
        self.at_atom = (
            [self._share_by_row(atom, np.full(atom.places.size, 0.7)) for atom in self.atoms]
            if like is None
            else list(like.at_atom)
        )
        self._density = seen.astype(np.float32)

    def of(self, V: Array, seen: Mask) -> Odds:
        """The same distribution for other columns."""
        return Odds(V, seen, like=self.shares)

    @property
    def shares(self) -> Shares:
        values, ends = (np.array([getattr(atom, name) for atom in self.atoms]) for name in ("value", "end"))
        at_atom = np.reshape(self.at_atom, (len(self.atoms), len(self.low)))
        return Shares(self.low, self.high, self.below, self.above, values, ends, at_atom)

    def judge(
        self,
        V: Array,
        prediction: Array,
        deviation: Array,
        *,
        learn: bool = True,
        rounds: int = 1,
    ) -> tuple[Array, Array]:
        """The probability of each entry of being sound, and its weight in a fit if it is.

        Shares of wrong entries are learned on the way, unless `learn` is false.
        """
        z = (V - prediction) / deviation
        tail = 1 / (1 + z * z / np.float32(FREEDOM))
        density = np.square(np.square(tail)) * (np.float32(PEAK) / deviation)
        # As a number: to choose by it is several times as fast as `where`.
        below = (z < 0).astype(np.float32)
        room = self.high - prediction + below * (2 * prediction - self.low - self.high)
        flat = 1 / np.maximum(room, np.float32(NARROWEST) * deviation)
        clipped = [self._clipped(atom, prediction, deviation) for atom in self.atoms]
        for _ in range(rounds):
            sound = self._sound_share()
            right = sound * density
            total = right + (self.above + below * (self.below - self.above)) * flat
            probability = right / np.maximum(total, np.float32(1e-30))
            for atom, tails, share in zip(self.atoms, clipped, self.at_atom, strict=True):
                row = atom.places // V.shape[1]
                right_there = sound[row, 0] * tails
                all_there = right_there + share[row] + 1e-12
                # Where the prediction agrees nothing is gained by calling it wrong.
                agrees = np.abs(z.flat[atom.places]) < 1
                probability.flat[atom.places] = np.where(agrees, 1, right_there / all_there)
                total.flat[atom.places] = all_there
            probability = np.where(self.seen, probability, np.float32(0))
            if learn:
                self._learn(probability, below)
        self._density = total
        return probability, tail * np.float32((FREEDOM + 1) / FREEDOM)

    @property
    def log_density(self) -> float:
        """Of the entries that were judged, on average."""
        return float(self._logarithm.sum(dtype=np.float64) / max(int(self.seen.sum()), 1))

    @property
    def by_column(self) -> Array:
        """The same of each column."""
        return np.asarray(self._logarithm.sum(axis=0) / np.maximum(self.seen.sum(axis=0), 1))

    @property
    def _logarithm(self) -> Array:
        return np.where(self.seen, np.log(np.maximum(self._density, np.float32(1e-30))), np.float32(0))

    def stands_for(self, V: Array, prediction: Array, deviation: Array) -> Array:
        """V, with the mean of the tail that each clipped entry stands for, if it is sound."""
        if not any(atom.end for atom in self.atoms):
            return V
        from scipy.special import ndtr

        target = V.copy()
        for atom in self.atoms:
            if atom.end:
                p, d = prediction.flat[atom.places], deviation.flat[atom.places]
                q = np.clip((p - atom.value) / d * -atom.end, -6, 6)
                target.flat[atom.places] = p + atom.end * d * np.exp(-q * q / 2) / np.sqrt(
                    2 * np.pi
                ) / np.maximum(ndtr(-q), 1e-12)
        return target

    def _clipped(self, atom: Atom, prediction: Array, deviation: Array) -> Array:
        """The probability that a sound entry lies beyond this end of the range."""
        if not atom.end:
            return np.zeros(atom.places.size)
        # Loaded late: a page that shows results alone does not need it.
        from scipy.special import ndtr

        beyond = (prediction.flat[atom.places] - atom.value) / deviation.flat[atom.places]
        return np.asarray(ndtr(beyond * atom.end))

    def _sound_share(self) -> Array:
        wrong = self.below + self.above + sum(self.at_atom, np.zeros(len(self.below)))[:, None]
        return np.asarray(np.maximum(1 - wrong, 0.05), dtype=np.float32)

    def _learn(self, probability: Array, below: Array) -> None:
        out = np.where(self.is_atom, np.float32(0), self.seen - probability)
        under = (out * below).sum(axis=1, keepdims=True)
        over = out.sum(axis=1, keepdims=True) - under
        everywhere = self.count.sum()
        self.below, self.above = (
            np.clip((side + USUAL * side.sum() / everywhere) / (self.count + USUAL), 1e-5, most).astype(
                np.float32
            )
            for side, most in ((under, 0.9), (over, 0.45))
        )
        self.at_atom = [self._share_by_row(atom, 1 - probability.flat[atom.places]) for atom in self.atoms]

    def _share_by_row(self, atom: Atom, weight: Array) -> Array:
        N = self.seen.shape[1]
        found = np.bincount(atom.places // N, weights=weight, minlength=len(self.count))
        return np.asarray(np.clip(found / self.count[:, 0], 1e-6, 0.9))


def _range(V: Array, seen: Mask) -> tuple[Array, Array]:
    """What rows range from and to; a few huge entries do not change it."""
    ordered = np.sort(np.where(seen, V, np.inf), axis=1)
    last = np.maximum(seen.sum(axis=1, keepdims=True) - 1, 0)
    most = np.take_along_axis(ordered, last, axis=1)
    usual = np.take_along_axis(ordered, np.floor(0.99 * last).astype(np.intp), axis=1)
    high = np.where(seen.any(axis=1, keepdims=True), np.minimum(most, 2 * np.maximum(usual, 0)), 0)
    return np.clip(ordered[:, :1], -high, 0).astype(V.dtype), high.astype(V.dtype)


def repeated_values(values: Array) -> list[tuple[float, int]]:
    """The values that repeat too often to be a matter of chance or of rounding, and which end they are at."""
    some = values[:: max(1, values.size // LOOKED_AT)]
    found, counts = np.unique(some, return_counts=True)
    if found.size < 3:
        return []
    usual = np.sort(counts)[::-1][min(9, counts.size - 1)]
    atoms = []
    for place in np.flatnonzero(counts > ATOM * some.size):
        beyond = counts[:place].sum(), counts[place + 1 :].sum()
        end = -1 if beyond[0] <= FEW_BEYOND * counts[place] else int(beyond[1] <= FEW_BEYOND * counts[place])
        near = counts[place + 1 : place + 21] if end < 0 else counts[max(0, place - 20) : place]
        if counts[place] > ATOM_STANDS_OUT * (np.median(near) if end else usual):
            atoms.append((float(found[place]), end))
    return atoms
