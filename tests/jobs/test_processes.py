"""A task in a process of its own: the same result, its progress, its film, its expected time, its end."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from atnmf_core import InputError, Progress, factorize, hide_entries, rmse
from atnmf_core.jobs.fit_task import (
    Film,
    Frame,
    align_frames,
    expected_bytes,
    expected_seconds,
    fit_run,
    hidden_rmse,
)
from atnmf_core.jobs.processes import ProcessDied, TaskProcess
from tests.jobs import tasks

V = np.random.default_rng(5).random((30, 20))
OBSERVED = hide_entries(V.shape, 0.3)
PARAMETERS = {"K": 3, "method": "atnmf", "lam": 2.0, "missing": "zero", "solver": "fast", "seed": 1}


@pytest.fixture
def process():
    started = TaskProcess()
    yield started
    started.close()


def nothing(_: object) -> None:
    """For tasks whose reports do not matter."""


@pytest.mark.parametrize(
    "options", [{}, {"missing": "ignore", "lam": 1.05}, {"solver": "paper", "max_outer": 5}], ids=str
)
def test_a_fit_is_the_same_to_the_last_bit_as_one_in_this_process_and_its_factors_share_a_block(
    process, options
):
    arguments, reports = {"V": V, "observed": OBSERVED, **PARAMETERS, **options}, []
    run = process.run(partial(fit_run, **arguments), reports.append)

    here = fit_run(nothing, **arguments)
    fit = factorize(**arguments)
    assert np.array_equal(fit.W, here.W), "watching does not change the fit"
    for quantity in ("squared_error", "adversarial_loss"):
        assert np.array_equal(run.history[quantity], fit.history[quantity])
    assert run.rmse_hidden == rmse(V, fit.V_hat, ~OBSERVED)
    assert run.rmse_hidden == process.run(partial(hidden_rmse, **arguments), nothing)
    for there, frame in zip((run, *run.frames), (here, *here.frames), strict=True):
        assert np.array_equal(there.W, frame.W)
        assert np.array_equal(there.H, frame.H)
    assert [(one.iteration, one.loss) for one in run.frames] == [(f.iteration, f.loss) for f in here.frames]
    assert len({id(factor.base) for one in (run, *run.frames) for factor in (one.W, one.H)}) == 1
    assert (reports[0].frame.iteration, reports[0].share) == (0, 0)


def test_what_a_task_refuses_or_prints_does_not_disturb_the_next(process):
    with pytest.raises(InputError, match="K=99"):
        process.run(partial(fit_run, V=V, observed=OBSERVED, **PARAMETERS | {"K": 99}), nothing)
    with pytest.raises(RuntimeError, match="Stubborn: not to be pickled"):
        process.run(tasks.raise_stubborn, nothing)
    assert process.run(tasks.print_much, nothing) == 1

    reports: list[SimpleNamespace] = []
    process.run(tasks.report_stages, reports.append)
    # The first report of a stage is always passed on.
    assert [report.stage for report in reports] == ["first", "second"]


@pytest.mark.parametrize(
    "task", [tasks.report_for_ever, tasks.sleep_for_ever, tasks.send_for_ever, tasks.leave]
)
def test_a_task_can_be_killed_at_any_moment_or_exit_and_that_is_reported(process, task):
    if task is not tasks.leave:
        threading.Timer(0.5, process.kill).start()

    how = "exited" if task is tasks.leave else r"killed \(signal 9\), perhaps for lack of memory"
    with pytest.raises(ProcessDied, match=how):
        process.run(task, nothing)
    assert not process.is_alive


def test_it_is_found_from_any_folder(repository, tmp_path):
    program = (
        f"import sys; sys.path.insert(0, {str(repository)!r})\n"
        "from atnmf_core.jobs.processes import TaskProcess\n"
        "from math import isnan\n"
        "process = TaskProcess(); process.run(print, print); process.close()"
    )

    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)


def test_it_ends_when_its_parent_does(repository):
    program = (
        "from atnmf_core.jobs.processes import TaskProcess\n"
        "from tests.jobs import tasks\n"
        "process = TaskProcess(); print(process.pid, flush=True)\n"
        "process.run(tasks.report_for_ever, id)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with parent:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)

    deadline = time.monotonic() + 30
    while _lives(child) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").exists() or ") Z " not in Path(f"/proc/{pid}/stat").read_text()


FRAME_BYTES = 2 * 8
FACES, CBCL = (625, 100), (361, 2429)
DATA = np.random.default_rng(1).random((20, 15))


@pytest.mark.parametrize("last", [1, 7, 23, 24, 150, 1000])
def test_a_film_has_a_bounded_number_of_frames_evenly_spread_from_start_to_end(last):
    frames = filmed(Film(most=24), last)

    assert 2 <= len(frames) <= 24
    assert (frames[0], frames[-1]) == (0, last)
    assert len(set(np.diff(frames[:-1]))) <= 1
    # Of large factors there are fewer.
    film = Film(most=24, most_bytes=5 * FRAME_BYTES)
    filmed(film, last)
    assert 2 * FRAME_BYTES <= film.nbytes <= 5 * FRAME_BYTES


@pytest.mark.parametrize("last", [30, 100, 1000])
def test_a_run_that_swings_from_one_iteration_to_the_next_is_shown_swinging(last):
    sides = [iteration % 2 for iteration in filmed(Film(), last)[:-1]]

    assert all(here != then for here, then in pairwise(sides))


def test_the_last_frame_is_the_fit():
    film = Film()

    fit = factorize(DATA, K=3, callback=film)

    assert (film.frames[-1].W == fit.W).all()
    assert (film.frames[-1].H == fit.H).all()


def test_films_of_different_length_play_together():
    long, short = (tuple(frame(i) for i in iterations) for iterations in ((0, 2, 4, 6), (0, 3)))

    steps = align_frames(long, short)

    assert [(a.iteration, b.iteration) for a, b in steps] == [(0, 0), (2, 0), (2, 3), (4, 3), (6, 3)]


def filmed(film: Film, last: int) -> list[int]:
    """The iterations that a film keeps of a run that ends with the given one."""
    factor = np.zeros((1, 1))
    for iteration in range(last + 1):
        film(Progress(iteration, loss=0.0, seconds=0.0, share=0.0, factors=lambda: (factor, factor)))
    return [frame.iteration for frame in film.frames]


def frame(iteration: int) -> Frame:
    return Frame(iteration, 0.0, np.zeros((1, 1)), np.zeros((1, 1)))


def test_the_bundled_faces_are_solved_at_once_and_more_data_or_the_papers_algorithm_takes_longer():
    assert expected_seconds(FACES, 25, missing="zero") < 0.5
    assert expected_seconds(FACES, 25, solver="paper", missing="zero") > 5
    for how in (
        {"solver": solver, "missing": missing}
        for solver in ("fast", "paper")
        for missing in ("ignore", "zero")
    ):
        assert expected_seconds(CBCL, 25, **how) > expected_seconds(FACES, 25, **how)
    assert 0.4e9 < expected_bytes((162, 307 * 307)) < 0.8e9
    assert expected_bytes(FACES) < 0.1e9


def test_a_start_at_pure_pixels_costs_extra_and_more_with_more_parts():
    def extra(K):
        return expected_seconds((100, 4096), K, start="pure-pixels") - expected_seconds((100, 4096), K)

    assert 0.05 < extra(5) < 1
    assert extra(50) > 5 * extra(5)
