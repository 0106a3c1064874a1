"""The estimate of a fit's duration tells quick ones from slow ones."""

import pytest

from atnmf_core.running.cost import expected_bytes, expected_seconds

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


def test_a_start_at_pure_pixels_costs_extra_and_more_with_more_parts() -> None:
    def extra(K: int) -> float:
        return expected_seconds((100, 4096), K, start="pure-pixels") - expected_seconds((100, 4096), K)

    assert 0.05 < extra(5) < 1
    assert extra(50) > 5 * extra(5)


def test_a_large_cube_takes_about_half_a_gigabyte_and_faces_next_to_nothing() -> None:
    assert 0.4e9 < expected_bytes((162, 307 * 307)) < 0.8e9
    assert expected_bytes(FACES) < 0.1e9
