"""The Hyperspectral page runs from top to bottom, says what it found, and shares its cube with Explore."""

import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from streamlit.testing.v1 import AppTest

from atnmf_core import Dataset, factorize, hide_entries, load_dataset
from atnmf_core.datasets import read_truth
from atnmf_core.datasets.files.arrays import npy_bytes
from pages.common.hosting import Quotas
from pages.common.uploads import uploads
from pages.hyperspectral_view import setting as sidebar
from tests.app.opening import open_page, texts

PAGE = "pages/hyperspectral.py"
TITLE = "Every pixel a spectrum, every spectrum a mixture"


opened = partial(open_page, "hyperspectral")


def told(page: AppTest) -> str:
    return texts(page.main, "markdown", "warning", "caption")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"view": "band", "image": "77", "pattern": "stripes", "colour": "blue"},
        {"triplet": "own", "red": "9999", "balance": "channel", "clip": "0", "restored": "model"},
        {"rows": "5-20", "cols": "60-9999", "bands": "1-3", "K": "50", "pins": "1.1_64.64"},
        {"missing": "zero", "start": "random", "pattern": "bands", "K": "1"},
        {"materials": "sum", "solver": "paper", "alpha": "0.1"},
        {"data": "lfw"},
        {"data": "upload", "upload": "unknown"},
    ],
    ids=str,
)
def test_the_page_runs(query):
    page = opened(**query)

    assert page.title[0].value == TITLE


SMALL = {"alpha": "0.1", "K": "3", "rows": "1-24", "cols": "1-24", "missing": "ignore"}


@pytest.mark.parametrize("materials", ["parts", "sum"])
def test_the_page_shows_the_mean_angle_to_the_true_materials(materials):
    """By the textbook formula, of the fits that the page's recipe makes."""
    page = opened(**SMALL, materials=materials)
    recipe = next(code.value for code in page.code if "factorize" in code.value)
    assert ("unit_sum=True" in recipe) == ("sum to one in each pixel" in told(page)) == (materials == "sum")

    data = load_dataset("simulated-scene").subset(rows=slice(0, 24), cols=slice(0, 24))
    how = {"unit_sum": True} if materials == "sum" else {"init": "pure-pixels"}
    for name, method, lam in ((":orange[AT-NMF]", "atnmf", 2.0), (":blue[NMF]", "nmf", None)):
        fit = factorize(data.V, hide_entries(data.shape, 0.1), K=3, method=method, lam=lam, **how)
        cost = [[degrees(e, w) for w in fit.W.T] for e in data.truth.endmembers.T]
        rows, columns = linear_sum_assignment(cost)
        angle = np.mean([cost[row][column] for row, column in zip(rows, columns, strict=True)])
        assert f"{name} mean spectral angle **{angle:.2f}°**" in told(page)


def test_the_first_view_is_a_case_in_which_the_methods_differ():
    page = opened()
    for _ in range(20):
        # On a busy machine the fits end after the first run.
        if "spectral angle" in told(page):
            break
        page.run()

    angles = [float(angle) for angle in re.findall(r"angle \*\*([\d.]+)°", told(page))]
    assert page.session_state["missing"] == "zero"
    assert angles[0] < 1
    assert angles[1] > 10


def test_what_cannot_be_recovered_and_what_is_no_cube_is_said():
    V = np.random.default_rng(0).random((8, 30)) + 0.1
    V[:, [4, 11]] = np.nan
    V[1:, 20] = np.nan
    gaps, table = Dataset(V, "cube", "gaps", image_shape=(5, 6)), Dataset(np.ones((4, 5)), "matrix", "table")

    page = opened(data="upload", upload=uploads().keep(gaps), alpha="0.05", K="3", colour="blue")
    for words in (
        "Nothing is observed of 2 pixels",
        "parts are blue in these places",
        "have fewer than K = 3 observed bands",
    ):
        assert words in told(page)
    page = opened(data="upload", upload=uploads().keep(table))
    assert "table is not a cube: open it on the Explore page" in page.sidebar.error[0].value


def test_a_cut_is_chosen_by_sliders_and_spelled_in_the_address_until_another_cube_is_chosen():
    page = opened(rows="1-9", pins="2.2", pixel="3.3")

    page.sidebar.slider(key="bands_span").set_range(10, 40).run()
    assert page.query_params["bands"] == "10-40"
    assert "slice(9, 40)" in page.code[0].value
    page.sidebar.slider(key="bands_span").set_range(1, 100).run()
    assert "bands" not in page.query_params
    page.sidebar.segmented_control(key="size").set_value("medium").run()

    assert page.session_state["rows"] == page.session_state["pins"] == page.session_state["pixel"] == ""
    assert page.query_params == {"size": "medium"}


def test_a_cube_goes_along_to_explore_and_back_and_faces_stay_there():
    page = open_page("explore")
    visit(page, PAGE)
    assert (page.title[0].value, page.sidebar.selectbox(key="data").value) == (TITLE, "simulated-scene")
    assert page.sidebar.select_slider(key="alpha").value == 0.1
    visit(page, "pages/explore.py")
    assert page.sidebar.selectbox(key="data").value == "lfw"
    assert page.sidebar.select_slider(key="alpha").value == 0.2

    page = open_page("explore", data="simulated-scene", alpha="0.35", K="4")
    visit(page, PAGE)
    assert page.sidebar.select_slider(key="alpha").value == 0.35
    page.sidebar.slider(key="K").set_value(6).run()
    visit(page, "pages/explore.py")
    assert page.sidebar.slider(key="K").value == 6
    assert page.sidebar.selectbox(key="data").value == "simulated-scene"
    assert not page.exception


def visit(page: AppTest, path: str) -> None:
    """Go to another page by the menu, which clears the address."""
    page.query_params.clear()
    page.switch_page(path).run()


def degrees(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.degrees(np.arccos(one @ other / np.linalg.norm(one) / np.linalg.norm(other))))


def test_files_of_known_materials_are_read_once_and_count_as_uploads(monkeypatch, caplog):
    data = replace(load_dataset("simulated-scene"), truth=None)
    spectra = npy_bytes(load_dataset("simulated-scene").truth.endmembers)
    given = [SimpleNamespace(name="W.npy", file_id="1", size=len(spectra), getvalue=lambda: spectra)]
    read, limit = [], [None]
    monkeypatch.setattr(sidebar.st, "file_uploader", lambda *args, **options: given)
    monkeypatch.setattr(sidebar.st, "session_state", {})
    monkeypatch.setattr(sidebar, "read_truth", lambda *what: read.append(what) or read_truth(*what))
    monkeypatch.setattr("pages.common.uploads.quotas", lambda: limit[0])
    caplog.set_level("CRITICAL")

    found = [sidebar.known_truth(data) for _ in range(3)]

    assert {one.endmembers.shape for one in found} == {(100, 5)}
    assert len(read) == 1
    limit[0] = Quotas(upload_mb=0)
    given[0].file_id = "2"
    monkeypatch.setattr(sidebar.st, "session_state", {})
    assert sidebar.known_truth(data) is None
    assert len(read) == 1
