"""How a model was chosen, as charts; and the report that holds them, in one file."""

import math
import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from atnmf_core.datasets import Dataset
from atnmf_core.figures.before_after import before_and_after
from atnmf_core.figures.palette import HIDDEN, channels_of
from atnmf_core.figures.restoration import adversary_map, candidate_at, error_against_K
from atnmf_core.figures.restoration_report import restoration_page
from atnmf_core.restoration import BadLine, Candidate, Choice, Restoration, Treatment, restore
from atnmf_core.restoration.candidates import PLAIN
from atnmf_core.restoration.scoring import Score

STRONG, LEASHED = Treatment(1.1), Treatment(1.1, 0.5)
SCORES = (
    Score(Candidate(4, STRONG), 0.010, 0.002, 0.009, 3),
    Score(Candidate(3, STRONG), 0.011, 0.001, 0.010, 3),
    Score(Candidate(3, LEASHED), 0.013, math.nan, 0.010, 1),
    Score(Candidate(2, STRONG), 0.020, 0.001, 0.018, 3),
    Score(Candidate(3, PLAIN), math.inf, 0.001, 0.031, 3),
)
CHOICE = Choice(
    chosen=Candidate(3, STRONG),
    scores=SCORES,
    rule="rmse of sound entries",
    error=0.011,
    suspects=0.1,
    verdict="AT-NMF <it> is.",
    complete=True,
    seconds=4.0,
    first_seconds=1.0,
)


def trace(figure: go.Figure, name: str) -> go.Scatter:
    (found,) = [one for one in figure.data if one.name == name]
    return found


def test_the_chosen_adversary_is_drawn_against_k_with_its_standard_error() -> None:
    figure = error_against_K(CHOICE)

    line, band = trace(figure, "λ = 1.1, chosen"), trace(figure, "band")
    assert (line.x, line.y) == ((2, 3, 4), (0.020, 0.011, 0.010))
    assert dict(zip(band.x[:3], band.y[:3], strict=True)) == pytest.approx({2: 0.021, 3: 0.012, 4: 0.012})
    assert dict(zip(band.x[3:], band.y[3:], strict=True)) == pytest.approx({4: 0.008, 3: 0.010, 2: 0.019})
    assert (trace(figure, "ring").x, trace(figure, "ring").y) == ((3,), (0.011,))


def test_every_point_of_the_chart_leads_back_to_its_candidate() -> None:
    """Also a cross, which is drawn in proportion to its typical error."""
    drawn = [
        (K, error)
        for line in error_against_K(CHOICE).data
        if "markers" in line.mode and line.name != "ring"
        for K, error in zip(line.x, line.y, strict=True)
    ]

    assert {candidate_at(CHOICE, *point) for point in drawn} == {score.candidate for score in SCORES}
    assert candidate_at(CHOICE, 7, 0.01) is None


@pytest.mark.parametrize(("standard_error", "level_drawn"), [(0.0002, 0.0102), (0.002, 0.0105)])
def test_the_level_is_one_standard_error_above_the_best_but_at_most_a_twentieth(
    standard_error: float, level_drawn: float
) -> None:
    best = replace(SCORES[0], standard_error=standard_error)

    (level,) = error_against_K(replace(CHOICE, scores=(best, *SCORES[1:]))).layout.shapes

    assert level.y0 == level.y1 == pytest.approx(level_drawn)


def test_a_lucky_candidate_of_one_hold_out_does_not_set_the_level() -> None:
    lucky = Score(Candidate(9, LEASHED), 0.001, math.nan, 0.001, 1)

    (level,) = error_against_K(replace(CHOICE, scores=(lucky, *SCORES))).layout.shapes

    assert level.y0 == pytest.approx(0.0105)


def test_what_the_rule_leaves_out_is_drawn_in_proportion_to_its_typical_error() -> None:
    plain = trace(error_against_K(CHOICE), "NMF")

    # The chosen one has an error of 0.011 where its typical error is 0.010.
    assert plain.y == pytest.approx((0.031 * 1.1,))
    assert "left out for its typical error, 0.031" in plain.customdata[0]


def test_nmf_has_a_cell_with_suspects_and_one_without() -> None:
    scores = (Score(Candidate(3, Treatment()), 0.009, 0.001, 0.009, 3), *SCORES)

    (cells,) = adversary_map(replace(CHOICE, scores=scores)).data

    assert cells.y == ("NMF", "NMF without suspects", "λ = 1.1")
    assert [row[0] for row in cells.text] == ["left out", "0.00900", "0.0100"]


def test_the_map_has_a_row_per_lambda_and_outlines_the_chosen_one() -> None:
    figure = adversary_map(CHOICE)

    (cells,) = figure.data
    assert (cells.x, cells.y) == (("no leash", "leash 0.5"), ("NMF", "λ = 1.1"))
    assert [*cells.text] == [["left out", ""], ["0.0100", "0.0130"]]
    (outline,) = figure.layout.shapes
    assert (outline.x0 < 0 < outline.x1, outline.y0 < 1 < outline.y1) == (True, True)


@pytest.mark.parametrize("figure", [error_against_K(CHOICE), adversary_map(CHOICE)], ids=["K", "map"])
def test_labels_have_room_in_a_report_too(figure: go.Figure) -> None:
    """The dashboard's theme sees to that, a report has none."""
    assert figure.layout.xaxis.automargin
    assert figure.layout.yaxis.automargin


@pytest.fixture(scope="module", params=["cube", "faces", "matrix"])
def example(request: pytest.FixtureRequest) -> tuple[Dataset, Restoration]:
    """Data with a dark entry, a gap, and a column that is missing altogether."""
    rng = np.random.default_rng(0)
    V = (rng.random((30, 2)) + 0.2) @ (rng.random((2, 30)) + 0.1)
    V[3, 5], V[4, 7], V[:, 9] = 0.001, np.nan, np.nan
    shape = None if request.param == "matrix" else (5, 6)
    data = Dataset(V=V, kind=request.param, name="x", title="<b>scene</b> & co", image_shape=shape)
    return data, restore(data, "unmarked", K=2, lam=1.1)


def test_what_cannot_be_restored_has_the_unknown_colour_before_and_after(
    example: tuple[Dataset, Restoration],
) -> None:
    red = channels_of(HIDDEN["red"])
    for sight in before_and_after(*example):
        counts = [int((panel.pixels == red).all(axis=2).sum()) for panel in (sight.before, sight.after)]
        assert counts[0] >= counts[1] > 0
        assert sight.before.pixels.shape == sight.after.pixels.shape


def test_the_report_is_one_file_that_asks_nothing_of_the_network(
    example: tuple[Dataset, Restoration],
) -> None:
    data, restored = example
    page = restoration_page(data, replace(restored, choice=CHOICE), {})

    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert set(re.findall(r'src="(data:image/webp;base64,|[^"]*)', markup)) == {"data:image/webp;base64,"}
    assert not re.search(r"<link|<script[^>]+src|url\(|@import", markup)
    assert "<script src" not in page


def test_the_report_says_what_was_found_and_with_which_settings(
    example: tuple[Dataset, Restoration],
) -> None:
    data, restored = example
    lines = (BadLine("band", 104, 113, 0.9),)
    page = restoration_page(
        data, replace(restored, choice=CHOICE, lines=lines), {"command": "restore '<a>'", "seed": "3"}
    )

    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "Missing: 31 of 900 entries" in text
    assert "Bad as a whole: bands 104 to 113." in text
    assert "Not restored: 30 entries. 1 " in text
    assert "has no sound entry at all." in text
    assert "10.0% of all held-out entries look wrong" in text
    assert '<th scope="row">seed</th><td>3</td>' in text


def test_names_from_files_are_escaped(example: tuple[Dataset, Restoration]) -> None:
    data, restored = example
    page = restoration_page(data, replace(restored, choice=CHOICE), {"<i>": "<script>alert(1)</script>"})

    assert "&lt;b&gt;scene&lt;/b&gt; &amp; co" in page
    assert "AT-NMF &lt;it&gt; is." in page
    for raw in ("<b>scene", "<it>", "<i>", "<script>alert"):
        assert raw not in re.sub(r"<script type=.*?</script>", "", page, flags=re.DOTALL)


def test_settings_that_were_given_are_not_said_to_be_chosen(example: tuple[Dataset, Restoration]) -> None:
    page = restoration_page(*example, {})

    assert "were given, not chosen" in page
    assert "How it was chosen" not in page
