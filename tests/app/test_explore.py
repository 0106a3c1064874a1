"""The Explore page runs from top to bottom, on every kind of data, and reads its files once."""

import time
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.datasets import DataUnavailable, catalogue, fetch
from atnmf_core.jobs.fit_task import fit_run, hidden_rmse
from atnmf_core.jobs.processes import Report
from atnmf_core.model.problem import Array, Mask
from pages.common import data, fitting
from pages.common.fitting import Case, Pair
from pages.common.setting import Setting
from pages.explore_view import lambda_curve, panels, parts
from pages.explore_view.lambda_curve import CURVE_LAMBDAS, Curve
from pages.explore_view.panels import ADDRESS
from tests.app.opening import from_query, open_page, press, texts
from tests.datasets.paper_server import serving, stand_in

SECONDS = 120


opened = partial(open_page, "explore")


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
def test_the_page_runs_and_its_controls_have_a_help_line_each(query):
    page = opened(**query)

    assert page.title[0].value == "Hide pixels, and compare what NMF and AT-NMF bring back"
    kinds = ("selectbox", "select_slider", "slider", "number_input")
    controls = [one for kind in kinds for one in page.sidebar.get(kind)]
    assert len(controls) >= 4
    assert [control.label for control in controls if not control.help] == []


@pytest.mark.parametrize(
    "query", [{"K": "4", "lam": "1.05"}, {"K": "4", "missing": "ignore"}, {"K": "4", "leash": "0.2"}], ids=str
)
def test_the_callout_says_what_the_fits_say_and_marks_hidden_pixels_with_one_click(query):
    setting, data = from_query(Setting, query), load_dataset("lfw")
    observed = hide_entries(data.shape, setting.alpha)

    def error(**method):
        fit = factorize(data.V, observed, K=4, missing=setting.missing, **method)
        return rmse(data.V, fit.V_hat, ~observed)

    atnmf, nmf = error(method="atnmf", lam=setting.lam, leash=setting.bound), error()

    page = opened(**query)
    said = page.main.markdown[1].value

    assert f"AT-NMF\u00a0**{atnmf:.3f}**] · :blue[NMF\u00a0**{nmf:.3f}**]" in said
    gain = 1 - atnmf / nmf
    assert (f"**AT-NMF wins by {gain:.0%}**" if gain >= 0.02 else "about equal") in said
    if setting.missing == "zero":
        assert "**Unmarked losses.**" in said
        press(page, "Mark hidden pixels")
    assert "**Marked losses.**" in page.main.markdown[1].value


def test_data_brings_settings_that_suit_it_and_reset_returns_to_the_first_view():
    page = opened(K="9", lam="5", missing="ignore", leash="0.5", alpha="0.1")
    sidebar = page.sidebar
    assert sidebar.slider(key="K").value == 9
    # Algorithm 1 has no leash.
    assert not sidebar.select_slider(key="leash").disabled
    page.segmented_control(key="solver").set_value("paper").run()
    assert page.sidebar.select_slider(key="leash").disabled
    page.sidebar.selectbox(key="data").select("simulated-scene").run()
    assert page.sidebar.slider(key="K").value == 5

    press(page, "Reset")

    assert page.sidebar.slider(key="K").value == 25
    assert page.sidebar.select_slider(key="lam").value == 2.0


@pytest.mark.parametrize("moved_again", [True, False])
def test_an_address_that_lags_behind_does_not_undo_a_moved_slider_but_the_back_button_is_followed(
    moved_again, monkeypatch
):
    page = opened(K="9")
    page.sidebar.slider(key="K").set_value(8).run()

    page.query_params["K"] = "9"
    if moved_again:
        page.sidebar.slider(key="K").set_value(7)
    page.run()
    assert page.sidebar.slider(key="K").value == (7 if moved_again else 8)
    assert page.query_params["K"] == ("7" if moved_again else "8")

    monkeypatch.setattr("pages.common.address.is_history_navigation", lambda: True)
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
    monkeypatch, tmp_path, error
):
    monkeypatch.setenv("ATNMF_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("pages.common.data.fetch", Mock(side_effect=error))
    # A link to such data keeps its pattern.
    assert opened(data="moffet", pattern="stripes").session_state["pattern"] == "stripes"
    page = opened(data="cbcl")
    assert "is not on this machine. It is downloaded from a copy that others" in page.main.markdown[1].value

    press(page, "Download it")

    assert "the network is away" in page.run().error[0].value
    next_visitor = opened(data="cbcl")
    assert not next_visitor.error
    press(next_visitor, "Download it")
    assert "the network is away" in next_visitor.run().error[0].value


def test_an_offered_download_names_its_terms_brings_the_data_and_shows_it(monkeypatch, tmp_path):
    served, kept = tmp_path / "served", tmp_path / "kept"
    served.mkdir()
    files = stand_in(served)
    monkeypatch.setattr("atnmf_core.datasets.download.remote_files", lambda: files)
    monkeypatch.setenv("ATNMF_DATA_DIR", str(kept))
    with serving(served) as server:
        monkeypatch.setattr("pages.common.data.fetch", partial(fetch, transfer=server.transfer))
        page = opened(data="synthetic-paper", K="5")
        told = texts(page.main, "caption")
        assert "Published by the paper's authors with their code" in told
        assert "IEEE Signal Processing Letters" in told
        assert not server.requests

        press(page, "Download it")
        data.downloads().get("synthetic-paper").finished.result(60)

    assert sorted(path.name for path in (kept / "synthetic").iterdir()) == sorted(
        path.name for path in (served / "synthetic").iterdir()
    )
    page.run()
    assert not page.exception
    assert "RMSE over the whole matrix" in page.main.markdown[1].value
    data.load.clear()


def test_a_move_asks_once_what_data_there_is_and_hides_once(monkeypatch):
    page, runs, asked, hidden = opened(), [], [], []
    load = ADDRESS.load_from_address
    # A page that waits for a fit on a busy machine is drawn more than once.
    monkeypatch.setattr(ADDRESS, "load_from_address", lambda: runs.append(1) or load())
    monkeypatch.setattr(data, "catalogue", lambda: asked.append(1) or catalogue())
    monkeypatch.setattr(fitting, "hide_entries", lambda *how: hidden.append(how) or hide_entries(*how))

    page.session_state["alpha"] = 0.85
    page.run()

    assert not page.exception
    assert len(asked) == len(runs) > 0
    assert [how[1] for how in hidden] == [0.85]


def fails_at_lambda_10(report: Report, V: Array, observed: Mask, **parameters: Any) -> float:
    if parameters["lam"] == 10.0:
        raise OSError("no memory left")
    return hidden_rmse(report, V, observed, **parameters)


def test_a_failing_point_of_the_lambda_curve_stops_neither_its_own_curve_nor_later_ones(monkeypatch):
    monkeypatch.setattr(fitting, "hidden_rmse", fails_at_lambda_10)
    # Points are computed only for people who rest; here everybody does.
    monkeypatch.setattr(lambda_curve, "REST_SECONDS", 0.0)
    data, last_traced = load_dataset("synthetic"), CURVE_LAMBDAS[-1]
    for seed in (101, 102):
        setting = Setting(data="synthetic", K=3, seed=seed)
        deadline = time.monotonic() + SECONDS
        page = opened(data="synthetic", K="3", seed=str(seed))
        while Curve.of(Case(setting, data)).is_traced():
            assert time.monotonic() < deadline, "the page still polls for points"
            page.run()

        page.run()
        assert not page.exception
        assert "2 of the fits behind this curve failed: no memory left" in [one.value for one in page.caption]
        point = Case(replace(setting, lam=last_traced), data)
        assert lambda_curve.known_errors(point.keys) is not None


@pytest.fixture(scope="module")
def pair():
    data = load_dataset("lfw")
    how = {"V": data.V, "observed": hide_entries(data.shape, 0.2), "K": 5, "missing": "zero"}
    return Pair(fit_run(lambda _: None, method="atnmf", lam=2.0, **how), fit_run(lambda _: None, **how))


@pytest.mark.parametrize(
    "draw",
    [panels._given_data, panels._learned_data, panels._errors_data, parts._sheets],
    ids=lambda draw: draw.__name__,
)
@pytest.mark.parametrize("field", Setting.VIEW)
def test_two_views_share_what_is_drawn_only_if_it_is_the_same(draw, field, pair):
    other = {"image": 9, "restored": "model", "written": "observed", "colour": "blue", "scale": "shared"}
    other |= {"part": 3, "detail": "film", "walls": True}
    here = Setting(K=5)
    there = replace(here, **{field: other[field]})
    fits = () if draw is panels._given_data else (pair,)
    data = load_dataset("lfw")

    drawn = [draw.__wrapped__(Case(setting, data), *fits) for setting in (here, there)]
    shared = [draw(Case(setting, data), *fits) for setting in (here, there)]

    assert shared == drawn


def test_a_page_is_drawn_again_without_a_file_handle_to_spare(repository, monkeypatch):
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=120).run()
    assert not page.exception

    def refuse(*args, **options):
        raise OSError(24, "Too many open files")

    for opening in ("builtins.open", "io.open"):
        monkeypatch.setattr(opening, refuse)
    page.run()
    monkeypatch.undo()

    assert not page.exception
