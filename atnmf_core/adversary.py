"""The adversary: what it adds to the data, what that costs the learner, what each solver then fits.

For lam > 1 the attacker solves, entry by entry over the observed entries,

    maximise   (v + r - p)^2 - lam r^2     subject to   v + r >= 0,        p = [WH]_fn,

a concave quadratic in r with the closed-form maximiser r* = max((v - p)/(lam - 1), -v). Put back in, it
gives the exact loss

    l(v, p) = lam/(lam - 1) (v - p)^2      where p <= lam v,
            = p^2 - lam v^2                where p >  lam v   (the attacker has driven v + r to zero),

which is convex and continuously differentiable in p. Nothing here knows how W and H are found.

All functions work elementwise on arrays that broadcast together; ``observed=None`` means that every entry
is observed, and what stands in V at an unobserved entry (also NaN) has no influence.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "adversarial_loss",
    "attack_objective",
    "curvature",
    "descent_target",
    "effective_data",
    "entry_loss",
    "optimal_attack",
]

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]


def curvature(lam: float) -> float:
    """The factor lam/(lam - 1) of the quadratic part of the exact loss; 1 where lam is infinite."""
    return 1.0 if np.isinf(lam) else lam / (lam - 1.0)


def optimal_attack(V: Array, V_hat: Array, lam: float, observed: Mask | None = None) -> Array:
    """R*, the attacker's best addition to V against the prediction V_hat; zero on unobserved entries.

    Examples
    --------
    >>> optimal_attack(np.array([0.5, 0.5]), np.array([0.25, 2.0]), lam=2.0)
    array([ 0.25, -0.5 ])
    """
    # In a type with a sign: of whole numbers without one, -V would be huge.
    known = np.asarray(V if observed is None else np.where(observed, V, 0), np.result_type(V, V_hat))
    R = known - V_hat
    R /= lam - 1.0
    np.maximum(R, -known, out=R)
    if observed is not None:
        R[~observed] = 0
    return R


def effective_data(V: Array, V_hat: Array, lam: float, out: Array | None = None) -> Array:
    """U = V + R*, the data that Algorithm 1 of the paper fits next: max(V + (V - V_hat)/(lam - 1), 0)."""
    U = np.subtract(V, V_hat, out=out)
    U /= lam - 1.0
    U += V
    return np.maximum(U, 0, out=U)


def descent_target(V: Array, V_hat: Array, lam: float, out: Array | None = None) -> Array:
    """T = max(V, V_hat/lam), the data that the monotone solver fits next.

    c (p - t)^2 + lam (t^2 - v^2), with c = lam/(lam - 1) and t = max(v, p0/lam), touches l(v, .) at p0 and
    lies nowhere below it. A step that does not raise the squared distance to T therefore cannot raise the
    adversarial loss.
    """
    T = np.multiply(V_hat, 1.0 / lam, out=out)
    return np.maximum(T, V, out=T)


def entry_loss(v: npt.ArrayLike, p: npt.ArrayLike, lam: float) -> Array:
    """The exact loss l(v, p) of single entries; the squared error where lam is infinite."""
    v, p = np.asarray(v, dtype=float), np.asarray(p, dtype=float)
    quadratic = curvature(lam) * (v - p) ** 2
    if np.isinf(lam):
        return np.asarray(quadratic)
    return np.where(p <= lam * v, quadratic, p**2 - lam * v**2)


def adversarial_loss(V: Array, V_hat: Array, lam: float, observed: Mask | None = None) -> float:
    """The sum of l(v, v_hat) over the observed entries: the attacker's maximum, without computing R*."""
    if observed is not None:
        V, V_hat = V[observed], V_hat[observed]
    return float(entry_loss(V, V_hat, lam).sum())


def attack_objective(V: Array, R: Array, V_hat: Array, lam: float, observed: Mask | None = None) -> float:
    """||V + R - V_hat||^2 - lam ||R||^2 over the observed entries: what the attacker maximises."""
    if observed is not None:
        V, R, V_hat = V[observed], R[observed], V_hat[observed]
    V, R, V_hat = (np.asarray(a, dtype=float) for a in (V, R, V_hat))
    return float(((V + R - V_hat) ** 2).sum() - lam * (R**2).sum())
