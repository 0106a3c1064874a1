"""A fit in a process of its own is the same fit, can be watched, and can be given up."""

import threading

import numpy as np
import pytest

from atnmf_core import InputError, factorize, hide_entries
from atnmf_core.film import Film
from atnmf_core.remote import RemoteFit

V = np.random.default_rng(5).random((30, 20))
OBSERVED = hide_entries(V.shape, 0.3)
PARAMETERS = {"K": 3, "method": "atnmf", "lam": 2.0, "missing": "zero", "solver": "fast", "seed": 1}


def test_the_result_and_the_film_are_those_of_a_fit_right_here() -> None:
    watched = []

    fit, frames = RemoteFit(V, OBSERVED, **PARAMETERS).result(lambda *told: watched.append(told))

    film = Film()
    here = factorize(V, OBSERVED, callback=film, **PARAMETERS)
    np.testing.assert_allclose(fit.W, here.W)
    assert fit.history["adversarial_loss"] == pytest.approx(here.history["adversarial_loss"])
    assert (fit.n_iter, fit.converged, fit.lam, fit.method) == (here.n_iter, here.converged, 2.0, "atnmf")
    assert [frame.iteration for frame in frames] == [frame.iteration for frame in film.frames]
    assert watched[0][0].iteration == 0


def test_what_the_solver_refuses_is_refused_here_with_its_words() -> None:
    with pytest.raises(InputError, match="K=99"):
        RemoteFit(V, OBSERVED, **PARAMETERS | {"K": 99}).result(lambda *told: None)


def test_a_fit_that_is_given_up_has_no_result() -> None:
    endless = PARAMETERS | {"max_inner": 10**9, "tol_outer": 0.0}
    remote = RemoteFit(V, OBSERVED, **endless)
    moving = threading.Event()
    threading.Thread(target=lambda: (moving.wait(60), remote.give_up()), daemon=True).start()

    assert remote.result(lambda *told: moving.set()) is None


def test_a_process_that_dies_by_itself_is_reported() -> None:
    remote = RemoteFit(V, OBSERVED, **PARAMETERS | {"no_such_option": 1})

    with pytest.raises(RuntimeError, match="ended by itself"):
        remote.result(lambda *told: None)
