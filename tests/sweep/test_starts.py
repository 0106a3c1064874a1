"""The authors' starts come out of one stream, in the order in which they drew them."""

import numpy as np
import pytest

from atnmf_core.problem import InputError
from atnmf_core.sweep import paper_start

SHAPE, K = (7, 9), 3


def test_starts_are_the_successive_draws_of_the_authors_loops() -> None:
    stream = np.random.RandomState(1)
    for alpha in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        for start in range(10):
            W = np.abs(stream.normal(0, 1, size=(7, K)))
            H = np.abs(stream.normal(0, 1, size=(K, 9)))

            drawn = paper_start(SHAPE, K, alpha, start)

            np.testing.assert_array_equal(drawn[0], W)
            np.testing.assert_array_equal(drawn[1], H)


@pytest.mark.parametrize(("alpha", "start"), [(0.35, 0), (0.3, 10), (0.3, -1)])
def test_what_the_authors_did_not_draw_is_refused(alpha: float, start: int) -> None:
    with pytest.raises(InputError, match="authors"):
        paper_start(SHAPE, K, alpha, start)
