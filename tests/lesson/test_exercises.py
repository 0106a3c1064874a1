"""The answers to the exercises are right, and their links open what they say."""

from __future__ import annotations

import math
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest

from atnmf_core.adversary import attack_objective
from atnmf_core.lesson import mend, mend_known, mend_robust, recorded
from pages.common.setting import LEASHES
from pages.learn_view.chapters import CHAPTERS
from pages.learn_view.chapters.uses import LAMS
from pages.learn_view.exercises import EXERCISES
from pages.learn_view.notes import chapter_notes
from pages.learn_view.state import ADDRESS, LessonState


def opened(link: str) -> LessonState:
    return LessonState.of(ADDRESS.read(dict(parse_qsl(link.removeprefix("?")))))


@pytest.mark.parametrize("number", range(1, len(EXERCISES) + 1))
def test_both_links_open_the_exercise_in_its_chapter_and_only_one_its_answer(number: int) -> None:
    exercise = EXERCISES[number - 1]
    start, solved = (opened(exercise.link(number, solution=solution)) for solution in (False, True))

    for place, said in ((start, exercise.start), (solved, exercise.solved)):
        assert place.task is exercise
        assert place.number == exercise.chapter
        for name, value in said.items():
            assert place.stage[name] == place.chapter.controls[name].read(value)
    assert (start.solution, solved.solution) == (False, True)
    assert start.stage.values != solved.stage.values


def test_the_loss_by_hand_is_the_most_that_any_attack_leaves() -> None:
    v, p, lam = (opened(EXERCISES[0].link(1, solution=True)).stage[name] for name in ("v", "p", "lam"))
    attacks = np.linspace(-v, 3, 100_001)
    left = [attack_objective(np.array([v]), np.array([r]), np.array([p]), lam) for r in attacks[::100]]

    best = attacks[::100][int(np.argmax(left))]

    assert best == -v
    assert f"r\\* = −{v:g}" in EXERCISES[0].answer()
    assert f"**{max(left):g}**" in EXERCISES[0].answer()
    assert f"NMF pays {(v - p) ** 2:g}" in EXERCISES[0].answer()


def test_the_best_price_against_dead_pixels_is_that_of_the_solution() -> None:
    solved = opened(EXERCISES[1].link(2, solution=True)).stage
    given = recorded(solved["damage"], solved["share"])
    errors = {lam: mend(given, lam).error for lam in LAMS}

    assert min(errors, key=lambda lam: errors[lam]) == solved["lam"]
    assert f"{errors[solved['lam']]:.4f}" in EXERCISES[1].answer()
    times = float(re.search(r"(\d+) times", EXERCISES[1].answer())[1])
    assert times == pytest.approx(errors[math.inf] / errors[solved["lam"]], abs=0.5)


def test_the_best_leash_against_bright_pixels_is_that_of_the_solution() -> None:
    solved = opened(EXERCISES[2].link(3, solution=True)).stage
    given = recorded(solved["damage"], solved["share"])
    errors = {g: mend(given, solved["lam"], None if math.isinf(g) else g).error for g in LEASHES}
    nmf = mend(given, math.inf).error

    assert min(errors, key=lambda g: errors[g]) == solved["g"]
    assert errors[solved["g"]] < nmf < errors[2.0] < errors[math.inf]
    assert f"{errors[solved['g']]:.4f}, where NMF has {nmf:.4f}" in EXERCISES[2].answer()


def test_every_chapter_has_notes_with_a_question_an_answer_and_a_time() -> None:
    assert list(chapter_notes()) == [chapter.name for chapter in CHAPTERS]
    for notes in chapter_notes().values():
        assert 5 <= notes.minutes <= 20
        assert notes.body.count("**Ask:**") == notes.body.count("**Students answer:**") >= 1


@pytest.mark.parametrize(("kind", "dead", "bright"), [("dead", 1, 0), ("bright", 0, 1), ("both", 0.5, 0.5)])
def test_the_camera_is_wrong_where_it_says_so_and_in_the_way_it_says(
    kind: str, dead: float, bright: float
) -> None:
    given = recorded(kind, 0.2)

    np.testing.assert_array_equal(given.V[~given.wrong], given.truth[~given.wrong])
    wrong, truth = given.V[given.wrong], given.truth[given.wrong]
    assert (wrong == 0).mean() == pytest.approx(dead, abs=0.01)
    assert np.isclose(wrong, 3 * truth).mean() == pytest.approx(bright, abs=0.01)
    assert given.wrong.mean() == pytest.approx(0.2, abs=1e-4)


def test_the_story_of_the_last_chapter_holds_at_every_share_it_offers_below_the_majority() -> None:
    for share in (0.05, 0.1, 0.2, 0.3, 0.5):
        dead, bright = recorded("dead", share), recorded("bright", share)
        errors = [mend(dead, lam).error for lam in (math.inf, 5.0, 2.0, 1.5, 1.2, 1.1, 1.05)]
        assert errors == sorted(errors, reverse=True), "a stronger adversary helps against dead pixels"
        assert mend(bright, 1.05).error > 1.7 * mend(bright, math.inf).error
        assert mend(bright, 1.05, 0.25).error < mend(bright, math.inf).error
        assert mend_known(dead).error < errors[-1]


def test_robust_nmf_fails_where_half_is_dead_and_is_better_against_many_bright_pixels() -> None:
    few, half, bright = recorded("dead", 0.2), recorded("dead", 0.5), recorded("bright", 0.2)
    leashed = {(lam, g): mend(bright, lam, g).error for lam in LAMS[:4] for g in LEASHES[:3]}

    assert mend(few, 1.05).error < 0.5 * mend_robust(few).error < 0.5 * mend(few, math.inf).error
    assert mend_robust(half).error > mend(half, math.inf).error > 5 * mend(half, 1.02).error
    assert min(leashed, key=lambda one: leashed[one]) == (LAMS[0], LEASHES[0])
    assert mend_robust(bright).error < leashed[LAMS[0], LEASHES[0]] < mend(bright, math.inf).error
