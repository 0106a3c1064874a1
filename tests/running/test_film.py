"""A film is bounded, evenly spread, and ends with the end."""

from itertools import pairwise

import numpy as np
import pytest

from atnmf_core import Progress, factorize
from atnmf_core.running.film import Film, Frame, together

FRAME_BYTES = 2 * 8
V = np.random.default_rng(1).random((20, 15))


@pytest.mark.parametrize("last", [1, 7, 23, 24, 150, 1000])
def test_a_film_has_a_bounded_number_of_frames_from_start_to_end(last: int) -> None:
    frames = filmed(Film(most=24), last)

    assert 2 <= len(frames) <= 24
    assert (frames[0], frames[-1]) == (0, last)


def test_frames_are_evenly_spread_but_for_the_last() -> None:
    assert filmed(Film(most=10), 70) == [0, 9, 18, 27, 36, 45, 54, 63, 70]


@pytest.mark.parametrize("last", [30, 100, 1000])
def test_a_run_that_swings_from_one_iteration_to_the_next_is_shown_swinging(last: int) -> None:
    sides = [iteration % 2 for iteration in filmed(Film(), last)[:-1]]

    assert all(here != then for here, then in pairwise(sides))


def test_a_film_of_large_factors_keeps_fewer_frames() -> None:
    film = Film(most=24, most_bytes=5 * FRAME_BYTES)

    filmed(film, 60)

    assert 2 * FRAME_BYTES <= film.nbytes <= 5 * FRAME_BYTES


def test_the_last_frame_is_the_fit() -> None:
    film = Film()

    fit = factorize(V, K=3, callback=film)

    assert (film.frames[-1].W == fit.W).all()
    assert (film.frames[-1].H == fit.H).all()


def test_watching_does_not_change_the_fit() -> None:
    assert (factorize(V, K=3).W == factorize(V, K=3, callback=Film()).W).all()


def test_films_of_different_length_play_together() -> None:
    long, short = (tuple(frame(i) for i in iterations) for iterations in ((0, 2, 4, 6), (0, 3)))

    steps = together(long, short)

    assert [(a.iteration, b.iteration) for a, b in steps] == [(0, 0), (2, 0), (2, 3), (4, 3), (6, 3)]


def filmed(film: Film, last: int) -> list[int]:
    """The iterations that a film keeps of a run that ends with the given one."""
    factor = np.zeros((1, 1))
    for iteration in range(last + 1):
        film(Progress(iteration, loss=0.0, seconds=0.0, share=0.0, factors=lambda: (factor, factor)))
    return [frame.iteration for frame in film.frames]


def frame(iteration: int) -> Frame:
    return Frame(iteration, 0.0, np.zeros((1, 1)), np.zeros((1, 1)))
