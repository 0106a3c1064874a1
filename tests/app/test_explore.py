"""The Explore page runs from top to bottom, on every kind of data."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.datasets import DataUnavailable, fetch
from atnmf_core.problem import Array, Mask
from atnmf_core.running.run import fit_run, hidden_rmse
from atnmf_core.running.task_process import Report
from pages.common import data_choice, download_offer, fit_cache, fit_pair
from pages.common.fit_pair import Pair
from pages.common.setting import Setting
from pages.explore_view import extra_fits, panels_view, parts_view
from pages.explore_view.lambda_curve import CURVE_LAMBDAS, is_traced
from tests.app.queries import from_query
from tests.datasets.paper_server import serving, stand_in

SECONDS = 120


def opened(repository: Path, **query: str) -> AppTest:
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS)
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"data": "simulated-scene", "K": "3", "pattern": "stripes", "image": "40"},
        {"data": "synthetic", "K": "5", "detail": "film"},
        {"detail": "take", "part": "3", "scale": "shared"},
        {"data": "no-such-data", "K": "7"},
        {"data": "upload", "upload": "unknown"},
        {"image": "100000", "K": "100"},
    ],
    ids=str,
)
def test_the_page_runs(repository: Path, query: dict[str, str]) -> None:
    page = opened(repository, **query)

    assert not page.exception
    assert page.title[0].value == "What the adversary sees, and what comes back"


def test_controls_have_a_help_line_each(repository: Path) -> None:
    page = opened(repository)

    controls = [
        *page.sidebar.selectbox,
        *page.sidebar.select_slider,
        *page.sidebar.slider,
        *page.sidebar.number_input,
    ]
    assert len(controls) == 7
    for control in controls:
        assert control.help, control.label


def test_one_click_on_the_callout_marks_hidden_pixels(repository: Path) -> None:
    page = opened(repository)
    assert "**Unmarked losses.**" in page.main.markdown[0].value

    next(button for button in page.button if button.label == "Mark hidden pixels").click().run()

    assert "**Marked losses.**" in page.main.markdown[0].value


@pytest.mark.parametrize(
    "query", [{"K": "4", "lam": "1.05"}, {"K": "4", "missing": "ignore"}, {"K": "4", "leash": "0.2"}], ids=str
)
def test_the_callout_says_what_the_fits_say(repository: Path, query: dict[str, str]) -> None:
    setting, data = from_query(Setting, query), load_dataset("lfw")
    observed = hide_entries(data.shape, setting.alpha)
    how = {"K": 4, "missing": setting.missing}
    adversary = {"lam": setting.lam, "leash": setting.bound}
    atnmf, nmf = (
        rmse(data.V, fit.V_hat, ~observed)
        for fit in (
            factorize(data.V, observed, method="atnmf", **adversary, **how),
            factorize(data.V, observed, **how),
        )
    )

    said = opened(repository, **query).main.markdown[0].value

    assert f"AT-NMF\u00a0**{atnmf:.3f}**] · :blue[NMF\u00a0**{nmf:.3f}**]" in said
    gain = 1 - atnmf / nmf
    verdict = f"**AT-NMF wins by {gain:.0%}**" if gain >= 0.02 else "about equal"
    assert verdict in said


def test_algorithm_1_has_no_leash(repository: Path) -> None:
    page = opened(repository, K="2", alpha="0.1", leash="0.5")
    assert not page.sidebar.select_slider(key="leash").disabled

    page.segmented_control(key="solver").set_value("paper").run()

    assert not page.exception
    assert page.sidebar.select_slider(key="leash").disabled


def test_reset_returns_to_the_first_view(repository: Path) -> None:
    page = opened(repository, K="9", lam="5", missing="ignore")
    assert page.sidebar.slider(key="K").value == 9

    next(button for button in page.button if button.label == "Reset").click().run()

    assert page.sidebar.slider(key="K").value == 25
    assert page.sidebar.select_slider(key="lam").value == 2.0


def test_choosing_data_brings_settings_that_suit_it(repository: Path) -> None:
    page = opened(repository)

    page.sidebar.selectbox(key="data").select("simulated-scene").run()

    assert page.sidebar.slider(key="K").value == 5
    assert not page.exception


def test_an_address_that_lags_behind_does_not_undo_a_moved_slider(repository: Path) -> None:
    page = opened(repository, K="9")
    page.sidebar.slider(key="K").set_value(8).run()

    page.query_params["K"] = "9"
    page.sidebar.slider(key="K").set_value(7).run()

    assert page.sidebar.slider(key="K").value == 7
    assert page.query_params["K"] == "7"


def test_an_address_that_nobody_went_to_is_not_followed(repository: Path) -> None:
    page = opened(repository, K="9")
    page.sidebar.slider(key="K").set_value(8).run()

    page.query_params["K"] = "9"
    page.run()

    assert page.sidebar.slider(key="K").value == 8
    assert page.query_params["K"] == "8"


def test_another_address_is_followed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.common.address.is_history_navigation", lambda: True)
    page = opened(repository, K="9")

    page.query_params["K"] = "6"
    page.run()

    assert page.sidebar.slider(key="K").value == 6


@pytest.mark.parametrize(
    "error",
    [
        DataUnavailable("cbcl_faces.zip could not be downloaded: the network is away."),
        OSError("the network is away"),
    ],
    ids=["foreseen", "unforeseen"],
)
def test_missing_data_is_offered_for_download_and_a_failed_download_is_explained(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setenv("ATNMF_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("pages.common.download_offer.fetch", no_network)
    page = opened(repository, data="cbcl")
    assert "is not on this machine" in page.main.markdown[0].value

    next(button for button in page.button if button.label == "Download it").click().run()

    assert not page.exception
    assert "the network is away" in page.run().error[0].value


def test_an_offered_download_names_its_terms_brings_the_data_and_shows_it(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served, kept = tmp_path / "served", tmp_path / "kept"
    served.mkdir()
    files = stand_in(served)
    monkeypatch.setattr("atnmf_core.datasets.registry.remote_files", lambda: files)
    monkeypatch.setenv("ATNMF_DATA_DIR", str(kept))
    with serving(served) as server:
        monkeypatch.setattr("pages.common.download_offer.fetch", partial(fetch, transfer=server.transfer))
        page = opened(repository, data="synthetic-paper", K="5")
        told = "".join(caption.value for caption in page.main.caption)
        assert "Published by the paper's authors with their code" in told
        assert "IEEE Signal Processing Letters" in told
        assert not server.requests

        next(button for button in page.button if button.label == "Download it").click().run()
        download_offer.downloads().get("synthetic-paper").finished.result(60)

    assert sorted(path.name for path in (kept / "synthetic").iterdir()) == sorted(
        path.name for path in (served / "synthetic").iterdir()
    )
    page.run()
    assert not page.exception
    assert "RMSE over the whole matrix" in page.main.markdown[0].value
    data_choice.load.clear()


def fails_at_lambda_10(report: Report, V: Array, observed: Mask, **parameters: Any) -> float:
    if parameters["lam"] == 10.0:
        raise OSError("no memory left")
    return hidden_rmse(report, V, observed, **parameters)


def test_a_failing_point_of_the_lambda_curve_stops_neither_its_own_curve_nor_later_ones(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_cache, "hidden_rmse", fails_at_lambda_10)
    # Points are computed only for people who rest; here everybody does.
    monkeypatch.setattr(extra_fits, "REST_SECONDS", 0.0)
    data, last_traced = load_dataset("synthetic"), CURVE_LAMBDAS[-1]
    for seed in (101, 102):
        setting = Setting(data="synthetic", K=3, seed=seed)
        deadline = time.monotonic() + SECONDS
        page = opened(repository, data="synthetic", K="3", seed=str(seed))
        while is_traced(setting, data):
            assert time.monotonic() < deadline, "the page still polls for points"
            page.run()

        page.run()
        assert not page.exception
        assert "2 of the fits behind this curve failed: no memory left" in [one.value for one in page.caption]
        point = fit_pair.keys_of(replace(setting, lam=last_traced), data.content_hash)
        assert extra_fits.known_errors(point) is not None


@pytest.fixture(scope="module")
def pair() -> Pair:
    data = load_dataset("lfw")
    how = {"V": data.V, "observed": hide_entries(data.shape, 0.2), "K": 5, "missing": "zero"}
    return Pair(fit_run(lambda _: None, method="atnmf", lam=2.0, **how), fit_run(lambda _: None, **how))


@pytest.mark.parametrize(
    "draw",
    [panels_view._given_data, panels_view._learned_data, panels_view._errors_data, parts_view._sheets],
    ids=lambda draw: draw.__name__,
)
@pytest.mark.parametrize("field", Setting.VIEW)
def test_two_views_share_what_is_drawn_only_if_it_is_the_same(
    draw: Callable[..., Any], field: str, pair: Pair
) -> None:
    other = {"image": 9, "restored": "model", "written": "observed", "colour": "blue", "scale": "shared"}
    other |= {"part": 3, "detail": "film", "walls": True}
    here = Setting(K=5)
    there = replace(here, **{field: other[field]})
    fits = () if draw is panels_view._given_data else (pair,)
    data = load_dataset("lfw")

    drawn = [draw.__wrapped__(setting, data, *fits) for setting in (here, there)]
    shared = [draw(setting, data, *fits) for setting in (here, there)]

    assert shared == drawn
