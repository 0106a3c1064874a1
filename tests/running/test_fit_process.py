"""A fit in a process of its own is the same fit, can be watched, and can be given up."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from atnmf_core import InputError, factorize, hide_entries
from atnmf_core.running.film import Film
from atnmf_core.running.fit_process import Worker

V = np.random.default_rng(5).random((30, 20))
OBSERVED = hide_entries(V.shape, 0.3)
PARAMETERS = {"K": 3, "method": "atnmf", "lam": 2.0, "missing": "zero", "solver": "fast", "seed": 1}


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as started:
        yield started


def test_the_result_and_the_film_are_those_of_a_fit_right_here(worker: Worker) -> None:
    watched = []

    fit, frames = worker.fit(V, OBSERVED, lambda *told: watched.append(told), **PARAMETERS)

    film = Film()
    here = factorize(V, OBSERVED, callback=film, **PARAMETERS)
    np.testing.assert_allclose(fit.W, here.W)
    assert fit.history["adversarial_loss"] == pytest.approx(here.history["adversarial_loss"])
    assert (fit.n_iter, fit.converged, fit.lam, fit.method) == (here.n_iter, here.converged, 2.0, "atnmf")
    assert [frame.iteration for frame in frames] == [frame.iteration for frame in film.frames]
    np.testing.assert_allclose(frames[1].H, film.frames[1].H)
    assert watched[0][0].iteration == 0


def test_one_process_makes_one_fit_after_another(worker: Worker) -> None:
    found = [worker.fit(V, OBSERVED, lambda *told: None, **PARAMETERS | {"K": K})[0] for K in (2, 4)]

    assert [fit.W.shape[1] for fit in found] == [2, 4]
    assert worker.is_ready


def test_what_the_solver_refuses_is_refused_here_with_its_words_and_the_process_goes_on(
    worker: Worker,
) -> None:
    with pytest.raises(InputError, match="K=99"):
        worker.fit(V, OBSERVED, lambda *told: None, **PARAMETERS | {"K": 99})

    assert worker.fit(V, OBSERVED, lambda *told: None, **PARAMETERS)[0].lam == 2.0


def test_a_fit_that_is_given_up_has_no_result(worker: Worker) -> None:
    endless = PARAMETERS | {"max_inner": 10**9, "tol_outer": 0.0}
    moving = threading.Event()
    threading.Thread(target=lambda: (moving.wait(60), worker.give_up()), daemon=True).start()

    with pytest.raises(RuntimeError, match="was killed"):
        worker.fit(V, OBSERVED, lambda *told: moving.set(), **endless)
    assert not worker.is_alive


def test_a_process_that_dies_by_itself_is_reported(worker: Worker) -> None:
    with pytest.raises(RuntimeError, match="ended by itself"):
        worker.fit(V, OBSERVED, lambda *told: None, **PARAMETERS | {"no_such_option": 1})
