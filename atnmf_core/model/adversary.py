"""The adversary: what it adds to the data, what that costs the learner, what each solver then fits.

For lam > 1 the attacker solves, entry by entry over the observed entries,

    maximise   (v + r - p)^2 - lam r^2     subject to   -v <= r <= g v,        p = [WH]_fn,

a concave quadratic in r with the closed-form maximiser r* = (v - p)/(lam - 1), clipped to the two bounds. The
paper's attacker may add without limit (g infinite, here ``leash=None``); a leash g >= 0 bounds what it may
add to an entry by g times that entry. Substituting r* gives the exact loss

    l(v, p) = lam/(lam - 1) (v - p)^2        between the bends,
            = p^2 - lam v^2                  where p > lam v             (v + r has been driven to zero),
            = (v (1+g) - p)^2 - lam g^2 v^2  where p < v (1 - (lam-1) g) (at the end of its leash),

which is convex and continuously differentiable in p. Beyond either bend its curvature is that of the plain
squared error: an entry recorded far too low, or with a leash far too high, weighs little against the sound
ones. Nothing here depends on how W and H are found.

All functions work elementwise on arrays that broadcast together; ``observed=None`` means that every entry
is observed, and the value of V at an unobserved entry (NaN included) has no influence.
"""

import numpy as np
import numpy.typing as npt

from .problem import Array, Mask


def curvature(lam: float) -> float:
    """The factor lam/(lam - 1) of the quadratic part of the exact loss; 1 where lam is infinite."""
    return 1.0 if np.isinf(lam) else lam / (lam - 1.0)


def lower_bend(lam: float, leash: float | None) -> float:
    """The share of v below which a prediction takes the attacker to the end of its leash.

    Zero where none does: as p >= 0, a leash of at least 1/(lam - 1) is never taut.
    """
    return 0.0 if leash is None else max(0.0, 1.0 - (lam - 1.0) * leash)


def optimal_attack(
    V: Array, V_hat: Array, lam: float, observed: Mask | None = None, leash: float | None = None
) -> Array:
    """R*, the attacker's best addition to V against the prediction V_hat; zero on unobserved entries.

    Examples
    --------
    >>> optimal_attack(np.array([0.5, 0.5]), np.array([0.25, 2.0]), lam=2.0)
    array([ 0.25, -0.5 ])
    >>> optimal_attack(np.array([0.5, 0.5]), np.array([0.25, 2.0]), lam=2.0, leash=0.1)
    array([ 0.05, -0.5 ])
    """
    # In a signed type: -V of unsigned integers would be huge.
    known = np.asarray(V if observed is None else np.where(observed, V, 0), np.result_type(V, V_hat))
    R = known - V_hat
    R /= lam - 1.0
    np.maximum(R, -known, out=R)
    if leash is not None:
        np.minimum(R, leash * known, out=R)
    if observed is not None:
        R[~observed] = 0
    return R


def at_wall(
    V: Array, V_hat: Array, lam: float, observed: Mask | None = None, leash: float | None = None
) -> Mask:
    """Where the attacker is at one of its bounds: it has given up on the entry, which then weighs
    1/curvature(lam) of one between the bends. Never True at unobserved entries.

    Examples
    --------
    >>> at_wall(np.array([0.5, 0.5, 0.0]), np.array([0.25, 2.0, 0.1]), lam=2.0)
    array([False,  True,  True])
    >>> at_wall(np.array([0.5, 0.5, 0.0]), np.array([0.25, 2.0, 0.1]), lam=2.0, leash=0.1)
    array([ True,  True,  True])
    """
    if np.isinf(lam):
        return np.zeros(np.broadcast_shapes(np.shape(V), np.shape(V_hat)), dtype=bool)
    known = V if observed is None else np.where(observed, V, 0)
    held = (V_hat > lam * known) | (V_hat < lower_bend(lam, leash) * known)
    return held if observed is None else held & observed


def effective_data(V: Array, V_hat: Array, lam: float, out: Array | None = None) -> Array:
    """U = V + R*, the data that Algorithm 1 of the paper fits next: max(V + (V - V_hat)/(lam - 1), 0)."""
    U = np.subtract(V, V_hat, out=out)
    U /= lam - 1.0
    U += V
    return np.maximum(U, 0, out=U)


def descent_target(
    V: Array, V_hat: Array, lam: float, out: Array | None = None, leash: float | None = None
) -> Array:
    """T, the data that the monotone solver fits next.

    With p0 an entry of V_hat and c = lam/(lam - 1),

        t = p0/lam                              where p0 > lam v,
          = (p0 + (1 + g)(lam - 1) v)/lam       where p0 < v (1 - (lam - 1) g),
          = v                                   between,

    and c (p - t)^2 + lam (e^2 + 2 w |e|), where e = t - v and w = v or, for e < 0, g v, touches l(v, .) at
    p0 and lies nowhere below it. A step that does not raise the squared distance to T therefore cannot
    raise the adversarial loss.
    """
    T = np.multiply(V_hat, 1.0 / lam, out=out)
    if leash is None or lower_bend(lam, leash) == 0:
        return np.maximum(T, V, out=T)
    lowered = np.multiply(V, (1.0 + leash) * (lam - 1.0) / lam)
    lowered += T
    np.minimum(lowered, V, out=lowered)
    return np.maximum(T, lowered, out=T)


def entry_loss(v: npt.ArrayLike, p: npt.ArrayLike, lam: float, leash: float | None = None) -> Array:
    """The exact loss l(v, p) of single entries; the squared error where lam is infinite."""
    v, p = np.asarray(v, dtype=float), np.asarray(p, dtype=float)
    quadratic = curvature(lam) * (v - p) ** 2
    if np.isinf(lam):
        return np.asarray(quadratic)
    loss = np.where(p <= lam * v, quadratic, p**2 - lam * v**2)
    bend = lower_bend(lam, leash)
    if leash is None or bend == 0:
        return loss
    return np.where(p >= bend * v, loss, (v * (1 + leash) - p) ** 2 - lam * (leash * v) ** 2)


def adversarial_loss(
    V: Array,
    V_hat: Array,
    lam: float,
    observed: Mask | None = None,
    leash: float | None = None,
    weights: Array | None = None,
) -> float:
    """The sum of l(v, v_hat) over observed entries, times their weights: the maximum, without R*."""
    if observed is not None:
        V, V_hat = V[observed], V_hat[observed]
        weights = None if weights is None else weights[observed]
    losses = entry_loss(V, V_hat, lam, leash)
    return float(losses.sum() if weights is None else np.vdot(losses, weights))


def attack_objective(V: Array, R: Array, V_hat: Array, lam: float, observed: Mask | None = None) -> float:
    """||V + R - V_hat||^2 - lam ||R||^2 over the observed entries: what the attacker maximises."""
    if observed is not None:
        V, R, V_hat = V[observed], R[observed], V_hat[observed]
    V, R, V_hat = (np.asarray(a, dtype=float) for a in (V, R, V_hat))
    return float(((V + R - V_hat) ** 2).sum() - lam * (R**2).sum())


def local_curvature(V: Array, V_hat: Array, lam: float, leash: float | None = None) -> Array:
    """The curvature of the exact loss at V_hat, as a share of lam/(lam - 1): 1 between the bends."""
    between = V_hat <= lam * V
    if leash is not None:
        between &= V_hat >= lower_bend(lam, leash) * V
    # Several times as fast as `np.where`: 1 where it is True, for the other value is smaller.
    return np.maximum(between, V_hat.dtype.type(1 / curvature(lam)))
