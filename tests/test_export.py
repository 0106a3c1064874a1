"""What people take away gives the same numbers again."""

import csv
import io
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

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


def printed(repository: Path, *words: str) -> str:
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout


def test_the_recipe_prints_the_same_errors_in_either_language(repository):
    errors = [rmse(DATA.V, fit.V_hat, ~OBSERVED) for fit in (ATNMF, NMF)]

    assert printed(repository, "-c", RECIPE.python()) == f"AT-NMF {errors[0]:.6f}\nNMF {errors[1]:.6f}\n"
    for command, error in zip(RECIPE.command_line().splitlines(), errors, strict=True):
        words = shlex.split(command)
        assert words[0] == "python"
        assert f"RMSE, hidden     {error:.6g}\n" in printed(repository, *words[1:])


def test_the_recipe_of_a_cube_starts_at_pure_pixels(repository):
    source = 'load_dataset("simulated-scene")'
    recipe = Recipe(source, "simulated-scene", 0.5, 1, "stripes", 3, 2.0, "ignore", "fast", 0, "pure-pixels")
    data = load_dataset("simulated-scene")
    observed = hide_entries(data.shape, 0.5, 1, "stripes", data.image_shape, data.order)
    atnmf, nmf = (
        rmse(data.V, factorize(data.V, observed, K=3, init="pure-pixels", **how).V_hat, ~observed)
        for how in ({"method": "atnmf", "lam": 2.0}, {})
    )

    assert printed(repository, "-c", recipe.python()) == f"AT-NMF {atnmf:.6f}\nNMF {nmf:.6f}\n"
    by_command = printed(repository, *shlex.split(recipe.command_line().splitlines()[1])[1:])
    assert f"RMSE, hidden     {nmf:.6g}" in by_command


def test_a_recipe_spells_numbers_to_their_last_digit_and_a_leash_for_the_adversary_alone():
    recipe = replace(RECIPE, lam=1.00000049, alpha=1 / 3)
    assert f"alpha={1 / 3!r}, " in recipe.python()
    assert "lam=1.00000049," in recipe.python()
    assert f"--alpha {1 / 3!r} " in recipe.command_line()
    assert recipe.command_line().splitlines()[0].endswith("--lam 1.00000049")

    leashed = replace(RECIPE, leash=0.25)
    assert 'method="atnmf", lam=3, leash=0.25, **same' in leashed.python()
    assert leashed.python().count("leash") == 1
    atnmf, nmf = leashed.command_line().splitlines()
    assert atnmf.endswith("--method atnmf --lam 3 --leash 0.25")
    assert "leash" not in nmf + RECIPE.python() + RECIPE.command_line()
    # Data without a name has no command line.
    assert replace(RECIPE, source='read_dataset("x")', data="").command_line() == ""


def table(*what: object, **how: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(measures_csv(*what, **how))))


def test_factors_come_back_and_the_table_of_measures_has_the_whole_and_every_picture():
    with np.load(io.BytesIO(factors_npz({"atnmf": ATNMF, "nmf": NMF}, OBSERVED))) as file:
        for name, expected in (("W_atnmf", ATNMF.W), ("H_nmf", NMF.H), ("observed", OBSERVED)):
            assert (file[name] == expected).all()

    rows = table(DATA, OBSERVED, ATNMF, NMF, lam=3.0, keep_observed=True)

    assert len(rows) == 2 + 2 * 100
    assert float(rows[1]["RMSE"]) == pytest.approx(rmse(DATA.V, NMF.V_hat, ~OBSERVED), abs=1e-6)
    face = next(row for row in rows if row["picture"] == "7" and row["method"] == "AT-NMF")
    restored = np.where(OBSERVED, DATA.V, ATNMF.V_hat)
    truth, restored = (DATA.image(matrix[:, 6]) for matrix in (DATA.V, restored))
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
    fits = [factorize(V, observed, K=2, **how) for how in ({"method": "atnmf", "lam": 2.0}, {})]

    rows = table(cube, observed, *fits, lam=2.0, keep_observed=False)

    assert all(np.isfinite(float(row["RMSE"])) for row in rows)
