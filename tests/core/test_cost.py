"""The estimate of a fit's duration tells quick ones from slow ones."""

import pytest

from atnmf_core.cost import expected_seconds

FACES, CBCL = (625, 100), (361, 2429)


def test_the_bundled_faces_are_solved_at_once_and_the_papers_algorithm_is_not() -> None:
    assert expected_seconds(FACES, 25, missing="zero") < 0.5
    assert expected_seconds(FACES, 25, solver="paper", missing="zero") > 5


@pytest.mark.parametrize("solver", ["fast", "paper"])
@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_more_data_takes_longer(solver: str, missing: str) -> None:
    assert expected_seconds(CBCL, 25, solver=solver, missing=missing) > expected_seconds(
        FACES, 25, solver=solver, missing=missing
    )
