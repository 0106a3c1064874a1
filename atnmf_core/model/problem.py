"""A solver's problem, and the one place that validates input: an `InputError` says what is allowed."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

METHOD_NAMES: dict[str, str] = {"nmf": "NMF", "atnmf": "AT-NMF", "anmf": "ANMF (reconstruction)"}
SOLVER_NAMES: dict[str, str] = {"fast": "fast solver", "paper": "Algorithm 1"}
TREATMENT_NAMES: dict[str, str] = {"ignore": "marked", "zero": "unmarked"}
"""The solver knows that a *marked* entry is missing and leaves it out; an *unmarked* one looks like a
measured zero.
"""
ANMF_NOTE = (
    "The code of ANMF (Luo, Zhang, Huang, ICML 2020) is not public, and we do not know its default target and"
    " weights. This is the method as the AT-NMF paper describes it, with defaults that come closest to the"
    " published numbers."
)
"""Why it is called a reconstruction."""


def three_digits(error: float) -> str:
    """An error as people read it: always three digits, so that errors side by side are alike.

    >>> three_digits(0.002), three_digits(0.00198), three_digits(123.4)
    ('0.00200', '0.00198', '123')
    """
    return f"{error:#.3g}".rstrip(".")


Method = Literal["nmf", "atnmf", "anmf"]
Missing = Literal["ignore", "zero"]
Solver = Literal["fast", "paper"]
Order = Literal["F", "C"]
Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]
Wide = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Values = npt.NDArray[Any]
Factors = tuple[Array, Array]
Shape = tuple[int, int]

MAX_ENTRY = 1e150  # Squares of larger entries leave the range of a float
EXPONENTS = {"float32": 120, "float64": 600}
"""How far from 1 the largest entry may be, in powers of two: beyond that, results leave the type's range."""
MIN_LAM = 1 + 1e-9  # Closer to 1 the attacked data would leave the range of single precision
MU, GAMMA = 10.0, 0.5  # Defaults of ANMF: the attacker's price, and the weight of the attacked error
MIN_MU, MAX_MU, MAX_TARGET = 1e-6, 1e9, 1e9
"""Limits beyond which single precision cannot resolve the effect of the attack."""


class InputError(ValueError):
    """An argument that cannot be used, with the reason and what is allowed."""


@dataclass(frozen=True)
class DictionaryAttack:
    """The goal and the means of ANMF's attacker: see `solvers.anmf`.

    Attributes
    ----------
    Z : F x N, what the attacker would like W~ H to be, in the working dtype, divided by the problem's scale.
    mu : its price of moving the dictionary away from W.
    gamma : the weight of the attacked error in the learner's objective, from 0 to 1.
    """

    Z: Array
    mu: float
    gamma: float


@dataclass(frozen=True)
class Problem:
    """A checked, scaled problem: fit W H to V on the observed entries, against an adversary of price lam.

    Attributes
    ----------
    V : F x N, in the working dtype, divided by `scale`; 0 at unobserved entries.
    observed : bool F x N, or None where every entry is observed.
    K : number of parts.
    lam : the adversary's price; infinite where there is no adversary (standard NMF).
    missing : "ignore" leaves unobserved entries out of the loss, "zero" counts them as observed zeros.
    scale : the power of two that brings the largest observed entry into (0.5, 1]. Dividing by it loses no
        digit, and squares stay in range.
    attack : on the dictionary, in ANMF; None elsewhere.
    leash : the most that the adversary may add to an entry, as a multiple of it; None where there is no
        limit.
    weights : F x N, how much each entry counts in the loss, divided by the largest weight; None where all
        count alike.
    loss_unit : what the loss of this problem is multiplied by to be that of the data as given.
    """

    V: Array
    observed: Mask | None
    K: int
    lam: float
    missing: Missing
    scale: float
    attack: DictionaryAttack | None = None
    leash: float | None = None
    weights: Array | None = None
    loss_unit: float = 1.0

    @property
    def adversarial(self) -> bool:
        return not np.isinf(self.lam)

    @property
    def mask(self) -> Mask | None:
        """The entries that count in the loss; None for all, as when unobserved ones count as zeros."""
        return None if self.missing == "zero" else self.observed

    def entry_weights(self) -> Array | None:
        """How much each entry counts in the loss, 0 outside the mask; None where all count alike."""
        if self.mask is None or self.weights is None:
            return self.weights if self.mask is None else self.mask.astype(self.V.dtype)
        return self.weights * self.mask


def make_problem(
    V: npt.ArrayLike,
    observed: npt.ArrayLike | None,
    *,
    K: int,
    method: str,
    lam: float | None,
    missing: str,
    dtype: npt.DTypeLike,
    Z: npt.ArrayLike | None = None,
    mu: float | None = None,
    gamma: float | None = None,
    leash: float | None = None,
    weights: npt.ArrayLike | None = None,
) -> Problem:
    """Check V, its mask and the parameters, and convert them to the form that the solvers work on."""
    kind = _checked_dtype(dtype)
    data, seen = observed_entries(V, observed)
    if seen is not None and not seen.any():
        raise InputError("V: no entry is observed (all hidden or NaN); at least one is needed.")
    check_one_of("missing", missing, ("ignore", "zero"))
    known = data if seen is None else _without_hidden(data, seen)
    top = _checked_values(known)
    exponent = _checked_exponent(top, kind)
    # In place where possible: the copy without hidden entries is ours.
    own = known is not data and known.dtype == kind
    scaled = known if own else np.empty(data.shape, kind)
    np.multiply(known, 2.0**-exponent, out=scaled, casting="unsafe")
    del known
    relative, largest = (None, 1.0) if weights is None else _checked_weights(weights, method, scaled, seen)
    return Problem(
        V=scaled,
        observed=seen,
        K=_checked_K(K, data.shape),
        lam=_checked_lam(lam, method),
        missing=missing,  # type: ignore[arg-type]
        scale=2.0**exponent,
        attack=_checked_attack(method, missing, Z, mu, gamma, scaled, seen, exponent),
        leash=_checked_leash(leash, method),
        weights=relative,
        loss_unit=largest * 4.0**exponent,
    )


def observed_entries(V: npt.ArrayLike, observed: npt.ArrayLike | None) -> tuple[Array, Mask | None]:
    """V as a matrix of real numbers, and which of its entries are observed; None where all are."""
    data = _matrix(V)
    return data, _seen(data, observed)


def check_one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name}={value!r}: choose one of {', '.join(map(repr, allowed))}.")


def check_alpha(alpha: float) -> float:
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < 1:
        raise InputError(f"alpha={alpha!r}: the hidden share is a number from 0 to below 1.")
    return float(alpha)


def check_seed(seed: int) -> int:
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= seed < 2**32:
        raise InputError(f"seed={seed!r}: a whole number from 0 to 4294967295 is needed.")
    return int(seed)


def check_count(name: str, value: int, least: int = 1) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}={value!r}: a whole number of at least {least} is needed.")
    return int(value)


def check_tolerance(name: str, value: float) -> float:
    if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise InputError(f"{name}={value!r}: a finite number of at least 0 is needed.")
    return float(value)


def _checked_dtype(dtype: npt.DTypeLike) -> np.dtype[np.floating]:
    for kind in (np.dtype(np.float32), np.dtype(np.float64)):
        if dtype is not None and dtype in (kind, kind.name, kind.type):
            return kind
    raise InputError(f"dtype={dtype!r}: choose 'float32' or 'float64'.")


def _matrix(V: npt.ArrayLike) -> Array:
    if np.ma.isMaskedArray(V):
        V = np.ma.filled(V.astype(np.float64), np.nan)
    if hasattr(V, "toarray"):
        raise InputError("V is sparse: give V.toarray(), and in observed which entries are known.")
    data = np.asarray(V)
    if data.dtype == bool or np.issubdtype(data.dtype, np.integer):
        data = data.astype(np.float64)
    if not np.issubdtype(data.dtype, np.floating):
        raise InputError(f"V has entries of type {data.dtype}: real numbers are needed.")
    if data.ndim != 2 or data.size == 0:
        raise InputError(
            f"V has shape {data.shape}: a matrix (two axes, F x N) with at least one entry is needed."
        )
    return data


def _seen(data: Array, observed: npt.ArrayLike | None) -> Mask | None:
    """The observed entries: those in the given mask that are not NaN; None if that is all of them."""
    seen = ~np.isnan(data)
    if observed is not None:
        given = np.asarray(observed)
        if given.shape != data.shape:
            raise InputError(f"observed has shape {given.shape}, V has {data.shape}: they must be alike.")
        if given.dtype != bool:
            if not (np.issubdtype(given.dtype, np.number) and np.isin(given, (0, 1)).all()):
                raise InputError(
                    "observed: only True/False (or 1/0) are allowed, True where the entry is observed."
                )
            given = given.astype(bool)
        seen &= given
    return None if seen.all() else seen


def _checked_exponent(top: float, kind: np.dtype[np.floating]) -> int:
    """The exponent of the power of two that scales the largest entry into (0.5, 1]."""
    exponent = int(np.ceil(np.log2(top))) if top > 0 else 0
    if abs(exponent) > EXPONENTS[kind.name]:
        instead = "dtype='float64' or other units" if kind == np.float32 else "other units"
        raise InputError(
            f"V: the largest observed entry is {top:.6g}, which is beyond what dtype={kind.name!r} can"
            f" work with; use {instead}."
        )
    return exponent


def _without_hidden(data: Array, seen: Mask) -> Array:
    """The data with zeros at hidden entries; multiplying is several times as fast as `np.where`."""
    finite = np.isfinite(data.min()) and np.isfinite(data.max())
    return data * seen if finite else np.where(seen, data, data.dtype.type(0))


def _checked_values(known: Array) -> float:
    """The largest observed entry; negative and infinite ones are rejected. Hidden ones are zero here."""
    least, top = float(known.min()), float(known.max())
    if least < 0:
        raise InputError(
            f"V: {_entries(known < 0)} negative (the least is {least:.6g});"
            " nonnegative data is needed. Shift the data, set them to 0, or hide them."
        )
    if top > MAX_ENTRY:
        raise InputError(
            f"V: {_entries(known.astype(np.float64) > MAX_ENTRY)} infinite or above {MAX_ENTRY:g};"
            " mark them NaN to leave them out, or divide the data by a constant."
        )
    return top


def _entries(where: Mask) -> str:
    count = int(where.sum())
    return "1 observed entry is" if count == 1 else f"{count} observed entries are"


def _checked_K(K: int, shape: tuple[int, ...]) -> int:
    if not isinstance(K, Integral) or isinstance(K, bool):
        raise InputError(f"K={K!r}: the number of parts is a whole number.")
    if not 1 <= K <= min(shape):
        raise InputError(
            f"K={K}: the number of parts lies between 1 and {min(shape)} for a matrix of"
            f" {shape[0]} x {shape[1]}."
        )
    return int(K)


def _checked_lam(lam: float | None, method: str) -> float:
    if method in ("nmf", "anmf"):
        if lam is not None:
            rival = "has no adversary" if method == "nmf" else "knows no lam: its attacker's price is mu"
            raise InputError(
                f"lam={lam!r}: method {method!r} {rival}; leave lam out or choose method 'atnmf'."
            )
        return float("inf")
    if lam is None:
        raise InputError("lam=None: method 'atnmf' needs the adversary's price, a number above 1.")
    if not isinstance(lam, Real) or np.isnan(float(lam)) or float(lam) <= 1:
        raise InputError(
            f"lam={lam!r}: a number above 1 is needed; at 1 and below an attack gains more than it costs,"
            " and the adversary is unbounded."
        )
    if float(lam) < MIN_LAM:
        raise InputError(f"lam={lam!r}: too near 1 to compute with; {MIN_LAM} is the least.")
    return float(lam)


def _checked_leash(leash: float | None, method: str) -> float | None:
    if leash is None:
        return None
    if method != "atnmf":
        raise InputError(f"leash={leash!r}: only the adversary of method 'atnmf' has one; leave it out.")
    if not isinstance(leash, Real) or isinstance(leash, bool) or not float(leash) >= 0:
        raise InputError(
            f"leash={leash!r}: a number of at least 0 is needed, or None for an adversary without one."
        )
    return None if np.isinf(float(leash)) else float(leash)


def _checked_weights(weights: npt.ArrayLike, method: str, V: Array, seen: Mask | None) -> tuple[Array, float]:
    """The weights as shares of the largest, in the shape and precision of V, and the largest."""
    if method == "anmf":
        raise InputError("weights: method 'anmf' has none; leave them out or choose 'nmf' or 'atnmf'.")
    given = np.asarray(weights)
    if given.dtype.kind not in "fiub" or not (np.isfinite(given).all() and (given >= 0).all()):
        raise InputError("weights: an entry is negative, infinite or not a number; weights are 0 or more.")
    try:
        whole = np.broadcast_to(given, V.shape)
    except ValueError:
        raise InputError(
            f"weights have shape {given.shape}: a number, F x 1, 1 x N or the shape {V.shape} of V is needed."
        ) from None
    if not whole.any(where=True if seen is None else seen):
        raise InputError("weights: every observed entry has weight 0; at least one must count.")
    largest = float(given.max())
    return (whole / np.float64(largest)).astype(V.dtype), largest


def _checked_attack(
    method: str,
    missing: str,
    Z: npt.ArrayLike | None,
    mu: float | None,
    gamma: float | None,
    V: Array,
    seen: Mask | None,
    exponent: int,
) -> DictionaryAttack | None:
    if method != "anmf":
        for name, value in (("Z", Z), ("mu", mu), ("gamma", gamma)):
            if value is not None:
                raise InputError(f"{name} was given, but only method 'anmf' has it; leave it out.")
        return None
    mu = MU if mu is None else mu
    if not isinstance(mu, Real) or not MIN_MU <= float(mu) <= MAX_MU:
        raise InputError(f"mu={mu!r}: the attacker's price lies between {MIN_MU:g} and {MAX_MU:g}.")
    gamma = GAMMA if gamma is None else gamma
    if not isinstance(gamma, Real) or not 0 <= float(gamma) <= 1:
        raise InputError(f"gamma={gamma!r}: the weight of the attacked error lies between 0 and 1.")
    target = _half_of_the_data(V, seen, missing) if Z is None else _checked_target(Z, V, exponent)
    return DictionaryAttack(target, float(mu), float(gamma))


def _checked_target(Z: npt.ArrayLike, V: Array, exponent: int) -> Array:
    try:
        target = np.broadcast_to(np.asarray(Z, dtype=np.float64), V.shape)
    except (TypeError, ValueError):
        raise InputError(
            f"Z has shape {np.shape(Z)}: a number, or real numbers in the shape {V.shape} of V (or F x 1,"
            " 1 x N) are needed."
        ) from None
    target = target * 2.0**-exponent
    if not (np.abs(target) <= MAX_TARGET).all():
        raise InputError(
            f"Z: an entry is NaN, infinite or over {MAX_TARGET:g} times the largest of V; a target within"
            " reach is needed everywhere."
        )
    return target.astype(V.dtype)


def _half_of_the_data(V: Array, seen: Mask | None, missing: str) -> Array:
    """V/2; a hidden entry counts as 0 where it is fitted as zero, else as its row's observed mean."""
    target = V / 2
    if seen is not None and missing == "ignore":
        means = V.sum(1, dtype=np.float64) / np.maximum(seen.sum(1), 1)
        target += np.where(seen, 0, means[:, None] / 2).astype(V.dtype)
    return target
