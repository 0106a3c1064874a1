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


def test_a_fit_is_the_same_to_the_last_bit_as_one_in_this_process(process):
    for options in ({}, {"missing": "ignore", "lam": 1.05}, {"solver": "paper", "max_outer": 5}):
        parameters = PARAMETERS | options
        run = process.run(partial(fit_run, V=V, observed=OBSERVED, **parameters), nothing)

        film = Film()
        here = factorize(V, OBSERVED, callback=film, **parameters)
        assert np.array_equal(run.W, here.W)
        assert np.array_equal(run.H, here.H)
        for quantity in ("squared_error", "adversarial_loss"):
            assert np.array_equal(run.history[quantity], here.history[quantity])
        assert [frame.iteration for frame in run.frames] == [frame.iteration for frame in film.frames]
        assert np.array_equal(run.frames[1].H, film.frames[1].H)
        assert run.rmse_hidden == rmse(V, here.V_hat, ~OBSERVED)


def test_all_factors_of_a_run_share_one_block_of_memory(process):
    run = process.run(partial(fit_run, V=V, observed=OBSERVED, **PARAMETERS), nothing)

    here = fit_run(nothing, V, OBSERVED, **PARAMETERS)
    for there, frame in zip((run, *run.frames), (here, *here.frames), strict=True):
        assert np.array_equal(there.W, frame.W)
        assert np.array_equal(there.H, frame.H)
    assert [(one.iteration, one.loss) for one in run.frames] == [(f.iteration, f.loss) for f in here.frames]
    blocks = {id(factor.base) for one in (run, *run.frames) for factor in (one.W, one.H)}
    assert len(blocks) == 1


def test_the_error_alone_is_that_of_the_whole_run(process):
    arguments = {"V": V, "observed": OBSERVED, **PARAMETERS}

    assert (
        process.run(partial(hidden_rmse, **arguments), nothing)
        == process.run(partial(fit_run, **arguments), nothing).rmse_hidden
    )


def test_reports_arrive_while_the_task_runs(process):
    reports = []

    process.run(partial(fit_run, V=V, observed=OBSERVED, **PARAMETERS), reports.append)

    assert reports[0].frame.iteration == 0
    assert reports[0].share == 0


def test_what_a_task_refuses_is_raised_here_and_the_process_continues(process):
    with pytest.raises(InputError, match="K=99"):
        process.run(partial(fit_run, V=V, observed=OBSERVED, **PARAMETERS | {"K": 99}), nothing)

    assert process.run(tasks.one, nothing) == 1


def test_an_exception_that_cannot_be_pickled_is_reported_in_words(process):
    with pytest.raises(RuntimeError, match="Stubborn: not to be pickled"):
        process.run(tasks.raise_stubborn, nothing)


def test_what_a_task_prints_does_not_disturb_its_answer(process):
    assert process.run(tasks.print_much, nothing) == 1


@pytest.mark.parametrize("task", [tasks.report_for_ever, tasks.sleep_for_ever, tasks.send_for_ever])
def test_a_task_can_be_killed_at_any_moment_and_that_is_reported(process, task):
    threading.Timer(1.0, process.kill).start()

    with pytest.raises(ProcessDied, match=r"killed \(signal 9\), perhaps for lack of memory"):
        process.run(task, nothing)
    assert not process.is_alive


def test_a_process_that_exits_is_reported(process):
    with pytest.raises(ProcessDied, match="exited"):
        process.run(tasks.leave, nothing)


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


def test_the_first_report_of_a_stage_is_always_passed_on(process):
    reports: list[SimpleNamespace] = []
    process.run(tasks.report_stages, reports.append)
    assert [report.stage for report in reports] == ["first", "second"]


FRAME_BYTES = 2 * 8
FACES, CBCL = (625, 100), (361, 2429)
DATA = np.random.default_rng(1).random((20, 15))


@pytest.mark.parametrize("last", [1, 7, 23, 24, 150, 1000])
def test_a_film_has_a_bounded_number_of_frames_from_start_to_end(last):
    frames = filmed(Film(most=24), last)

    assert 2 <= len(frames) <= 24
    assert (frames[0], frames[-1]) == (0, last)


def test_frames_are_evenly_spread_but_for_the_last():
    assert filmed(Film(most=10), 70) == [0, 9, 18, 27, 36, 45, 54, 63, 70]


@pytest.mark.parametrize("last", [30, 100, 1000])
def test_a_run_that_swings_from_one_iteration_to_the_next_is_shown_swinging(last):
    sides = [iteration % 2 for iteration in filmed(Film(), last)[:-1]]

    assert all(here != then for here, then in pairwise(sides))


def test_a_film_of_large_factors_keeps_fewer_frames():
    film = Film(most=24, most_bytes=5 * FRAME_BYTES)

    filmed(film, 60)

    assert 2 * FRAME_BYTES <= film.nbytes <= 5 * FRAME_BYTES


def test_the_last_frame_is_the_fit():
    film = Film()

    fit = factorize(DATA, K=3, callback=film)

    assert (film.frames[-1].W == fit.W).all()
    assert (film.frames[-1].H == fit.H).all()


def test_watching_does_not_change_the_fit():
    assert (factorize(DATA, K=3).W == factorize(DATA, K=3, callback=Film()).W).all()


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


def test_the_bundled_faces_are_solved_at_once_and_the_papers_algorithm_is_not():
    assert expected_seconds(FACES, 25, missing="zero") < 0.5
    assert expected_seconds(FACES, 25, solver="paper", missing="zero") > 5


@pytest.mark.parametrize("solver", ["fast", "paper"])
@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_more_data_takes_longer(solver, missing):
    assert expected_seconds(CBCL, 25, solver=solver, missing=missing) > expected_seconds(
        FACES, 25, solver=solver, missing=missing
    )


def test_a_start_at_pure_pixels_costs_extra_and_more_with_more_parts():
    def extra(K):
        return expected_seconds((100, 4096), K, start="pure-pixels") - expected_seconds((100, 4096), K)

    assert 0.05 < extra(5) < 1
    assert extra(50) > 5 * extra(5)


def test_a_large_cube_takes_about_half_a_gigabyte_and_faces_next_to_nothing():
    assert 0.4e9 < expected_bytes((162, 307 * 307)) < 0.8e9
    assert expected_bytes(FACES) < 0.1e9
