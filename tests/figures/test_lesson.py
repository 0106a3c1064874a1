"""The lesson's charts show what they are given, and nothing before it is time."""

from dataclasses import replace

import numpy as np
import pytest

from atnmf_core.figures.lesson import findings_chart, guess_chart, series_chart
from atnmf_core.lesson.findings import Error, Finding
from atnmf_core.sweep import Measurement

ERRORS = {1.05: 0.3, 2.0: 0.1, 50.0: 0.2}
TITLES = {"cbcl": "Faces", "moffet": "Moffett Field"}


def traces(figure: object) -> dict[str, object]:
    return {trace.name: trace for trace in figure.data}


def test_a_guess_gives_nothing_away_until_the_truth_stands_beside_it():
    figure = guess_chart(5.0)
    assert set(traces(figure)) == {"your guess"}
    assert figure.layout.yaxis.showticklabels is False
    assert figure.layout.shapes[0].x0 == 5.0

    how = (4, "ignore", "fast", "float32")
    curve = [Measurement(0.5, "atnmf", lam, *how, error) for lam, error in ERRORS.items()]

    shown = traces(guess_chart(5.0, [*curve, Measurement(0.5, "nmf", None, *how, 0.21)], 0.15))
    assert list(shown["AT-NMF"].x) == sorted(ERRORS)
    assert list(shown["AT-NMF"].y) == [0.3, 0.1, 0.2]
    assert set(shown["NMF"].y) == {0.21}
    assert (shown["ring"].x[0], shown["ring"].y[0]) == (2.0, 0.1)
    assert (shown["your guess"].x[0], shown["your guess"].y[0]) == (5.0, 0.15)


def test_hidden_places_of_a_series_are_told_from_seen_ones():
    shown = traces(series_chart((1.0, 4.0, 2.0), (True, False, True), {"zero": (0.5, 1.0, 0.5)}))

    assert list(shown["seen"].x) == [1, 3]
    assert list(shown["hidden"].y) == [4.0]
    assert list(shown["unmarked fit"].y) == [0.5, 1.0, 0.5]


@pytest.mark.parametrize("with_marked", [True, False])
def test_findings_are_shares_of_the_published_error_and_missing_ones_are_left_out(with_marked):
    nmf, atnmf = Error(2.0, None, 10), Error(1.0, 2.0, 10)
    faces = Finding("cbcl", 0.5, nmf, atnmf, None, None, None, None)
    moffet = replace(
        faces, name="moffet", published_nmf=Error(4.0, None, 10), published_atnmf=Error(3.0, 2.0, 10)
    )
    marked = replace(moffet, ignore_nmf=Error(1.0, None, 3))

    figure = findings_chart((faces, marked), TITLES, with_marked=with_marked)
    shown, axis = traces(figure), figure.layout.yaxis

    np.testing.assert_allclose(shown["AT-NMF, published"].x, [0.5, 0.75])
    assert list(axis.ticktext) == ["Faces", "Moffett Field"]
    assert max(axis.range) > 1 > 0 > min(axis.range)
    if with_marked:
        np.testing.assert_allclose(shown["NMF, marked"].x, [0.25])
        assert round(shown["NMF, marked"].y[0]) == 1
        assert len(shown["AT-NMF, marked"].x) == 0
