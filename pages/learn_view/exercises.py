"""Exercises, checked by the core. Links name them by their place in `EXERCISES`: new ones come at its end."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np

from atnmf_core.lesson.examples import PART, SERIES, Weighing, mend, recorded, weigh
from atnmf_core.lesson.findings import Finding, findings
from atnmf_core.model.adversary import entry_loss, optimal_attack
from atnmf_core.model.problem import Missing
from atnmf_core.reference.paper_tables import bundled_curve
from pages.common.setting import LEASHES

from .chapters.uses import LAMS

V, P, LAM = 0.4, 1.0, 1.5
PUSHED_V, PUSHED_P = 0.5, 0.2
PIXELS, FACES, PARTS = 625, 100, 16
FEWER = PARTS * (PIXELS + FACES)
HIDDEN_PLACE = 3
DEAD, BRIGHT, STRONG, LONG = 0.2, 0.1, 1.05, 2.0
HALF = 0.5
TOLERANCE = 0.02  # An answer this close to the right one, relatively, is right: people round
EXACTLY = 1e-6  # For a number that is read off a slider

Hints = Mapping[float, str]


@dataclass(frozen=True)
class Exercise:
    """A task in a chapter, whose answer is a number.

    start, solved : the values of the controls in the exercise and in its solution, as in an address.
    hints : wrong numbers that people find, and what each of them forgets; `hint` is for all others.
    within : how far an answer may be off, relatively.
    """

    title: str
    chapter: int
    task: str
    start: Mapping[str, str]
    solved: Mapping[str, str]
    unknown: str
    right: Callable[[], float]
    answer: Callable[[], str]
    hint: str
    hints: Callable[[], Hints] = lambda: {}
    within: float = TOLERANCE

    def link(self, number: int, *, solution: bool = False) -> str:
        """The query that opens exercise number `number` for a student, or its solution for the teacher."""
        said = self.solved if solution else self.start
        query = {"chapter": str(self.chapter), **said, "exercise": str(number)}
        return "?" + urlencode(query | ({"solution": "1"} if solution else {"student": "1"}))

    def judge(self, given: float) -> tuple[bool, str]:
        if _is_near(given, self.right(), self.within):
            return True, self.answer()
        found = (words for wrong, words in self.hints().items() if _is_near(given, wrong, self.within))
        return False, next(found, self.hint)


def _is_near(given: float, number: float, within: float) -> bool:
    return abs(given - number) <= within * abs(number) + 1e-9


def _spelled(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


def _weighed(missing: Missing) -> Weighing:
    seen = [place != HIDDEN_PLACE for place in range(1, len(SERIES) + 1)]
    return weigh(PART, SERIES, seen, missing)


def _weight_in_words() -> str:
    one = _weighed("zero")
    return (
        f"Above the line stand the places that are seen, {one.overlap:g}; below it all five, {one.size:g}. "
        f"The weight is **{_spelled(one.weight)}** where it should be {_spelled(_weighed('ignore').weight)}: "
        "an unmarked zero pulls it down."
    )


def _attack(v: float, p: float, lam: float) -> float:
    return float(optimal_attack(np.array([v]), np.array([p]), lam)[0])


def _by_hand() -> str:
    paid, square = float(entry_loss(V, P, LAM)), (V - P) ** 2
    return (
        f"The bend is at λ v = {LAM * V:g}, and p = {P:g} lies beyond it. The adversary would like "
        f"({V:g} − {P:g}) / ({LAM:g} − 1) = {_spelled((V - P) / (LAM - 1))}, but stops at the wall: r\\* = "
        f"{_spelled(_attack(V, P, LAM))}. "
        f"The learner pays p² − λ v² = {P**2:g} − {LAM * V**2:g} = **{paid:g}**. NMF pays {square:g}."
    )


def _guessed() -> float:
    points = [point for point in bundled_curve("lfw") if (point.alpha, point.missing) == (HALF, "zero")]
    return min((point.mean, point.lam) for point in points if point.lam is not None)[1]


def _cbcl() -> Finding:
    return next(one for one in findings(HALF) if one.name == "cbcl")


def _left_on_cbcl() -> float:
    return 100 * (_cbcl().ignored_share or 0.0)


def _dead_lam() -> float:
    given = recorded("dead", DEAD)
    return min(LAMS, key=lambda lam: mend(given, lam).error)


def _dead() -> str:
    given, lam = recorded("dead", DEAD), _dead_lam()
    error, nmf = mend(given, lam).error, mend(given, math.inf).error
    return (
        f"The lowest error is at **λ = {lam:g}**: {error:.4f}, where NMF has {nmf:.4f}, {nmf / error:.0f} "
        "times as much. A dead entry lies beyond its bend and weighs 1, the others weigh λ/(λ − 1): the "
        "closer λ is to 1, the less the dead ones count."
    )


def _bright_errors() -> dict[float, float]:
    given = recorded("bright", BRIGHT)
    return {g: mend(given, STRONG, None if math.isinf(g) else g).error for g in LEASHES}


def _best_leash() -> float:
    errors = _bright_errors()
    return min(errors, key=lambda g: errors[g])


def _bright() -> str:
    errors, g, nmf = _bright_errors(), _best_leash(), mend(recorded("bright", BRIGHT), math.inf).error
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
        f"Take v = {V:g}, p = {P:g}, λ = {LAM:g} and no leash. On which side of the bend is p, and what does "
        "AT-NMF pay? Compute it on paper, then set the sliders.",
        {"v": f"{V:g}", "p": f"{V:g}"},
        {"v": f"{V:g}", "p": f"{P:g}", "lam": f"{LAM:g}"},
        "What AT-NMF pays",
        lambda: float(entry_loss(V, P, LAM)),
        _by_hand,
        f"First find the bend: it is at λ v. Is p = {P:g} before or beyond it? Each side has its formula.",
        lambda: {
            (V - P) ** 2: "That is the plain square, which NMF pays.",
            LAM / (LAM - 1) * (V - P) ** 2: "That is the formula before the bend, but p lies beyond it: the "
            "adversary stands at the wall.",
        },
    ),
    Exercise(
        "Dead pixels",
        8,
        f"{DEAD:.0%} of the entries are dead. Which λ brings the error down most, and how many times "
        "smaller is it than NMF's? Explain it with the two bars.",
        {},
        {"lam": "1.02"},
        "The best λ",
        _dead_lam,
        _dead,
        "Move λ from right to left, and read the error under AT-NMF's picture at each stop.",
        lambda: {2.0: "That is the paper's λ. Go on to the left: does the error still fall?"},
        EXACTLY,
    ),
    Exercise(
        "Bright pixels",
        8,
        f"{BRIGHT:.0%} of the entries are three times too bright, and λ = {STRONG:g}. AT-NMF is worse than "
        "NMF. Find the leash that mends it. Why does a long one not help?",
        {"damage": "bright", "share": f"{BRIGHT:g}", "lam": f"{STRONG:g}"},
        {"damage": "bright", "share": f"{BRIGHT:g}", "lam": f"{STRONG:g}", "g": "0.1"},
        "The best leash g",
        _best_leash,
        _bright,
        "Try every stop of the leash, and read the error under AT-NMF's picture.",
        within=EXACTLY,
    ),
    Exercise(
        "Fewer numbers",
        1,
        f"The table has {PIXELS} × {FACES} numbers. How many numbers are in W and H together, with "
        f"K = {PARTS} parts?",
        {"K": f"{PARTS}"},
        {"K": f"{PARTS}"},
        "Numbers in W and H",
        lambda: float(FEWER),
        lambda: (
            f"W has {PIXELS} × {PARTS} numbers and H has {PARTS} × {FACES}, **{FEWER:,}** together: "
            f"{PIXELS * FACES / FEWER:.1f} times fewer than the table has. What so few numbers say of all "
            "faces must be what the faces share."
        ),
        "W holds a number for each pixel of each part, H one for each part of each face.",
        lambda: {
            PIXELS * FACES: "That is the table itself.",
            PIXELS * PARTS: "Those are the parts, W. The weights H are missing.",
            PARTS * FACES: "Those are the weights, H. The parts W are missing.",
        },
    ),
    Exercise(
        "An unmarked zero",
        2,
        f"Place {HIDDEN_PLACE} of the series is hidden, and nobody has told us. Which weight does NMF find? "
        "Compute it with the formula, then hide the place in the picture.",
        {"hidden": "1"},
        {"hidden": f"{HIDDEN_PLACE}"},
        "The weight, unmarked",
        lambda: float(_weighed("zero").weight),
        _weight_in_words,
        "Above the fraction line only the places that are seen count, below it all five.",
        lambda: {
            float(
                _weighed("ignore").weight
            ): "That is the weight where the hidden place is marked. Unmarked, "
            "its part also counts below the fraction line."
        },
    ),
    Exercise(
        "The best attack",
        3,
        f"The entry is {PUSHED_V:g}, its prediction {PUSHED_P:g}, the price {LAM:g}. What does the adversary "
        "add?",
        {"v": "0.6", "p": "0.6"},
        {"v": f"{PUSHED_V:g}", "p": f"{PUSHED_P:g}", "lam": f"{LAM:g}"},
        "r*",
        lambda: _attack(PUSHED_V, PUSHED_P, LAM),
        lambda: (
            f"({PUSHED_V:g} − {PUSHED_P:g}) / ({LAM:g} − 1) = "
            f"**{_attack(PUSHED_V, PUSHED_P, LAM):g}**, away from the prediction. Upwards there is no wall."
        ),
        "Divide the gap v − p by the price minus 1. Is there a wall on that side?",
        lambda: {
            -_attack(
                PUSHED_V, PUSHED_P, LAM
            ): "The adversary widens the gap: it pushes the entry away from its prediction, not towards it.",
            (PUSHED_V - PUSHED_P) / LAM: "Divide by the price minus 1, not by the price.",
            -PUSHED_V: "The wall is below, where nothing is left of the entry. This push goes upwards.",
        },
    ),
    Exercise(
        "Where the wall begins",
        3,
        f"The entry is {V:g}, its prediction {P:g}. Up to which price does the adversary stop at the wall?",
        {"v": f"{V:g}", "p": f"{P:g}", "lam": "5"},
        {"v": f"{V:g}", "p": f"{P:g}", "lam": "2.5"},
        "λ",
        lambda: P / V,
        lambda: (
            f"At the wall r\\* is −v. (v − p) / (λ − 1) = −v where λ = p / v = **{P / V:g}**. At a higher "
            "price the adversary takes less than all."
        ),
        "Set the best move (v − p) / (λ − 1) equal to −v, and solve for λ.",
        lambda: {P / V - 1: "That is λ − 1."},
    ),
    Exercise(
        "Overshoot",
        4,
        f"Algorithm 1, λ = {LAM:g}, an exact fit, no entry at the wall. By which number is the error p − v "
        "multiplied in each round?",
        {"lam": f"{LAM:g}"},
        {"lam": f"{LAM:g}", "at": "24"},
        "The factor",
        lambda: -1 / (LAM - 1),
        lambda: (
            f"−1 / (λ − 1) = **{_spelled(-1 / (LAM - 1))}**: in each round the error changes sides and "
            "doubles."
        ),
        "Look at the formula for the next error, and put λ in.",
        lambda: {
            1 / (LAM - 1): "The size is right. On which side of v is the next prediction?",
            -(LAM - 1): "That is the inverse: does the error shrink at this price, or grow?",
        },
    ),
    Exercise(
        "Your guess",
        6,
        "Guess the best λ for the faces, unmarked, then have the truth shown. Which λ is it? Does anything "
        "tell you that it might be lower still?",
        {},
        {"revealed": "lfw-zero", "guess": f"{STRONG:g}"},
        "The best λ",
        _guessed,
        lambda: (
            f"**λ = {_guessed():g}**, the lowest that was tried: the curve still falls there. Each false "
            "zero weighs 1, each sound entry λ/(λ − 1)."
        ),
        "Press “Show the truth”, and look for the ring.",
        lambda: {2.0: "That is the paper's λ. Look where the curve is lowest."},
        EXACTLY,
    ),
    Exercise(
        "Say what is missing",
        7,
        f"At α = {HALF:g} on CBCL: how many per cent of NMF's published error is left when hidden entries "
        "are marked?",
        {"alpha": f"{HALF:g}"},
        {"alpha": f"{HALF:g}"},
        "Per cent",
        _left_on_cbcl,
        lambda: (
            f"About **{_left_on_cbcl():.0f}%**. Marking what is missing does more here than the adversary: "
            f"AT-NMF's published error is {_cbcl().published_gain:.0%} below NMF's."
        ),
        "In the table, divide NMF, marked by NMF, published, in the row of CBCL.",
        lambda: {100 - _left_on_cbcl(): "That is how much is gone. How much is left?"},
    ),
)
