"""What pages compute is computed once per server, cached while there is room, and told about as it runs."""

import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core import Dataset, InputError, factorize, hide_entries, rmse
from atnmf_core.jobs.fit_task import Frame, RunProgress
from atnmf_core.jobs.processes import ProcessDied
from atnmf_core.jobs.scheduler import Job, Scheduler
from pages.common import fitting
from pages.common.cache import Cache, Failure, cached, size_of
from pages.common.fitting import FitCache, how_far
from pages.common.setting import FitKey, Setting

DATA = Dataset(np.random.default_rng(3).random((30, 20)), "matrix", "small")
OBSERVED = hide_entries(DATA.shape, 0.3)
KEY = Setting(K=3).fit_key(DATA.content_hash, "atnmf")
ENDLESS = KEY._replace(solver="paper", lam=1.01)
SECONDS = 60


@pytest.fixture(scope="module")
def scheduler():
    started = Scheduler(workers=1)
    yield started
    started.close()


@pytest.fixture
def cache(scheduler):
    return FitCache(scheduler, Cache())


def solve(cache: FitCache, key: FitKey = KEY) -> object:
    return cache.solve(key, DATA, OBSERVED, "ann")


def test_ten_people_who_ask_at_once_get_one_fit(cache):
    found, start = [], threading.Barrier(10)

    def ask(person):
        start.wait()
        found.append(cache.solve(KEY, DATA, OBSERVED, person))

    people = [threading.Thread(target=ask, args=(number,)) for number in range(10)]
    for person in people:
        person.start()
    for person in people:
        person.join()

    assert len({id(run) for run in found}) == 1
    assert cache.get(KEY) is found[0]


@pytest.mark.parametrize(
    ("key", "parameters"),
    [
        (KEY, {"method": "atnmf", "lam": 2.0, "missing": "zero", "K": 3}),
        (KEY._replace(lam=None, missing="ignore", seed=7), {"missing": "ignore", "seed": 7, "K": 3}),
        (
            KEY._replace(start="pure-pixels", K=4),
            {"method": "atnmf", "lam": 2.0, "missing": "zero", "K": 4, "init": "pure-pixels"},
        ),
    ],
    ids=["atnmf", "nmf", "pure pixels"],
)
def test_the_key_says_everything_that_is_solved(cache, key, parameters):
    run = solve(cache, key)

    here = factorize(DATA.V, OBSERVED, **parameters)
    assert np.array_equal(run.W, here.W)
    assert run.rmse_hidden == rmse(DATA.V, here.V_hat, ~OBSERVED)


def test_when_room_runs_out_the_least_recently_used_goes_but_its_error_is_still_known(scheduler):
    keys = [KEY._replace(seed=seed) for seed in range(3)]
    # Room for two runs, however large they are, and as ever for small results.
    cache = FitCache(scheduler, Cache(max_bytes=2, at_least=2, small=100))

    runs = [solve(cache, key) for key in keys[:2]]
    cache.get(keys[0])
    solve(cache, keys[2])

    assert [cache.get(key) is not None for key in keys] == [True, False, True]
    assert cache.rmse_hidden(keys[1]) == runs[1].rmse_hidden


def test_an_error_alone_takes_no_room_for_a_run(cache, scheduler):
    cache.start_error(KEY, DATA, OBSERVED, "ann")
    until(lambda: cache.rmse_hidden(KEY) is not None)

    assert cache.get(KEY) is None
    assert cache.rmse_hidden(KEY) == solve(FitCache(scheduler, Cache())).rmse_hidden


def test_a_long_fit_is_cached_when_it_has_ended_and_leaves_nothing_when_it_is_cancelled(cache):
    future = cache.start(KEY, DATA, OBSERVED, "ann", long=True)
    assert cache.scheduler.wait([KEY], SECONDS)
    assert cache.get(KEY) is future.result(0)

    cancelled = cache.start(ENDLESS, DATA, OBSERVED, "ann", long=True)
    cache.cancel(ENDLESS)

    assert cancelled.cancelled()
    assert (cache.get(ENDLESS), cache.job(ENDLESS), cache.failure(ENDLESS)) == (None, None, None)
    assert cache.start(ENDLESS, DATA, OBSERVED, "ann", long=True) is not cancelled
    cache.cancel(ENDLESS)


def test_a_fit_that_somebody_else_cancels_is_computed_for_whoever_still_waits(cache):
    found = []
    waiting = threading.Thread(target=lambda: found.append(solve(cache)))
    cache.scheduler.submit("busy", time_for_others, "bob")
    waiting.start()
    until(lambda: cache.job(KEY) is not None)

    cache.cancel(KEY)
    waiting.join(SECONDS)

    assert found == [cache.get(KEY)]


@pytest.mark.parametrize("start", ["start", "start_error"])
def test_what_the_solver_refuses_reaches_whoever_waits_and_can_be_asked_for_afterwards(cache, start):
    refused = KEY._replace(K=99)

    getattr(cache, start)(refused, DATA, OBSERVED, "ann")
    until(lambda: cache.failure(refused) is not None)

    failure = cache.failure(refused)
    assert "K=99" in str(failure.error)
    assert failure.is_refusal
    assert not failure.may_be_over(0)
    assert cache.rmse_hidden(refused) is None
    with pytest.raises(InputError, match="K=99"):
        solve(cache, refused)
    # What failed for lack of something may be over after a while.
    lack = Failure(OSError("Too many open files"), time.monotonic())
    assert [lack.may_be_over(seconds) for seconds in (0, 10)] == [True, False]


def time_for_others(_: object) -> None:
    time.sleep(0.5)


def until(condition: object) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_fit_whose_process_is_killed_is_tried_again_for_whoever_waits(cache, scheduler, monkeypatch):
    submit, died = scheduler.submit, []

    def submit_to_a_process_that_dies_first(*args, **how):
        job = submit(*args, **how)
        if not died:
            died.append(job)
            scheduler.wait([job.key])
            job.future = Future()
            job.future.set_exception(ProcessDied("killed"))
        return job

    monkeypatch.setattr(scheduler, "submit", submit_to_a_process_that_dies_first)
    monkeypatch.setattr(fitting, "PAUSE_SECONDS", 0.0)

    assert cache.solve(KEY, DATA, OBSERVED, "ann").W.shape[1] == KEY.K
    assert died


@pytest.mark.parametrize(
    ("reported", "solver", "expected", "told"),
    [
        (None, "fast", 10.0, (0.0, "Starting")),
        ((0.01, 3.0), "fast", 12.0, (0.25, "Iteration 7 · 3 s elapsed, at most 9 s left")),
        # It has just ended, or takes longer than expected.
        ((0.2, 3.0), "fast", 0.0, (0.95, "Iteration 7 · 3 s elapsed")),
        ((0.2, 3.0), "fast", 2.0, (0.95, "Iteration 7 · 3 s elapsed")),
        ((0.25, 30.0), "paper", 1.0, (0.25, "Iteration 7 · 30 s elapsed, at most 2 min left")),
    ],
)
def test_the_fast_solver_is_as_far_as_its_time_and_algorithm_1_as_its_iterations(
    reported, solver, expected, told
):
    frame = Frame(7, 1.0, np.ones((1, 1)), np.ones((1, 1)))

    far = how_far(None if reported is None else RunProgress(frame, *reported), solver, expected)

    assert tuple(far) == (pytest.approx(told[0]), told[1])


def test_a_fit_that_waits_for_its_turn_says_so(monkeypatch):
    def script():
        from atnmf_core import load_dataset
        from pages.common.fitting import Case, show_wait
        from pages.common.setting import Setting

        show_wait(Case(Setting(), load_dataset("lfw")), something_shown=True)

    waiting = Job("a fit", lambda report: None, long=False)
    monkeypatch.setattr(fitting, "jobs", lambda case: [waiting])

    page = AppTest.from_function(script, default_timeout=60).run()

    assert not page.exception
    assert page.button[0].label == "Cancel"
    assert page.get("progress")[0].proto.text == "Busy: this waits for its turn, the last picture is shown"


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr("pages.common.cache.CACHE", Cache())
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
