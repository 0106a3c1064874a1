"""A store of an earlier version opens with all that it holds, and is upgraded by its first writer."""

import math
import os
import sqlite3
import time
from pathlib import Path

import pytest

from atnmf_core.sweep import Grid, Measures, StoreError, StoreReader, open_store, read_store
from atnmf_core.sweep.queue import Queue

OWN = Grid("lfw", alphas=(1 / 3,), Ks=(5,), lams=(2.0,), starts=2)


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """A store that an earlier version wrote: a sweep stopped half-way and queued, and two finished ones."""
    path = tmp_path / "old.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(Path(__file__).with_name("layout_2.sql").read_text())
    connection.close()
    return path


def assert_complete(store: StoreReader) -> None:
    record = store.sweep("own")
    assert (record.grid, record.total, record.done, record.failed) == (OWN, 4, 2, 1)
    assert record.message == "stopped by the user"
    first, second = store.results("own")
    assert first.measures == Measures(0.1 + 1 / 30, 0.25, 10.0, 20.0, 7, True, 0.125)
    assert (first.alpha, first.version, first.lam) == (1 / 3, "6", None)
    assert second.measures is not None
    assert math.isnan(second.measures.rmse_hidden)
    assert second.measures.converged is False
    assert [failure.error for failure in store.results("own", failed=True)] == ["MemoryError: too large"]


def test_reading_leaves_an_old_store_as_it_is(old_store: Path) -> None:
    before = old_store.read_bytes()

    with read_store(old_store) as store:
        assert_complete(store)
        assert store.queued() == {"own": 1}

    assert old_store.read_bytes() == before


def test_writing_upgrades_an_old_store_and_resumes_its_sweeps(old_store: Path) -> None:
    with open_store(old_store) as store:
        sweep = store.add_sweep("own", OWN, "hash")
        assert_complete(store)

    with open_store(old_store) as store:
        assert_complete(store)
        assert len(list(store.claims(sweep, store.begin_run(sweep)))) == 1


def test_a_sweep_is_told_to_reproduce_a_table_by_what_it_was_run_for_and_not_by_its_name(
    old_store: Path,
) -> None:
    with read_store(old_store) as store:
        tables = {record.name: record.reproduces for record in store.sweeps()}

    assert tables == {
        "own": None,
        "reproduce cbcl, mine": None,
        "reproduce moffet, zero, da4851bd": "moffet",
    }


def test_a_store_from_before_there_was_a_queue_gets_one(old_store: Path) -> None:
    connection = sqlite3.connect(old_store)
    connection.executescript("DROP TABLE queue; DROP TABLE runners; PRAGMA user_version = 1;")
    connection.close()

    with read_store(old_store) as store:
        assert_complete(store)
        assert (store.queued(), store.queue_process()) == ({}, None)
    with open_store(old_store) as store:
        Queue(store).add("own")
        assert store.queued() == {"own": 1}


def test_a_store_in_which_an_earlier_version_works_is_read_but_not_upgraded(old_store: Path) -> None:
    connection = sqlite3.connect(old_store)
    connection.execute("UPDATE runs SET ended = NULL, pid = ?, started = ?", (os.getpid(), time.time()))
    connection.commit()
    connection.close()

    with pytest.raises(StoreError, match="in use by an earlier version"):
        open_store(old_store)
    with read_store(old_store) as store:
        assert store.sweep("own").done == 2
