"""Drive the dashboard the way a person does, and keep a list of everything that goes wrong in the browser."""

import math
import re
import time
from typing import Literal
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import ConsoleMessage, Download, Frame, Locator, Page, Request, WebSocket
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# Console errors that are not ours, each with the reason why it is harmless.
HARMLESS = (
    # On a deep link Streamlit's client looks for its server below the page's own path before the root.
    re.compile(r"404 .*/_stcore/(health|host-config)$"),
)
IDLE = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    return app !== null
        && app.dataset.testConnectionState === 'CONNECTED'
        && app.dataset.testScriptState === 'notRunning'
        && document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]') === null;
}"""
# Longer than the time for which Streamlit's sliders and text fields hold a change back before they send it.
QUIET_SECONDS = 0.4


class Dashboard:
    """One browser tab on a running dashboard.

    Attributes
    ----------
    page : playwright.sync_api.Page
        The tab, for everything that this class has no word for.
    problems : list of str
        Console errors, uncaught exceptions of scripts, and requests to other hosts, as they happened.
        A test that provokes one on purpose asserts on it and clears the list.
    exception_expected : bool
        Set by a test that provokes a Streamlit exception box.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.problems: list[str] = []
        self.exception_expected = False
        self._traffic = Traffic()
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))
        page.on("request", self._on_request)
        page.on("websocket", self._traffic.follow)

    def open(
        self,
        path: str = "/",
        *,
        theme: Literal["light", "dark"] = "light",
        width: int = 1440,
        height: int = 900,
        **query: object,
    ) -> Page:
        """Go to a page with the given query parameters and wait until it is drawn."""
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(f"{self.address}{path}" + (f"?{urlencode(query)}" if query else ""))
        self.wait_until_idle()
        return self.page

    def wait_until_idle(self, frame: Frame | None = None, seconds: float = 120) -> None:
        """Wait until the script has run, the page (or the app in a frame of it) shows its result, and nothing
        more is on its way.

        A page that polls (a fragment with ``run_every``) never rests: wait there for what it should show.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
            if self._traffic.quiet_for(QUIET_SECONDS) and (frame or self.page).evaluate(IDLE):
                return
        raise TimeoutError(f"{self.page.url} was still at work after {seconds:g} s")

    def slider(self, label: str) -> Locator:
        """The handle of the slider with this label; its ``aria-valuetext`` is the value as shown."""
        return self.page.get_by_role("group", name=label, exact=True).get_by_role("slider")

    def set_slider(self, label: str, value: str) -> None:
        """Move a slider to the stop that shows ``value`` exactly as written, in one change."""
        handle = self.slider(label)
        if handle.get_attribute("aria-valuetext") == value:
            return
        low, high, step = (float(handle.get_attribute(name)) for name in ("min", "max", "step"))
        stops = [f"{low + i * step:g}" for i in range(round((high - low) / step) + 1)]
        # Streamlit hears of a key, not of a value filled in: look for the stop unheard, arrive by one key.
        for i, stop in enumerate(stops):
            handle.fill(stop)
            if handle.get_attribute("aria-valuetext") == value:
                handle.fill(stops[i - 1] if i > 0 else stops[1])
                handle.press("ArrowRight" if i > 0 else "ArrowLeft")
                self.wait_until_idle()
                return
        raise ValueError(f"the slider {label!r} has no stop {value!r} between {low:g} and {high:g}")

    def choose(self, label: str, option: str) -> None:
        """Pick an option of a select box."""
        box, wanted = (
            self.page.get_by_role("combobox", name=label),
            self.page.get_by_role("option", name=option, exact=True),
        )
        # A click on a box that is still moving into its place opens nothing, nor does one that comes just
        # before the page is drawn again; that may also close a list that is open.
        for act in (box.click, lambda: box.press("ArrowDown")) * 3:
            act()
            if appears(wanted) and _clicked(wanted):
                break
        else:
            wanted.click()
        self.wait_until_idle()

    def press(self, name: str) -> None:
        """Press a button, a pill or a segment by its visible name."""
        self.page.get_by_role("button", name=name, exact=True).or_(
            self.page.get_by_role("radio", name=name, exact=True)
        ).first.click()
        self.wait_until_idle()

    def take(self, name: str) -> Download:
        """What a press of this button brings home."""
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name=name, exact=True).first.click()
        return waiting.value

    def exceptions(self) -> list[str]:
        """The text of every Streamlit exception box in sight."""
        boxes = self.page.get_by_test_id("stException")
        return [box.inner_text() for box in boxes.all() if box.is_visible()]

    def check(self) -> None:
        """Fail with everything that went wrong since the tab was opened."""
        shown = [] if self.exception_expected else [f"exception box: {text}" for text in self.exceptions()]
        problems = self.problems + shown
        assert not problems, "the browser reported:\n" + "\n".join(problems)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        text = f"{message.text} at {message.location['url']}"
        if not any(pattern.search(text) for pattern in HARMLESS):
            self.problems.append(f"console: {text}")

    def _on_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https") and address.hostname != urlsplit(self.address).hostname:
            self.problems.append(f"request to another host: {request.url}")


def _clicked(option: Locator, milliseconds: float = 3000) -> bool:
    """Whether it stayed in its place for long enough to be clicked."""
    try:
        option.click(timeout=milliseconds)
    except PlaywrightTimeout:
        return False
    return True


def appears(locator: Locator, seconds: float = 3) -> bool:
    """Whether something comes into sight within this time."""
    try:
        locator.wait_for(timeout=1000 * seconds)
    except PlaywrightTimeout:
        return False
    return True


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
