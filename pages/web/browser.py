"""The dashboard's pages in a browser: what they import and a browser's Python does not have.

In the folder that `atnmf web` writes, this module stands in for Streamlit: `st.caption` is that of the
`Place` being filled. What pages put there becomes a tree of plain data, which `lab.js` draws; what people do
comes back as events. In the one thread, fits that a page waits for run where it asks for them, others when
it rests.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

REST_SECONDS = 0.03
SLOWER = 6.0  # A fit takes so many times as long as natively: matrix products are slow here.
CHOICES = ("multiselect", "pills", "segmented_control", "select_slider", "selectbox")
# By kind: what follows the label.
WIDGETS = {"button": (), "toggle": ("value",), "download_button": ("make", "name", "mime")}
WIDGETS |= dict.fromkeys(("slider", "number_input"), ("low", "high", "value"))
WIDGETS |= dict.fromkeys(CHOICES, ("options", "value"))


class Rerun(BaseException):
    """Start the page again, or stop it."""


class Outdated(BaseException):
    """Something else is wanted by now."""


class Place:
    """A node of the tree, to which pages add others: by its methods, or by those of this module in `with`."""

    def __init__(self, kind: str, *words: Any, **look: Any) -> None:
        self.node: dict[str, Any] = {"is": kind, "words": words, "in": [], **look}

    def __enter__(self) -> Place:
        _filled.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _filled.pop()

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        return partial(self.widget if kind in WIDGETS else self.add, kind)

    def add(self, kind: str, *words: Any, **look: Any) -> Place:
        place = Place(kind, *words, **look)
        self.node["in"].append(place.node)
        return place

    def columns(self, spec: int | Sequence[float], **look: Any) -> list[Place]:
        row = self.add("columns", **look)
        return [row.add("container", weight=each) for each in ([1] * spec if isinstance(spec, int) else spec)]

    def widget(self, kind: str, label: str, *given: Any, format_func: Any = str, **look: Any) -> Any:
        """Its value is in the session; for options the browser has their numbers."""
        look |= dict(zip(WIDGETS[kind], given, strict=False))
        key = look["key"] = look.get("key") or f"{kind}:{label}"
        call = look.pop("on_change", None) or look.pop("on_click", None) or _nothing
        _called[key] = {"": partial(call, *look.pop("args", ()), **look.pop("kwargs", {}))}
        if kind == "download_button":
            _called[key] = {"": partial(_save, *(look.pop(name) for name in WIDGETS[kind]))}
        options, several = [*look.pop("options", ())], kind == "multiselect" or "selection_mode" in look
        if kind == "selectbox":
            look["value"] = options[look.pop("index", look.get("value", 0))]
        value = shown = session_state.setdefault(key, look.pop("value", look.pop("default", None)))
        if options:
            shown = [options.index(one) for one in value] if several else options.index(value)
        _options[key], texts = options, [str(format_func(option)) for option in options]
        self.add(kind, label, value=shown, texts=texts, several=several, **look)
        return key in _clicked if "button" in kind else value

    def plotly_chart(self, figure: Any, *, key: str, on_select: Any = None, **look: Any) -> None:
        _called[key] = {"": on_select or _nothing}
        self.add("plotly_chart", key=key, figure=figure.to_dict(), selects=on_select is not None, **look)


_main, _side = Place("container"), Place("container")
_filled = [_main]
_clicked: set[str] = set()
_address = {"page": "", "by_history": False}
session_state, _options, _called, _fragments, _news = ({} for _ in range(5))
"""By key or name: values, what can be chosen, what to call, what is drawn again, components not yet told."""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return _side if name == "sidebar" else getattr(_filled[-1], name)


def _nothing(*_: Any, **__: Any) -> None:
    """What the web page has itself, or does not need."""


def _save(make: Any, name: str, mime: str) -> None:
    content = make() if callable(make) else make
    _browser.save(name, mime, content.encode() if isinstance(content, str) else content)


def _component(name: str, **sources: str) -> Callable[..., None]:
    _news[name] = sources

    def mount(*, data: Any = None, key: str, **on: Callable[[], Any]) -> None:
        _called[key] = {name.removeprefix("on_").removesuffix("_change"): call for name, call in on.items()}
        _filled[-1].add("component", key=key, name=name, data=data)

    return mount


def cache_resource(function: Any = None, **_: Any) -> Any:
    return cache_resource if function is None else cache(function)


def fragment(function: Callable[..., Any], run_every: float | None = None) -> Callable[..., Any]:
    def begin(*args: Any, **options: Any) -> Any:
        name = f"{function.__qualname__}:{len(_fragments)}"
        place = _filled[-1].add("fragment", key=name, every=run_every)
        _fragments[name] = place, partial(function, *args, **options)
        with place:
            return function(*args, **options)

    return begin


def rerun(again: bool = True) -> None:
    raise Rerun(again)


def Page(file: str, *, title: str, default: bool = False, **_: Any) -> SimpleNamespace:
    run = partial(runpy.run_path, file, run_name="__main__")
    return SimpleNamespace(file=Path(file), title=title, url="" if default else Path(file).stem, run=run)


def navigation(pages: Sequence[Any]) -> Any:
    there = {page.url: page for page in pages if page.file.exists()}
    _side.add("pages", pages=[[url, page.title] for url, page in there.items()], chosen=_address["page"])
    return there.get(_address["page"], pages[0])


class Query(dict[str, str]):
    """The address's."""

    to_dict = dict.copy

    def from_dict(self, query: Mapping[str, str]) -> None:
        self.clear()
        self.update(query)


query_params, stop, set_page_config, logo = Query(), partial(rerun, False), _nothing, _nothing
components = SimpleNamespace(v2=SimpleNamespace(component=_component))
context = SimpleNamespace(is_embedded=False, cookies={})
get_option = {"server.address": "localhost"}.get


def start(browser: Any) -> None:
    """Let the pages find this where they look for others. What `browser` can do is in `worker.js`."""
    global _browser
    _browser = browser
    any_name = {"__getattr__": lambda name: _nothing}
    modules = {
        **dict.fromkeys(("joblib", "threadpoolctl"), any_name),
        "pooch": {"os_cache": Path},
        "plotly": {},
        # Without their checks, which would take longer to load than all else.
        "plotly.graph_objects": {"Figure": lambda **figure: SimpleNamespace(to_dict=figure.copy)},
        "skimage": {"data": SimpleNamespace(lfw_subset=lambda: np.load("faces.npy"))},
        "pages.common.streamlit_patches": any_name
        | {"is_history_navigation": lambda: _address["by_history"]},
    }
    for name, content in modules.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(content)
    sys.modules["streamlit"] = sys.modules[__name__]
    from atnmf_core.jobs import fit_task

    natively = fit_task.expected_seconds
    fit_task.expected_seconds = lambda *args, **options: SLOWER * natively(*args, **options)
    from pages.common import jobs

    jobs.scheduler = _scheduler


@cache
def _scheduler() -> Any:
    from atnmf_core.jobs.fit_task import fit_run, hidden_rmse
    from atnmf_core.jobs.scheduler import Job, Rank, Scheduler

    class InThisThread(Scheduler):
        def submit(self, key: Hashable, task: Any, owner: Hashable, **how: Any) -> Job:
            job = super().submit(key, task, owner, **how)
            waits = job.rank is Rank.EXTRA or (job.long and _browser.can_rest)
            if not (job.is_running or waits):
                _show(done=False)
                self.run_here(job, _browser.rest, _browser.is_waiting)
            return job

        def work(self) -> bool:
            job = self._next_waiting(False) or self._next_waiting(True)
            with suppress(Outdated):
                return job is not None and self.run_here(job, _browser.let_others, job.future.cancelled)
            return True

        def run_here(self, job: Job, rest: Callable[[], Any], is_outdated: Callable[[], bool]) -> bool:
            """Run a task, resting now and then, until it is done or outdated."""
            task, rested = job.task, time.monotonic()

            def report(content: Any) -> None:
                nonlocal rested
                job._report(content)
                if _browser.can_rest and time.monotonic() - rested > REST_SECONDS:
                    _browser.run_sync(rest())
                    rested = time.monotonic()
                    if is_outdated():
                        raise Outdated

            job.is_running = True
            if task.func is hidden_rmse:
                # Which reports nothing, and so would never rest.
                job.task = lambda report: fit_run(report, **task.keywords).rmse_hidden
            try:
                here = SimpleNamespace(is_alive=True, kill=_nothing, run=lambda task, _: task(report))
                self._run(job, here)
            finally:
                if self.job(job.key) is job:
                    self._cancel(job)
            return True

    return InThisThread(workers=0)


def work() -> bool:
    """Run a task that waits; whether there was one."""
    return _scheduler().work()


def handle(events: str) -> None:
    """Let what people did take effect, and draw the page or, if only its time has come, a fragment of it."""
    _clicked.clear()
    _address["by_history"] = False
    try:
        whole = [_take(**event) for event in json.loads(events)]
    except Rerun:
        whole = [True]
    if any(whole):
        _run()


def _take(key: str = "", value: Any = None, trigger: str = "", fragment: str = "", **there: Any) -> bool:
    """An event; whether the whole page follows from it."""
    if there:
        # An address that somebody goes to is one of the browser's history.
        _address.update(page=there["page"], by_history=True)
        query_params.from_dict(dict(parse_qsl(there["query"])))
    elif fragment in _fragments:
        place, draw = _fragments[fragment]
        place.node["in"].clear()
        with place:
            draw()
        _tell(part=place.node)
    elif key in _called:
        if options := _options.get(key):
            value = [options[at] for at in value] if isinstance(value, list) else options[value]
        session_state[key] = {trigger: value} if trigger else value
        _clicked.add(key)
        _called[key].get(trigger, _nothing)()
    return not fragment


def _run() -> None:
    _fragments.clear()
    _filled[:] = [_main]
    _main.node["in"], _side.node["in"] = [], []
    try:
        runpy.run_path("app.py")
    except Rerun as asked:
        if asked.args[0]:
            _clicked.clear()
            return _run()
    except Outdated:
        return None
    except Exception:  # noqa: BLE001 - as Streamlit does, whatever went wrong is shown
        _main.add("code", traceback.format_exc())
    return _show(done=True)


def _show(*, done: bool) -> None:
    """What the page has drawn so far; until it is done, what was there before stays below that."""
    _tell(main=_main.node, side=_side.node, done=done, query=query_params, **_address)


def _tell(**what: Any) -> None:
    plain = partial(json.dumps, default=lambda one: one.item() if isinstance(one, np.generic) else list(one))
    _browser.show(plain(what | {"components": _news}))
    _news.clear()
