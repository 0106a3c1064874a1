"""What every page has in common: its controls stay as people set them."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

PAGES = {
    "explore": {"K": "9", "alpha": "0.35", "lam": "2.137"},
    "hyperspectral": {"K": "3", "triplet": "own", "red": "7"},
    "curves": {"K": "9", "alphas": "0.3,0.5"},
    "reproduce": {"table": "cbcl", "method": "atnmf-3"},
    "learn": {"chapter": "2", "hidden": "1-4"},
}
KINDS = ("slider", "select_slider", "number_input", "selectbox", "multiselect", "button_group")
SET_EVERY_TIME = "curves_bundled_"
"""The pills of bundled curves, one of which is pressed by whatever shows a sweep."""


@pytest.mark.parametrize("name", PAGES)
def test_a_control_that_is_within_its_limits_is_never_set_again(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A widget that the page sets, even to what it says, jumps back under the hand that moves it."""
    monkeypatch.setenv("ATNMF_STORE", str(tmp_path / "store.sqlite"))
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=120)
    page.switch_page(f"pages/{name}.py")
    for word, value in PAGES[name].items():
        page.query_params[word] = value
    before = widgets(page.run())

    after = widgets(page.run())

    both = before.keys() & after.keys()
    assert both
    assert [key for key in both if after[key].proto.set_value] == []
    assert not page.exception


def widgets(page: AppTest) -> dict[str, Any]:
    found = (widget for kind in KINDS for widget in page.get(kind))
    return {one.key: one for one in found if one.key and not one.key.startswith(SET_EVERY_TIME)}
