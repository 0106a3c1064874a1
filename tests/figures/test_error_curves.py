"""Curves hold the numbers they were given, mark the best lambda, and carry what a click needs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from atnmf_core.figures.error_curves import against_alpha, against_lambda, gain_map, lambda_ticks
from atnmf_core.figures.images import ANMF, ATNMF, NMF
from atnmf_core.figures.plotting import loss_curves
from atnmf_core.sweep import Measurement


def point(method, lam, mean, alpha=0.3, solver="fast", sd=0.01) -> Measurement:
    return Measurement(alpha, method, lam, 5, "zero", solver, "float32", mean, sd, starts=3)


CURVE = [
    point("nmf", None, 0.50),
    point("anmf", None, 0.45),
    point("atnmf", 100.0, 0.49),
    point("atnmf", 2.0, 0.40),
    point("atnmf", 1.1, 0.44),
]
BOTH_ALPHAS = [*CURVE, *(point(p.method, p.lam, p.mean + 0.1, alpha=0.5) for p in CURVE)]


def named(figure: object, name: str) -> object:
    return next(trace for trace in figure.data if trace.name == name)


def test_the_mean_line_goes_through_the_points_in_the_order_of_lambda_in_a_band_of_one_deviation():
    figure = against_lambda([*CURVE, point("atnmf", 5.0, math.nan)])

    line = named(figure, "AT-NMF")
    assert list(line.x) == [1.1, 2.0, 100.0]
    assert list(line.y) == [0.44, 0.40, 0.49]
    assert line.line.color == ATNMF
    alpha, method, lam, solver, words = line.customdata[1]
    assert (alpha, method, lam, solver) == (0.3, "atnmf", 2.0, "fast")
    assert "λ = 2" in words
    assert "RMSE 0.4000 ± 0.01, mean of 3 starts" in words
    band = figure.data[[t.name for t in figure.data].index("AT-NMF") - 1]
    assert band.fill == "toself"
    assert list(band.x) == [1.1, 2.0, 100.0, 100.0, 2.0, 1.1]
    assert list(band.y) == pytest.approx([0.45, 0.41, 0.50, 0.48, 0.39, 0.43])
    single = against_lambda([point("nmf", None, 0.5, sd=None), point("atnmf", 2.0, 0.4, sd=None)])
    assert all(trace.fill is None for trace in single.data)


def test_the_best_lambda_is_marked_with_its_gain_over_levels_across_the_whole_plot():
    figure = against_lambda(CURVE)

    (words,) = figure.layout.annotations
    ring = named(figure, "ring")
    assert (ring.x[0], ring.y[0]) == (2.0, 0.40)
    assert words.text == "<b>best λ = 2</b><br>20.0% below NMF"
    assert words.x == pytest.approx(math.log10(2.0))
    for name, colour, mean in (("NMF", NMF, 0.50), ("ANMF (reconstruction)", ANMF, 0.45)):
        line = named(figure, name)
        assert set(line.y) == {mean}
        assert min(line.x) < 1.1 < 100 < max(line.x)
        assert line.line.color == colour
    alone = against_lambda([point("nmf", None, 0.5)])
    assert not alone.layout.annotations
    assert set(named(alone, "NMF").y) == {0.5}


def test_lines_of_two_solvers_and_of_several_combinations_are_told_apart():
    paper = [point(p.method, p.lam, p.mean + 0.01, solver="paper") for p in CURVE if p.method != "anmf"]
    figure = against_lambda([*CURVE, *paper])
    fast, slow = named(figure, "AT-NMF, fast solver"), named(figure, "AT-NMF, Algorithm 1")
    assert fast.line.color == slow.line.color == ATNMF
    assert fast.line.dash != slow.line.dash

    figure = against_lambda([*CURVE, *(replace(p, missing="ignore", alpha=0.5) for p in CURVE)])
    names = {trace.name for trace in figure.data}
    for method in ("AT-NMF", "NMF", "ANMF (reconstruction)"):
        assert {f"{method}, α = 0.3, unmarked", f"{method}, α = 0.5, marked"} <= names
    zero, ignore = (named(figure, f"NMF, α = {words}") for words in ("0.3, unmarked", "0.5, marked"))
    assert zero.line.dash != ignore.line.dash


def test_a_compact_plot_rings_the_point_in_view_and_keeps_its_axes():
    whole = against_lambda(CURVE, compact=True, here=CURVE[2])
    begun = against_lambda(CURVE[:3], compact=True)

    assert (named(whole, "ring").x[0], named(whole, "ring").y[0]) == (100.0, 0.49)
    assert "ring" not in {trace.name for trace in begun.data}
    assert whole.layout.xaxis.range == begun.layout.xaxis.range
    assert whole.layout.yaxis.rangemode == "tozero"
    assert not whole.layout.annotations


def test_against_alpha_there_is_a_line_for_each_chosen_lambda():
    figure = against_alpha(BOTH_ALPHAS, [2.0, 100.0])

    assert list(named(figure, "AT-NMF, λ = 2").x) == [0.3, 0.5]
    assert list(named(figure, "AT-NMF, λ = 2").y) == pytest.approx([0.40, 0.50])
    assert list(named(figure, "NMF").y) == pytest.approx([0.50, 0.60])
    assert "AT-NMF, λ = 1.1" not in {trace.name for trace in figure.data}


def test_the_map_has_the_gain_over_nmf_of_the_same_alpha_or_the_errors_themselves():
    figure = gain_map(BOTH_ALPHAS)
    heat, targets = figure.data

    assert (list(heat.x), list(heat.y)) == (["1.1", "2", "100"], ["0.3", "0.5"])
    assert heat.z[0] == pytest.approx([12.0, 20.0, 2.0])
    assert heat.z[1] == pytest.approx([10.0, 100 / 6, 10 / 6])
    assert heat.zmin == -heat.zmax
    outlined = [(heat.x[round(one.x0 + 0.5)], heat.y[round(one.y0 + 0.5)]) for one in figure.layout.shapes]
    assert outlined == [("2", "0.3"), ("2", "0.5")]
    reached = {(alpha, "atnmf", lam) for alpha in (0.3, 0.5) for lam in (1.1, 2.0, 100.0)}
    assert {tuple(data[:3]) for data in targets.customdata} == reached
    errors = gain_map([p for p in BOTH_ALPHAS if p.method == "atnmf"]).data[0]
    assert errors.z[0] == pytest.approx([0.44, 0.40, 0.49])
    unfinished = [p for p in BOTH_ALPHAS if (p.alpha, p.lam) != (0.5, 2.0)]
    assert gain_map(unfinished).data[0].z[1][1] is None


@pytest.mark.parametrize("ends", [(1.01, 100.0), (2.0, 5.0), (1.05, 1000.0)])
def test_ticks_lie_inside_and_apart(ends):
    ticks = lambda_ticks(*ends)

    assert ticks
    assert ends[0] * 0.99 <= ticks[0] <= ticks[-1] <= ends[1] * 1.01
    assert ticks == sorted(set(ticks))


def test_losses_are_drawn_per_iteration_from_the_start_and_marked_at_round_numbers():
    history = {
        "adversarial_loss": np.array([4.0, 2.0, 1.0]),
        "squared_error": np.array([1800.0, 400.0, 170.0]),
    }

    at, nmf = loss_curves({"AT-NMF": history, "NMF": history}, "adversarial_loss").data
    axis = loss_curves({"NMF": history}, "squared_error").layout.yaxis

    assert (list(at.x), list(at.y)) == ([0, 1, 2], [4.0, 2.0, 1.0])
    assert (at.line.color, nmf.line.color) == (ATNMF, NMF)
    assert list(axis.tickvals) == [100, 200, 500, 1000, 2000]
