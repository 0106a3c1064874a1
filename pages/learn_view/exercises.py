"""Three exercises for a class. Each has a link that opens it and a link that opens its solution; the answers
are computed by the core when they are shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np

from atnmf_core.adversary import entry_loss, optimal_attack
from atnmf_core.lesson import mend, recorded
from pages.common.setting import LEASHES

from .chapters.uses import LAMS

V, P, LAM = 0.4, 1.0, 1.5
DEAD, BRIGHT, STRONG, LONG = 0.2, 0.1, 1.05, 2.0


@dataclass(frozen=True)
class Exercise:
    """A task in a chapter.

    Attributes
    ----------
    chapter : its number.
    start, solved : the values of the chapter's controls in the exercise and in its solution, as in an
        address.
    """

    title: str
    chapter: int
    task: str
    start: Mapping[str, str]
    solved: Mapping[str, str]
    answer: Callable[[], str]

    def link(self, number: int, *, solution: bool = False) -> str:
        """The query that opens exercise number `number`, or its solution."""
        said = self.solved if solution else self.start
        query = {"chapter": str(self.chapter), **said, "exercise": str(number)}
        return "?" + urlencode(query | ({"solution": "1"} if solution else {}))


def _by_hand() -> str:
    r = float(optimal_attack(np.array([V]), np.array([P]), LAM)[0])
    paid, square = float(entry_loss(V, P, LAM)), (V - P) ** 2
    return (
        f"The bend is at λ v = {LAM * V:g}, and p = {P:g} lies beyond it. The adversary would like "
        f"({V:g} − {P:g}) / ({LAM:g} − 1) = {_spelled((V - P) / (LAM - 1))}, but stops at the wall: r\\* = "
        f"{_spelled(r)}. "
        f"The learner pays p² − λ v² = {P**2:g} − {LAM * V**2:g} = **{paid:g}**. NMF pays {square:g}."
    )


def _spelled(number: float) -> str:
    return f"{number:g}".replace("-", "−")


def _dead() -> str:
    given = recorded("dead", DEAD)
    error, lam = min((mend(given, lam).error, lam) for lam in LAMS)
    nmf = mend(given, math.inf).error
    return (
        f"The lowest error is at **λ = {lam:g}**: {error:.4f}, where NMF has {nmf:.4f}, {nmf / error:.0f} "
        "times as much. A dead entry lies beyond its bend and weighs 1, the others weigh λ/(λ − 1): the "
        "closer λ is to 1, the less the dead ones count."
    )


def _bright() -> str:
    given = recorded("bright", BRIGHT)
    errors = {g: mend(given, STRONG, None if math.isinf(g) else g).error for g in LEASHES}
    g, nmf = min(errors, key=lambda one: errors[one]), mend(given, math.inf).error
    return (
        f"The lowest error is at **g = {g:g}**: {errors[g]:.4f}, where NMF has {nmf:.4f}. On a short leash "
        "the adversary soon gives up on entries that are far too bright, and they hardly count. The longer "
        f"the leash, the further it pulls them away before that: with {LONG:g} the error is "
        f"{errors[LONG]:.4f}, without a leash {errors[math.inf]:.4f}."
    )


EXERCISES = (
    Exercise(
        "By hand",
        5,
        f"Take v = {V:g}, p = {P:g}, λ = {LAM:g} and no leash. On which side of the bend is p? What is r\\*, "
        "and what does AT-NMF pay? Compute it on paper, then set the sliders.",
        {"v": f"{V:g}", "p": f"{V:g}"},
        {"v": f"{V:g}", "p": f"{P:g}", "lam": f"{LAM:g}"},
        _by_hand,
    ),
    Exercise(
        "Dead pixels",
        8,
        f"{DEAD:.0%} of the entries are dead. Which λ brings the error down most, and how many times "
        "smaller is it than NMF's? Explain it with the two bars.",
        {},
        {"lam": "1.02"},
        _dead,
    ),
    Exercise(
        "Bright pixels",
        8,
        f"{BRIGHT:.0%} of the entries are three times too bright, and λ = {STRONG:g}. AT-NMF is worse than "
        "NMF. Find the leash that mends it. Why does a long one not help?",
        {"damage": "bright", "share": f"{BRIGHT:g}", "lam": f"{STRONG:g}"},
        {"damage": "bright", "share": f"{BRIGHT:g}", "lam": f"{STRONG:g}", "g": "0.1"},
        _bright,
    ),
)
