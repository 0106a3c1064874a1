"""What to make of the bundled curves, in words."""

from __future__ import annotations

__all__ = ["NOTES"]

NOTES = {
    "lfw": (
        "Fitted as **zeros**, hidden pixels pull every prediction towards black. A strong adversary (λ near "
        "1) loosens that pull, and that is AT-NMF's gain. **Ignored**, they pull nothing: the two methods "
        "lie together, and an adversary that is too strong only costs."
    ),
    "synthetic": (
        "**Why the two solvers part at small λ.** Each round of Algorithm 1 fits V + R\\*, and so steps "
        "towards the data λ/(λ − 1) times as far as it should: 1.1 times at λ = 10, twice at λ = 2, six "
        "times at λ = 1.2. At large λ that does no harm, and the curves agree. The smaller λ, the more "
        "its iterates swing past their goal; from 2 down they do not settle, and the error rises again. "
        "The fast solver descends the adversarial loss itself and cannot overshoot, so its curve is "
        "what the model gives. Either way the adversary fades as λ grows, and AT-NMF becomes NMF."
    ),
    "table": (
        "The cells as measured with the authors' masks and starts. The Reproduce page shows the published "
        "numbers beside them."
    ),
}
