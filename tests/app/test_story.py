"""What Curves and Reproduce say in words about marked and unmarked entries is what their numbers say."""

from __future__ import annotations

import pytest

from atnmf_core.reference import NAMES, measured, published
from atnmf_core.reference.compare import compare_table
from atnmf_core.reference.paper_tables import bundled_curve, tuned
from pages.curves_view.curve import note_of
from pages.reproduce_view.tables import gain_in_words, tuned_in_words


def faces(missing: str, alpha: float, method: str = "atnmf") -> dict[float | None, float]:
    return {
        point.lam: point.mean
        for point in bundled_curve("lfw")
        if (point.missing, point.alpha, point.method) == (missing, alpha, method)
    }


def test_the_note_on_the_faces_says_what_the_curves_say():
    note = note_of("lfw")
    curve, nmf = faces("zero", 0.3), faces("zero", 0.3, "nmf")[None]

    best = min(curve, key=lambda lam: curve[lam])
    assert f"NMF] is {nmf:.3f}, that of :orange[AT-NMF] {curve[2.0]:.3f} at the paper's λ = 2" in note
    assert f"and {curve[best]:.3f} at λ = {best:g}" in note
    gains = {
        alpha: 1 - min(faces("ignore", alpha).values()) / faces("ignore", alpha, "nmf")[None]
        for alpha in (0.1, 0.3, 0.5, 0.7, 0.9)
    }
    for alpha, gain in gains.items():
        assert (f"{gain:.0%} at α = {alpha:g}" in note) == (gain >= 0.02)
    assert [alpha for alpha, gain in gains.items() if gain >= 0.02] == [0.7, 0.9], "where most is hidden"


@pytest.mark.parametrize("table", NAMES)
@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.9])
def test_the_published_gain_in_words_is_that_of_the_published_cells(table, alpha):
    cells = [cell for cell in published(table) if cell.alpha == alpha]
    nmf = next(cell.mean for cell in cells if cell.method == "nmf")
    best = min((cell for cell in cells if cell.method == "atnmf"), key=lambda cell: cell.mean)

    said = gain_in_words(compare_table(table, measured(table)), alpha)

    assert f"is {best.mean:g} (λ = {best.lam:g}), NMF's {nmf:g}: {1 - best.mean / nmf:.0%} less" in said


@pytest.mark.parametrize("table", NAMES)
def test_the_gain_with_a_tuned_lambda_in_words_is_that_of_its_measurement(table):
    nmf = {cell.alpha: cell.mean for cell in published(table) if cell.method == "nmf"}

    for alpha, row in tuned(table).items():
        said = tuned_in_words(compare_table(table, measured(table)), alpha)

        gain = 1 - row.mean / nmf[alpha]
        assert gain > 0
        assert f"error is {row.mean:#.3g} (λ = {row.lam:g}), {gain:.0%} below NMF's" in said
