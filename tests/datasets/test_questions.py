"""What a file leaves open is asked with the choices and a guess; each front end names its own control."""

import io

import numpy as np
import pytest
import scipy.io

from atnmf_core.commands.reading import why_unreadable
from atnmf_core.datasets import ReadingOptions, UnreadableData, read_dataset, read_or_ask
from tests.fuzz.seeds import npy

CUBE = np.random.default_rng(0).uniform(0.1, 1, (10, 8, 30))


def mat(**variables):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables)
    return ("file.mat", stream.getvalue())


def problem(file, **options):
    with pytest.raises(UnreadableData) as refusal:
        read_dataset(file, **options)
    return refusal.value


EVERYTHING = ReadingOptions(
    variable="Y in it",
    kind="cube",
    image_shape=(50, 40),
    order="C",
    bands_axis=1,
    nodata=(-9999.0, 0.5),
    saturated=4095.0,
    negative="zero",
    normalisation="maximum",
)


@pytest.mark.parametrize("options", [ReadingOptions(), ReadingOptions(negative="zero"), EVERYTHING])
def test_options_survive_an_address(options):
    assert ReadingOptions.from_words(options.words()) == options


def test_options_are_spelled_for_python_and_for_the_command_line():
    options = ReadingOptions(negative="zero", image_shape=(50, 40), nodata=-9999)
    assert options.python() == ', image_shape=(50, 40), nodata=(-9999,), negative="zero"'
    assert options.command_line() == " --image-shape=50x40 --nodata=-9999 --negative=zero"
    assert ReadingOptions().python() == ReadingOptions().command_line() == ""


def test_a_wrong_word_in_an_address_is_refused_by_its_name():
    with pytest.raises(UnreadableData) as refusal:
        ReadingOptions.from_words({"image_shape": "many"})
    assert refusal.value.setting == "image_shape"


def test_several_arrays_are_asked_about_and_the_largest_is_suggested():
    reading = read_or_ask(mat(small=CUBE[:, :, :20], large=CUBE))
    assert reading.data is None
    assert [array.name for array in reading.arrays] == ["large", "small"]
    assert reading.suggested.variable == "large"
    answered = read_or_ask(mat(small=CUBE[:, :, :20], large=CUBE), reading.suggested)
    assert answered.data.V.shape == (30, 80)
    assert answered.problem is None


def test_a_suggestion_answers_negative_entries():
    values = CUBE.copy()
    values[0, 0, 0] = -0.01
    reading = read_or_ask(("x.npy", npy(values)))
    assert reading.suggested == ReadingOptions(negative="zero")
    assert read_or_ask(("x.npy", npy(values)), reading.suggested).data.V.min() == 0


@pytest.mark.parametrize("placeholder", [-9999.0, -32768.0, -1e34])
def test_a_placeholder_is_suggested_as_no_data(placeholder):
    values = CUBE.copy()
    values[0, 0, :3] = placeholder
    refusal = problem(("x.npy", npy(values)))
    assert [(remedy.setting, remedy.value) for remedy in refusal.remedies] == [("nodata", placeholder)]
    assert (~read_dataset(("x.npy", npy(values)), nodata=placeholder).observed).sum() == 3


def test_noise_below_zero_is_not_taken_for_a_placeholder():
    values = CUBE - 0.15
    assert {remedy.setting for remedy in problem(("x.npy", npy(values))).remedies} == {"negative"}


def test_each_front_end_names_its_own_control():
    values = CUBE.copy()
    values[0, 0, 0] = -0.01
    refusal = problem(("x.npy", npy(values)))
    assert 'To set negative entries to 0, give negative="zero"' in str(refusal)
    assert "To set negative entries to 0, give --negative=zero" in why_unreadable(refusal)
    assert "negative=" not in refusal.message
    on_a_page = refusal.explained(lambda remedy: f"“{remedy.setting}”")
    assert "give “negative”" in on_a_page


@pytest.mark.parametrize(("rows", "cols"), [(23, 17), (40, 12)])
def test_an_image_size_is_guessed_from_the_smoothness_of_images(rows, cols):
    y, x = np.mgrid[:rows, :cols]
    faces = np.stack([np.sin(y / (3 + i)) + np.cos(x / (2 + i)) + 2 for i in range(6)])
    matrix = faces.reshape(6, -1, order="F")
    reading = read_or_ask(mat(X=matrix), ReadingOptions(kind="faces"))
    assert reading.data is None
    assert reading.suggested.image_shape == (rows, cols)


def test_labelled_square_rows_are_faces_and_others_a_matrix():
    faces = np.random.default_rng(1).uniform(size=(12, 16, 16))
    flat = faces.reshape(12, 256, order="F")
    data = read_dataset(mat(fea=flat, gnd=np.ones((12, 1))))
    assert data.kind == "faces"
    np.testing.assert_array_equal(data.images(), faces)
    assert read_dataset(mat(X=flat)).kind == "matrix"


@pytest.mark.parametrize("layout", ["cube", "pixels"])
def test_truth_beside_a_cube_is_not_taken_for_the_data(layout):
    random = np.random.default_rng(2)
    A = random.dirichlet(np.ones(3), (10, 8))
    Y = CUBE if layout == "cube" else CUBE.reshape(80, 30, order="F").T
    data = read_dataset(mat(A=A, Y=Y))
    np.testing.assert_array_equal(data.images(), CUBE.transpose(2, 0, 1))
    np.testing.assert_allclose(data.images(data.truth.abundances), A.transpose(2, 0, 1))


def test_saturated_and_negative_entries_can_be_missing():
    values = CUBE.copy()
    values[0, 0, 0], values[1, 1, 1] = -0.01, 7.0
    data = read_dataset(("x.npy", npy(values)), saturated=5, negative="missing")
    assert (~data.observed).sum() == 2


def test_a_reading_never_raises():
    assert read_or_ask(("x.mat", b"only text")).problem is not None
    assert read_or_ask([]).problem is not None


def test_faces_in_columns_are_told_from_faces_in_rows():
    y, x = np.mgrid[:20, :20]
    phases = np.random.default_rng(3).uniform(0, 6, (100, 2))
    faces = np.stack([np.sin(y / 3 + a) + np.cos(x / 2 + b) + 2 for a, b in phases])
    for stored in (faces.reshape(100, -1, order="F"), faces.reshape(100, -1, order="F").T):
        data = read_dataset(mat(faces=stored))
        np.testing.assert_array_equal(data.images(), faces)


@pytest.mark.parametrize("spelled", ["{}", "X{}", "R_{}", "{}nm", "{} nm"])
def test_a_heading_of_wavelengths_is_known_in_many_spellings(spelled):
    heading = ",".join(["name", *(spelled.format(400 + 10 * i) for i in range(30))])
    rows = [f"s{i}," + ",".join(map(str, spectrum)) for i, spectrum in enumerate(CUBE[0])]
    data = read_dataset(("spectra.csv", "\n".join([heading, *rows]).encode()))
    np.testing.assert_array_equal(data.V, CUBE[0].T)
    np.testing.assert_array_equal(data.wavelengths, 400 + 10 * np.arange(30))


def test_headings_that_are_only_numbered_are_not_wavelengths():
    text = (
        ",".join(f"b{i}" for i in range(300, 330))
        + "\n"
        + "\n".join(",".join(map(str, row)) for row in CUBE[0])
    )
    assert read_dataset(("table.csv", text.encode())).wavelengths is None


def test_a_heading_of_wavelengths_may_have_no_name_before_it():
    lines = [",".join(f"X{400 + i}" for i in range(30)), *(",".join(map(str, row)) for row in CUBE[0])]
    data = read_dataset(("table.csv", "\n".join(lines).encode()))
    np.testing.assert_array_equal(data.V, CUBE[0].T)
    np.testing.assert_array_equal(data.wavelengths, 400 + np.arange(30))


def test_hdf4_is_named():
    assert "HDF 4" in str(problem(("x.hdf", b"\x0e\x03\x13\x01" + bytes(100))))


def test_an_envi_binary_may_have_any_extension(tmp_path):
    header = "ENVI\nsamples = 4\nlines = 3\nbands = 2\ndata type = 4\ninterleave = bsq\nbyte order = 0\n"
    (tmp_path / "flight.v1.rfl.hdr").write_text(header)
    (tmp_path / "flight.v1.rfl").write_bytes(np.arange(24, dtype="f4").tobytes())
    for name in ("flight.v1.rfl.hdr", "flight.v1.rfl"):
        assert read_dataset(tmp_path / name).V.shape == (2, 12)
