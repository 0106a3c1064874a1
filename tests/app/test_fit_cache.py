"""Each setting is solved once per server, kept while there is room, and can be cancelled."""

import threading
import time

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, hide_entries, rmse
from pages.common import fit_cache, fit_pair
from pages.common.fit_cache import FitStore
from pages.common.setting import FitKey, Setting

DATA = Dataset(np.random.default_rng(3).random((30, 20)), "matrix", "small")
OBSERVED = hide_entries(DATA.shape, 0.3)
KEY = Setting(K=3).fit_key(DATA.content_hash, "atnmf")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """The parameters of every fit of DATA that was computed; pages of other tests may still be at work."""
    made: list[dict] = []
    solve = fit_cache.factorize

    def counted(*arrays: object, **parameters: object) -> object:
        if arrays[0] is DATA.V:
            made.append(parameters)
        return solve(*arrays, **parameters)

    monkeypatch.setattr(fit_cache, "factorize", counted)
    return made


def test_ten_people_who_ask_at_once_get_one_fit(calls: list[dict]) -> None:
    store, found, start = FitStore(), [], threading.Barrier(10)

    def ask() -> None:
        start.wait()
        found.append(store.solve(KEY, DATA, OBSERVED))

    people = [threading.Thread(target=ask) for _ in range(10)]
    for person in people:
        person.start()
    for person in people:
        person.join()

    assert len(calls) == 1
    assert len({id(run) for run in found}) == 1


def test_a_kept_fit_is_not_computed_again(calls: list[dict]) -> None:
    store = FitStore()

    assert store.solve(KEY, DATA, OBSERVED) is store.solve(KEY, DATA, OBSERVED)
    assert len(calls) == 1


def test_the_key_says_everything_that_is_solved(calls: list[dict]) -> None:
    key = FitKey(KEY.mask, K=4, lam=3.0, missing="ignore", solver="paper", seed=7)

    run = FitStore().solve(key, DATA, OBSERVED)

    told = {name: calls[0][name] for name in ("K", "lam", "missing", "solver", "seed", "method")}
    assert told == {"K": 4, "lam": 3.0, "missing": "ignore", "solver": "paper", "seed": 7, "method": "atnmf"}
    assert run.rmse_hidden == pytest.approx(rmse(DATA.V, run.fit.V_hat, ~OBSERVED))


def test_a_start_at_pure_pixels_is_another_fit_here_and_in_a_process_of_its_own(calls: list[dict]) -> None:
    store, key = FitStore(), KEY._replace(start="pure-pixels")

    here, there = store.solve(key, DATA, OBSERVED), FitStore().start(key, DATA, OBSERVED, long=True)
    there.wait(60)

    assert calls[0]["init"] == "pure-pixels"
    np.testing.assert_allclose(there.run.fit.W, here.fit.W, rtol=1e-4, atol=1e-5)
    assert not np.allclose(store.solve(KEY, DATA, OBSERVED).fit.W, here.fit.W)


def test_when_room_runs_out_the_least_recently_used_goes() -> None:
    keys = [KEY._replace(seed=seed) for seed in range(3)]
    one = FitStore().solve(KEY, DATA, OBSERVED).nbytes
    store = FitStore(kept_bytes=int(2.5 * one))

    store.solve(keys[0], DATA, OBSERVED)
    store.solve(keys[1], DATA, OBSERVED)
    store.get(keys[0])
    store.solve(keys[2], DATA, OBSERVED)

    assert [store.get(key) is not None for key in keys] == [True, False, True]


def test_the_error_of_a_fit_that_had_to_go_is_still_known() -> None:
    store = FitStore(kept_bytes=0)
    runs = [store.solve(KEY._replace(seed=seed), DATA, OBSERVED) for seed in range(3)]

    assert store.get(KEY) is None
    assert store.rmse_hidden(KEY) == runs[0].rmse_hidden


def test_both_fits_of_a_page_find_room_however_large_they_are() -> None:
    store, keys = FitStore(kept_bytes=0), [KEY, KEY._replace(lam=None)]
    for key in keys:
        store.solve(key, DATA, OBSERVED)

    assert all(store.get(key) is not None for key in keys)


def test_a_long_fit_is_the_same_fit_and_can_be_watched() -> None:
    store = FitStore()

    job = store.start(KEY, DATA, OBSERVED, long=True)
    job.wait(60)

    assert job.latest is not None
    assert store.get(KEY) is job.run
    here = FitStore().solve(KEY, DATA, OBSERVED)
    np.testing.assert_allclose(job.run.fit.W, here.fit.W)


def test_a_cancelled_fit_leaves_nothing_and_can_be_started_again() -> None:
    store = FitStore()
    slow = KEY._replace(solver="paper", lam=1.01)
    job = store.start(slow, DATA, OBSERVED, long=True)

    store.cancel(slow)

    assert job.wait(10)
    assert job.cancelled
    assert store.get(slow) is None
    assert store.job(slow) is None
    assert store.start(slow, DATA, OBSERVED, long=True) is not job
    store.cancel(slow)


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_what_the_solver_refuses_can_be_asked_for_afterwards(long: bool) -> None:
    store, refused = FitStore(), KEY._replace(K=99)

    store.start(refused, DATA, OBSERVED, long=long).wait(60)

    assert isinstance(store.failure(refused), InputError)
    assert "K=99" in str(store.failure(refused))
    assert store.job(refused) is None


def test_short_fits_share_a_process_and_outlive_it(calls: list[dict]) -> None:
    store = FitStore(apart=True)
    first = store._shared
    first._greeting.join()

    there = [store.solve(KEY._replace(seed=seed), DATA, OBSERVED) for seed in (0, 1)]
    assert calls == []
    assert store._shared is first
    np.testing.assert_allclose(there[0].fit.W, FitStore().solve(KEY, DATA, OBSERVED).fit.W)

    first.give_up()
    first._child.wait()
    assert store.solve(KEY._replace(seed=2), DATA, OBSERVED).fit.seed == 2
    assert store._shared.is_alive
    store._shared.close()


def test_cancelling_one_short_fit_ends_only_that() -> None:
    store = FitStore(apart=True)
    store._shared._greeting.join()
    slow = store.start(KEY._replace(solver="paper", lam=1.01), DATA, OBSERVED)
    while slow.latest is None:
        time.sleep(0.01)

    store.cancel(slow.key)

    assert (slow.run, slow.error) == (None, None)
    assert store.solve(KEY, DATA, OBSERVED).fit.seed == 0
    assert store.failure(slow.key) is None
    store._shared.close()


def test_what_the_solver_refuses_reaches_whoever_waits() -> None:
    with pytest.raises(InputError, match="K=99"):
        FitStore().solve(KEY._replace(K=99), DATA, OBSERVED)


def test_the_second_of_two_fits_that_a_page_waits_for_is_not_given_up_while_the_first_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fit_cache, "FORGOTTEN_SECONDS", 0.2)
    store = FitStore()
    monkeypatch.setattr(fit_pair, "store", lambda: store)
    setting, turn = Setting(K=3), store._turns[False]
    turn.acquire()
    fit_pair.start(setting, DATA, long=False)
    threading.Timer(0.6, turn.release).start()

    assert fit_pair.wait_a_little(setting, DATA) is not None


def test_a_short_fit_that_nobody_asks_for_any_more_is_not_made(
    calls: list[dict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_cache, "FORGOTTEN_SECONDS", 0.3)
    store = FitStore()
    with store._turns[False]:
        left = store.start(KEY, DATA, OBSERVED)
        waited_for = threading.Thread(target=store.solve, args=(KEY._replace(seed=1), DATA, OBSERVED))
        waited_for.start()
        while left.is_wanted:
            time.sleep(0.05)
    waited_for.join()

    assert left._done.wait(60)
    assert [told["seed"] for told in calls] == [1]
    assert store.get(KEY) is None
    assert store.solve(KEY, DATA, OBSERVED).fit.seed == 0
