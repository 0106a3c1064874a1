"""What a tab and its server are saying to each other: has every change been answered by a finished run?"""

import time

from playwright.sync_api import WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class Traffic:
    """Follows a tab's connection, because a page looks idle until the server has begun to answer."""

    def __init__(self) -> None:
        self._run_is_due = self._running = False
        self._last_message = time.monotonic()

    def follow(self, socket: WebSocket) -> None:
        """Start again with a new connection."""
        self._run_is_due, self._running = True, False
        socket.on("framesent", self._on_sent)
        socket.on("framereceived", self._on_received)

    def quiet_for(self, seconds: float) -> bool:
        """Every run that was asked for has ended, and for this long nobody has asked for another."""
        at_rest = not (self._run_is_due or self._running)
        return at_rest and time.monotonic() - self._last_message > seconds

    def _on_sent(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes) and BackMsg.FromString(frame).WhichOneof("type") == "rerun_script":
            self._run_is_due = True
            self._last_message = time.monotonic()

    def _on_received(self, frame: str | bytes) -> None:
        if not isinstance(frame, bytes):
            return
        message = ForwardMsg.FromString(frame)
        match message.WhichOneof("type"):
            case "new_session":
                self._run_is_due, self._running = False, True
            case "script_finished":
                self._running = False
                self._run_is_due |= message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            case _:
                return
        self._last_message = time.monotonic()
