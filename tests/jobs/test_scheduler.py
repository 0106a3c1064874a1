"""Tasks of many people: asked-for ones first, a fair share each, one task for one key, none for nobody."""

import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from atnmf_core.jobs import processes
from atnmf_core.jobs import scheduler as scheduling
from atnmf_core.jobs.processes import ProcessDied
from atnmf_core.jobs.scheduler import Job, Rank, Scheduler
from tests.jobs import tasks

SECONDS = 60


@pytest.fixture
def scheduler():
    """One worker, so that the order of tasks is theirs."""
    with_one_worker = Scheduler(workers=1)
    yield with_one_worker
    with_one_worker.close()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def gate(scheduler, tmp_path):
    """Keeps the worker busy until this file is there, so that other tasks line up."""
    file = tmp_path / "gate"
    busy = scheduler.submit("gate", partial(tasks.wait_for, path=file), "somebody")
    until(lambda: busy.progress is not None)
    return file


def noted(scheduler: Scheduler, log: Path, word: str, owner: str = "ann", **how: object) -> Job:
    return scheduler.submit(word, partial(tasks.note, path=log, word=word), owner, **how)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_task_is_run_once_however_many_ask(scheduler, log):
    jobs = [noted(scheduler, log, "fit", owner) for owner in ("ann", "bob", "eve")]

    assert {job.future.result(SECONDS) for job in jobs} == {"fit"}
    assert log.read_text().split() == ["fit"]


def test_progress_is_seen_while_a_task_runs_which_survives_a_reload_of_its_page(scheduler, gate, monkeypatch):
    monkeypatch.setattr(scheduling, "GRACE_SECONDS", 0.3)
    job = scheduler.job("gate")
    assert job.progress == "waiting"
    assert not scheduler.wait(["gate"], 0.1)

    scheduler.leave("somebody")
    scheduler.join("gate", "somebody, reloaded")
    time.sleep(0.6)
    gate.touch()

    assert scheduler.wait(["gate"], SECONDS)
    assert scheduler.job("gate") is None
    assert job.future.result(SECONDS) is None


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (["extra 1", "extra 2", "asked"], ["asked", "extra 1", "extra 2"]),
        (["ann 1", "ann 2", "ann 3", "bob 1"], ["ann 1", "bob 1", "ann 2", "ann 3"]),
    ],
    ids=["extras are last", "everybody has a fair share"],
)
def test_tasks_have_their_turns(scheduler, gate, log, words, order):
    for word in words:
        how = {"rank": Rank.EXTRA} if "extra" in word else {}
        noted(scheduler, log, word, "bob" if word in ("bob 1", "asked") else "ann", **how)

    gate.touch()

    assert scheduler.wait(words, SECONDS)
    assert log.read_text().splitlines() == order


def test_extras_leave_a_worker_free(tmp_path):
    scheduler, gate = Scheduler(workers=2), tmp_path / "gate"
    for number in range(3):
        scheduler.submit(number, partial(tasks.wait_for, path=gate), "ann", rank=Rank.EXTRA)

    assert scheduler.submit("asked", tasks.one, "bob").future.result(SECONDS) == 1
    assert sum(scheduler.job(number).progress is not None for number in range(3)) <= 1
    scheduler.close()


def test_a_long_task_holds_up_no_short_one(scheduler):
    long = scheduler.submit("long", tasks.report_for_ever, "ann", long=True)
    until(lambda: long.progress is not None)

    assert scheduler.submit("short", tasks.one, "bob").future.result(SECONDS) == 1
    assert not long.future.done()


def test_who_moves_on_drops_what_was_waiting_but_not_what_others_want(scheduler, gate, log):
    for word in ("kept", "dropped", "shared"):
        noted(scheduler, log, word, "ann")
    noted(scheduler, log, "shared", "bob")

    scheduler.move_on("ann", keep=["kept"])
    gate.touch()

    assert scheduler.wait(["kept", "dropped", "shared"], SECONDS)
    assert sorted(log.read_text().split()) == ["kept", "shared"]


def test_a_long_task_that_was_asked_for_goes_on_when_its_owner_looks_at_something_else(scheduler):
    asked = scheduler.submit("asked", tasks.report_for_ever, "ann", long=True)
    extra = scheduler.submit("extra", tasks.report_for_ever, "ann", long=True, rank=Rank.EXTRA)

    scheduler.move_on("ann")

    assert extra.future.cancelled()
    assert not asked.future.done()


@pytest.mark.parametrize("task", [tasks.report_for_ever, tasks.sleep_for_ever])
def test_tasks_of_people_who_left_are_dropped_after_a_moment(scheduler, monkeypatch, task):
    monkeypatch.setattr(scheduling, "GRACE_SECONDS", 0.3)
    running = scheduler.submit("running", task, "ann")
    until(lambda: scheduler.job("running") is not None)
    time.sleep(0.2)

    scheduler.leave("ann")

    with pytest.raises(CancelledError):
        running.future.result(SECONDS)
    assert scheduler.submit("next", tasks.one, "bob").future.result(SECONDS) == 1


@pytest.mark.parametrize("task", [tasks.report_for_ever, tasks.sleep_for_ever])
@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_a_cancelled_task_ends_at_once_and_can_be_started_again(scheduler, task, long):
    job = scheduler.submit("endless", task, "ann", long=long)
    time.sleep(0.5)

    scheduler.cancel("endless")

    assert job.future.cancelled()
    assert scheduler.wait(["endless"], 0)
    assert scheduler.submit("endless", tasks.one, "ann", long=long).future.result(SECONDS) == 1


def test_a_task_whose_process_dies_is_tried_once_more_and_then_fails_alone(scheduler, tmp_path):
    died = partial(tasks.die_once, path=tmp_path / "died")
    assert scheduler.submit("fit", died, "ann").future.result(SECONDS) == 1
    with pytest.raises(ProcessDied, match="exited"):
        scheduler.submit("bad", tasks.leave, "ann").future.result(SECONDS)

    assert scheduler.submit("good", tasks.one, "ann").future.result(SECONDS) == 1


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_if_no_process_can_be_started_the_task_fails_and_later_ones_do_not(monkeypatch, long):
    with monkeypatch.context() as patch:
        patch.setattr(processes.subprocess, "Popen", Mock(side_effect=OSError(24, "Too many open files")))
        scheduler = Scheduler(workers=1)
        job = scheduler.submit("fit", tasks.one, "ann", long=long)
        with pytest.raises(OSError, match="Too many open files"):
            job.future.result(SECONDS)

    assert scheduler.wait(["fit"], SECONDS)
    assert scheduler.submit("fit", tasks.one, "ann", long=long).future.result(SECONDS) == 1
    scheduler.close()


def test_running_out_of_file_handles_is_reported_and_recovered_from(scheduler):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        job = scheduler.submit("fit", tasks.one, "ann", long=True)
        with pytest.raises(OSError, match="Too many open files"):
            job.future.result(SECONDS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert scheduler.submit("fit", tasks.one, "ann", long=True).future.result(SECONDS) == 1


def test_a_closed_scheduler_has_cancelled_everything_and_takes_no_more():
    scheduler = Scheduler(workers=1)
    job = scheduler.submit("endless", tasks.sleep_for_ever, "ann")

    closing = threading.Thread(target=scheduler.close)
    closing.start()
    closing.join(SECONDS)

    assert not closing.is_alive()
    assert job.future.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        scheduler.submit("late", tasks.one, "ann")
