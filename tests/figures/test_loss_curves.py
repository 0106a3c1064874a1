"""Plots of losses hold the numbers they were given, in each method's colour."""

import numpy as np

from atnmf_core.figures.loss_curves import loss_curves
from atnmf_core.figures.palette import ATNMF, NMF


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
