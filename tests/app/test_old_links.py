"""Links that were sent before still open the same picture.

The tables were spelled by an earlier version of the program and are never changed, only added to.
"""

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import pytest

from pages.curves_view.state import ADDRESS as CURVES
from pages.explore_view.sidebar import ADDRESS as EXPLORE
from pages.hyperspectral_view.cube_setting import ADDRESS as HYPERSPECTRAL
from pages.learn_view.state import ADDRESS as LEARN
from pages.reproduce_view.setting import ADDRESS as REPRODUCE
from pages.restore_view.request import Key
from pages.restore_view.setting import ADDRESS as RESTORE
from pages.restore_view.setting import RestoreSetting

ADDRESSES = {
    "explore": EXPLORE,
    "hyperspectral": HYPERSPECTRAL,
    "restore": RESTORE,
    "curves": CURVES,
    "reproduce": REPRODUCE,
    "learn": LEARN,
}

AS_READ = {
    "variable": "",
    "kind": "",
    "image_shape": "",
    "order": "",
    "bands_axis": "",
    "nodata": "",
    "saturated": "",
    "negative": "refuse",
    "normalisation": "none",
}
"""How an uploaded file is read."""

FIRST_VIEWS = {
    "explore": {
        **AS_READ,
        "data": "lfw",
        "upload": "",
        "alpha": 0.2,
        "pattern": "entries",
        "lam": 2.0,
        "leash": math.inf,
        "K": 25,
        "missing": "zero",
        "solver": "fast",
        "seed": 0,
        "mask_seed": 0,
        "image": 8,
        "restored": "observed",
        "written": "measured",
        "colour": "red",
        "scale": "own",
        "part": 0,
        "detail": "errors",
        "walls": False,
    },
    "hyperspectral": {
        **AS_READ,
        "data": "simulated-scene",
        "upload": "",
        "alpha": 0.5,
        "pattern": "entries",
        "lam": 2.0,
        "leash": math.inf,
        "K": 5,
        "missing": "ignore",
        "solver": "fast",
        "seed": 0,
        "mask_seed": 0,
        "image": 13,
        "restored": "observed",
        "written": "measured",
        "colour": "red",
        "scale": "own",
        "part": 0,
        "detail": "errors",
        "walls": False,
        "start": "pure-pixels",
        "size": "small",
        "rows": "",
        "cols": "",
        "bands": "",
        "view": "rgb",
        "triplet": "natural",
        "red": 1,
        "green": 1,
        "blue": 1,
        "clip": "2",
        "balance": "auto",
        "pixel": "",
        "pins": "",
        "pure": False,
        "library": "",
    },
    "restore": {
        **AS_READ,
        "data": "simulated-scene",
        "upload": "",
        "restore_losses": "unmarked",
        "restore_dead": 0.1,
        "restore_streaks": 0.0,
        "restore_block": 0.0,
        "restore_cosmic": 0.0,
        "restore_noise": 0.0,
        "restore_damage_seed": 0,
        "restore_by": "search",
        "K": 5,
        "lam": 1.1,
        "leash": math.inf,
        "seed": 0,
        "colour": "red",
        "restore_run": "",
        "restore_view": "band",
        "image": 33,
        "pixel": "",
        "restore_threshold": 1.0,
        "restore_side": "both",
        "restore_others": False,
        "restore_keep_suspects": False,
    },
    "curves": {
        **AS_READ,
        "data": "lfw",
        "upload": "",
        "curves_alphas": (0.3,),
        "curves_low": 1.05,
        "curves_high": 100.0,
        "curves_count": 12,
        "K": 25,
        "curves_methods": ("nmf", "atnmf"),
        "curves_missing": ("zero",),
        "solver": "fast",
        "curves_starts": 3,
        "seed": 0,
        "mask_seed": 0,
        "pattern": "entries",
        "curves_show": "kept:lfw",
        "curves_view": "lambda",
        "curves_at_alpha": None,
        "curves_at_missing": None,
        "curves_at_K": None,
    },
    "reproduce": {
        "reproduce_table": "synthetic",
        "reproduce_alpha": 0.5,
        "reproduce_method": "atnmf-3",
        "reproduce_missing": "zero",
        "reproduce_starts": 1,
        "reproduce_outer": 100,
        "reproduce_look": "table",
    },
    "learn": {
        "learn_1_K": 16,
        "learn_1_face": 8,
        "learn_1_at": 5,
        "learn_2_hidden": (3,),
        "learn_2_alpha": 0.5,
        "learn_2_face": 8,
        "learn_3_v": 0.6,
        "learn_3_p": 0.2,
        "learn_3_lam": 2.0,
        "learn_4_track": "paper",
        "learn_4_lam": 2.0,
        "learn_4_seed": 0,
        "learn_4_at": 0,
        "learn_5_v": 0.4,
        "learn_5_p": 1.2,
        "learn_5_lam": 2.0,
        "learn_5_g": math.inf,
        "learn_6_data": "lfw",
        "learn_6_missing": "zero",
        "learn_6_guess": 5.0,
        "learn_6_revealed": "",
        "learn_7_alpha": 0.5,
        "learn_7_shown": "both",
        "learn_8_damage": "dead",
        "learn_8_share": 0.2,
        "learn_8_lam": math.inf,
        "learn_8_g": math.inf,
        "learn_chapter": 1,
        "learn_hide": (),
        "learn_present": False,
        "learn_exercise": 0,
        "learn_solution": False,
        "learn_notes": False,
    },
}
"""What an address without a query opens, by session key."""

LINKS = {
    "explore": [
        ("alpha=0.55", {"alpha": 0.55}),
        ("lam=2.137", {"lam": 2.137}),
        ("lam=1.083&detail=film", {"lam": 1.083, "detail": "film"}),
        ("lam=100&part=3&scale=shared", {"lam": 100.0, "scale": "shared", "part": 3}),
        ("alpha=0.9&K=10&missing=ignore", {"alpha": 0.9, "K": 10, "missing": "ignore"}),
        ("data=cbcl&K=49&image=2401", {"data": "cbcl", "K": 49, "image": 2401}),
        (
            "data=upload&upload=0123abc&alpha=0.05&pattern=block",
            {"data": "upload", "upload": "0123abc", "alpha": 0.05, "pattern": "block"},
        ),
        (
            "data=simulated-scene&alpha=0.35&pattern=stripes&lam=1.01&K=4&solver=paper&seed=3&mask_seed=9999&image=40",
            {
                "data": "simulated-scene",
                "alpha": 0.35,
                "pattern": "stripes",
                "lam": 1.01,
                "K": 4,
                "solver": "paper",
                "seed": 3,
                "mask_seed": 9999,
                "image": 40,
            },
        ),
        ("restored=model&colour=blue&detail=take", {"restored": "model", "colour": "blue", "detail": "take"}),
        (
            "alpha=0.3&pattern=entries&lam=5.0&K=25&missing=zero&solver=fast&seed=0&mask_seed=0&data=lfw",
            {"alpha": 0.3, "lam": 5.0},
        ),
        ("alpha=0.33&lam=2.00001&K=101&image=0&restored=observed&missing=maybe", {"alpha": 0.35}),
        ("lam=1&seed=-1&data=%C3%A9", {}),
        ("lam=999999", {"lam": 1000000.0}),
    ],
    "hyperspectral": [
        ("pixel=11.42", {"pixel": "11.42"}),
        ("image=40&view=band&pixel=4.5", {"image": 40, "view": "band", "pixel": "4.5"}),
        (
            "triplet=own&red=80&green=60&blue=2&clip=0&balance=channel",
            {"triplet": "own", "red": 80, "green": 60, "blue": 2, "clip": "0", "balance": "channel"},
        ),
        ("size=medium", {"size": "medium"}),
        (
            "rows=5-20&cols=60-9999&bands=1-3&pins=1.1_64.64",
            {"rows": "5-20", "cols": "60-9999", "bands": "1-3", "pins": "1.1_64.64"},
        ),
        (
            "missing=zero&start=random&pattern=bands&K=1",
            {"pattern": "bands", "K": 1, "missing": "zero", "start": "random"},
        ),
        (
            "data=moffet&alpha=0.7&lam=1.05&K=3&seed=2&mask_seed=1&colour=blue&restored=model",
            {
                "data": "moffet",
                "alpha": 0.7,
                "lam": 1.05,
                "K": 3,
                "seed": 2,
                "mask_seed": 1,
                "restored": "model",
                "colour": "blue",
            },
        ),
        (
            "data=upload&upload=00ff&variable=Y&kind=cube&image_shape=50x40&order=C&nodata=-9999,0.5&negative=zero",
            {
                "data": "upload",
                "upload": "00ff",
                "variable": "Y",
                "kind": "cube",
                "image_shape": "50x40",
                "order": "C",
                "nodata": "-9999,0.5",
                "negative": "zero",
            },
        ),
        ("kind=film&image_shape=5&order=X&bands_axis=7&nodata=nan&saturated=high&negative=", {}),
        (
            "data=upload&upload=00ff&triplet=infrared&clip=5&balance=joint",
            {"data": "upload", "upload": "00ff", "triplet": "infrared", "clip": "5", "balance": "joint"},
        ),
        ("rows=9-3&pixel=0.1&pins=1.2_&clip=3&size=huge&red=0", {}),
    ],
    "restore": [
        (
            "losses=marked&dead=0.5&view=rgb&pixel=3.4",
            {"restore_losses": "marked", "restore_dead": 0.5, "restore_view": "rgb", "pixel": "3.4"},
        ),
        (
            "data=lfw&dead=0.3&by=hand&K=8&lam=1.2&leash=0.5&threshold=2&run=0123456789abcdef",
            {
                "data": "lfw",
                "restore_dead": 0.3,
                "restore_by": "hand",
                "K": 8,
                "lam": 1.2,
                "leash": 0.5,
                "restore_threshold": 2.0,
                "restore_run": "0123456789abcdef",
            },
        ),
        ("dead=7&threshold=0&side=left&run=no", {}),
    ],
    "curves": [
        (
            "alphas=0.3,0.5,0.9&low=2&high=20&count=3&starts=1",
            {
                "curves_alphas": (0.3, 0.5, 0.9),
                "curves_low": 2.0,
                "curves_high": 20.0,
                "curves_count": 3,
                "curves_starts": 1,
            },
        ),
        (
            "data=simulated-scene&alphas=0.3&K=8&missing=ignore&count=10&starts=4",
            {
                "data": "simulated-scene",
                "curves_count": 10,
                "K": 8,
                "curves_missing": ("ignore",),
                "curves_starts": 4,
            },
        ),
        (
            "methods=nmf,atnmf,anmf&missing=zero,ignore&solver=paper",
            {
                "curves_methods": ("nmf", "atnmf", "anmf"),
                "curves_missing": ("zero", "ignore"),
                "solver": "paper",
            },
        ),
        ("methods=&missing=&alphas=", {"curves_alphas": (), "curves_methods": (), "curves_missing": ()}),
        (
            "low=1.0125&high=87.3&seed=7&mask_seed=2&pattern=block",
            {"curves_low": 1.0125, "curves_high": 87.3, "seed": 7, "mask_seed": 2, "pattern": "block"},
        ),
        ("show=kept:synthetic&view=map", {"curves_show": "kept:synthetic", "curves_view": "map"}),
        (
            "show=kept:table:cbcl&view=alpha&at_missing=ignore&at_K=49",
            {
                "curves_show": "kept:table:cbcl",
                "curves_view": "alpha",
                "curves_at_missing": "ignore",
                "curves_at_K": 49,
            },
        ),
        (
            "show=sweep:lfw, α 0.3, K 25, 18 Nov 00:40&at_alpha=0.45&at_missing=zero&at_K=25",
            {
                "curves_show": "sweep:lfw, α 0.3, K 25, 18 Nov 00:40",
                "curves_at_alpha": 0.45,
                "curves_at_missing": "zero",
                "curves_at_K": 25,
            },
        ),
        ("data=upload&upload=abc&K=100", {"data": "upload", "upload": "abc", "K": 100}),
        ("alphas=x,0.3,7&low=nan&count=-1&methods=,&at_missing=maybe&view=sideways", {"curves_methods": ()}),
        (
            "alphas=0.9,0.1,0.5,0.55555&methods=anmf,nmf,pca&starts=51",
            {"curves_alphas": (0.1, 0.5, 0.9), "curves_methods": ("nmf", "anmf")},
        ),
    ],
    "reproduce": [
        (
            "table=moffet&alpha=0.7&method=atnmf-5&missing=ignore&starts=3",
            {
                "reproduce_table": "moffet",
                "reproduce_alpha": 0.7,
                "reproduce_method": "atnmf-5",
                "reproduce_missing": "ignore",
                "reproduce_starts": 3,
            },
        ),
        (
            "table=cbcl&method=nmf&outer=20",
            {"reproduce_table": "cbcl", "reproduce_method": "nmf", "reproduce_outer": 20},
        ),
        (
            "table=madonna&alpha=0.3&method=anmf&starts=10&outer=1&look=chart",
            {
                "reproduce_table": "madonna",
                "reproduce_alpha": 0.3,
                "reproduce_method": "anmf",
                "reproduce_starts": 10,
                "reproduce_outer": 1,
                "reproduce_look": "chart",
            },
        ),
        ("alpha=0.35&method=pca&starts=11&outer=x&look=", {}),
        ("alpha=0.80", {"reproduce_alpha": 0.8}),
    ],
    "learn": [
        ("K=9&face=20&at=6", {"learn_1_K": 9, "learn_1_face": 20, "learn_1_at": 6}),
        (
            "chapter=2&hidden=1-3&alpha=0.7&face=3",
            {"learn_2_hidden": (1, 3), "learn_2_alpha": 0.7, "learn_2_face": 3, "learn_chapter": 2},
        ),
        ("chapter=2&hidden=", {"learn_2_hidden": (), "learn_chapter": 2}),
        (
            "chapter=2&hidden=5-1-1&alpha=0.72",
            {"learn_2_hidden": (1, 5), "learn_2_alpha": 0.7, "learn_chapter": 2},
        ),
        (
            "chapter=3&v=0.15&p=1.5&lam=1.01",
            {"learn_3_v": 0.15, "learn_3_p": 1.5, "learn_3_lam": 1.01, "learn_chapter": 3},
        ),
        (
            "chapter=3&v=0.3&p=0.9&hide=lam",
            {"learn_3_v": 0.3, "learn_3_p": 0.9, "learn_chapter": 3, "learn_hide": ("lam",)},
        ),
        (
            "chapter=4&track=fast&lam=3&seed=5&at=7&hide=chapters,lam,questions",
            {
                "learn_4_track": "fast",
                "learn_4_lam": 3.0,
                "learn_4_seed": 5,
                "learn_4_at": 7,
                "learn_chapter": 4,
                "learn_hide": ("chapters", "lam", "questions"),
            },
        ),
        (
            "chapter=5&v=0&p=1&lam=1.3&present=1",
            {
                "learn_5_v": 0.0,
                "learn_5_p": 1.0,
                "learn_5_lam": 1.3,
                "learn_chapter": 5,
                "learn_present": True,
            },
        ),
        (
            "chapter=6&data=scene&missing=ignore&guess=20&revealed=scene-ignore",
            {
                "learn_6_data": "scene",
                "learn_6_missing": "ignore",
                "learn_6_guess": 20.0,
                "learn_6_revealed": "scene-ignore",
                "learn_chapter": 6,
            },
        ),
        (
            "chapter=7&alpha=0.9&shown=paper",
            {"learn_7_alpha": 0.9, "learn_7_shown": "paper", "learn_chapter": 7},
        ),
        ("chapter=99&K=4", {"learn_1_K": 4}),
        ("chapter=2&hidden=1-2-3-4-5&alpha=2&face=101&hide=nothing", {"learn_chapter": 2}),
        ("chapter=3&lam=2.2&v=0.33", {"learn_3_v": 0.35, "learn_chapter": 3}),
    ],
}
"""Links of each page, and what they change of its first view."""


@pytest.mark.parametrize("page", FIRST_VIEWS)
def test_a_bare_address_opens_the_first_view(page: str) -> None:
    assert opened(page, "") == FIRST_VIEWS[page]


@pytest.mark.parametrize(
    ("page", "link", "changed"),
    [(page, *one) for page, links in LINKS.items() for one in links],
)
def test_a_link_opens_what_it_opened_before(page: str, link: str, changed: Mapping[str, Any]) -> None:
    assert opened(page, link) == FIRST_VIEWS[page] | changed


@pytest.mark.parametrize(
    ("page", "changed"), [(page, changed) for page, links in LINKS.items() for _, changed in links]
)
def test_what_a_page_shows_comes_back_from_its_own_link(page: str, changed: Mapping[str, Any]) -> None:
    values = FIRST_VIEWS[page] | changed

    query = ADDRESSES[page].spell(values)

    assert plain(ADDRESSES[page].read(query)) == values
    assert len(query) <= len(changed)


def opened(page: str, link: str) -> dict[str, Any]:
    return plain(ADDRESSES[page].read(dict(parse_qsl(link, keep_blank_values=True))))


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def test_a_link_resumes_the_restoration_that_it_was_sent_for() -> None:
    by_hand = RestoreSetting(by="hand", K=4, lam=1.2, leash=0.5, dead=0.2, cosmic=0.03, damage_seed=3, seed=0)
    assert Key("a" * 64, RestoreSetting().task).name == "cc0410d678d38baf"
    assert Key("a" * 64, by_hand.task).name == "68a5959823debb1f"
