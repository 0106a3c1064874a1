"""One person at the protocol: a session without a browser that answers timers and caches as one does."""

from __future__ import annotations

import re
import socket
import struct
import time
import urllib.request
import uuid
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

__all__ = ["FAILURES", "Answer", "Person", "new_browser"]

FAILURES = (OSError, TimeoutError, WebSocketException, LookupError)
"""Connections that are lost, pages that do not answer, and those that a browser could not draw."""
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
BYTES_RECEIVED = 128
"""Where Linux's tcp_info has it."""


@dataclass
class Answer:
    """What one move brought."""

    seconds: float = 0.0
    wire_bytes: int = 0
    exceptions: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


@dataclass
class Kept:
    """A large message in the cache of a browser, and the run that it was last in."""

    texts: list[str]
    fragment: str
    run: int


def new_browser(address: str, cookies: str = "") -> str:
    """The cookies by which servers know a browser again: new ones, or those that a reload has of these."""
    request = urllib.request.Request(f"{address}/_stcore/health", headers={"Cookie": cookies})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return "; ".join(one.partition(";")[0] for one in answer.headers.get_all("Set-Cookie"))


class Person:
    """Opens a page and moves the slider with this key. The cookie is that of their browser."""

    def __init__(self, address: str, slider: str, query: str = "", cookie: str = "", page: str = "") -> None:
        stream = address.replace("http", "ws", 1) + "/_stcore/stream"
        self._address, self._cookie = address, cookie
        self._closing = ExitStack()
        self._socket = self._closing.enter_context(
            connect(
                stream,
                subprotocols=["streamlit"],
                max_size=None,
                origin=address,
                open_timeout=60,
                additional_headers={"Cookie": cookie} if cookie else {},
            )
        )
        self._slider, self._query, self._page, self._page_name = slider, query, "", page
        self._widget = ""
        self._value: float | None = None
        self._timers: dict[str, tuple[float, float]] = {}
        self._cached: dict[str, Kept] = {}
        self._max_age = self._runs = 0
        self._shown: list[str] = []
        self._is_complete = False

    def open(self, seconds: float = 120.0) -> Answer:
        self._ask()
        return self._until_finished(seconds)

    def move(self, value: float, seconds: float = 60.0) -> Answer:
        """Move the slider and wait until the page has run."""
        self._value = value
        self._ask()
        return self._until_finished(seconds)

    def rest(self, seconds: float) -> Answer:
        """Only answer timers."""
        return self._receive(Answer(), time.monotonic() + seconds, full_run=False)

    def upload(self, name: str, content: bytes) -> None:
        """Send a file as the uploader does, before the page is told of it."""
        message = BackMsg()
        message.file_urls_request.file_names.append(name)
        self._socket.send(message.SerializeToString())
        answer = ForwardMsg()
        while answer.WhichOneof("type") != "file_urls_response":
            answer = ForwardMsg.FromString(self._socket.recv(timeout=60))
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
        request = urllib.request.Request(
            self._address + answer.file_urls_response.file_urls[0].upload_url,
            head.encode() + content + f"\r\n--{boundary}--\r\n".encode(),
            {
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Cookie": self._cookie,
                "X-Xsrftoken": self._cookie.partition("_streamlit_xsrf=")[2].partition(";")[0],
            },
            method="PUT",
        )
        urllib.request.urlopen(request, timeout=60).close()

    @property
    def is_current(self) -> bool:
        """Whether the page shows what was asked for last: nothing has to be begun or waited for."""
        return self._is_complete and not {"Run", "Cancel"} & set(self._shown)

    @property
    def shown_K(self) -> int | None:
        """The number of parts that Explore shows."""
        found = (re.search(r"The (\d+) parts that AT-NMF", text) for text in self._shown)
        return next((int(match[1]) for match in found if match), None)

    @property
    def is_polling(self) -> bool:
        return bool(self._timers)

    def close(self) -> None:
        self._closing.close()

    def _wire_bytes(self) -> int:
        information = self._socket.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_RECEIVED + 8)
        return int(struct.unpack_from("Q", information, BYTES_RECEIVED)[0])

    def _ask(self, fragment: str = "") -> None:
        message = BackMsg()
        request = message.rerun_script
        request.query_string, request.page_script_hash = self._query, self._page
        request.page_name = "" if self._page else self._page_name
        request.fragment_id, request.is_auto_rerun = fragment, bool(fragment)
        request.cached_message_hashes.extend(self._cached)
        if self._value is not None:
            widget = WidgetState(id=self._widget)
            widget.double_array_value.data.append(self._value)
            request.widget_states.widgets.append(widget)
        self._socket.send(message.SerializeToString())

    def _until_finished(self, seconds: float) -> Answer:
        answer, start, before = Answer(), time.monotonic(), self._wire_bytes()
        self._receive(answer, start + seconds, full_run=True)
        answer.seconds, answer.wire_bytes = time.monotonic() - start, self._wire_bytes() - before
        return answer

    def _receive(self, answer: Answer, deadline: float, *, full_run: bool) -> Answer:
        begun = False
        while (now := time.monotonic()) < deadline:
            due = min((at for _, at in self._timers.values()), default=deadline)
            try:
                frame = self._socket.recv(timeout=max(0.0, min(due, deadline) - now))
            except TimeoutError:
                self._fire()
                continue
            message = ForwardMsg.FromString(frame)
            self._remember(message, answer)
            is_full = not message.metadata.run.fragment_ids
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and is_full:
                self._is_complete |= message.WhichOneof("type") == "script_finished"
            match message.WhichOneof("type"):
                case "new_session":
                    begun |= is_full
                case "script_finished" if begun and is_full and full_run:
                    if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                        return answer
        if full_run:
            raise TimeoutError("the page did not answer")
        return answer

    def _fire(self) -> None:
        now = time.monotonic()
        for fragment, (interval, at) in self._timers.items():
            if at <= now:
                self._timers[fragment] = (interval, now + interval)
                self._ask(fragment)

    def _remember(self, message: ForwardMsg, answer: Answer) -> None:
        """What a browser keeps of a message."""
        match message.WhichOneof("type"):
            case "new_session":
                self._page = message.new_session.page_script_hash
                self._max_age = message.new_session.config.max_cached_message_age
                if not message.metadata.run.fragment_ids:
                    self._timers.clear()
                    self._shown, self._is_complete = [], False
            case "script_finished" if message.script_finished in FINISHED:
                self._age_cache(message.metadata.run.fragment_ids)
            case "ref_hash":
                if message.ref_hash not in self._cached:
                    raise LookupError("the page refers to a message that the browser no longer has")
                self._show(self._cached[message.ref_hash].texts, message.ref_hash)
            case "auto_rerun":
                interval = message.auto_rerun.interval
                self._timers[message.auto_rerun.fragment_id] = (interval, time.monotonic() + interval)
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
            case "delta":
                self._draw(message, answer)

    def _draw(self, message: ForwardMsg, answer: Answer) -> None:
        element = message.delta.new_element
        if element.slider.id.endswith(f"-{self._slider}"):
            self._widget = element.slider.id
        answer.exceptions += [element.exception.message] * element.HasField("exception")
        words = [element.alert.body, element.markdown.body, element.button.label]
        answer.words += words
        texts = [*words, element.bidi_component.json]
        if message.metadata.cacheable:
            self._cached.setdefault(message.hash, Kept(texts, message.delta.fragment_id, 0))
        self._show(texts, message.hash)

    def _show(self, texts: list[str], message_hash: str) -> None:
        self._shown += texts
        if message_hash in self._cached:
            self._cached[message_hash].run = self._runs

    def _age_cache(self, fragments: Collection[str]) -> None:
        """A browser counts runs of fragments too, but these drop only messages of their own."""
        self._runs += 1
        self._cached = {
            name: kept
            for name, kept in self._cached.items()
            if self._runs - kept.run <= self._max_age or (fragments and kept.fragment not in fragments)
        }
