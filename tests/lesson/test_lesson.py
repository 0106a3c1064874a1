"""The small examples of the lesson behave as its text says; the answers to its exercises are right."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

from atnmf_core import InputError, factorize, hide_entries, load_dataset, rmse
from atnmf_core.lesson.examples import (
    EXAMPLE,
    FACES_HIDDEN,
    FACES_SHOWN,
    PART,
    SERIES,
    build_up,
    filled_face,
    mend,
    mend_known,
    mend_robust,
    play,
    recorded,
    seen_of_faces,
    weigh,
)
from atnmf_core.lesson.findings import Error, Finding, findings, judge
from atnmf_core.model.adversary import adversarial_loss, attack_objective, effective_data, optimal_attack
from atnmf_core.model.problem import Array
from atnmf_core.reference import NAMES, published
from pages.common.setting import LEASHES
from pages.learn_view.chapters import CHAPTERS
from pages.learn_view.chapters.uses import LAMS
from pages.learn_view.exercises import EXERCISES
from pages.learn_view.lesson import ADDRESS, LessonState, chapter_notes
from tests.benchmarks.bundled_tables import filled

SEEDS = range(2)


@pytest.mark.parametrize("seed", SEEDS)
def test_at_lambda_2_algorithm_1_overshoots_and_exact_descent_never_does(seed):
    paper, exact = (play(EXAMPLE, 2.0, K=2, solver=solver, seed=seed) for solver in ("paper", "fast"))

    assert paper.rises > 6, "in most rounds"
    assert paper.losses[-1] > 1.4 * exact.losses[-1]
    assert exact.rises == 0


def test_at_lambda_2_the_overshoot_grows_only_where_the_parts_do_not_fit_exactly():
    V = EXAMPLE + 3.0  # Far from the wall.
    exact = _rank_2(V)
    start = _rank_2(V + np.random.default_rng(0).uniform(-0.3, 0.3, V.shape))

    def errors(V):
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


def test_with_hidden_entries_as_zeros_algorithm_1_oscillates_at_lambda_2_but_beats_nmf():
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
def test_algorithm_1_comes_to_rest_at_a_price_of_3_or_more_and_runs_off_below_2(seed):
    for lam in (3.0, 5.0, 10.0):
        losses = play(EXAMPLE, lam, K=2, solver="paper", seed=seed).losses
        assert losses[-1] <= losses[0]
        assert abs(losses[-1] - losses[-2]) < 0.05 * losses[-1]
    off = play(EXAMPLE, 1.5, K=2, solver="paper", seed=seed).losses
    assert max(off) > 5 * off[0]
    # Exact descent never rises at any price.
    assert [play(EXAMPLE, lam, K=2, solver="fast", seed=seed).rises for lam in (1.5, 2.5, 10.0)] == [0] * 3


@pytest.mark.parametrize("solver", ["paper", "fast"])
def test_each_player_moves_as_the_core_says(solver):
    game = play(EXAMPLE, 2.0, K=2, solver=solver, seed=3)

    for step, next_step in zip(game.half_steps, game.half_steps[1:], strict=False):
        if next_step.actor == "adversary":
            np.testing.assert_array_equal(next_step.V_hat, step.V_hat)
            np.testing.assert_array_equal(next_step.R, optimal_attack(EXAMPLE, step.V_hat, 2.0))
            np.testing.assert_allclose(EXAMPLE + next_step.R, effective_data(EXAMPLE, step.V_hat, 2.0))
            assert next_step.value == pytest.approx(adversarial_loss(EXAMPLE, step.V_hat, 2.0))
            assert next_step.value >= step.value
        else:
            np.testing.assert_array_equal(next_step.R, step.R)
            assert solver == "fast" or next_step.value < step.value
    assert game.half_steps[-1].actor == "adversary"


def test_both_games_are_the_solvers_own_and_start_alike():
    paper, exact = (play(EXAMPLE, 2.0, K=2, solver=solver, seed=5, rounds=4) for solver in ("paper", "fast"))
    how = {"method": "atnmf", "lam": 2.0, "solver": "paper", "dtype": "float64"}
    fit = factorize(EXAMPLE, K=2, seed=5, max_outer=4, tol_outer=0.0, **how)

    np.testing.assert_allclose(paper.losses, fit.history["adversarial_loss"])
    np.testing.assert_array_equal(paper.half_steps[-1].W, fit.W)
    np.testing.assert_array_equal(paper.half_steps[0].V_hat, exact.half_steps[0].V_hat)


def test_a_face_is_built_up_from_its_heaviest_part_to_the_whole_prediction():
    rng = np.random.default_rng(0)
    W, h, v = rng.random((20, 5)), rng.random(5), rng.random(20)

    built = build_up(v, W, h)

    assert (np.diff(built.weights) <= 0).all()
    np.testing.assert_allclose(built.parts.max(axis=0), 1)
    np.testing.assert_allclose(built.sums[:, 0], 0)
    np.testing.assert_allclose(built.sums[:, -1], W @ h)
    np.testing.assert_allclose(built.errors[2], np.sqrt(np.mean((v - built.sums[:, 2]) ** 2)))
    # A part that is black everywhere weighs nothing.
    built = build_up(np.ones(3), np.array([[0.0, 1.0]] * 3), np.array([4.0, 1.0]))
    assert built.weights.tolist() == [1.0, 0.0]
    assert np.isfinite(built.parts).all()


@pytest.mark.parametrize("hidden", [(), (2,), (0, 4), (0, 1, 3, 4)])
def test_a_weight_by_hand_is_the_least_squares_solution(hidden):
    seen = np.array([i not in hidden for i in range(5)])
    part, series = np.array(PART), np.array(SERIES)

    assert weigh(PART, SERIES, seen, "ignore").weight == pytest.approx(2.0)
    filled = np.linalg.lstsq(part[:, None], np.where(seen, series, 0.0), rcond=None)[0][0]
    assert weigh(PART, SERIES, seen, "zero").weight == pytest.approx(filled)
    with pytest.raises(InputError, match="nothing of the part is seen"):
        weigh(PART, SERIES, [False] * 5, "ignore")


def test_a_guess_is_judged_by_the_curve():
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
def test_findings_take_the_best_of_the_published_lambdas(alpha):
    assert [finding.name for finding in findings(alpha)] == list(NAMES)
    for finding in findings(alpha):
        cells = [cell for cell in published(finding.name) if cell.alpha == alpha and cell.method == "atnmf"]
        assert finding.published_atnmf.mean == min(cell.mean for cell in cells)
        assert 0 < finding.published_gain < 1
        assert finding.zero_atnmf is None or finding.zero_atnmf.lam == finding.published_atnmf.lam


def test_shares_and_gains_are_those_of_the_cells_and_none_where_one_is_missing():
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


def opened(link: str) -> LessonState:
    return LessonState.of(ADDRESS.read(dict(parse_qsl(link.removeprefix("?")))))


@pytest.mark.parametrize("number", range(1, len(EXERCISES) + 1))
def test_both_links_open_the_exercise_in_its_chapter_and_only_one_its_answer(number):
    exercise = EXERCISES[number - 1]
    start, solved = (opened(exercise.link(number, solution=solution)) for solution in (False, True))

    for place, said in ((start, exercise.start), (solved, exercise.solved)):
        assert place.task is exercise
        assert place.number == exercise.chapter
        for name, value in said.items():
            assert place.stage[name] == place.chapter.controls[name].read(value)
    assert (start.solution, solved.solution) == (False, True)
    assert start.stage.values != solved.stage.values or exercise.start == exercise.solved


def test_the_loss_by_hand_is_the_most_that_any_attack_leaves():
    v, p, lam = (opened(EXERCISES[0].link(1, solution=True)).stage[name] for name in ("v", "p", "lam"))
    attacks = np.linspace(-v, 3, 100_001)
    left = [attack_objective(np.array([v]), np.array([r]), np.array([p]), lam) for r in attacks[::100]]

    best = attacks[::100][int(np.argmax(left))]

    assert best == -v
    assert f"r\\* = −{v:g}" in EXERCISES[0].answer()
    assert f"**{max(left):g}**" in EXERCISES[0].answer()
    assert f"NMF pays {(v - p) ** 2:g}" in EXERCISES[0].answer()


def test_the_best_price_against_dead_pixels_is_that_of_the_solution():
    solved = opened(EXERCISES[1].link(2, solution=True)).stage
    given = recorded(solved["damage"], solved["share"])
    errors = {lam: mend(given, lam).error for lam in LAMS}

    assert min(errors, key=lambda lam: errors[lam]) == solved["lam"]
    assert f"{errors[solved['lam']]:.4f}" in EXERCISES[1].answer()
    times = float(re.search(r"(\d+) times", EXERCISES[1].answer())[1])
    assert times == pytest.approx(errors[math.inf] / errors[solved["lam"]], abs=0.5)


def test_the_best_leash_against_bright_pixels_is_that_of_the_solution():
    solved = opened(EXERCISES[2].link(3, solution=True)).stage
    given = recorded(solved["damage"], solved["share"])
    errors = {g: mend(given, solved["lam"], None if math.isinf(g) else g).error for g in LEASHES}
    nmf = mend(given, math.inf).error

    assert min(errors, key=lambda g: errors[g]) == solved["g"]
    assert errors[solved["g"]] < nmf < errors[2.0] < errors[math.inf]
    assert f"{errors[solved['g']]:.4f}, where NMF has {nmf:.4f}" in EXERCISES[2].answer()


def test_every_chapter_has_notes_with_a_question_an_answer_and_a_time():
    assert list(chapter_notes()) == [chapter.name for chapter in CHAPTERS]
    for notes in chapter_notes().values():
        assert 5 <= notes.minutes <= 20
        assert notes.body.count("**Ask:**") == notes.body.count("**Students answer:**") >= 1


@pytest.mark.parametrize(("kind", "dead", "bright"), [("dead", 1, 0), ("bright", 0, 1), ("both", 0.5, 0.5)])
def test_the_camera_is_wrong_where_it_says_so_and_in_the_way_it_says(kind, dead, bright):
    given = recorded(kind, 0.2)

    np.testing.assert_array_equal(given.V[~given.wrong], given.truth[~given.wrong])
    wrong, truth = given.V[given.wrong], given.truth[given.wrong]
    assert (wrong == 0).mean() == pytest.approx(dead, abs=0.01)
    assert np.isclose(wrong, 3 * truth).mean() == pytest.approx(bright, abs=0.01)
    assert given.wrong.mean() == pytest.approx(0.2, abs=1e-4)


def test_the_story_of_the_last_chapter_holds_at_every_share_it_offers_below_the_majority():
    for share in (0.05, 0.1, 0.2, 0.3, 0.5):
        dead, bright = recorded("dead", share), recorded("bright", share)
        errors = [mend(dead, lam).error for lam in (math.inf, 5.0, 2.0, 1.5, 1.2, 1.1, 1.05)]
        assert errors == sorted(errors, reverse=True), "a stronger adversary helps against dead pixels"
        assert mend(bright, 1.05).error > 1.7 * mend(bright, math.inf).error
        assert mend(bright, 1.05, 0.25).error < mend(bright, math.inf).error
        assert mend_known(dead).error < errors[-1]


def test_robust_nmf_fails_where_half_is_dead_and_is_better_against_many_bright_pixels():
    few, half, bright = recorded("dead", 0.2), recorded("dead", 0.5), recorded("bright", 0.2)
    leashed = {(lam, g): mend(bright, lam, g).error for lam in LAMS[:4] for g in LEASHES[:3]}

    assert mend(few, 1.05).error < 0.5 * mend_robust(few).error < 0.5 * mend(few, math.inf).error
    assert mend_robust(half).error > mend(half, math.inf).error > 5 * mend(half, 1.02).error
    assert min(leashed, key=lambda one: leashed[one]) == (LAMS[0], LEASHES[0])
    assert mend_robust(bright).error < leashed[LAMS[0], LEASHES[0]] < mend(bright, math.inf).error


@pytest.mark.slow
def test_the_filled_faces_are_those_that_the_restoration_makes():
    faces, share, face = load_dataset("lfw"), FACES_HIDDEN[0], FACES_SHOWN[0]
    made, shown = filled(share), filled_face(faces, share, face)

    for by, image in shown.by.items():
        np.testing.assert_allclose(image, faces.image(np.clip(made[by][:, face - 1], 0, 1)), atol=0.01)
        error = rmse(faces.V, made[by], ~seen_of_faces(faces, share))
        assert shown.errors[by] == pytest.approx(error, abs=1e-3)
