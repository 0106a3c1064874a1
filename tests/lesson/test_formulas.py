"""Every formula of the lesson, evaluated as it is written, says what the core computes."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from atnmf_core import rmse
from atnmf_core.lesson.examples import build_up, weigh
from atnmf_core.model.adversary import (
    attack_objective,
    curvature,
    descent_target,
    effective_data,
    entry_loss,
    lower_bend,
    optimal_attack,
)
from pages.learn_view.chapter import FORMULAS, read_text

from .latex import evaluate

TEXTS = sorted(path.stem for path in (Path(__file__).parents[2] / "pages/learn_view/text").glob("*.md"))
PRICES = (1.01, 1.5, 2.0, 5.0, 100.0)
SYMBOL = re.compile(r"\\?[a-zA-Z]+(_(\w|\{\w+\}|\{\\mathrm\{\w+\}\}))?(\^\*)?")


def entries(seed: int) -> dict[str, np.ndarray]:
    """Random numbers on both sides of the bend, some of them zero."""
    rng = np.random.default_rng(seed)
    v = rng.uniform(0, 1, 40) * (rng.random(40) > 0.1)
    seen = rng.random(40) < 0.6
    return {
        "v": v,
        "p": rng.uniform(0, 3, 40),
        "r": rng.uniform(-1, 1, 40),
        "w": rng.uniform(0, 1, 40),
        "Omega": seen,
        "Gamma": ~seen,
    }


def predicted(v: np.ndarray, p: np.ndarray, lam: float) -> np.ndarray:
    """p - v after a learner has fitted V + R* exactly."""
    return effective_data(v, p, lam) - v


CORE: dict[str, Callable[[dict, float], object]] = {
    "weight_ignoring": lambda x, lam: weigh(x["w"], x["v"], x["Omega"], "ignore").weight,
    "weight_zeros": lambda x, lam: weigh(x["w"], x["v"], x["Omega"], "zero").weight,
    "rmse": lambda x, lam: rmse(x["v"], x["p"], x["Gamma"]),
    "attack_value": lambda x, lam: [
        attack_objective(*(np.array([x[name][i]]) for name in "vrp"), lam) for i in range(40)
    ],
    "best_attack": lambda x, lam: optimal_attack(x["v"], x["p"], lam),
    "game_value": lambda x, lam: attack_objective(x["v"], x["r"], x["p"], lam),
    "steepness": lambda x, lam: curvature(lam),
    "loss": lambda x, lam: entry_loss(x["v"], x["p"], lam),
    "target": lambda x, lam: descent_target(x["v"], x["p"], lam),
}


@pytest.mark.parametrize("name", CORE)
def test_a_formula_says_what_the_core_computes(name):
    for seed, lam in product(range(5), PRICES):
        letters = entries(seed)
        value = evaluate(FORMULAS[name], letters | {"lambda": lam})
        np.testing.assert_allclose(value, CORE[name](letters, lam), rtol=1e-9, atol=1e-12)


def test_the_sum_of_parts_is_what_is_built_up():
    rng = np.random.default_rng(0)
    W, h = rng.random((7, 4)), rng.random(4)
    built = build_up(rng.random(7), W, h)

    for i in range(7):
        value = evaluate(FORMULAS["sum_of_parts"], {"h": h, "w": W[i], "v": h})
        np.testing.assert_allclose(value, built.sums[i, -1])


@pytest.mark.parametrize("lam", PRICES)
def test_a_learner_that_fits_the_attacked_data_overshoots_by_the_formula(lam):
    letters = entries(1)
    v, p = letters["v"], letters["p"]
    away_from_the_wall = v + (v - p) / (lam - 1) > 0

    value = evaluate(FORMULAS["overshoot"], letters | {"lambda": lam})

    assert away_from_the_wall.any()
    np.testing.assert_allclose(value[away_from_the_wall], predicted(v, p, lam)[away_from_the_wall])


@pytest.mark.parametrize("lam", PRICES)
@pytest.mark.parametrize("leash", [0.1, 0.25, 2.0])
def test_below_the_lower_bend_the_learner_pays_by_the_formula(lam, leash):
    letters = entries(3) | {"p": entries(3)["p"] / 6, "lambda": lam, "g": leash}
    v, p = letters["v"], letters["p"]

    bend = evaluate(FORMULAS["lower_bend"], letters)
    below = p < bend

    np.testing.assert_allclose(np.maximum(bend, 0), lower_bend(lam, leash) * v, rtol=1e-9, atol=1e-12)
    attacked = v + optimal_attack(v, p, lam, leash=leash)
    np.testing.assert_allclose(evaluate(FORMULAS["leashed"], letters)[below], attacked[below])
    paid = evaluate(FORMULAS["leash_loss"], letters)
    np.testing.assert_allclose(paid[below], entry_loss(v, p, lam, leash)[below], rtol=1e-9, atol=1e-12)
    without = entry_loss(v, p, lam)
    np.testing.assert_allclose(without[~below], entry_loss(v, p, lam, leash)[~below])
    assert below.any() == (lower_bend(lam, leash) > 0)


def test_every_formula_is_checked():
    elsewhere = {"sum_of_parts", "overshoot", "lower_bend", "leashed", "leash_loss"}
    assert {*CORE, *elsewhere} == set(FORMULAS)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_no_formula_of_its_own(name):
    text = read_text(name)
    everything = [text.title, text.body, *(part for q in text.questions for part in (q.asked, q.answer))]
    written = re.findall(r"\$\$\n(.*?)\n\$\$|\$([^$]+)\$", "\n".join(everything), flags=re.DOTALL)

    for displayed, inline in written:
        formula = displayed or inline
        assert formula in FORMULAS.values() or SYMBOL.fullmatch(formula), formula


@pytest.mark.parametrize("lam", PRICES)
def test_the_legends_of_the_moving_pictures_are_right_too(lam):
    letters = entries(2)
    v, p, r = (letters[name] for name in "vpr")
    left = attack_objective(v, r, p, lam)

    gain, pay = (evaluate(formula, letters | {"lambda": lam}) for formula in legend("attack")[:2])
    (square,) = (evaluate(formula, letters) for formula in legend("loss") if "λ" not in formula)

    assert (gain - pay).sum() == pytest.approx(left)
    np.testing.assert_allclose(square, entry_loss(v, p, np.inf))


def test_every_formula_is_used():
    sources = "".join(
        (Path(__file__).parents[2] / f"pages/learn_view/text/{name}.md").read_text() for name in TEXTS
    )

    assert set(re.findall(r"\[\[(\w+)\]\]", sources)) == set(FORMULAS)


def legend(picture: str) -> list[str]:
    """The formulas in the legend of a moving picture, as LaTeX."""
    html = (Path(__file__).parents[2] / f"pages/learn_view/components/{picture}.html").read_text()
    found = re.findall(r"[(λ][^<>,]*²", html)
    spelled = {"²": "^2", "−": "-", "λ": r"\lambda"}
    return [re.sub("|".join(spelled), lambda sign: spelled[sign[0]], formula) for formula in found]
