"""A store of an earlier version opens with all that it holds, and is upgraded."""

import contextlib
import math
import os
import sqlite3
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from atnmf_core.sweep import Grid, Measures, StoreError, StoreReader, open_store, read_store

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
    first, second = store.outcomes("own")
    assert first.measures == asdict(Measures(0.1 + 1 / 30, 0.25, 10.0, 20.0, 7, True, 0.125))
    assert (first.identity["alpha"], first.identity["version"], first.identity["lam"]) == (1 / 3, "6", None)
    assert second.measures is not None
    assert math.isnan(second.measures["rmse_hidden"])
    assert not second.measures["converged"]
    assert [failure.error for failure in store.outcomes("own", failed=True)] == ["MemoryError: too large"]


def test_reading_an_old_store_upgrades_it(old_store: Path) -> None:
    for _ in range(2):
        with read_store(old_store) as store:
            assert_complete(store)
            assert store.queued() == {"own": 1}


def test_writing_upgrades_an_old_store_and_resumes_its_sweeps(old_store: Path) -> None:
    with open_store(old_store) as store:
        sweep = store.add_sweep("own", OWN, "hash")
        assert_complete(store)

    with open_store(old_store) as store:
        assert_complete(store)
        assert len(list(store.claims(sweep, store.begin_run(sweep)))) == 1


def test_a_sweep_reproduces_the_table_that_it_was_run_for_whatever_its_name(
    old_store: Path,
) -> None:
    with read_store(old_store) as store:
        tables = {record.name: record.reproduces for record in store.sweeps()}

    assert tables == {
        "own": None,
        "reproduce cbcl, mine": None,
        "reproduce moffet, zero, da4851bd": "moffet",
    }


def test_a_store_in_which_an_earlier_version_works_is_left_alone(old_store: Path) -> None:
    connection = sqlite3.connect(old_store)
    connection.execute("UPDATE runs SET ended = NULL, pid = ?, started = ?", (os.getpid(), time.time()))
    connection.commit()
    connection.close()

    for opened in (open_store, read_store):
        with pytest.raises(StoreError, match="in use by an earlier version"):
            opened(old_store)
    with contextlib.closing(sqlite3.connect(old_store)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_store_without_owners_is_read_as_it_is_and_gets_them_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with open_store(path) as store:
        store.add_sweep("own", OWN, "hash")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE sweeps DROP COLUMN owner")
        connection.execute("PRAGMA user_version = 3")

    with read_store(path) as store:
        assert store.sweep("own").owner is None
    with open_store(path) as store:
        store.add_sweep("another", OWN, "hash", owner="ann")
        assert {record.name: record.owner for record in store.sweeps()} == {"own": None, "another": "ann"}
