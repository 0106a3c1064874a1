"""What pages compute is computed once for all sessions, while there is room."""

import numpy as np
import pytest

from pages.common import cache
from pages.common.cache import Cache, cached, size_of


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr(cache, "CACHE", Cache())
    return []


def test_arguments_that_follow_from_the_others_do_not_count(calls):
    @cached()
    def total(name: str, _values: list[int], **options: int) -> int:
        calls.append(name)
        return sum(_values) + sum(options.values())

    @cached(key=lambda name, _: name.lower())
    def lower(name: str, _: object) -> int:
        return len(name)

    assert [total("a", [1]), total("a", [2]), total("b", [2]), total("b", [2], more=5)] == [1, 1, 2, 7]
    assert calls == ["a", "b", "b"]
    # Another function with the same arguments does not share, and its key may say what a result follows from.
    assert [lower("a", [1]), lower("Word", 1), lower("word", 2), lower("b", [2])] == [1, 4, 4, 1]
    total.clear()
    assert total("a", [2]) == 2


def test_the_least_recently_used_goes_and_small_results_stay():
    kept = Cache(max_bytes=3_000, at_least=2, small=100)
    kept.keep("small", 0.5)
    for name in "abc":
        kept.keep(name, np.zeros(150))
        kept.get("a")

    assert [name for name in ("small", "a", "b", "c") if kept.get(name) is not None] == ["small", "a", "c"]
    # What is larger than the room for everything is still kept.
    kept.keep("large", np.zeros(10_000))
    assert kept.get("large") is not None


@pytest.mark.parametrize(
    ("result", "least"), [("x" * 500, 500), ([np.zeros(100)] * 3, 2_400), ({"a": {"b": b"y" * 700}}, 700)]
)
def test_the_size_of_a_result_counts_all_that_is_in_it(result, least):
    assert least <= size_of(result) <= least + 500
