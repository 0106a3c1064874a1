"""What a page says about fits under way."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core.running.film import Frame
from atnmf_core.running.run import RunProgress
from atnmf_core.running.scheduler import Job
from pages.common import fit_pair
from pages.common.fit_request import how_far


def progress(share: float, seconds: float) -> RunProgress:
    return RunProgress(Frame(7, 1.0, np.ones((1, 1)), np.ones((1, 1))), share, seconds)


def test_before_the_first_report_a_fit_is_starting() -> None:
    assert how_far(None, "fast", 10.0) == (0.0, "Starting")


def test_the_fast_solver_is_as_far_as_the_time_that_it_was_expected_to_take() -> None:
    share, words = how_far(progress(0.01, 3.0), "fast", 12.0)

    assert share == pytest.approx(0.25)
    assert words == "Iteration 7 · 3 s gone, at most 9 s left"


@pytest.mark.parametrize("expected", [0.0, 2.0])
def test_a_fit_that_has_just_ended_or_takes_longer_than_expected_is_nearly_done(expected: float) -> None:
    assert how_far(progress(0.2, 3.0), "fast", expected) == (0.95, "Iteration 7 · 3 s gone")


def test_algorithm_1_is_as_far_as_its_iterations() -> None:
    share, words = how_far(progress(0.25, 30.0), "paper", 1.0)

    assert share == 0.25
    assert words.endswith("30 s gone, at most 2 min left")


def test_a_fit_that_waits_for_its_turn_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def script() -> None:
        from atnmf_core import load_dataset
        from pages.common.fit_request import show_wait
        from pages.common.setting import Setting

        show_wait(Setting(), load_dataset("lfw"), something_shown=True)

    waiting = Job("a fit", lambda report: None, long=False)
    monkeypatch.setattr(fit_pair, "jobs", lambda setting, data: [waiting])

    page = AppTest.from_function(script, default_timeout=60).run()

    assert not page.exception
    assert page.button[0].label == "Cancel"
    assert page.get("progress")[0].proto.text == "Busy: this waits for its turn, the last picture is shown"
