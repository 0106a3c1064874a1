"""A grid lists each fit once, finds its data and starts, and its measurements come back from their table."""

import math
from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import SOLVER_VERSIONS, Dataset, InputError, load_dataset
from atnmf_core.datasets import UnreadableData
from atnmf_core.jobs.fit_task import expected_seconds
from atnmf_core.sweep import Grid, expected_sweep_seconds, load_source, paper_start, save_dataset
from atnmf_core.sweep.grid import identify
from atnmf_core.sweep.measurements import Measurement, baseline, best, csv_text, gain, read_csv

FACES = (625, 100)
GRID = Grid("lfw", alphas=(0.3, 0.5), Ks=(5, 10), lams=(2.0, 5.0), missing=("ignore", "zero"), starts=3)


def test_nmf_is_fitted_once_and_atnmf_for_each_lambda_and_the_first_start_of_everything_first():
    points = list(GRID.points())

    assert len(points) == len(GRID) == 3 * 2 * 2 * 2 * (1 + 2)
    assert len(set(points)) == len(points)
    assert all((point.lam is None) == (point.method == "nmf") for point in points)
    starts = [point.start for point in points]
    assert starts == sorted(starts)


def test_a_grid_survives_the_way_through_json_however_it_was_written():
    assert Grid.from_json(GRID.as_json()) == GRID

    written = Grid.from_json('{"dataset": "lfw", "alphas": 0.5, "Ks": [5, 5]}', lams=[2, 2.0, 3])
    typed = Grid("lfw", alphas=(0.5,), Ks=(5,), lams=(2.0, 3.0))

    assert written == typed
    assert keys(written) == keys(typed)


def test_keys_are_the_same_in_every_process_and_release(monkeypatch):
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
def test_whatever_changes_a_result_changes_its_key(change):
    plain = Grid("lfw", alphas=(0.3,), Ks=(5,), lams=(2.0,), methods=("atnmf",))

    assert keys(plain).isdisjoint(keys(replace(plain, **change)))


def test_a_key_depends_on_the_data_but_not_on_its_name_and_on_the_version_of_the_solver(monkeypatch):
    before = keys(GRID, "hash")

    assert keys(replace(GRID, dataset="a/copy.npz"), "hash") == before
    assert keys(GRID, "another hash").isdisjoint(before)
    monkeypatch.setitem(SOLVER_VERSIONS, GRID.solver, "another")
    assert keys(GRID, "hash").isdisjoint(before)


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
def test_settings_that_cannot_be_run_are_refused_by_name(settings, complaint):
    good = {"dataset": "lfw", "alphas": [0.3], "Ks": [5], "lams": [2.0]}

    with pytest.raises(InputError, match=complaint):
        Grid.from_json("{}", **good | settings)


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", '{"dataset": "lfw"}'])
def test_a_text_that_is_no_grid_is_refused(text):
    with pytest.raises(InputError, match="grid"):
        Grid.from_json(text)


def test_a_sweep_takes_as_long_as_its_fits():
    grid = Grid("lfw", alphas=(0.3, 0.5), Ks=(25,), lams=(2.0, 5.0), missing=("zero", "ignore"), starts=3)

    each = {missing: expected_seconds(FACES, 25, missing=missing) for missing in ("zero", "ignore")}

    assert expected_sweep_seconds(grid, FACES) == pytest.approx(2 * 3 * 3 * (each["zero"] + each["ignore"]))


def test_anmf_takes_longer_than_nmf_and_has_one_algorithm():
    nmf, anmf = (
        expected_sweep_seconds(Grid("lfw", alphas=(0.3,), Ks=(25,), methods=(method,)), FACES)
        for method in ("nmf", "anmf")
    )
    by_paper = Grid("lfw", alphas=(0.3,), Ks=(25,), methods=("anmf",), solver="paper")

    assert anmf > nmf
    assert expected_sweep_seconds(by_paper, FACES) == anmf


def keys(grid: Grid, content_hash: str = "hash") -> set[str]:
    return {identify(point, content_hash)[0] for point in grid.points()}


SHAPE, K = (7, 9), 3


def test_starts_are_the_successive_draws_of_the_authors_loops():
    stream = np.random.RandomState(1)
    for alpha in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        for start in range(10):
            W = np.abs(stream.normal(0, 1, size=(7, K)))
            H = np.abs(stream.normal(0, 1, size=(K, 9)))

            drawn = paper_start(SHAPE, K, alpha, start)

            np.testing.assert_array_equal(drawn[0], W)
            np.testing.assert_array_equal(drawn[1], H)


@pytest.mark.parametrize(("alpha", "start"), [(0.35, 0), (0.3, 10), (0.3, -1)])
def test_what_the_authors_did_not_draw_is_refused(alpha, start):
    with pytest.raises(InputError, match="authors"):
        paper_start(SHAPE, K, alpha, start)


GAPS = Dataset(np.array([[0.0, np.nan], [1.0, 2.0]], dtype=np.float32), "matrix", "mine")


@pytest.mark.parametrize(
    "data", [*map(load_dataset, ("lfw", "simulated-scene", "synthetic")), GAPS], ids=lambda data: data.name
)
def test_a_data_set_of_any_kind_comes_back_as_it_was(data, tmp_path):
    save_dataset(data, tmp_path / "data.npz")

    again = load_source(str(tmp_path / "data.npz"))

    assert again.content_hash == data.content_hash
    assert (again.kind, again.name, again.image_shape) == (data.kind, data.name, data.image_shape)
    np.testing.assert_array_equal(again.V, data.V)


def test_a_source_is_a_name_or_a_file_which_is_read_as_the_options_say(tmp_path):
    assert load_source("lfw").content_hash == load_dataset("lfw").content_hash
    with pytest.raises(InputError, match=r"'nowhere' is neither a file nor one of lfw,"):
        load_source("nowhere")

    np.save(tmp_path / "mine.npy", np.arange(-1.0, 5.0).reshape(2, 3))
    save_dataset(load_dataset("synthetic"), tmp_path / "ready.npz")

    own = load_source(str(tmp_path / "mine.npy"), negative="zero")
    np.testing.assert_array_equal(own.V, [[0, 0, 1], [2, 3, 4]])
    for source in ("lfw", str(tmp_path / "ready.npz")):
        with pytest.raises(InputError, match=r"negative='zero': .* is read in one way only"):
            load_source(source, negative="zero")


def spoilt(kept: bytes) -> dict[str, bytes]:
    """Ways in which an archive arrives that is none any more."""
    directory = kept.rindex(b"PK\x01\x02")
    return {
        "is empty": b"",
        "is a bare array": kept[kept.index(b"\x93NUMPY") :],
        "is cut short": kept[: len(kept) // 2],
        "has other bytes inside": kept[:400] + bytes(200) + kept[600:],
        "has a spoilt directory": kept[:directory] + b"XXXX" + kept[directory + 4 :],
    }


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("damage", spoilt(b"\x93NUMPY PK\x01\x02"))
def test_a_damaged_archive_is_refused_by_its_name(damage, marked, tmp_path):
    path = tmp_path / "mine.npz"
    V = load_dataset("synthetic").V
    save_dataset(load_dataset("synthetic"), path) if marked else np.savez(path, V)
    path.write_bytes(spoilt(path.read_bytes())[damage])

    with pytest.raises(UnreadableData, match=r"^mine\.npz is "):
        load_source(str(path))


ROW = Measurement(
    alpha=0.3,
    method="atnmf",
    lam=2.0,
    K=5,
    missing="zero",
    solver="fast",
    dtype="float32",
    mean=0.25,
    deviation=0.015625,
    starts=3,
    max_outer=100,
    seconds=0.5,
    version="3",
    date="2026-01-31",
    dataset="lfw",
    rmse_observed=0.1,
    n_iter=12.0,
)
NMF = replace(ROW, method="nmf", lam=None, mean=0.5)
CURVE = [NMF, replace(ROW, lam=1.05, mean=0.375), ROW, replace(ROW, lam=100.0, mean=0.484375)]


@pytest.mark.parametrize(
    "rows", [CURVE, [replace(ROW, starts=1, deviation=None, seconds=None)], []], ids=["curve", "one", "none"]
)
def test_measurements_come_back_from_their_table(rows):
    assert read_csv(csv_text(rows)) == tuple(rows)
    # Some columns may be left out.
    text = "alpha,method,lam,K,missing,solver,dtype,mean\n0.3,nmf,,3,zero,paper,float32,0.12\n"
    assert read_csv(text) == (Measurement(0.3, "nmf", None, 3, "zero", "paper", "float32", 0.12),)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n",
        "alpha,method,mean\n0.3,nmf,0.1\n",
        csv_text([]).replace("date", "date,notes"),
        csv_text([ROW]).replace("0.25", "much"),
        csv_text([]) + "0.3,nmf\n",
    ],
    ids=["foreign", "lacking", "more", "no number", "short"],
)
def test_another_kind_of_table_is_refused(text):
    with pytest.raises(InputError, match="not a table of measurements"):
        read_csv(text)


def test_the_best_point_is_atnmfs_of_least_error_and_its_gain_is_a_share_of_nmfs():
    found, nmf = best([*CURVE, replace(ROW, lam=3.0, mean=math.nan)]), baseline(CURVE, "nmf")

    assert found == ROW
    assert best([NMF]) is None
    assert nmf == NMF
    assert gain(found, nmf) == pytest.approx(0.5)
    assert gain(nmf, found) == pytest.approx(-1.0)
    # A level is that of the same solver where there are two.
    other = replace(NMF, solver="paper", mean=0.6)
    assert baseline([NMF, other], "nmf", like=replace(ROW, solver="paper")) == other
