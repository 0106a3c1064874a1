"""What people take away gives the same numbers again."""

import csv
import io
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, factorize, hide_entries, load_dataset, psnr, rmse
from atnmf_core.export import factors_npz, measures_csv
from atnmf_core.recipe import Recipe

DATA = load_dataset("lfw")
OBSERVED = hide_entries(DATA.shape, 0.4, 3, "block", DATA.image_shape, DATA.order)
ATNMF, NMF = (
    factorize(DATA.V, OBSERVED, K=4, method=method, lam=lam, missing="zero", seed=2)
    for method, lam in (("atnmf", 3.0), ("nmf", None))
)
RECIPE = Recipe('load_dataset("lfw")', "lfw", 0.4, 3, "block", 4, 3.0, "zero", "fast", 2)


def test_the_python_recipe_prints_the_same_errors(repository):
    run = subprocess.run(
        [sys.executable, "-c", RECIPE.python()], cwd=repository, capture_output=True, text=True, check=True
    )

    errors = [rmse(DATA.V, fit.V_hat, ~OBSERVED) for fit in (ATNMF, NMF)]
    assert run.stdout == f"AT-NMF {errors[0]:.6f}\nNMF {errors[1]:.6f}\n"


def test_the_recipe_of_a_cube_starts_at_pure_pixels(repository):
    source = 'load_dataset("simulated-scene")'
    recipe = Recipe(source, "simulated-scene", 0.5, 1, "stripes", 3, 2.0, "ignore", "fast", 0, "pure-pixels")
    data = load_dataset("simulated-scene")
    observed = hide_entries(data.shape, 0.5, 1, "stripes", data.image_shape, data.order)
    errors = [
        rmse(
            data.V,
            factorize(data.V, observed, K=3, method=method, lam=lam, init="pure-pixels").V_hat,
            ~observed,
        )
        for method, lam in (("atnmf", 2.0), ("nmf", None))
    ]

    def printed(*words):
        run = subprocess.run(
            [sys.executable, *words], cwd=repository, capture_output=True, text=True, check=True
        )
        return run.stdout

    assert printed("-c", recipe.python()) == f"AT-NMF {errors[0]:.6f}\nNMF {errors[1]:.6f}\n"
    by_command = printed(*shlex.split(recipe.command_line().splitlines()[1])[1:])
    assert f"RMSE, hidden     {errors[1]:.6g}" in by_command


def test_a_leash_is_spelled_for_the_adversary_alone():
    leashed = replace(RECIPE, leash=0.25)

    assert 'method="atnmf", lam=3, leash=0.25, **same' in leashed.python()
    assert leashed.python().count("leash") == 1
    atnmf, nmf = leashed.command_line().splitlines()
    assert atnmf.endswith("--method atnmf --lam 3 --leash 0.25")
    assert "leash" not in nmf
    assert "leash" not in RECIPE.python() + RECIPE.command_line()


def test_the_command_lines_print_the_same_errors(repository):
    for command, fit in zip(RECIPE.command_line().splitlines(), (ATNMF, NMF), strict=True):
        words = shlex.split(command)
        assert words[0] == "python"
        run = subprocess.run(
            [sys.executable, *words[1:]], cwd=repository, capture_output=True, text=True, check=True
        )
        assert f"RMSE, hidden     {rmse(DATA.V, fit.V_hat, ~OBSERVED):.6g}\n" in run.stdout


def test_a_recipe_spells_numbers_to_their_last_digit():
    recipe = replace(RECIPE, lam=1.00000049, alpha=1 / 3)

    assert f"alpha={1 / 3!r}, " in recipe.python()
    assert "lam=1.00000049," in recipe.python()
    assert f"--alpha {1 / 3!r} " in recipe.command_line()
    assert recipe.command_line().splitlines()[0].endswith("--lam 1.00000049")


def test_data_without_a_name_has_no_command_line():
    assert Recipe('read_dataset("x")', "", 0.4, 3, "entries", 4, 3.0, "zero", "fast", 2).command_line() == ""


def test_factors_come_back_from_the_file():
    with np.load(io.BytesIO(factors_npz({"atnmf": ATNMF, "nmf": NMF}, OBSERVED))) as file:
        assert (file["W_atnmf"] == ATNMF.W).all()
        assert (file["H_nmf"] == NMF.H).all()
        assert (file["observed"] == OBSERVED).all()


def test_the_table_of_measures_has_the_whole_and_every_picture():
    rows = list(
        csv.DictReader(io.StringIO(measures_csv(DATA, OBSERVED, ATNMF, NMF, lam=3.0, keep_observed=True)))
    )

    assert len(rows) == 2 + 2 * 100
    assert float(rows[1]["RMSE"]) == pytest.approx(rmse(DATA.V, NMF.V_hat, ~OBSERVED), abs=1e-6)
    face = next(row for row in rows if row["picture"] == "7" and row["method"] == "AT-NMF")
    truth, restored = (
        DATA.image(matrix[:, 6]) for matrix in (DATA.V, np.where(OBSERVED, DATA.V, ATNMF.V_hat))
    )
    # The middle of the face is in every face's block: nothing tells what belongs there.
    told = DATA.image(OBSERVED.any(axis=1))
    assert not told.all()
    assert float(face["PSNR"]) == pytest.approx(psnr(truth, restored, told, truth.max()), abs=1e-5)
    assert face["SSIM"] == ""


def test_a_band_with_unknown_values_is_measured_where_they_are_known():
    V = np.random.default_rng(0).random((5, 16))
    V[2, 3] = np.nan
    cube = Dataset(V, "cube", "cube", image_shape=(4, 4))
    observed = hide_entries(cube.shape, 0.3) & cube.observed
    fits = [
        factorize(V, observed, K=2, method=method, lam=lam) for method, lam in (("atnmf", 2.0), ("nmf", None))
    ]

    rows = list(
        csv.DictReader(io.StringIO(measures_csv(cube, observed, *fits, lam=2.0, keep_observed=False)))
    )

    assert all(np.isfinite(float(row["RMSE"])) for row in rows)
