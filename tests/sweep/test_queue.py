"""A queue keeps the order in which sweeps were asked for, and is worked off by one process at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from atnmf_core.problem import InputError
from atnmf_core.sweep import Grid, Measures, Store, open_store
from atnmf_core.sweep.processes import created
from atnmf_core.sweep.queue import Queue

GRID = Grid("lfw", alphas=(0.3,), Ks=(5,), lams=(2.0,))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with open_store(tmp_path / "store.sqlite") as opened:
        for name in ("first", "second", "third"):
            opened.add_sweep(name, GRID, "hash")
        yield opened


def statuses(store: Store) -> dict[str, tuple[str, int | None]]:
    return {record.name: (record.status, record.place) for record in store.sweeps()}


def test_sweeps_have_their_turns_in_the_order_in_which_they_were_asked_for(store: Store) -> None:
    queue = Queue(store)
    for name in ("second", "first", "second"):
        queue.add(name)

    assert statuses(store) == {"second": ("queued", 1), "first": ("queued", 2), "third": ("stopped", None)}
    assert queue.next() == "second"
    queue.remove("second")
    assert statuses(store)["first"] == ("queued", 1)


def test_a_sweep_without_waiting_points_is_finished_even_while_it_is_in_the_queue(store: Store) -> None:
    Queue(store).add("first")
    sweep = store.add_sweep("first", GRID, "hash")
    run = store.begin_run(sweep)
    for key, _ in store.claims(sweep, run):
        store.add_outcome(key, Measures(0.5, 0.25, 10.0, 20.0, 7, True, 0.125))
    assert store.sweep("first").status == "running"

    store.end_run(run, "finished")

    assert store.sweep("first").status == "finished"


def test_only_a_sweep_of_the_store_can_be_queued(store: Store) -> None:
    with pytest.raises(InputError, match="no sweep 'fourth'"):
        Queue(store).add("fourth")


def test_one_process_runs_the_queue_until_it_is_empty(store: Store) -> None:
    queue = Queue(store)
    queue.add("first")
    assert store.queue_process() is None

    assert queue.take_over()
    assert store.queue_process() == os.getpid()
    assert queue.next() == "first"
    queue.remove("first")
    assert queue.next() is None
    assert store.queue_process() is None


def test_a_living_process_keeps_others_from_the_queue_and_a_dead_one_does_not(store: Store) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        store.write("INSERT INTO queue_process VALUES (1, ?, ?)", other.pid, created(other.pid))
        assert store.queue_process() == other.pid
        assert not Queue(store).take_over()
        other.kill()
        other.wait()

    assert store.queue_process() is None
    assert Queue(store).take_over()
    assert store.queue_process() == os.getpid()
