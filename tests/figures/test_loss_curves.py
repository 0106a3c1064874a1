"""Plots hold the numbers they were given, in each method's colour."""

import numpy as np

from atnmf_core.figures.curves import LambdaCurve, loss_curves, rmse_against_lambda
from atnmf_core.figures.palette import ATNMF, NMF


def test_the_error_curve_is_sorted_by_lambda_and_nmf_is_its_level() -> None:
    figure = rmse_against_lambda({"zero": LambdaCurve({5.0: 0.3, 2.0: 0.2}, nmf=0.35)}, here=(2.0, 0.2))

    at, nmf, here = figure.data
    assert (list(at.x), list(at.y), at.line.color) == ([2.0, 5.0], [0.2, 0.3], ATNMF)
    assert (list(nmf.y), nmf.line.color) == ([0.35, 0.35], NMF)
    assert (list(here.x), list(here.y)) == ([2.0], [0.2])
    assert figure.layout.xaxis.type == "log"


def test_the_two_treatments_differ_by_their_line() -> None:
    curve = LambdaCurve({2.0: 0.2}, nmf=0.3)

    zero, _, ignore, _ = rmse_against_lambda({"zero": curve, "ignore": curve}).data

    assert zero.line.dash != ignore.line.dash


def test_losses_are_drawn_per_iteration_from_the_start() -> None:
    history = {"adversarial_loss": np.array([4.0, 2.0, 1.0])}

    at, nmf = loss_curves({"AT-NMF": history, "NMF": history}, "adversarial_loss").data

    assert list(at.x) == [0, 1, 2]
    assert list(at.y) == [4.0, 2.0, 1.0]
    assert (at.line.color, nmf.line.color) == (ATNMF, NMF)


def test_losses_are_marked_at_round_numbers() -> None:
    history = {"squared_error": np.array([1800.0, 400.0, 170.0])}

    figure = loss_curves({"NMF": history}, "squared_error")

    assert list(figure.layout.yaxis.tickvals) == [100, 200, 500, 1000, 2000]
