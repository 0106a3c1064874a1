"""Find a Chromium and start it."""

import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

# The headless shell draws no window frame, which takes a fifth of the time.
NAMES_ON_PATH = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# A container has no user namespaces for the sandbox, little shared memory and no GPU.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


class NoBrowserError(RuntimeError):
    """Neither the PATH nor Playwright has a Chromium."""


def launch(playwright: Playwright) -> Browser:
    """Start the browser on the PATH, else the one that Playwright downloaded."""
    return playwright.chromium.launch(executable_path=_executable(playwright), args=FLAGS)


def _executable(playwright: Playwright) -> str:
    for name in NAMES_ON_PATH:
        if found := shutil.which(name):
            return found
    own = playwright.chromium.executable_path
    if Path(own).is_file():
        return own
    raise NoBrowserError(
        f"no browser: none of {', '.join(NAMES_ON_PATH)} is on the PATH and Playwright has none of its own; "
        "install Debian's with `apt-get install chromium-headless-shell` or Playwright's with "
        "`playwright install chromium`"
    )
