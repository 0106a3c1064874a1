"""The small examples of the lesson behave as its text says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import InputError, factorize, hide_entries, load_dataset, rmse
from atnmf_core.adversary import adversarial_loss, effective_data, optimal_attack
from atnmf_core.lesson import (
    EXAMPLE,
    PART,
    SERIES,
    Error,
    Finding,
    build_up,
    findings,
    judge,
    play,
    weigh,
)
from atnmf_core.problem import Array
from atnmf_core.reference import published

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_at_lambda_2_algorithm_1_overshoots_and_exact_descent_never_does(seed: int) -> None:
    paper, exact = (play(EXAMPLE, 2.0, K=2, solver=solver, seed=seed) for solver in ("paper", "fast"))

    assert paper.rises > 6, "in most rounds"
    assert paper.losses[-1] > 1.4 * exact.losses[-1]
    assert exact.rises == 0


def test_at_lambda_2_the_overshoot_grows_only_where_the_parts_do_not_fit_exactly() -> None:
    V = EXAMPLE + 3.0  # Far from the wall.
    exact = _rank_2(V)
    start = _rank_2(V + np.random.default_rng(0).uniform(-0.3, 0.3, V.shape))

    def errors(V: Array) -> list[float]:
        """Of the best fits of rank 2 to V + (V - V_hat), without a wall."""
        V_hat, left = start, []
        for _ in range(30):
            left.append(float(((V - V_hat) ** 2).sum()))
            V_hat = _rank_2(2 * V - V_hat)
        return left

    assert errors(V)[-1] > 1.5 * errors(V)[0]
    assert errors(exact)[-1] < 1.05 * errors(exact)[0]


def _rank_2(V: Array) -> Array:
    left, sizes, right = np.linalg.svd(V)
    return (left[:, :2] * sizes[:2]) @ right[:2]


def test_with_hidden_entries_as_zeros_algorithm_1_oscillates_at_lambda_2_but_beats_nmf() -> None:
    V = load_dataset("synthetic").V
    observed = hide_entries(V.shape, 0.5)
    nmf = factorize(V, observed, K=5, missing="zero")

    fit = factorize(
        V, observed, K=5, method="atnmf", lam=2.0, missing="zero", solver="paper", max_outer=25, tol_outer=0.0
    )

    losses = fit.history["adversarial_loss"]
    assert (np.diff(losses) > 0).sum() > 10
    assert losses.max() < 1.5 * losses[0]
    assert losses[-10:].max() < 1.1 * losses[-10:].min()
    assert rmse(V, fit.V_hat, ~observed) < rmse(V, nmf.V_hat, ~observed)


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_descent_never_rises_at_any_price(seed: int) -> None:
    for lam in (1.5, 2.5, 10.0):
        assert play(EXAMPLE, lam, K=2, solver="fast", seed=seed).rises == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_1_comes_to_rest_at_a_price_of_3_or_more_and_runs_off_below_2(seed: int) -> None:
    for lam in (3.0, 5.0, 10.0):
        losses = play(EXAMPLE, lam, K=2, solver="paper", seed=seed).losses
        assert losses[-1] <= losses[0]
        assert abs(losses[-1] - losses[-2]) < 0.05 * losses[-1]
    off = play(EXAMPLE, 1.5, K=2, solver="paper", seed=seed).losses
    assert max(off) > 5 * off[0]


@pytest.mark.parametrize("solver", ["paper", "fast"])
def test_each_player_moves_as_the_core_says(solver: str) -> None:
    game = play(EXAMPLE, 2.0, K=2, solver=solver, seed=3)

    for step, next_step in zip(game.half_steps, game.half_steps[1:], strict=False):
        if next_step.actor == "adversary":
            np.testing.assert_array_equal(next_step.V_hat, step.V_hat)
            np.testing.assert_array_equal(next_step.R, optimal_attack(EXAMPLE, step.V_hat, 2.0))
            assert next_step.value == pytest.approx(adversarial_loss(EXAMPLE, step.V_hat, 2.0))
            assert next_step.value >= step.value
        else:
            np.testing.assert_array_equal(next_step.R, step.R)
    assert game.half_steps[-1].actor == "adversary"


def test_the_learner_of_algorithm_1_lowers_the_number_at_every_move() -> None:
    game = play(EXAMPLE, 2.0, K=2, solver="paper")

    moves = zip(game.half_steps, game.half_steps[1:], strict=False)
    assert all(after.value < before.value for before, after in moves if after.actor == "learner")
    first = game.half_steps[1]
    np.testing.assert_allclose(EXAMPLE + first.R, effective_data(EXAMPLE, first.V_hat, 2.0))


def test_both_games_are_the_solvers_own_and_start_alike() -> None:
    paper, exact = (play(EXAMPLE, 2.0, K=2, solver=solver, seed=5, rounds=4) for solver in ("paper", "fast"))
    fit = factorize(
        EXAMPLE,
        K=2,
        method="atnmf",
        lam=2.0,
        solver="paper",
        seed=5,
        max_outer=4,
        tol_outer=0.0,
        dtype="float64",
    )

    np.testing.assert_allclose(paper.losses, fit.history["adversarial_loss"])
    np.testing.assert_array_equal(paper.half_steps[-1].W, fit.W)
    np.testing.assert_array_equal(paper.half_steps[0].V_hat, exact.half_steps[0].V_hat)


def test_a_face_is_built_up_from_its_heaviest_part_to_the_whole_prediction() -> None:
    rng = np.random.default_rng(0)
    W, h, v = rng.random((20, 5)), rng.random(5), rng.random(20)

    built = build_up(v, W, h)

    assert (np.diff(built.weights) <= 0).all()
    np.testing.assert_allclose(built.parts.max(axis=0), 1)
    np.testing.assert_allclose(built.sums[:, 0], 0)
    np.testing.assert_allclose(built.sums[:, -1], W @ h)
    np.testing.assert_allclose(built.errors[2], np.sqrt(np.mean((v - built.sums[:, 2]) ** 2)))


def test_a_part_that_is_black_everywhere_weighs_nothing() -> None:
    built = build_up(np.ones(3), np.array([[0.0, 1.0]] * 3), np.array([4.0, 1.0]))

    assert built.weights.tolist() == [1.0, 0.0]
    assert np.isfinite(built.parts).all()


@pytest.mark.parametrize("hidden", [(), (2,), (0, 4), (0, 1, 3, 4)])
def test_a_weight_by_hand_is_the_least_squares_solution(hidden: tuple[int, ...]) -> None:
    seen = np.array([i not in hidden for i in range(5)])
    part, series = np.array(PART), np.array(SERIES)

    assert weigh(PART, SERIES, seen, "ignore").weight == pytest.approx(2.0)
    filled = np.linalg.lstsq(part[:, None], np.where(seen, series, 0.0), rcond=None)[0][0]
    assert weigh(PART, SERIES, seen, "zero").weight == pytest.approx(filled)


def test_a_part_of_which_nothing_is_seen_cannot_be_weighed() -> None:
    with pytest.raises(InputError, match="nothing of the part is seen"):
        weigh(PART, SERIES, [False] * 5, "ignore")


def test_a_guess_is_judged_by_the_curve() -> None:
    errors = {1.1: 0.3, 2.0: 0.20, 11.0: 0.205, 101.0: 0.4}
    spread = dict.fromkeys(errors, 0.01)

    exact, near, far = (judge(guess, errors, spread) for guess in (2.0, 5.0, 101.0))

    assert exact.hit
    assert exact.excess == 0
    assert near.hit
    assert 0.20 < near.at_guess < 0.205
    assert not far.hit
    assert far.excess == pytest.approx(1.0)
    assert far.flat_from is None
    assert judge(2.0, errors | {101.0: 0.208}, spread).flat_from == 2.0
    assert judge(2.0, errors | {11.0: 0.5, 101.0: 0.208}, spread).flat_from == 101.0


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.9])
def test_findings_take_the_best_of_the_published_lambdas(alpha: float) -> None:
    for finding in findings(alpha):
        cells = [cell for cell in published(finding.name) if cell.alpha == alpha and cell.method == "atnmf"]
        assert finding.published_atnmf.mean == min(cell.mean for cell in cells)
        assert 0 < finding.published_gain < 1
        assert finding.zero_atnmf is None or finding.zero_atnmf.lam == finding.published_atnmf.lam


def test_shares_and_gains_are_those_of_the_cells_and_none_where_one_is_missing() -> None:
    nmf, atnmf = Error(2.0, None, 10), Error(1.5, 2.0, 10)
    whole = Finding("cbcl", 0.5, nmf, atnmf, None, None, Error(0.5, None, 1), Error(0.4, 5.0, 1))
    torn = replace(whole, ignore_nmf=None)

    again = replace(whole, zero_nmf=Error(2.1, None, 1), zero_atnmf=Error(1.47, 2.0, 1))

    assert whole.published_gain == pytest.approx(0.25)
    assert whole.repeated_within is None
    assert again.repeated_within == pytest.approx(0.05)
    assert whole.ignored_share == pytest.approx(0.25)
    assert whole.ignored_gain == pytest.approx(0.2)
    assert torn.ignored_share is None
    assert torn.ignored_gain is None
