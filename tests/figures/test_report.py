"""How a model was chosen, and where a table of the paper agrees, as charts; and the report in one file."""

import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from atnmf_core.datasets import Dataset
from atnmf_core.export import how_sure, only_noise, restoration_page
from atnmf_core.figures.images import ATNMF, COLOURS, GROUND, HIDDEN, agreement_mosaic, channels_of
from atnmf_core.figures.plotting import candidate_at, error_against_K, noise_by_band
from atnmf_core.figures.publish import Look, save_chart
from atnmf_core.figures.report import reproduction_figure
from atnmf_core.figures.views import before_and_after
from atnmf_core.model.metrics import rmse
from atnmf_core.reference import NAMES, measured, published
from atnmf_core.reference.compare import compare_table
from atnmf_core.restoration import Candidate, Choice, Treatment, restore
from atnmf_core.restoration.choice import Score
from atnmf_core.restoration.findings import KINDS, findings

PLAIN, STRONG = Treatment(), Treatment(1.02)
SCORES = (
    Score(Candidate(4, STRONG), 0.010, 3.1),
    Score(Candidate(3, STRONG), 0.011, 3.097),
    Score(Candidate(3, PLAIN), 0.013, 2.9),
    Score(Candidate(2, STRONG), 0.020, 2.5),
)
CHOICE = Choice(
    chosen=Candidate(3, STRONG),
    scores=SCORES,
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


def test_each_first_prediction_is_a_line_against_k_and_the_chosen_one_has_a_ring():
    figure = error_against_K(CHOICE)

    line, other = trace(figure, "adversary with λ = 1.02, chosen"), trace(figure, "NMF without suspects")
    assert (line.x, line.y) == ((2, 3, 4), (0.020, 0.011, 0.010))
    assert (other.x, other.y) == ((3,), (0.013,))
    assert "log density 2.900" in other.customdata[0]
    assert (trace(figure, "ring").x, trace(figure, "ring").y) == ((3,), (0.011,))
    pytest.importorskip("matplotlib")
    svg = save_chart(figure, Look("svg")).decode()
    assert svg.count("<text") > 5
    assert ATNMF.lower() in svg


def test_every_point_of_the_chart_leads_back_to_its_candidate():
    drawn = [
        (K, error)
        for line in error_against_K(CHOICE).data
        if "markers" in line.mode and line.name != "ring"
        for K, error in zip(line.x, line.y, strict=True)
    ]

    assert {candidate_at(CHOICE, *point) for point in drawn} == {score.candidate for score in SCORES}
    assert candidate_at(CHOICE, 7, 0.01) is None


@pytest.fixture(scope="module", params=["cube", "faces", "matrix"])
def example(request):
    """Data with a dark entry, a gap, and a row that is missing altogether."""
    rng = np.random.default_rng(0)
    V = (rng.random((30, 2)) + 0.2) @ (rng.random((2, 30)) + 0.1)
    V[3, 5], V[4, 7], V[11] = 0.001, np.nan, np.nan
    shape = None if request.param == "matrix" else (5, 6)
    data = Dataset(V=V, kind=request.param, name="x", title="<b>scene</b> & co", image_shape=shape)
    return data, restore(data, "unmarked", K=2, lam=1.1)


def test_what_cannot_be_restored_has_the_unknown_colour_before_and_after(example):
    red, (data, restored) = channels_of(HIDDEN["red"]), example
    lost = np.zeros(data.shape, dtype=bool)
    lost[:, 9] = True
    data = replace(data, V=np.where(lost, np.nan, data.V))
    restored = replace(
        restored, V=np.where(lost, np.nan, restored.V), unrestorable=restored.unrestorable | lost
    )
    for sight in before_and_after(data, restored):
        counts = [int((panel.pixels == red).all(axis=2).sum()) for panel in (sight.before, sight.after)]
        assert counts[0] >= counts[1] > 0
        assert sight.before.pixels.shape == sight.after.pixels.shape


def test_the_report_says_what_was_found_and_with_which_settings_in_one_file(example):
    data, restored = example
    settings = {"command": "restore '<a>'", "seed": "3", "<i>": "<script>alert(1)</script>"}
    page = restoration_page(data, replace(restored, choice=CHOICE), settings)

    assert "31 entries missing (3.44%)" in page
    for finding in findings(data, restored):
        assert f'alt="Where entries are {KINDS[finding.kind]}"' in page
    assert ("<h2>Noise by band</h2>" in page) is (data.kind == "cube")
    assert "30 entries could not be restored. 1 " in page
    assert f"±{restored.expected_error:#.3g}" in page
    assert "has no sound entry at all." in page
    assert "10.0% of all entries were suspects." in page
    assert '<th scope="row">seed</th><td>3</td>' in page
    # Names from files are escaped.
    assert "&lt;b&gt;scene&lt;/b&gt; &amp; co" in page
    assert "AT-NMF &lt;it&gt; is." in page
    without_charts = re.sub(r'<div class="chart">.*?</div>', "", page, flags=re.DOTALL)
    assert [raw for raw in ("<b>scene", "<it>", "<i>", "<script>alert") if raw in without_charts] == []
    # It asks nothing of the network.
    assert set(re.findall(r'src="(data:image/webp;base64,|[^"]*)', page)) == {"data:image/webp;base64,"}
    assert not re.search(r"<link|<script|@import|url\((?!#)", page)
    given = restoration_page(data, restored, {})
    assert "were given, not chosen" in given
    assert "How it was chosen" not in given


def test_noise_is_drawn_against_wavelength_and_the_bad_bands_are_named():
    data = Dataset(
        np.ones((4, 6)), "cube", "x", image_shape=(2, 3), wavelengths=np.array([400.0, 500, 600, 700])
    )

    line, marks = noise_by_band(data, np.array([0.1, 0.2, 2.0, 0.1]), (3,)).data

    assert list(line.x) == [400, 500, 600, 700]
    assert (list(marks.x), list(marks.customdata)) == ([600], ["band 3, 600 nm: 2.00"])


def test_how_sure_it_is_follows_what_was_done(example):
    data, restored = example
    sound = replace(data, V=restored.denoised)
    nothing = replace(restored, defects=np.zeros_like(restored.defects), is_smoothed=False)

    assert how_sure(sound, nothing) == ""
    noisy = how_sure(sound, replace(nothing, is_smoothed=True))
    assert f"±{np.median(restored.noise):#.3g} in the median" in noisy
    assert noisy.endswith(f"typically off by ±{restored.denoised_error:#.3g}.")
    said = how_sure(data, restored)
    assert said.startswith(f"Typical error of what was replaced: ±{restored.expected_error:#.3g}, ")
    if data.kind == "cube":
        wrong = np.zeros(data.shape, dtype=bool)
        wrong[:25, 7] = True
        assert "This does not hold where most bands look wrong: row 3, column 2" in how_sure(
            data, replace(restored, defects=wrong)
        )


def test_noise_alone_is_told_with_what_denoising_gains():
    rng = np.random.default_rng(0)
    truth = (rng.random((40, 3)) + 0.2) @ rng.dirichlet((1, 1, 1), 900).T
    data = Dataset(truth + rng.normal(0, 0.02, truth.shape), "cube", "x", image_shape=(30, 30))
    restored = restore(data, "unmarked", K=3, lam=np.inf)

    kept, off = only_noise(data, restored)
    assert kept == pytest.approx(rmse(truth, data.V), rel=0.1)
    assert off == pytest.approx(rmse(truth, restored.denoised), rel=0.3)
    assert f"off by about ±{kept:#.3g}, the data denoised everywhere by about ±{off:#.3g}" in how_sure(
        data, restored
    )
    # What is alike in neighbouring pixels is detail.
    detail = 0.02 * np.sin(np.arange(900) // 30 / 3)
    assert only_noise(data, replace(restored, denoised=restored.denoised + detail)) is None


@pytest.mark.parametrize("name", NAMES)
def test_every_published_number_is_drawn_and_measured_ones_where_there_are_some(name):
    figure = reproduction_figure(compare_table(name, measured(name)))

    drawn = {(x, y) for trace in figure.data[::2] for x, y in zip(trace.x, trace.y, strict=True)}
    found = [y for trace in figure.data[1::2] for y in trace.y]

    assert drawn == {(cell.alpha, cell.mean) for cell in published(name)}
    assert sorted(found) == sorted(cell.mean for cell in measured(name) if cell.missing == "zero")


def test_a_mosaic_has_a_tile_per_cell_in_the_tables_order():
    agreements = ["within", "near", "outside", None, "within", "within"]

    picture = agreement_mosaic(agreements, columns=2, side=28)

    assert picture.shape == (28, 28, 3)
    middles = picture[4::10, 6::15]
    assert [tuple(colour) for colour in middles.reshape(-1, 3)] == [COLOURS[told] for told in agreements]
    assert np.all(picture[8:10] == GROUND)
    assert np.all(picture[:, 13:15] == GROUND)
