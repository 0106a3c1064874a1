"""Sweeps can be renamed and deleted, and nothing that another sweep needs goes with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from atnmf_core import Dataset
from atnmf_core.problem import InputError
from atnmf_core.sweep import (
    MAX_NAME_LENGTH,
    Grid,
    Measures,
    Store,
    load_source,
    open_store,
    save_upload,
    upload_path,
)
from atnmf_core.sweep.queue import Queue

NARROW = Grid("lfw", alphas=(0.3,), Ks=(5,), lams=(2.0,))
WIDE = Grid("lfw", alphas=(0.3, 0.5), Ks=(5,), lams=(2.0,))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with open_store(tmp_path / "store.sqlite") as opened:
        for name, grid in (("narrow", NARROW), ("wide", WIDE)):
            sweep = opened.add_sweep(name, grid, "hash")
            run = opened.begin_run(sweep)
            for key, _ in opened.claims(sweep, run):
                opened.add_outcome(key, Measures(0.5, 0.25, 10.0, 20.0, 7, True, 0.125))
            opened.end_run(run, "finished")
        yield opened


def names(store: Store) -> set[str]:
    return {record.name for record in store.sweeps()}


def test_a_renamed_sweep_keeps_its_results(store: Store) -> None:
    before = list(store.outcomes("wide"))

    assert store.rename_sweep("wide", "  for   the talk ") == "for the talk"

    assert names(store) == {"narrow", "for the talk"}
    assert list(store.outcomes("for the talk")) == before


@pytest.mark.parametrize("new", ["", "   ", "x" * (MAX_NAME_LENGTH + 1), "narrow"])
def test_a_name_that_is_none_or_taken_is_refused(store: Store, new: str) -> None:
    with pytest.raises(InputError, match=r"a name has 1 to|there is a sweep 'narrow' already"):
        store.rename_sweep("wide", new)

    assert names(store) == {"narrow", "wide"}


def test_deleting_a_sweep_leaves_the_points_that_another_has_too(store: Store) -> None:
    store.delete_sweep("wide")

    assert names(store) == {"narrow"}
    assert len(list(store.outcomes("narrow"))) == len(NARROW)
    (left,) = store.query("SELECT COUNT(*) AS number FROM points")
    assert left["number"] == len(NARROW)


def test_deleting_the_last_sweep_leaves_nothing(store: Store) -> None:
    for name in ("narrow", "wide"):
        store.delete_sweep(name)

    for table in ("points", "sweeps", "sweep_points", "runs", "queue"):
        assert store.query(f"SELECT * FROM {table}") == []


def test_a_sweep_that_runs_or_waits_is_neither_renamed_nor_deleted(store: Store) -> None:
    other = Grid("lfw", alphas=(0.7,), Ks=(5,), lams=(2.0,))
    store.begin_run(store.add_sweep("running", other, "hash"))
    store.add_sweep("queued", Grid("lfw", alphas=(0.9,), Ks=(5,), lams=(2.0,)), "hash")
    Queue(store).add("queued")

    for name in ("running", "queued"):
        with pytest.raises(InputError, match="stop it before it is renamed"):
            store.rename_sweep(name, "new")
        with pytest.raises(InputError, match="stop it before it is deleted"):
            store.delete_sweep(name)

    assert names(store) == {"narrow", "wide", "running", "queued"}


def test_uploaded_data_goes_with_the_last_sweep_that_has_it(store: Store) -> None:
    data = Dataset(np.ones((6, 8)), "matrix", "mine")
    file = upload_path(store.path, data)
    for name in ("first", "second"):
        store.add_sweep(name, replace(NARROW, dataset=str(file)), data.content_hash)
        save_upload(store.path, data)
    assert load_source(str(file)).content_hash == data.content_hash

    store.delete_sweep("first")
    assert file.exists()
    store.delete_sweep("second")

    assert list(file.parent.iterdir()) == []


def test_a_file_of_the_users_own_is_never_deleted(store: Store, tmp_path: Path) -> None:
    own = tmp_path / "mine.npy"
    np.save(own, np.ones((6, 8)))
    store.add_sweep("own", replace(NARROW, dataset=str(own)), "another hash")

    store.delete_sweep("own")

    assert own.exists()
