"""When a tab counts as idle."""

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from . import traffic


class Socket:
    """A connection whose frames the test sends."""

    def __init__(self, followed: traffic.Traffic) -> None:
        self._handlers = {}
        followed.follow(self)

    def on(self, event: str, handler: object) -> None:
        self._handlers[event] = handler

    def send(self, *, by_timer: bool) -> None:
        message = BackMsg()
        message.rerun_script.is_auto_rerun = by_timer
        self._handlers["framesent"](message.SerializeToString())

    def answer(self) -> None:
        for message in (ForwardMsg(new_session={"name": "app"}), ForwardMsg(script_finished=0)):
            self._handlers["framereceived"](message.SerializeToString())


@pytest.mark.parametrize("by_timer", [True, False])
def test_only_a_timer_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch, by_timer: bool) -> None:
    now = 0.0
    monkeypatch.setattr(traffic.time, "monotonic", lambda: now)
    followed = traffic.Traffic()
    socket = Socket(followed)
    socket.answer()
    socket.send(by_timer=by_timer)

    now = 1.0
    assert not followed.quiet_for(0.4)
    now = 1000.0
    assert followed.quiet_for(0.4) is by_timer
    socket.answer()
    now = 1001.0
    assert followed.quiet_for(0.4)
