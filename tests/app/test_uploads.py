"""A file of one's own: asked about where that is needed, read as its address says, spelled in the recipe."""

import io

import numpy as np
import pytest
import scipy.io
from streamlit.testing.v1 import AppTest

from atnmf_core import load_dataset, read_dataset
from atnmf_core.datasets import ReadingOptions, UnreadableData
from atnmf_core.datasets.files.arrays import npy_bytes
from pages.common.uploads import FileSetting, Uploads, uploads
from tests.app.opening import TEXTS, open_page, rendered, texts

LABELLED = ("button", "download_button", "selectbox", "expander", "toggle")
CUBE = np.random.default_rng(0).uniform(0.1, 1, (12, 10, 8))


def mat(**arrays: object) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, arrays)
    return file.getvalue()


def opened(page: str = "explore", **query: str) -> AppTest:
    return open_page(page, **{"data": "upload", "K": "2", "detail": "take", **query})


def snippets(app: AppTest) -> str:
    return texts(app, "code")


def sidebar(app: AppTest) -> str:
    return "\n".join(one.value for one in (*app.sidebar.warning, *app.sidebar.caption, *app.sidebar.error))


@pytest.mark.parametrize("page", ["explore", "restore"])
def test_a_file_with_two_cubes_is_asked_about_and_an_answer_is_enough(page):
    upload = uploads().keep_files([("two.mat", mat(A=CUBE, B=CUBE[::-1]))])

    app = opened(page, upload=upload)
    if page == "restore":
        # They are offered in the middle of the page, too.
        next(one for one in app.main.button if rendered(one.label).startswith("Read B (")).click().run()
    else:
        assert "several arrays" in sidebar(app)
        assert not snippets(app)
        app.selectbox(key="variable").select("B").run()
        assert 'read_dataset("two.mat", variable="B")' in snippets(app)
        assert "--data two.mat" in snippets(app)
        assert "--variable=B" in snippets(app)

    assert not app.exception
    assert "B was read from two" in sidebar(app)


@pytest.mark.parametrize("page", ["explore", "hyperspectral", "restore", "curves"])
@pytest.mark.parametrize("chosen", [False, True], ids=["asked about", "chosen"])
def test_names_of_a_file_and_an_array_are_shown_as_they_are_written_and_render_nothing(page, chosen):
    name, stream = "![x](http://host/t.png)", io.BytesIO()
    np.savez(stream, **{name: CUBE, "other": CUBE[::-1]})
    upload = uploads().keep_files([("a*b*.npz", stream.getvalue())])

    app = opened(page, upload=upload, **({"variable": name} if chosen else {}))

    shown = [one.value for kind in TEXTS if kind != "code" for one in app.get(kind)]
    assert any(name in rendered(text) for text in shown)
    labels = [one.label for kind in LABELLED for one in app.get(kind)]
    assert not [text for text in (*shown, *labels) if "![x](" in text]
    assert not chosen or r" was read from a\*b\*\.npz\." in sidebar(app)


def test_a_file_that_no_answer_can_mend_is_not_asked_about():
    upload = uploads().keep_files([("letter.npy", b"Dear Sir or Madam")])

    app = opened(upload=upload)

    assert "the sidebar says why" in app.main.info[0].value
    assert "letter.npy is not a .npy file" in sidebar(app).replace("\\", "")


def test_negative_values_are_asked_about_and_the_recipe_says_what_was_answered():
    values = CUBE.copy()
    values[0, 0, 0] = -0.01
    upload = uploads().keep_files([("noisy.npy", npy_bytes(values))])

    app = opened(upload=upload)
    app.sidebar.button(key="upload_remedy_0").click().run()

    assert not app.exception
    assert 'read_dataset("noisy.npy", negative="zero")' in snippets(app)
    assert "--negative=zero" in snippets(app)


@pytest.mark.parametrize("page", ["hyperspectral", "curves", "restore"])
def test_a_file_is_read_as_the_address_says_and_is_there_on_other_pages(page):
    upload = uploads().keep_files([("pixels.npy", npy_bytes(CUBE.reshape(120, 8)))])
    app = opened(upload=upload, kind="cube", image_shape="12x10", order="C")
    assert "a cube, 12 × 10 × 8" in sidebar(app)
    assert 'kind="cube", image_shape=(12, 10), order="C"' in snippets(app)

    app.query_params.clear()
    app.switch_page(f"pages/{page}.py").run()

    assert not app.exception
    assert "a cube, 12 × 10 × 8" in sidebar(app)
    app.sidebar.selectbox(key="data").set_value("simulated-scene").run()
    assert "a cube, 12 × 10 × 8" not in sidebar(app)


@pytest.mark.parametrize(("chosen", "K"), [(None, 3), (6, 6)])
def test_K_starts_at_the_number_of_true_materials_unless_it_was_chosen(chosen, K):
    data = load_dataset("simulated-scene", rows=8, cols=8, bands=8, materials=3)
    app = opened(data="lfw", K="25")
    if chosen is not None:
        app.sidebar.slider(key="K").set_value(chosen).run()
    app.session_state["upload"] = uploads().keep(data)
    app.session_state["upload_changed"] = True
    app.sidebar.selectbox(key="data").set_value("upload").run()

    assert not app.exception
    assert app.session_state["K"] == K


def faces() -> np.ndarray:
    """30 blots of light on 16 x 16 pixels."""
    y, x = np.mgrid[:16, :16]
    places = np.random.default_rng(0).uniform(2, 14, (30, 2))
    return np.stack([np.exp(-((x - a) ** 2 + (y - b) ** 2) / 20) for a, b in places])


@pytest.mark.parametrize(
    ("page", "matrix", "read"),
    [
        ("hyperspectral", CUBE.reshape(120, 8), "a cube"),
        ("explore", faces().reshape(30, -1), "faces, 16 × 16 × 30"),
    ],
)
def test_a_matrix_is_offered_as_what_it_may_be(page, matrix, read):
    upload = uploads().keep_files([("pixels.npy", npy_bytes(matrix))])

    app = opened(page, upload=upload)
    assert "a matrix" in sidebar(app)
    app.sidebar.button(key="upload_guess_0").click().run()

    assert not app.exception
    assert read in sidebar(app)


def test_a_link_opens_with_its_own_settings():
    """What suits newly uploaded data does not overrule the address."""
    upload = uploads().keep_files([("cube.npy", npy_bytes(CUBE))])

    app = opened(upload=upload, K="3", image="7")

    assert app.session_state["K"] == 3
    assert app.session_state["image"] == 7


def test_what_is_not_understood_names_its_control():
    upload = uploads().keep_files([("table.npy", npy_bytes(CUBE.reshape(120, 8)))])

    app = opened(upload=upload, bands_axis="2")
    assert "Axis of the bands: There is no axis 2" in sidebar(app)
    app.text_input(key="nodata").input("none").run()
    assert "No-data value" in sidebar(app)
    # What the reader chose by itself is shown as read.
    app = opened(upload=uploads().keep_files([("one.mat", mat(Y=CUBE, maps=CUBE[:, :, :3]))]))
    box = app.selectbox(key="variable")
    assert (box.value, box.options[box.index]) == ("", "as read")


def test_a_file_is_read_once_for_each_way_of_reading_it():
    cache = Uploads()
    upload = cache.keep_files([("cube.npy", npy_bytes(CUBE))])

    first = cache.read(upload, ReadingOptions())

    assert cache.read(upload, ReadingOptions()) is first
    assert cache.read(upload, ReadingOptions(kind="faces")) is not first
    assert cache.read("unknown", ReadingOptions()) is None
    # Files that differ in their names alone are different uploads.
    assert cache.keep_files([("ab", b"c")]) != cache.keep_files([("a", b"bc")])


def test_the_recipe_reads_what_the_page_read():
    words = {"variable": 'a"), evil("', "kind": "cube", "image_shape": "12 × 10", "nodata": "-9999, 0.5"}
    options = FileSetting(**words, negative="zero").options

    by_words = read_dataset([("a.npy", npy_bytes(CUBE.reshape(120, 8)))], **options.arguments())
    spelled = eval(f"dict({options.python().removeprefix(', ')})")

    assert by_words.image_shape == (12, 10)
    assert spelled == options.arguments()
    with pytest.raises(UnreadableData):
        _ = FileSetting(image_shape="50").options


def test_what_cannot_be_recovered_and_what_is_not_measured_is_said_on_explore():
    values = CUBE.copy()
    values[3, 4] = np.nan
    upload = uploads().keep_files([("gaps.npy", npy_bytes(values))])

    app = opened(upload=upload, alpha="0")
    assert "Nothing is observed of 1 pixel," in app.main.warning[0].value
    assert "every measured value as it was" in texts(app.main, "markdown")

    app = opened(upload=upload, alpha="0", detail="errors")
    assert "no error to measure" in texts(app.main, "info")
    assert "Not measured: nothing is hidden" in texts(app.main, "caption")


def test_a_library_of_the_address_is_read_and_pure_pixels_stand_beside_the_fits():
    table = "name," + ",".join(str(nm) for nm in range(400, 2600, 100))
    table += "".join(f"\nspectrum {i}," + ",".join(str(0.1 * (i + j % 3)) for j in range(22)) for i in (1, 2))
    library = uploads().keep_files([("library.csv", table.encode())])

    app = opened("hyperspectral", data="simulated-scene", K="3", library=library, pure="1")

    assert "2 spectra, 400 to 2500 nm" in sidebar(app)
    text = "".join(one.value for one in app.main.markdown)
    assert "**Pure pixels** are not fitted" in text
    assert "Pure pixels mean spectral angle" in text


@pytest.mark.parametrize("largest", [0.0, 1e30])
def test_a_matrix_of_zeros_and_one_with_an_absurd_entry_are_shown(largest):
    values = CUBE.reshape(120, 8) * (largest > 0)
    values[3, 4] = largest
    upload = uploads().keep_files([("extreme.npy", npy_bytes(values))])

    app = opened(upload=upload, lam="1.05", missing="ignore", detail="errors", part="1")

    assert any("Parts" in one.value for one in app.main.markdown)
