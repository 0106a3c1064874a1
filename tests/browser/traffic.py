"""What a tab and its server are saying to each other: has every change been answered by a finished run?"""

import math
import time

from playwright.sync_api import WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

TIMER_SECONDS = 10.0
"""How long a fragment's timer is waited for: where a run has just removed the fragment, no answer comes."""


class Traffic:
    """Follows a tab's connection, because a page looks idle until the server has begun to answer."""

    def __init__(self) -> None:
        self._due_until = -math.inf
        self._running = False
        self._last_message = time.monotonic()

    def follow(self, socket: WebSocket) -> None:
        """Start again with a new connection."""
        self._due_until, self._running = math.inf, False
        socket.on("framesent", self._on_sent)
        socket.on("framereceived", self._on_received)

    def quiet_for(self, seconds: float) -> bool:
        """Every run that was asked for has ended, and for this long nobody has asked for another."""
        now = time.monotonic()
        return now > self._due_until and not self._running and now - self._last_message > seconds

    def _on_sent(self, frame: str | bytes) -> None:
        message = BackMsg.FromString(frame) if isinstance(frame, bytes) else BackMsg()
        if message.WhichOneof("type") == "rerun_script":
            self._last_message = time.monotonic()
            by_timer = message.rerun_script.is_auto_rerun
            due = self._last_message + TIMER_SECONDS if by_timer else math.inf
            self._due_until = max(self._due_until, due)

    def _on_received(self, frame: str | bytes) -> None:
        if not isinstance(frame, bytes):
            return
        message = ForwardMsg.FromString(frame)
        match message.WhichOneof("type"):
            case "new_session":
                self._due_until, self._running = -math.inf, True
            case "script_finished":
                self._running = False
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    self._due_until = math.inf
            case _:
                return
        self._last_message = time.monotonic()
