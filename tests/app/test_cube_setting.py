"""An address spells what the Hyperspectral page shows, and nothing in an address can break it."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atnmf_core import load_dataset
from pages.common.setting import Setting
from pages.hyperspectral_view.cube_setting import CubeSetting, span, spell_pixels
from tests.app.queries import from_query, to_query

SCENE = load_dataset("simulated-scene", rows=20, cols=30, bands=12)
OTHERWISE = {
    "start": "random",
    "size": "large",
    "rows": "3-9",
    "cols": "1-2",
    "bands": "10-40",
    "view": "band",
    "triplet": "own",
    "red": 5,
    "green": 6,
    "blue": 7,
    "clip": "5",
    "balance": "channel",
    "pixel": "4.17",
    "pins": "1.2_30.4",
    "pure": True,
    "library": "0f" * 32,
}
OWN = [field.name for field in fields(CubeSetting) if field.name not in {f.name for f in fields(Setting)}]


def test_the_first_view_has_a_bare_address() -> None:
    assert to_query(CubeSetting()) == {}


def test_a_setting_comes_back_from_its_address() -> None:
    setting = CubeSetting(**OTHERWISE)

    assert set(OTHERWISE) == set(OWN)
    assert from_query(CubeSetting, to_query(setting)) == setting


@pytest.mark.parametrize(
    "query",
    [
        {"rows": "9-3"},
        {"rows": "0-4"},
        {"cols": "3"},
        {"bands": "1-2-3"},
        {"pixel": "4"},
        {"pixel": "0.1"},
        {"pins": "1.2_"},
        {"pins": "_".join(["1.1"] * 7)},
        {"clip": "3"},
        {"size": "huge"},
        {"triplet": "xray"},
        {"start": "pure"},
        {"red": "0"},
    ],
    ids=str,
)
def test_what_an_address_says_wrongly_stays_at_its_default(query: dict[str, str]) -> None:
    assert from_query(CubeSetting, query) == CubeSetting()


@given(st.dictionaries(st.sampled_from(OWN), st.text()))
def test_no_address_is_refused(query: dict[str, str]) -> None:
    setting = from_query(CubeSetting, query)

    row, col = setting.place(SCENE)
    assert 1 <= row <= 20
    assert 1 <= col <= 30
    assert setting.cut(SCENE).V.size > 0


@pytest.mark.parametrize("name", OWN)
def test_a_new_fit_is_needed_for_another_start_and_not_for_another_look(name: str) -> None:
    changed = replace(CubeSetting(), **{name: OTHERWISE[name]})

    same_fit = changed.fit_key("data", "atnmf") == CubeSetting().fit_key("data", "atnmf")

    # Other data has another content hash, which is the test's to give here.
    assert same_fit == (name != "start")
    assert (changed.solved == CubeSetting()) == (name in CubeSetting.VIEW)


def test_a_random_start_is_explores_own_fit() -> None:
    shared = {"data": "simulated-scene", "alpha": 0.5, "K": 5, "missing": "ignore"}

    assert CubeSetting(start="random").fit_key("x", "nmf") == Setting(**shared).fit_key("x", "nmf")


def test_a_part_is_cut_out_as_asked_and_no_more_than_there_is() -> None:
    part = CubeSetting(rows="3-9", cols="25-99", bands="2-4").cut(SCENE)

    assert part.image_shape == (7, 6)
    assert part.images().tolist() == SCENE.images()[1:4, 2:9, 24:30].tolist()
    assert CubeSetting().cut(SCENE) is SCENE
    assert span("7-99", 5) == (5, 5)


def test_pixels_outside_are_brought_in_and_pins_outside_left_out() -> None:
    setting = CubeSetting(pixel="99.99", pins="1.1_99.1_2.30_1.1")

    assert setting.place(SCENE) == (20, 30)
    assert setting.pinned(SCENE) == [(1, 1), (2, 30)]
    assert CubeSetting().place(SCENE) == (10, 15)


def test_the_latest_pins_are_kept() -> None:
    pins = spell_pixels([(number, 1) for number in range(1, 9)])

    assert pins == "3.1_4.1_5.1_6.1_7.1_8.1"
    assert from_query(CubeSetting, {"pins": pins}).pins == pins
