"""What to make of the curves that come with the program, in words."""

from __future__ import annotations

__all__ = ["NOTES"]

NOTES = {
    "lfw": (
        "Fitted as **zeros**, hidden pixels pull every prediction towards black. A strong adversary (λ near "
        "1) loosens that pull, and that is AT-NMF's gain. **Ignored**, they pull nothing: the two methods "
        "lie together, and an adversary that is too strong only costs."
    ),
    "synthetic": (
        "**Why the two solvers part at small λ.** Algorithm 1 fits V + R\\*, a step that overshoots by the "
        "factor λ/(λ − 1): 2 at λ = 2, and more below it. There its iterates swing to and fro instead of "
        "settling, and where they happen to stop is far off. The fast solver descends the adversarial loss "
        "itself and cannot overshoot, so its curve is what the model gives. From λ = 3 on both settle, and "
        "agree."
    ),
    "table": (
        "The cells that were measured with the authors' masks and starts. Published numbers stand beside "
        "them on the Reproduce page."
    ),
}
