"""What every page has in common: its controls stay as people set them."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.opening import open_page

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
    page = open_page(name, repository, **PAGES[name])
    before = widgets(page)

    after = widgets(page.run())

    both = before.keys() & after.keys()
    assert both
    assert [key for key in both if after[key].proto.set_value] == []
    assert not page.exception


@pytest.mark.parametrize("name", PAGES)
def test_a_browser_that_missed_a_run_starts_its_controls_where_they_stand(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A value that the page sets is sent once; a widget mounted after that starts with its default."""
    monkeypatch.setenv("ATNMF_STORE", str(tmp_path / "store.sqlite"))
    drawn = widgets(open_page(name, repository, **PAGES[name]))

    set_now = {key: one for key, one in drawn.items() if one.proto.set_value}
    assert {key: started(one) for key, one in set_now.items()} == {
        key: shown(one) for key, one in set_now.items()
    }
    assert set_now


def shown(widget: Any) -> list[Any]:
    """What the widget is told to show in this run."""
    match widget.type:
        case "slider":
            return list(widget.proto.value)
        case "number_input":
            return [widget.proto.value]
        case "select_slider":
            return list(widget.proto.raw_value)
        case "selectbox":
            return [widget.proto.raw_value]
        case _:
            return list(widget.proto.raw_values)


def started(widget: Any) -> list[Any]:
    """What it shows in a browser that sees a later run first."""
    default = widget.proto.default
    match widget.type:
        case "slider":
            return list(default)
        case "number_input":
            return [default]
        case "select_slider" | "multiselect":
            return [widget.proto.options[int(place)] for place in default]
        case "selectbox":
            return [widget.proto.options[default]]
        case _:
            return [widget.proto.options[place].content for place in default]


def test_a_link_to_data_that_is_not_there_yet_keeps_its_pattern(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATNMF_DATA_DIR", str(tmp_path))
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=120)
    page.query_params.update(data="moffet", pattern="stripes")

    page.run()

    assert not page.exception
    assert page.session_state["pattern"] == "stripes"


def widgets(page: AppTest) -> dict[str, Any]:
    found = (widget for kind in KINDS for widget in page.get(kind))
    return {one.key: one for one in found if one.key and not one.key.startswith(SET_EVERY_TIME)}
