"""Pages in these tests run in the test's own process, and so does what they start in the background."""

from collections.abc import Iterator

import pytest

from pages.explore_view.lambda_curve import tracer


@pytest.fixture(autouse=True)
def no_curve_is_traced_after_its_test() -> Iterator[None]:
    """The thread that traces lambda curves ends with the test that began it."""
    yield
    tracer().close()
    tracer.clear()
