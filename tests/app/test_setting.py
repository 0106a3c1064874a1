"""A setting decides which fit is needed, an address names any of them, and links open what they opened."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from atnmf_core import load_dataset
from pages.common.controls import Control, controls_of
from pages.common.setting import ALPHAS, LAMBDAS, Setting
from pages.curves_view.curve import spelled_out
from pages.curves_view.setting import ADDRESS as CURVES
from pages.explore_view.panels import ADDRESS as EXPLORE
from pages.hyperspectral_view.setting import ADDRESS as HYPERSPECTRAL
from pages.hyperspectral_view.setting import CubeSetting, span, spell_pixels
from pages.learn_view.chapters import CHAPTERS
from pages.learn_view.lesson import ADDRESS as LEARN
from pages.learn_view.lesson import OF_THE_PAGE
from pages.reproduce_view.tables import ADDRESS as REPRODUCE
from pages.restore_view.setting import ADDRESS as RESTORE
from tests.app.opening import from_query, open_page, to_query


def test_every_stop_of_the_sliders_survives():
    settings = [Setting(alpha=alpha) for alpha in ALPHAS] + [Setting(lam=lam) for lam in LAMBDAS]

    assert [from_query(Setting, to_query(setting)) for setting in settings] == settings


@pytest.mark.parametrize(
    "lam", [1.0005, 1.0015, 1.00041, 1.000000001, 1.0100000001, 2.0000001, 123456.7, 1e6]
)
def test_an_address_names_exactly_one_lambda(lam):
    setting = Setting(lam=lam)

    assert from_query(Setting, to_query(setting)) == setting
    assert from_query(Setting, spelled_out(setting)) == setting
    # Streamlit tells the options of a slider apart by what people read.
    word = controls_of(Setting)["lam"].word
    assert word(lam) not in [word(stop) for stop in LAMBDAS]


def test_price_and_leash_need_a_new_fit_of_atnmf_alone():
    first, dearer, leashed = Setting(lam=2.0), Setting(lam=5.0), Setting(leash=0.5)

    assert len({one.fit_key("data", "nmf") for one in (first, dearer, leashed)}) == 1
    assert len({one.fit_key("data", "atnmf") for one in (first, dearer, leashed)}) == 3
    assert [one.fit_key("data", "atnmf").leash for one in (first, leashed)] == [None, 0.5]
    assert to_query(leashed) == {"leash": "0.5"}
    # Algorithm 1 is the published one, which has none.
    assert Setting(leash=0.5, solver="paper").fit_key("data", "atnmf").leash is None
    assert first.fit_key("one hash", "nmf") != first.fit_key("another", "nmf")


def test_a_random_start_of_a_cube_is_explores_own_fit():
    shared = {"data": "simulated-scene", "alpha": 0.5, "K": 5, "missing": "ignore"}

    assert CubeSetting(start="random").fit_key("x", "nmf") == Setting(**shared).fit_key("x", "nmf")


SCENE = load_dataset("simulated-scene", rows=20, cols=30, bands=12)
OWN = [field.name for field in fields(CubeSetting) if field.name not in {f.name for f in fields(Setting)}]


@given(st.dictionaries(st.sampled_from(OWN), st.text()))
def test_no_address_is_refused(query):
    setting = from_query(CubeSetting, query)

    row, col = setting.place(SCENE)
    assert 1 <= row <= 20
    assert 1 <= col <= 30
    assert setting.cut(SCENE).V.size > 0


def test_a_part_is_cut_out_as_asked_and_no_more_than_there_is():
    part = CubeSetting(rows="3-9", cols="25-99", bands="2-4").cut(SCENE)

    assert part.image_shape == (7, 6)
    assert part.images().tolist() == SCENE.images()[1:4, 2:9, 24:30].tolist()
    assert CubeSetting().cut(SCENE) is SCENE
    assert span("7-99", 5) == (5, 5)


def test_pixels_outside_are_brought_in_and_pins_outside_left_out():
    setting = CubeSetting(pixel="99.99", pins="1.1_99.1_2.30_1.1")

    assert setting.place(SCENE) == (20, 30)
    assert setting.pinned(SCENE) == [(1, 1), (2, 30)]
    assert CubeSetting().place(SCENE) == (10, 15)
    # Only the latest are kept.
    pins = spell_pixels([(number, 1) for number in range(1, 9)])
    assert pins == "3.1_4.1_5.1_6.1_7.1_8.1"
    assert from_query(CubeSetting, {"pins": pins}).pins == pins


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
def test_a_control_is_set_once_and_then_left_to_the_hand_that_moves_it(tmp_path, monkeypatch, name):
    monkeypatch.setenv("ATNMF_STORE", str(tmp_path / "store.sqlite"))
    page = open_page(name, **PAGES[name])
    before = widgets(page)

    # A value that the page sets is sent once; a browser that missed it starts the widget with its default.
    set_now = {key: shown_and_started(one) for key, one in before.items() if one.proto.set_value}
    assert set_now
    assert {key: pair for key, pair in set_now.items() if pair[0] != pair[1]} == {}

    after = widgets(page.run())

    # A widget that the page sets, even to what it says, jumps back under the hand that moves it.
    both = before.keys() & after.keys()
    assert both
    assert [key for key in both if after[key].proto.set_value] == []
    assert not page.exception


def shown_and_started(widget: Any) -> tuple[list[Any], list[Any]]:
    """What a widget is told to show in this run, and what in a browser that sees a later run first."""
    proto, default = widget.proto, widget.proto.default
    match widget.type:
        case "slider":
            return list(proto.value), list(default)
        case "number_input":
            return [proto.value], [default]
        case "select_slider":
            return list(proto.raw_value), [proto.options[int(place)] for place in default]
        case "selectbox":
            return [proto.raw_value], [proto.options[default]]
        case "multiselect":
            return list(proto.raw_values), [proto.options[place] for place in default]
        case _:
            return list(proto.raw_values), [proto.options[place].content for place in default]


@pytest.mark.parametrize("lam", ["1.0005", "1.0100000001"])
def test_a_lambda_near_a_stop_survives_a_move_of_another_control(lam):
    page = open_page("explore", lam=lam, K="3")

    page.slider(key="K").set_value(4).run()

    assert not page.exception
    assert page.session_state["lam"] == float(lam)
    assert page.query_params["lam"] == lam


def widgets(page: AppTest) -> dict[str, Any]:
    found = (widget for kind in KINDS for widget in page.get(kind))
    return {one.key: one for one in found if one.key and not one.key.startswith(SET_EVERY_TIME)}


ADDRESSES = {
    "explore": EXPLORE,
    "hyperspectral": HYPERSPECTRAL,
    "restore": RESTORE,
    "curves": CURVES,
    "reproduce": REPRODUCE,
    "learn": LEARN,
}

FILE = "variable=&kind=&image_shape=&order=&bands_axis=&nodata=&saturated=&negative=refuse&normalisation=none"
LOOK = "restored=observed&written=measured&colour=red&scale=own&part=0&detail=errors&walls=0"
DEFAULTS = {
    "explore": "data=lfw&upload=&alpha=0.2&pattern=entries&lam=2&leash=inf&K=25&missing=zero&solver=fast"
    f"&seed=0&mask_seed=0&image=8&{LOOK}&{FILE}",
    "hyperspectral": "data=simulated-scene&upload=&alpha=0.5&pattern=entries&lam=2&leash=inf&K=5"
    f"&missing=ignore&solver=fast&seed=0&mask_seed=0&image=13&{LOOK}&start=pure-pixels&materials=parts&size=small"
    "&rows=&cols=&bands=&view=rgb&triplet=natural&red=1&green=1&blue=1&clip=2&balance=auto&pixel=&pins=&pure=0&library="
    f"&{FILE}",
    "restore": "data=simulated-scene&upload=&losses=unmarked&dead=0.1&streaks=0&block=0&cosmic=0&noise=0"
    "&band_noise=0&stripes=0&dead_columns=0&salt=0&shadow=0&drift=0&lost=0"
    "&damage_seed=0&by=search&K=5&lam=1.1&leash=inf&seed=0&colour=red&run=&view=band&image=33"
    f"&pixel=&result=restored&wrong=all&threshold=1&side=both&others=0&marks=&mask=&league=&{FILE}",
    "curves": "data=lfw&upload=&alphas=0.3&low=1.05&high=100&count=12&K=25&methods=nmf,atnmf&missing=zero"
    "&solver=fast&starts=3&seed=0&mask_seed=0&pattern=entries&show=kept:lfw&view=lambda&at_alpha=None"
    f"&at_missing=None&at_K=None&beside=&{FILE}",
    "reproduce": "table=synthetic&alpha=0.5&method=atnmf-3&missing=zero&starts=1&outer=100&look=table",
}
"""What each control is at where an address does not name it."""
LESSON = [
    "K=16&face=8&at=5",
    "hidden=3&alpha=0.5&face=8",
    "v=0.6&p=0.2&lam=2",
    "track=paper&lam=2&seed=0&at=0",
    "v=0.4&p=1.2&lam=2&g=inf",
    "data=lfw&missing=zero&guess=5&revealed=",
    "alpha=0.5&shown=both",
    "damage=dead&share=0.2&lam=inf&g=inf&lost=0.3&face=8",
]
"""The same for each chapter of Learn."""

LINKS = {
    "explore": [
        "lam=1.083&detail=film",
        "lam=999999&part=3&scale=shared",
        "data=upload&upload=0123abc&alpha=0.05&pattern=block&missing=ignore&variable=Y&kind=faces"
        "&image_shape=50x40&order=C&bands_axis=1&nodata=-9999,0.5&saturated=4095&negative=zero"
        "&normalisation=maximum",
        "alpha=0.9&lam=100&written=observed",
        "data=simulated-scene&alpha=0.35&pattern=stripes&lam=1.01&leash=0.3&K=4&solver=paper&seed=3"
        "&mask_seed=9999&image=2401&restored=model&colour=blue&walls=1",
    ],
    "hyperspectral": [
        "triplet=own&red=80&green=60&blue=2&clip=0&balance=channel&pixel=11.42",
        "rows=5-20&cols=60-9999&bands=1-3&pins=1.1_64.64&size=medium",
        "missing=zero&start=random&materials=sum&pattern=bands&K=1&image=40&view=band",
        f"data=upload&upload=00ff&kind=cube&nodata=-9999&triplet=infrared&pure=1&library={'0f' * 32}",
    ],
    "restore": [
        "losses=marked&dead=0.5&view=rgb&pixel=3.4",
        "data=lfw&dead=0.3&by=hand&K=8&lam=1.2&leash=0.5&threshold=2&run=0123456789abcdef",
        "streaks=0.1&block=0.2&cosmic=0.05&noise=0.01&damage_seed=3&seed=4&colour=blue"
        "&image=2&side=dark&others=1",
        "band_noise=0.05&stripes=0.1&dead_columns=0.1&salt=0.05&shadow=0.1&lost=0.1&result=denoised&wrong=dark",
        f"drift=0.1&league=simulated-scene&marks=1-3r2.4.6.8_5-5l1.1.9.1.9.7&mask={'0f' * 32}",
    ],
    "curves": [
        "alphas=0.3,0.5,0.9&low=1.0125&high=87.3&count=3&starts=1&seed=7&mask_seed=2&pattern=block",
        "methods=nmf,atnmf,anmf&missing=zero,ignore&solver=paper&K=100",
        "methods=&missing=&alphas=",
        "show=kept:table:cbcl&view=alpha&at_missing=ignore&at_K=49",
        "show=sweep:lfw, α 0.3, K 25, 18 Nov 00:40&at_alpha=0.45&view=map",
        "show=sweep:α 0.3&beside=sweep:α 0.5%0Akept:lfw",
    ],
    "reproduce": [
        "table=moffet&alpha=0.7&method=atnmf-5&missing=ignore&starts=3&outer=20",
        "table=cbcl&method=nmf&look=chart",
    ],
    "learn": [
        "K=9&face=20&at=6",
        "chapter=2&hidden=1-3&alpha=0.7&face=3",
        "chapter=2&hidden=",
        "chapter=3&v=0.15&p=1.5&lam=1.01&hide=lam",
        "chapter=4&track=fast&lam=3&seed=5&at=7&hide=chapters,lam,questions",
        "chapter=5&v=0&p=1&lam=1.3&present=1",
        "chapter=6&data=scene&missing=ignore&guess=20&revealed=scene-ignore",
        "chapter=7&alpha=0.9&shown=paper",
        "chapter=8&damage=bright&share=0.3&lam=1.2&g=0.25&exercise=2&solution=1",
        "chapter=3&notes=1",
        "chapter=5&exercise=1&student=1&sheet=1&tasks=1-4",
    ],
}
"""Links whose every word differs from the default, as the program spells them."""

WRONG = [
    (
        "explore",
        "alpha=0.33&lam=2.00001&K=101&image=0&restored=observed&missing=maybe",
        "alpha=0.35&lam=2.00001",
    ),
    ("explore", "alpha=2&lam=1&leash=-1&K=0&solver=&seed=-1&image=first&data=%C3%A9&unknown=1", ""),
    ("explore", f"alpha=nan&lam=abc&leash=nan&K=1e9&data={'x' * 81}", ""),
    ("hyperspectral", "kind=film&image_shape=5&order=X&bands_axis=7&nodata=nan&saturated=high&negative=", ""),
    ("hyperspectral", "rows=9-3&cols=3&bands=1-2-3&pixel=0.1&pins=1.2_&clip=3&size=huge&red=0&start=p", ""),
    ("hyperspectral", f"rows=0-4&pixel=4&pins={'1.1_' * 6}1.1&triplet=xray", ""),
    ("restore", "dead=7&threshold=0&side=left&run=no", ""),
    ("curves", "alphas=x,0.3,7&low=nan&count=-1&methods=,&at_missing=maybe&view=sideways", "methods="),
    (
        "curves",
        "alphas=0.9,0.1,0.5,0.55555&methods=anmf,nmf,pca&starts=51",
        "alphas=0.1,0.5,0.9&methods=nmf,anmf",
    ),
    ("reproduce", "table=mnist&alpha=0.35&method=pca&starts=11&outer=x&look=", ""),
    ("learn", "chapter=2&hidden=5-1-1&alpha=0.72", "chapter=2&hidden=1-5&alpha=0.7"),
    ("learn", "chapter=99&K=4", "K=4"),
    ("learn", "chapter=3&lam=1&v=x&p=-4&hide=nothing&present=yes&exercise=99&solution=yes", "chapter=3"),
    ("learn", "chapter=4&seed=-1&at=99&track=chess", "chapter=4"),
    ("learn", "chapter=6&data=unknown&revealed=unknown", "chapter=6"),
    ("learn", "chapter=8&damage=rust&share=9&lam=1&g=-1", "chapter=8"),
    ("learn", "chapter=2&hidden=1-2-3-4-5&alpha=2&face=101&hide=nothing", "chapter=2"),
]
"""Links with something wrong in them, and those that open the same: the default stands for what is wrong."""


def test_the_defaults_are_as_they_were():
    assert {page: spelled_defaults(ADDRESSES[page].controls) for page in DEFAULTS} == DEFAULTS
    assert [spelled_defaults(chapter.controls) for chapter in CHAPTERS] == LESSON


@pytest.mark.parametrize(
    ("page", "link", "same"),
    [(page, link, link) for page, links in LINKS.items() for link in ("", *links)] + WRONG,
)
def test_a_link_opens_what_it_opened_before(page, link, same):
    address = ADDRESSES[page]

    values = address.read(words(link))

    assert address.spell(values) == words(same)
    assert address.read(address.spell(values)) == values


SAID = [dict(parse_qsl(link)) for links in LINKS.values() for link in links]
NAMES, VALUES = ({one for each in SAID for one in part(each)} for part in (dict.keys, dict.values))


def test_every_control_is_in_some_link():
    controls = [address.controls for address in ADDRESSES.values() if address is not LEARN]
    assert {name for some in (*controls, *(chapter.controls for chapter in CHAPTERS)) for name in some} == {
        name for name in NAMES if name not in OF_THE_PAGE
    }


def otherwise(page: str, names: Iterable[str]) -> list[tuple[str, Any]]:
    """Controls of a page, each with a value that is not its default, from the links above."""
    read = ADDRESSES[page].read
    found = [read(words(link)) for link in LINKS[page]]
    return [(name, next(one[name] for one in found if one[name] != read({})[name])) for name in names]


def words(link: str) -> dict[str, str]:
    return dict(parse_qsl(link, keep_blank_values=True))


@pytest.mark.parametrize(
    ("setting", "name", "other"),
    [(Setting(), *one) for one in otherwise("explore", sorted(vars(Setting()).keys() - {"data", "upload"}))]
    + [(CubeSetting(), *one) for one in otherwise("hyperspectral", OWN)],
)
def test_a_new_fit_is_needed_for_all_but_the_way_of_looking(setting, name, other):
    changed = replace(setting, **{name: other})

    same_fit = changed.fit_key("data", "atnmf") == setting.fit_key("data", "atnmf")

    # Of a cube other data has another content hash, which is the test's to give here.
    assert same_fit == (name in setting.VIEW or (name in OWN and name not in ("start", "materials")))
    assert (changed.solved == setting) == (name in setting.VIEW)


@settings(deadline=None)
@given(
    page=st.sampled_from(sorted(ADDRESSES)),
    query=st.dictionaries(
        st.sampled_from(sorted(NAMES)), st.sampled_from(sorted(VALUES)) | st.text(max_size=9)
    ),
)
def test_no_address_is_refused_and_what_it_opens_comes_back(page, query):
    opened = ADDRESSES[page].read(query)

    assert ADDRESSES[page].read(ADDRESSES[page].spell(opened)) == opened


def spelled_defaults(controls: Mapping[str, Control]) -> str:
    return "&".join(f"{name}={control.spell(control.default)}" for name, control in controls.items())
