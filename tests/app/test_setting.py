"""An address spells a setting, and nothing in an address can break one."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.common.setting import ALPHAS, LAMBDAS, MAX_K, MAX_LAM, Setting
from tests.app.queries import from_query, to_query

OTHERWISE = Setting(
    data="cbcl",
    upload="0123abc",
    alpha=0.55,
    pattern="block",
    lam=1.05,
    leash=0.3,
    K=49,
    missing="ignore",
    solver="paper",
    seed=3,
    mask_seed=4,
    image=17,
    restored="model",
    written="observed",
    colour="blue",
    scale="shared",
    part=2,
    detail="film",
    walls=True,
)


def test_the_first_view_has_a_bare_address() -> None:
    assert to_query(Setting()) == {}


def test_a_setting_comes_back_from_its_address() -> None:
    assert all(getattr(OTHERWISE, field.name) != field.default for field in fields(Setting))
    assert from_query(Setting, to_query(OTHERWISE)) == OTHERWISE


def test_numbers_in_an_address_are_readable() -> None:
    query = to_query(Setting(lam=100.0, alpha=0.9))

    assert query == {"lam": "100", "alpha": "0.9"}


def test_every_stop_of_the_sliders_survives() -> None:
    settings = [Setting(alpha=alpha) for alpha in ALPHAS] + [Setting(lam=lam) for lam in LAMBDAS]

    assert [from_query(Setting, to_query(setting)) for setting in settings] == settings


@pytest.mark.parametrize(
    "query",
    [
        {"alpha": "2"},
        {"alpha": "nan"},
        {"lam": "1"},
        {"lam": "abc"},
        {"leash": "-1"},
        {"leash": "nan"},
        {"K": "0"},
        {"K": "1e9"},
        {"missing": "maybe"},
        {"solver": ""},
        {"seed": "-1"},
        {"image": "first"},
        {"data": "x" * 81},
        {"unknown": "1"},
    ],
    ids=str,
)
def test_what_an_address_says_wrongly_stays_at_its_default(query: dict[str, str]) -> None:
    assert from_query(Setting, query) == Setting()


@given(st.dictionaries(st.sampled_from([field.name for field in fields(Setting)]), st.text()))
def test_no_address_is_refused(query: dict[str, str]) -> None:
    setting = from_query(Setting, query)

    assert setting.alpha in (0, *ALPHAS)
    assert 1 < setting.lam <= MAX_LAM
    assert 1 <= setting.K <= MAX_K


def test_an_alpha_between_two_stops_goes_to_the_nearer() -> None:
    assert from_query(Setting, {"alpha": "0.33"}) == Setting(alpha=0.35)


def test_a_lambda_beside_the_stops_is_taken_as_it_is() -> None:
    assert from_query(Setting, {"lam": "2.137"}) == Setting(lam=2.137)
    assert to_query(Setting(lam=1.083)) == {"lam": "1.083"}


def test_nmf_needs_no_new_fit_when_lambda_moves_and_atnmf_does() -> None:
    one, other = Setting(lam=2.0), Setting(lam=5.0)

    assert one.fit_key("data", "nmf") == other.fit_key("data", "nmf")
    assert one.fit_key("data", "atnmf") != other.fit_key("data", "atnmf")


def test_a_leash_is_part_of_what_decides_atnmf_alone() -> None:
    free, leashed = Setting(), Setting(leash=0.5)

    assert free.fit_key("data", "atnmf").leash is None
    assert leashed.fit_key("data", "atnmf").leash == 0.5
    assert free.fit_key("data", "nmf") == leashed.fit_key("data", "nmf")
    assert to_query(leashed) == {"leash": "0.5"}
    # Algorithm 1 is the published one, which has none.
    assert Setting(leash=0.5, solver="paper").fit_key("data", "atnmf").leash is None


@pytest.mark.parametrize(
    "name", [field.name for field in fields(Setting) if field.name not in ("data", "upload")]
)
def test_a_new_fit_is_needed_for_all_but_the_way_of_looking(name: str) -> None:
    changed = replace(Setting(), **{name: getattr(OTHERWISE, name)})

    same_fit = changed.fit_key("data", "atnmf") == Setting().fit_key("data", "atnmf")

    assert same_fit == (name in Setting.VIEW)
    assert (changed.solved == Setting()) == (name in Setting.VIEW)


def test_other_data_needs_another_fit() -> None:
    assert Setting().fit_key("one hash", "nmf") != Setting().fit_key("another", "nmf")
