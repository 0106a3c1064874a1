"""A store keeps each result once, shares out the work, tells what it has, and keeps the queue."""

import math
import os
import sqlite3
import subprocess
import sys
import timeit
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest

from atnmf_core import SOLVER_VERSIONS, Dataset
from atnmf_core.jobs.processes import created
from atnmf_core.model.problem import InputError
from atnmf_core.sweep import (
    MAX_NAME_LENGTH,
    Grid,
    Measures,
    Store,
    StoreError,
    load_source,
    open_store,
    read_store,
    save_upload,
    upload_path,
)
from atnmf_core.sweep.store import Queue, default_store, default_store_path

GRID = Grid("lfw", alphas=(0.3,), Ks=(5,), lams=(2.0, 5.0), starts=4)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def measures(rmse_hidden: float = 0.5) -> Measures:
    return Measures(rmse_hidden, 0.25, 10.0, 20.0, 7, True, 0.125)


def first_key(store: Store) -> str:
    """Of the first point of a sweep under way."""
    sweep = store.add_sweep("s", GRID, "hash")
    return next(store.claims(sweep, store.begin_run(sweep)))[0]


def keep_all(store: Store, sweep: int, values: list[float]) -> None:
    run = store.begin_run(sweep)
    for (key, _), value in zip(store.claims(sweep, run), values, strict=True):
        assert store.add_outcome(key, measures(value))
    store.end_run(run, "finished")


def test_what_is_kept_comes_back_unchanged(store):
    keep_all(store, store.add_sweep("s", GRID, "hash"), [0.1 * number for number in range(12)])

    results = list(store.outcomes("s"))

    assert [result.measures for result in results] == [asdict(measures(0.1 * number)) for number in range(12)]
    assert [result.identity["start"] for result in results] == [point.start for point in GRID.points()]
    assert {result.identity["version"] for result in results} == {SOLVER_VERSIONS["fast"]}


def test_the_summary_is_the_mean_deviation_and_count_over_starts(store):
    values = np.random.default_rng(0).random(12)
    keep_all(store, store.add_sweep("s", GRID, "hash"), values.tolist())

    rows = {row.lam: row for row in store.summary("s")}

    for column, lam in enumerate((None, 2.0, 5.0)):
        own = values.reshape(4, 3)[:, column]
        assert rows[lam].starts == 4
        assert rows[lam].mean == pytest.approx(own.mean(), rel=1e-14)
        assert rows[lam].deviation == pytest.approx(own.std(ddof=1), rel=1e-12)


def test_one_start_has_no_deviation_and_an_error_that_is_not_a_number_comes_back_as_one(store):
    store.add_outcome(first_key(store), measures(math.nan))

    (result,), (row,) = store.outcomes("s"), store.summary("s")

    assert math.isnan(result.measures["rmse_hidden"])
    assert math.isnan(row.mean)
    assert row.deviation is None


def test_a_finished_point_is_kept_once_and_never_handed_out_again(store):
    sweep = store.add_sweep("s", GRID, "hash")
    first = store.begin_run(sweep)
    claims = store.claims(sweep, first)
    finished = [next(claims)[0] for _ in range(5)]
    for key in finished:
        assert store.add_outcome(key, measures(0.1))
        assert not store.add_outcome(key, measures(0.9))
    store.end_run(first, "stopped")

    left = [key for key, _ in store.claims(sweep, store.begin_run(store.add_sweep("s", GRID, "hash")))]

    assert [result.measures for result in store.outcomes("s")] == [asdict(measures(0.1))] * 5
    assert len(left) == 7
    assert set(left).isdisjoint(finished)


def test_two_sweeps_share_the_points_that_they_have_in_common(store):
    keep_all(store, store.add_sweep("s", GRID, "hash"), [0.5] * 12)

    wider = store.add_sweep("wider", replace(GRID, alphas=(0.3, 0.5)), "hash")

    assert store.waiting(wider) == 12
    assert store.sweep("wider").done == 12


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"max_inner": 7}, {"pattern": "block"}, {"mask_seed": 2}], ids=str
)
def test_what_of_a_grid_was_tried_before_is_what_its_points_have_in_common_with_others(store, change):
    before = Grid(
        "lfw", alphas=(0.3, 0.5), Ks=(5,), lams=(2.0, 5.0), methods=("nmf", "atnmf", "anmf"), starts=2
    )
    after = replace(before, alphas=(0.5, 0.7), lams=(5.0, 9.0), starts=3, missing=("ignore", "zero"))
    sweep = store.add_sweep("before", before, "hash")
    for key, _ in store.claims(sweep, store.begin_run(sweep)):
        store.add_outcome(key, measures())

    for grid in (before, after, replace(after, solver="paper"), replace(after, **change)):
        common = Counter(
            (point.K, point.missing, point.method) for point in {*before.points()} & {*grid.points()}
        )
        assert store.tried(grid, "hash") == common
    assert store.tried(before, "other data") == {}


def test_living_processes_do_not_take_each_others_points(store, tmp_path):
    sweep = store.add_sweep("s", GRID, "hash")
    with open_store(tmp_path / "store.sqlite") as other:
        mine, theirs = (
            store.claims(sweep, store.begin_run(sweep)),
            other.claims(sweep, other.begin_run(sweep)),
        )
        taken = [next(claims)[0] for _ in range(6) for claims in (mine, theirs)]

        assert len(set(taken)) == 12
        assert list(mine) == list(theirs) == []


def test_points_of_a_dead_process_are_free(tmp_path):
    path = tmp_path / "store.sqlite"
    claim_and_die = (
        "import os, sys; from atnmf_core.sweep import Grid, open_store\n"
        "store = open_store(sys.argv[1]); sweep = store.add_sweep('s', Grid.from_json(sys.argv[2]), 'hash')\n"
        "claims = store.claims(sweep, store.begin_run(sweep)); next(claims); next(claims); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", claim_and_die, str(path), GRID.as_json()], check=False)

    with open_store(path) as store:
        sweep = store.add_sweep("s", GRID, "hash")

        assert store.sweep("s").status == "stopped"
        assert len(list(store.claims(sweep, store.begin_run(sweep)))) == 12


def test_a_record_says_how_far_a_sweep_is(store):
    sweep = store.add_sweep("s", GRID, "hash")
    assert (store.sweep("s").status, store.sweep("s").started) == ("stopped", None)

    run = store.begin_run(sweep)
    keys = [key for key, _ in store.claims(sweep, run)]
    store.add_outcome(keys[0], measures())
    store.add_outcome(keys[1], "MemoryError: too large")
    record = store.sweep("s")
    assert (record.status, record.total, record.done, record.failed) == ("running", 12, 1, 1)
    assert (record.pid, record.ended, record.grid) == (os.getpid(), None, GRID)
    assert record.seconds_left is not None

    for key in keys[2:]:
        store.add_outcome(key, measures())
    store.end_run(run, "finished")
    record = store.sweep("s")
    assert (record.status, record.done, record.failed, record.seconds_left) == ("finished", 11, 1, None)
    assert record.ended is not None


def test_a_sweep_took_as_long_as_all_its_runs(store):
    sweep = store.add_sweep("s", GRID, "hash")
    first, killed = store.begin_run(sweep), store.begin_run(sweep)
    key, _ = next(store.claims(sweep, killed))
    store.add_outcome(key, measures())
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE runs SET started = 100, ended = 130 WHERE id = ?", (first,))
        connection.execute("UPDATE runs SET started = 500, ended = NULL, pid = 0 WHERE id = ?", (killed,))
        connection.execute("UPDATE points SET finished = 525 WHERE key = ?", (key,))

    assert store.sweep("s").seconds == 55
    assert store.sweeps()[0].seconds == 55


def test_failed_points_keep_their_message_and_can_be_tried_again(store):
    store.add_outcome(first_key(store), "MemoryError: too large")
    assert [result.error for result in store.outcomes("s", failed=True)] == ["MemoryError: too large"]

    sweep = store.add_sweep("s", GRID, "hash")
    assert store.forget(sweep, only_failed=True) == 1

    assert list(store.outcomes("s", failed=True)) == []
    assert store.waiting(sweep) == 12


def test_a_name_belongs_to_one_grid_and_changed_data_is_swept_anew_under_it(store):
    keep_all(store, store.add_sweep("s", GRID, "hash"), [0.5] * 12)

    with pytest.raises(InputError, match="'s' with other settings"):
        store.add_sweep("s", replace(GRID, alphas=(0.5,)), "hash")
    with pytest.raises(InputError, match="has no sweep 'nothing'"):
        store.sweep("nothing")
    store.add_sweep("s", GRID, "another hash")

    assert store.sweep("s").done == 0


def test_sweeps_are_listed_newest_first_which_takes_no_longer_when_they_have_more_points(tmp_path):
    fastest = {}
    for starts in (1, 600):
        with open_store(tmp_path / f"{starts}.sqlite") as store:
            for number in range(20):
                store.add_sweep(f"{number}", replace(GRID, seed=1000 * number, starts=starts), "hash")
            fastest[starts] = min(timeit.repeat(store.sweeps, number=1, repeat=5))
            assert [record.name for record in store.sweeps()] == [f"{19 - place}" for place in range(20)]

    assert fastest[600] < 5 * fastest[1]


def test_a_reader_sees_results_while_they_are_written_and_does_not_make_a_store(store, tmp_path):
    sweep = store.add_sweep("s", GRID, "hash")
    claims = store.claims(sweep, store.begin_run(sweep))
    with read_store(tmp_path / "store.sqlite") as reader:
        for number in range(1, 4):
            store.add_outcome(next(claims)[0], measures())

            assert reader.sweep("s").done == number

    with pytest.raises(StoreError, match="there is no store here"):
        read_store(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


NARROW = Grid("lfw", alphas=(0.3,), Ks=(5,), lams=(2.0,))
WIDE = replace(NARROW, alphas=(0.3, 0.5))


@pytest.fixture
def pair(store):
    """A store in which one of two finished sweeps has all its points in common with the other."""
    for name, grid in (("narrow", NARROW), ("wide", WIDE)):
        sweep = store.add_sweep(name, grid, "hash")
        keep_all(store, sweep, [0.5] * store.waiting(sweep))
    return store


def test_a_renamed_sweep_keeps_its_results_and_no_name_or_a_taken_one_is_refused(pair):
    before = list(pair.outcomes("wide"))

    assert pair.rename_sweep("wide", "  for   the talk ") == "for the talk"
    for new in ("", "   ", "x" * (MAX_NAME_LENGTH + 1), "narrow"):
        with pytest.raises(InputError, match=r"a name has 1 to|there is a sweep 'narrow' already"):
            pair.rename_sweep("for the talk", new)

    assert {record.name for record in pair.sweeps()} == {"narrow", "for the talk"}
    assert list(pair.outcomes("for the talk")) == before


def test_deleting_a_sweep_leaves_the_points_that_another_has_too_and_the_last_leaves_nothing(pair):
    pair.delete_sweep("wide")
    assert [record.name for record in pair.sweeps()] == ["narrow"]
    assert len(list(pair.outcomes("narrow"))) == len(NARROW)
    assert len(pair.query("SELECT * FROM points")) == len(NARROW)

    pair.delete_sweep("narrow")
    for table in ("points", "sweeps", "sweep_points", "runs", "queue"):
        assert pair.query(f"SELECT * FROM {table}") == []


def test_a_sweep_that_runs_or_waits_is_neither_renamed_nor_deleted(pair):
    pair.begin_run(pair.add_sweep("running", replace(NARROW, alphas=(0.7,)), "hash"))
    pair.add_sweep("queued", replace(NARROW, alphas=(0.9,)), "hash")
    Queue(pair).add("queued")

    for name in ("running", "queued"):
        with pytest.raises(InputError, match="stop it before it is renamed"):
            pair.rename_sweep(name, "new")
        with pytest.raises(InputError, match="stop it before it is deleted"):
            pair.delete_sweep(name)
        assert pair.sweep(name).name == name


def test_uploaded_data_goes_with_the_last_sweep_that_has_it_and_a_file_of_the_users_own_stays(pair, tmp_path):
    data, own = Dataset(np.ones((6, 8)), "matrix", "mine"), tmp_path / "mine.npy"
    np.save(own, np.ones((6, 8)))
    file = upload_path(pair.path, data)
    for name in ("first", "second"):
        pair.add_sweep(name, replace(NARROW, dataset=str(file)), data.content_hash)
        save_upload(pair.path, data)
    pair.add_sweep("own", replace(NARROW, dataset=str(own)), "another hash")
    assert load_source(str(file)).content_hash == data.content_hash

    pair.delete_sweep("first")
    assert file.exists()
    pair.delete_sweep("second")
    pair.delete_sweep("own")

    assert list(file.parent.iterdir()) == []
    assert own.exists()


@pytest.fixture
def trio(store):
    for name in ("first", "second", "third"):
        store.add_sweep(name, NARROW, "hash")
    return store


def statuses(trio: Store) -> dict[str, tuple[str, int | None]]:
    return {record.name: (record.status, record.place) for record in trio.sweeps()}


def test_sweeps_have_their_turns_in_the_order_in_which_they_were_asked_for(trio):
    queue = Queue(trio)
    for name in ("second", "first", "second"):
        queue.add(name)

    assert statuses(trio) == {"second": ("queued", 1), "first": ("queued", 2), "third": ("stopped", None)}
    assert queue.next() == "second"
    queue.remove("second")
    assert statuses(trio)["first"] == ("queued", 1)


def test_a_sweep_without_waiting_points_is_finished_even_while_it_is_in_the_queue(trio):
    Queue(trio).add("first")

    keep_all(trio, trio.add_sweep("first", NARROW, "hash"), [0.5, 0.5])

    assert trio.sweep("first").status == "finished"


def test_one_process_runs_the_queue_until_it_is_empty(trio):
    queue = Queue(trio)
    with pytest.raises(InputError, match="no sweep 'fourth'"):
        queue.add("fourth")
    queue.add("first")
    assert trio.queue_process() is None

    assert queue.take_over()
    assert trio.queue_process() == os.getpid()
    assert queue.next() == "first"
    queue.remove("first")
    assert queue.next() is None
    assert trio.queue_process() is None


def test_a_living_process_keeps_others_from_the_queue_and_a_dead_one_does_not(trio):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        trio.write("INSERT INTO queue_process VALUES (1, ?, ?)", other.pid, created(other.pid))
        assert trio.queue_process() == other.pid
        assert not Queue(trio).take_over()
        other.kill()
        other.wait()

    assert trio.queue_process() is None
    assert Queue(trio).take_over()
    assert trio.queue_process() == os.getpid()


def test_the_environment_names_the_store_which_lies_in_the_users_cache_otherwise(tmp_path, monkeypatch):
    monkeypatch.setenv("ATNMF_STORE", str(tmp_path / "new folder" / "results.sqlite"))

    assert default_store_path() == tmp_path / "new folder" / "results.sqlite"
    assert not default_store_path().parent.exists()
    assert default_store() == default_store_path()
    assert default_store().parent.is_dir()

    monkeypatch.delenv("ATNMF_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_store() == tmp_path / "atnmf" / "sweeps.sqlite"
