"""The Learn page runs in every chapter, follows its address, and tells nothing before it is time."""

from __future__ import annotations

import math
import sys
from functools import partial
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.lesson.examples import mend, mend_known, mend_robust, recorded
from atnmf_core.lesson.findings import findings
from atnmf_core.reference.league import unmarked_defects
from atnmf_core.reference.paper_tables import bundled_curve
from pages.learn_view.chapters import CHAPTERS
from pages.learn_view.chapters.findings import DATA_NAMES
from pages.learn_view.exercises import EXERCISES
from tests.app.opening import open_page, press
from tests.benchmarks.damage import BRIGHT, DARK

NUMBERS = range(1, len(CHAPTERS) + 1)


opened = partial(open_page, "learn")


def words(page: AppTest) -> str:
    return "\n".join(element.value for element in page.main.markdown)


def turn(page: AppTest, arrow: str) -> None:
    """To the chapter after this one, or before it."""
    next(button for button in page.button if arrow in button.label).click().run()


@pytest.mark.parametrize("number", NUMBERS)
def test_a_chapter_opens_from_its_address_and_leads_to_its_neighbours(number):
    page = opened(chapter=str(number))

    assert page.title[0].value == CHAPTERS[number - 1].text.title
    assert len(page.expander) == len(CHAPTERS[number - 1].text.questions) + 1
    if number < len(CHAPTERS):
        turn(page, "→")
        assert page.title[0].value == CHAPTERS[number].text.title
    else:
        turn(page, "←")
        assert page.query_params["chapter"] == str(number - 1)


def test_a_hidden_control_keeps_the_value_of_the_link():
    page = opened(chapter="4", lam="3", hide="lam,questions,chapters")

    assert [slider.label for slider in page.main.select_slider] == []
    assert "λ = 3" in words(page)
    assert len(page.expander) == 1
    assert not [button for button in page.button if "→" in button.label]
    assert page.query_params["hide"] == "chapters,lam,questions"


def test_presenting_and_students_see_no_tools_of_teachers_nor_a_solution():
    def has_tools(page):
        return any("teachers" in expander.label for expander in page.expander)

    page = opened(chapter="5", present="1")
    assert not has_tools(page)
    press(page, "Stop presenting")
    assert "present" not in page.query_params
    assert has_tools(page)

    page = opened(chapter="5", exercise="1", student="1", solution="1", notes="1")
    assert page.title[0].value == CHAPTERS[4].text.title
    assert not has_tools(page)
    assert EXERCISES[0].answer() not in words(page)


def test_a_chapter_is_still_there_after_a_look_at_another_page():
    page = opened(chapter="4", seed="3")

    page.switch_page("pages/explore.py").run()
    for name in list(page.query_params):
        del page.query_params[name]
    page.switch_page("pages/learn.py").run()

    assert page.title[0].value == CHAPTERS[3].text.title
    assert page.number_input[0].value == 3


def test_the_way_back_leads_to_the_chapter_before_and_leaves_the_others_as_they_were(monkeypatch):
    monkeypatch.setattr("pages.common.address.is_history_navigation", lambda: True)
    page = opened(chapter="1", K="9")
    for _ in range(3):
        turn(page, "→")

    page.query_params["chapter"] = "2"
    page.run()

    assert page.title[0].value == CHAPTERS[1].text.title
    # A series can never be hidden altogether.
    page.pills[0].set_value([1, 2, 3, 4]).run()
    page.pills[0].set_value([1, 2, 3, 4, 5]).run()
    assert not page.exception
    assert page.query_params["hidden"] == "1-2-3-4"
    turn(page, "←")
    assert page.slider(key="learn_1_K").value == 9


@pytest.mark.parametrize("missing", ["zero", "ignore"])
def test_the_best_lambda_is_told_only_when_asked(missing):
    page = opened(chapter="6", missing=missing, guess="20")
    assert "lowest at **" not in words(page)

    press(page, "Show the truth")

    curve = [point for point in bundled_curve("lfw") if (point.alpha, point.missing) == (0.5, missing)]
    best = min((point for point in curve if point.lam), key=lambda point: point.mean)
    assert f"lowest at **λ = {best.lam:g}**: {best.mean:.4f}" in words(page)
    assert "At your λ = 20" in words(page)
    nearest = min(point.lam for point in curve if point.lam)
    assert ("No λ closer to 1 was tried" in words(page)) == (best.lam == nearest)
    other = {"zero": "ignore", "ignore": "zero"}[missing]
    page.segmented_control(key="learn_6_missing").set_value(other).run()
    assert "lowest at **" not in words(page)


@pytest.mark.parametrize("alpha", PAPER_ALPHAS)
def test_the_findings_show_every_cell_or_that_it_is_missing(alpha):
    page = opened(chapter="7", alpha=str(alpha))

    table = next(one.value for one in page.main.markdown if "| Synthetic |" in one.value)
    for finding in findings(alpha):
        assert f"| {finding.published_nmf.mean:.3g} |" in table
        if finding.ignore_nmf is not None and finding.ignore_nmf.mean > 0.001:
            assert f"| {finding.ignore_nmf.mean:.3g} |" in table
        # As chapter 8 says of data sets with pictures: the adversary gains little where losses are marked.
        assert finding.name == "synthetic" or (finding.ignored_gain or 0) < 0.025
    absent = any(finding.ignore_nmf is None for finding in findings(alpha))
    assert ("| – |" in table) == absent
    assert ("Not measured" in page.caption[0].value) == absent


def test_the_findings_name_the_numbers_of_unmarked_defects():
    page = opened(chapter="7")

    # The measurements are written with a space before the percent sign.
    told = words(page).replace("%", " %")
    for row in unmarked_defects():
        line = next(line for line in told.splitlines() if f"{DATA_NAMES[row.data]}, {row.damage} |" in line)
        errors = [row.nmf, row.l1, row.pcp, row.restored, row.mask_known]
        shown = [float(cell.strip(" *")) for cell in line.strip("| ").split("|")[1:]]
        assert shown == [round(error, 4) for error in errors]
    example = next(row for row in unmarked_defects() if (row.data, row.damage) == ("moffet", "30 % dark"))
    for sentence in (
        f"{example.damage}, NMF is off by {example.nmf:.4f} and L1-NMF, a robust NMF, by {example.l1:.4f};",
        f"our *restore* is off by {example.restored:.4f}, and NMF that is told which entries are wrong by "
        f"{example.mask_known:.4f}.",
    ):
        assert sentence in told
    (dark, darkest), (bright, brightest) = DARK, BRIGHT
    assert (
        f"Dark entries are recorded at {dark:g} to {darkest:g} times their value, bright ones at {bright:g} "
        f"to {brightest:g} times."
    ) in page.caption[1].value


@pytest.mark.parametrize("number", range(1, len(EXERCISES) + 1))
def test_an_exercise_shows_its_task_and_its_solution_the_answer(number):
    exercise = EXERCISES[number - 1]
    page = opened(**dict(parse_qsl(exercise.link(number, solution=True)[1:])))
    assert exercise.task in words(page)
    assert exercise.answer() in words(page)
    next(button for button in page.button if "←" in button.label or "→" in button.label).click().run()
    assert exercise.task not in "\n".join(element.value for element in page.main.markdown[:2])
    assert "exercise" not in page.query_params


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.title)
def test_an_answer_is_judged_and_a_wrong_one_teaches(exercise):
    assert exercise.judge(exercise.right()) == (True, exercise.answer())
    for wrong, words in exercise.hints().items():
        assert exercise.judge(wrong) == (False, words)
    assert exercise.judge(-123.0) == (False, exercise.hint)


def test_the_page_checks_an_answer_and_does_not_tell_it():
    page = opened(**dict(parse_qsl(EXERCISES[0].link(1)[1:])))

    assert EXERCISES[0].answer() not in words(page)
    page.number_input[0].set_value(0.36).run()
    assert "which NMF pays" in page.warning[0].value
    page.number_input[0].set_value(0.76).run()
    assert "Right." in page.success[0].value


def test_a_sheet_has_the_chosen_exercises_and_no_answers():
    assert {one.chapter for one in EXERCISES} == set(NUMBERS)

    told = words(opened(sheet="1", tasks="1-4"))

    numbers = range(1, len(EXERCISES) + 1)
    assert [one.task in told for one in EXERCISES] == [number in (1, 4) for number in numbers]
    assert not [one for one in EXERCISES if one.answer() in told]


def test_the_notes_for_teachers_are_on_one_page_and_lead_back():
    page = opened(chapter="3")
    assert "2, 3, 5 and 8 make a lesson of 45 minutes" in page.caption[0].value

    next(button for button in page.button if "to print" in button.label).click().run()

    assert page.title[0].value == "Teaching this lesson"
    assert page.query_params["notes"] == "1"
    assert len(page.header) == len(CHAPTERS) + 1
    for exercise in EXERCISES:
        assert exercise.answer() in words(page)


def test_the_last_chapter_says_what_its_fits_say():
    page = opened(chapter="8", damage="bright", share="0.1", lam="1.05", g="0.25")

    given = recorded("bright", 0.1)
    nmf, atnmf, known = mend(given, math.inf), mend(given, 1.05, 0.25), mend_known(given)
    told = words(page)
    assert f"NMF **{nmf.error:.4f}**], :orange[AT-NMF **{atnmf.error:.4f}**]" in told
    assert f"NMF has {known.error:.4f}" in told
    assert f"**{nmf.error / atnmf.error:.1f} times smaller** than NMF's" in told
    caught = (atnmf.walls & given.wrong).sum() / given.wrong.sum()
    assert f"gave up on {caught:.0%} of the {given.wrong.sum():,} wrong" in told


def test_without_a_leash_it_is_the_sound_entries_that_lose_their_weight_to_bright_ones():
    given = recorded("bright", 0.2)
    free, leashed = mend(given, 1.02), mend(given, 1.02, 0.25)
    lost, caught = free.walls[~given.wrong].mean(), free.walls[given.wrong].mean()

    told = words(opened(chapter="8"))

    assert f"at λ = 1.02, {lost:.0%} of them, and only {caught:.0%} of the bright ones." in told
    above = free.V_hat < given.V
    assert above[given.wrong].mean() > 0.8 > 0.02 > above[~given.wrong].mean()
    robust, known = mend_robust(given).error, mend_known(given).error
    assert known < robust < leashed.error, "not all of the damage is mended"
    assert leashed.error - known < 0.15 * (free.error - known), "but most of it"


def test_findings_without_any_measurement_say_so(monkeypatch):
    monkeypatch.setattr(sys.modules["atnmf_core.lesson.findings"], "measured", lambda name: ())

    page = opened(chapter="7")

    assert "(not measured)" in words(page)
    assert "Not measured yet at this α: Synthetic, CBCL faces" in page.caption[0].value
