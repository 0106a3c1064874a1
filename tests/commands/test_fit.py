"""`fit` prints what the Python call gives, and writes factors and pictures."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.__main__ import main

FIT = ["fit", "--data", "lfw", "--alpha", "0.3", "--mask-seed", "4", "--K", "6", "--seed", "2"]


def test_the_printed_error_is_that_of_the_python_call(capsys: pytest.CaptureFixture[str]) -> None:
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.3, seed=4)
    fit = factorize(data.V, observed, K=6, method="atnmf", lam=2.0, missing="zero", seed=2)

    assert main([*FIT, "--method", "atnmf", "--lam", "2", "--missing", "zero"]) == 0

    printed = dict(line.rsplit("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert float(printed["RMSE, hidden   "]) == pytest.approx(rmse(data.V, fit.V_hat, ~observed), rel=1e-5)


def test_the_written_factors_are_the_fitted_ones(tmp_path: Path) -> None:
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.3, seed=4)
    fit = factorize(data.V, observed, K=6, seed=2)

    assert main([*FIT, "--out", str(tmp_path / "fit.npz")]) == 0

    with np.load(tmp_path / "fit.npz") as kept:
        np.testing.assert_array_equal(kept["observed"], observed)
        np.testing.assert_allclose(kept["W_nmf"], fit.W, rtol=1e-5)
        np.testing.assert_allclose(kept["H_nmf"], fit.H, rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "panels"), [(["--method", "nmf"], 3), (["--method", "atnmf", "--lam", "2"], 5)]
)
def test_the_picture_shows_original_masked_and_what_was_learned(
    method: list[str], panels: int, tmp_path: Path
) -> None:
    assert main([*FIT, *method, "--png", str(tmp_path / "fit.png"), "--picture", "3"]) == 0

    with Image.open(tmp_path / "fit.png") as picture:
        assert picture.format == "PNG"
        assert picture.width / picture.height > 0.75 * panels


def test_without_alpha_nothing_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--data", "synthetic", "--K", "5"]) == 0

    assert "hidden" not in capsys.readouterr().out


def test_a_file_is_read_as_the_options_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = np.arange(-1.0, 29.0).reshape(6, 5)
    np.savez(tmp_path / "two.npz", A=values, B=2 * values)
    fit = ["fit", "--data", str(tmp_path / "two.npz"), "--K", "2"]

    assert main(fit) == 1
    assert "choose one of A (6 x 5), B (6 x 5)" in capsys.readouterr().err
    assert main([*fit, "--variable", "B"]) == 1
    assert "down to -2" in capsys.readouterr().err
    assert main([*fit, "--variable", "B", "--negative", "zero", "--out", str(tmp_path / "fit.npz")]) == 0
    with np.load(tmp_path / "fit.npz") as kept:
        np.testing.assert_allclose(kept["W_nmf"] @ kept["H_nmf"], np.maximum(2 * values, 0), atol=4)
