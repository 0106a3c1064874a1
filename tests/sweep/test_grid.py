"""A grid lists each fit once, knows what makes a fit the same, and refuses what cannot be run."""

import json
from dataclasses import replace

import pytest

from atnmf_core import SOLVER_VERSIONS
from atnmf_core.problem import InputError
from atnmf_core.running.cost import expected_seconds
from atnmf_core.sweep import Grid, expected_sweep_seconds
from atnmf_core.sweep.points import identify

FACES = (625, 100)
GRID = Grid("lfw", alphas=(0.3, 0.5), Ks=(5, 10), lams=(2.0, 5.0), missing=("ignore", "zero"), starts=3)


def test_nmf_is_fitted_once_and_atnmf_for_each_lambda() -> None:
    points = list(GRID.points())

    assert len(points) == len(GRID) == 3 * 2 * 2 * 2 * (1 + 2)
    assert len(set(points)) == len(points)
    assert all((point.lam is None) == (point.method == "nmf") for point in points)


def test_the_first_start_of_everything_comes_before_the_second() -> None:
    starts = [point.start for point in GRID.points()]

    assert starts == sorted(starts)


def test_a_grid_survives_the_way_through_json() -> None:
    assert Grid.from_json(GRID.as_json()) == GRID


def test_single_values_and_repetitions_are_understood() -> None:
    settings = {"dataset": "lfw", "alphas": 0.3, "Ks": [5, 5], "lams": [2, 2.0, 3]}

    grid = Grid.from_json("{}", **settings)

    assert (grid.alphas, grid.Ks, grid.lams) == ((0.3,), (5,), (2.0, 3.0))


def test_equal_grids_have_equal_keys_however_they_were_written() -> None:
    written = Grid.from_json(json.dumps({"dataset": "lfw", "alphas": [0.5], "Ks": 5, "lams": 2}))
    typed = Grid("lfw", alphas=(0.5,), Ks=(5,), lams=(2.0,))

    assert keys(written) == keys(typed)


def test_keys_are_the_same_in_every_process_and_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOLVER_VERSIONS, "fast", "2")
    point = next(Grid("lfw", alphas=(0.3,), Ks=(5,), methods=("nmf",)).points())

    assert identify(point, "data")[0] == "9607884b3a6d32bafd7690025235cd0f"


@pytest.mark.parametrize(
    "change",
    [
        {"alphas": (0.4,)},
        {"Ks": (6,)},
        {"lams": (2.5,)},
        {"missing": ("zero",)},
        {"solver": "paper"},
        {"mask_seed": 1},
        {"pattern": "block"},
        {"seed": 1},
        {"dtype": "float64"},
        {"max_inner": 7},
        {"tol_outer": 0.0},
        {"masks": "paper"},
        {"draws": "paper"},
    ],
)
def test_whatever_changes_a_result_changes_its_key(change: dict[str, object]) -> None:
    plain = Grid("lfw", alphas=(0.3,), Ks=(5,), lams=(2.0,), methods=("atnmf",))

    assert keys(plain).isdisjoint(keys(replace(plain, **change)))


def test_the_key_depends_on_the_data_and_not_on_its_name() -> None:
    renamed = replace(GRID, dataset="a/copy.npz")

    assert keys(GRID, "hash") == keys(renamed, "hash")
    assert keys(GRID, "hash").isdisjoint(keys(GRID, "another hash"))


def test_results_of_another_solver_version_are_not_mistaken_for_these(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = keys(GRID)
    monkeypatch.setitem(SOLVER_VERSIONS, GRID.solver, "another")

    assert before.isdisjoint(keys(GRID))


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"alphas": [1.3]}, "alpha=1.3"),
        ({"alphas": [0]}, "alpha=0"),
        ({"alphas": []}, "alphas is empty"),
        ({"alphas": ["half"]}, "alpha='half'"),
        ({"Ks": [0]}, "Ks=0"),
        ({"Ks": [2.5]}, "Ks=2.5"),
        ({"lams": [1]}, "lams: 1 "),
        ({"lams": []}, "needs at least one lambda"),
        ({"lams": [float("inf")]}, "lams: inf"),
        ({"starts": 0}, "starts=0"),
        ({"starts": True}, "starts=True"),
        ({"methods": ["pca"]}, "'pca': choose one of 'nmf', 'atnmf', 'anmf'"),
        ({"missing": ["mean"]}, "'mean': choose one of 'ignore', 'zero'"),
        ({"solver": "slow"}, "'slow': choose one of 'fast', 'paper'"),
        ({"dtype": "float16"}, "'float16': choose one of"),
        ({"seed": -1}, "seed=-1"),
        ({"tol_outer": -1}, "tol_outer=-1"),
        ({"dataset": ""}, "dataset=''"),
        ({"dataset": 5}, "dataset=5"),
        ({"Ks": [[1]]}, "a list of plain values"),
        ({"speed": 9}, "has no speed"),
        ({"starts": 10**6}, "at most 1000000"),
    ],
)
def test_settings_that_cannot_be_run_are_refused_by_name(settings: dict[str, object], complaint: str) -> None:
    good = {"dataset": "lfw", "alphas": [0.3], "Ks": [5], "lams": [2.0]}

    with pytest.raises(InputError, match=complaint):
        Grid.from_json("{}", **good | settings)


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", '{"dataset": "lfw"}'])
def test_a_text_that_is_no_grid_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="grid"):
        Grid.from_json(text)


def test_a_sweep_takes_as_long_as_its_fits() -> None:
    grid = Grid("lfw", alphas=(0.3, 0.5), Ks=(25,), lams=(2.0, 5.0), missing=("zero", "ignore"), starts=3)

    each = {missing: expected_seconds(FACES, 25, missing=missing) for missing in ("zero", "ignore")}

    assert expected_sweep_seconds(grid, FACES) == pytest.approx(2 * 3 * 3 * (each["zero"] + each["ignore"]))


def test_anmf_takes_longer_than_nmf_and_has_one_algorithm() -> None:
    nmf, anmf = (
        expected_sweep_seconds(Grid("lfw", alphas=(0.3,), Ks=(25,), methods=(method,)), FACES)
        for method in ("nmf", "anmf")
    )
    by_paper = Grid("lfw", alphas=(0.3,), Ks=(25,), methods=("anmf",), solver="paper")

    assert anmf > nmf
    assert expected_sweep_seconds(by_paper, FACES) == anmf


def keys(grid: Grid, content_hash: str = "hash") -> set[str]:
    return {identify(point, content_hash)[0] for point in grid.points()}
