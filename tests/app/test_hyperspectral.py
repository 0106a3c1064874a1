"""The Hyperspectral page runs from top to bottom, says what it found, and shares its cube with Explore."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core import Dataset, factorize, hide_entries, load_dataset
from pages.common.uploads import uploads
from tests.app.opening import open_page

SECONDS = 120
PAGE = "pages/hyperspectral.py"
TITLE = "Every pixel a spectrum, every spectrum a mixture"


opened = partial(open_page, "hyperspectral")


def told(page: AppTest) -> str:
    return "\n".join(element.value for element in (*page.main.markdown, *page.warning, *page.caption))


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"view": "band", "image": "77", "pattern": "stripes", "colour": "blue"},
        {"triplet": "own", "red": "9999", "balance": "channel", "clip": "0", "restored": "model"},
        {"rows": "5-20", "cols": "60-9999", "bands": "1-3", "K": "50", "pins": "1.1_64.64"},
        {"missing": "zero", "start": "random", "pattern": "bands", "K": "1"},
        {"data": "lfw"},
        {"data": "upload", "upload": "unknown"},
    ],
    ids=str,
)
def test_the_page_runs(repository: Path, query: dict[str, str]) -> None:
    page = opened(repository, **query)

    assert not page.exception
    assert page.title[0].value == TITLE


def test_the_page_shows_the_mean_angle_to_the_true_materials(repository: Path) -> None:
    """Half of the scene hidden and marked: the angles, by the textbook formula, are well under 5 degrees."""
    data = load_dataset("simulated-scene")
    observed = hide_entries(data.shape, 0.5)
    page = opened(repository)

    for name, method, lam in ((":orange[AT-NMF]", "atnmf", 2.0), (":blue[NMF]", "nmf", None)):
        W = factorize(data.V, observed, K=5, method=method, lam=lam, init="pure-pixels").W
        angle = np.mean([min(degrees(e, w) for w in W.T) for e in data.truth.endmembers.T])
        assert angle < 5
        assert f"{name} mean spectral angle **{angle:.2f}°**" in told(page)


def test_what_cannot_be_recovered_is_said(repository: Path) -> None:
    V = np.random.default_rng(0).random((8, 30)) + 0.1
    V[:, [4, 11]] = np.nan
    V[1:, 20] = np.nan
    content_hash = uploads().keep(Dataset(V, "cube", "gaps", image_shape=(5, 6)))

    page = opened(repository, data="upload", upload=content_hash, alpha="0.05", K="3", colour="blue")

    assert not page.exception
    assert "Nothing is observed of 2 pixels" in told(page)
    assert "parts are blue in these places" in told(page)
    assert "have fewer than K = 3 observed bands" in told(page)


def test_data_that_is_no_cube_is_sent_to_explore(repository: Path) -> None:
    content_hash = uploads().keep(Dataset(np.ones((4, 5)), "matrix", "table"))

    page = opened(repository, data="upload", upload=content_hash)

    assert "table is not a cube: open it on the Explore page" in page.sidebar.error[0].value
    assert not page.exception


def test_another_cube_starts_afresh(repository: Path) -> None:
    page = opened(repository, rows="1-9", pins="2.2", pixel="3.3")

    page.sidebar.segmented_control(key="size").set_value("medium").run()

    assert page.session_state["rows"] == page.session_state["pins"] == page.session_state["pixel"] == ""
    assert page.query_params == {"size": "medium"}


def test_a_cut_is_chosen_by_sliders_and_spelled_in_the_address(repository: Path) -> None:
    page = opened(repository)

    page.sidebar.slider(key="bands_span").set_range(10, 40).run()

    assert page.query_params["bands"] == "10-40"
    assert "slice(9, 40)" in page.code[0].value
    page.sidebar.slider(key="bands_span").set_range(1, 100).run()
    assert "bands" not in page.query_params


def test_a_cube_goes_along_to_explore_and_back(repository: Path) -> None:
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS)
    page.query_params["data"] = "simulated-scene"
    page.query_params["alpha"] = "0.35"
    page.query_params["K"] = "4"
    page.run()

    visit(page, PAGE)
    assert page.sidebar.select_slider(key="alpha").value == 0.35
    page.sidebar.slider(key="K").set_value(6).run()
    visit(page, "pages/explore.py")
    assert page.sidebar.slider(key="K").value == 6
    assert page.sidebar.selectbox(key="data").value == "simulated-scene"
    assert not page.exception


def test_faces_on_explore_stay_there(repository: Path) -> None:
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS).run()
    first = page.sidebar.select_slider(key="alpha").value

    visit(page, PAGE)
    assert page.title[0].value == TITLE
    assert page.sidebar.selectbox(key="data").value == "simulated-scene"
    assert page.sidebar.select_slider(key="alpha").value == 0.5
    visit(page, "pages/explore.py")

    assert page.sidebar.selectbox(key="data").value == "lfw"
    assert page.sidebar.select_slider(key="alpha").value == first
    assert not page.exception


def visit(page: AppTest, path: str) -> None:
    """Go to another page by the menu, which clears the address."""
    page.query_params.clear()
    page.switch_page(path).run()


def degrees(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.degrees(np.arccos(one @ other / np.linalg.norm(one) / np.linalg.norm(other))))
