"""Files as people make them load without help, by stated rules, or are asked about with a guess."""

import io
import zipfile

import numpy as np
import pytest
import scipy.io
from PIL import Image

from atnmf_core.commands.arguments import why_unreadable
from atnmf_core.datasets import ReadingOptions, UnreadableData, read_dataset, read_or_ask
from tests.fuzz.seeds import npy as as_npy

CUBE = np.random.default_rng(0).uniform(0.1, 1, (10, 8, 30))


def npy(array):
    return ("file.npy", as_npy(array))


def mat(**variables):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables)
    return ("file.mat", stream.getvalue())


def pgm(seed):
    picture = np.random.default_rng(seed).integers(0, 256, (6, 5), dtype=np.uint8)
    return b"P5\n# made by hand\n5 6\n255\n" + picture.tobytes(), picture


def test_a_mat_with_bands_by_pixels_and_its_size_beside_it():
    Y = CUBE.reshape(80, 30, order="F").T
    truth_beside_it = {"M": np.ones((30, 4)), "label": np.ones((10, 8))}
    data = read_dataset(mat(Y=Y, lines=10, cols=8, **truth_beside_it))
    np.testing.assert_array_equal(data.images(), CUBE.transpose(2, 0, 1))


@pytest.mark.parametrize(
    "names", [("nRow", "nCol"), ("Lines", "Columns"), ("rows", "samples"), ("height", "width")]
)
def test_sizes_go_by_many_names(names):
    data = read_dataset(mat(V=CUBE.reshape(80, 30, order="F").T, **dict(zip(names, (10, 8), strict=True))))
    assert data.image_shape == (10, 8)


def test_a_zip_of_pgm_files_in_a_subfolder_with_what_systems_add():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("data/faces/", "")
        for i in (10, 2, 1):
            archive.writestr(f"data/faces/face{i}.pgm", pgm(i)[0])
        archive.writestr("data/faces/.DS_Store", b"\0\1")
        archive.writestr("__MACOSX/data/faces/._face1.pgm", b"\0\5\26\7")
        archive.writestr("data/README.txt", "faces")
    data = read_dataset(("faces.zip", stream.getvalue()))
    np.testing.assert_array_equal(data.images(), np.stack([pgm(i)[1] for i in (1, 2, 10)]) / 255)
    assert any("README.txt" in note for note in data.notes)


def envi_pair(folder):
    (folder / "scene.hdr").write_text(
        "ENVI\ndescription = {\n made = by hand\n}\nSamples = 8\nlines   = 10\nbands = 30\n"
        "header offset = 4\ndata type = 5\nInterleave = BIP\n; a remark = 3\nbyte order = 0\n"
        "wavelength = {\n" + ",\n".join(str(400 + 10 * i) for i in range(30)) + "\n}\n"
    )
    (folder / "scene").write_bytes(b"skip" + CUBE.tobytes())


@pytest.mark.parametrize("given", ["header", "binary", "both", "upload"])
def test_an_envi_pair_whose_binary_has_no_extension(tmp_path, given):
    envi_pair(tmp_path)
    header, binary = tmp_path / "scene.hdr", tmp_path / "scene"
    files = {
        "header": header,
        "binary": str(binary),
        "both": [binary, header],
        "upload": [("scene", binary.read_bytes()), ("scene.hdr", header.read_bytes())],
    }[given]
    data = read_dataset(files)
    np.testing.assert_array_equal(data.images(), CUBE.transpose(2, 0, 1))
    np.testing.assert_array_equal(data.wavelengths, 400 + 10 * np.arange(30))


def test_an_upload_object_and_an_open_file_are_read_like_a_file(tmp_path):
    class Uploaded(io.BytesIO):
        name = "file.npy"

    path = tmp_path / "file.npy"
    path.write_bytes(npy(CUBE)[1])
    with path.open("rb") as stream:
        for given in ([Uploaded(npy(CUBE)[1])], stream):
            data = read_dataset(given)
            assert data.name == "file"
            np.testing.assert_array_equal(data.images(), CUBE.transpose(2, 0, 1))


def test_several_arrays_are_offered_by_name_and_the_largest_is_suggested():
    file = mat(before=CUBE[:, :, :20], after=CUBE, year=2020)
    with pytest.raises(UnreadableData, match=r"choose one of after \(10 x 8 x 30\), before") as refusal:
        read_dataset(file)
    assert [(one.name, one.shape) for one in refusal.value.arrays] == [
        ("after", (10, 8, 30)),
        ("before", (10, 8, 20)),
    ]
    data = read_dataset(file, variable="before")
    np.testing.assert_array_equal(data.images(), CUBE[:, :, :20].transpose(2, 0, 1))
    with pytest.raises(UnreadableData, match="no array called 'middle'"):
        read_dataset(file, variable="middle")

    reading = read_or_ask(file)
    assert reading.data is None
    assert [array.name for array in reading.arrays] == ["after", "before"]
    assert reading.suggested.variable == "after"
    answered = read_or_ask(file, reading.suggested)
    assert answered.data.V.shape == (30, 80)
    assert answered.problem is None


@pytest.mark.parametrize(
    ("shape", "axis", "why"),
    [
        ((6, 6, 20), 2, "equally long"),
        ((20, 6, 6), 0, "equally long"),
        ((6, 20, 6), 1, "equally long"),
        ((20, 7, 6), 2, "it is the last"),
        ((6, 6, 6), 2, "it is the last"),
    ],
)
def test_the_bands_axis_follows_the_stated_rule_and_is_said(shape, axis, why):
    values = np.random.default_rng(0).uniform(size=shape)
    data = read_dataset(npy(values))
    np.testing.assert_array_equal(data.images(), np.moveaxis(values, axis, 0))
    assert any(f"Axis {axis} " in note and why in note for note in data.notes)
    # Wavelengths tell it wherever it is.
    with_wavelengths = read_dataset(mat(cube=values, wavelength=np.linspace(400, 900, 20)))
    if shape.count(20) == 1:
        np.testing.assert_array_equal(with_wavelengths.images(), np.moveaxis(values, shape.index(20), 0))


def test_a_matrix_without_a_size_stays_a_matrix_and_can_be_turned():
    values = np.random.default_rng(0).uniform(size=(20, 7))
    assert read_dataset(npy(values)).kind == "matrix"
    np.testing.assert_array_equal(read_dataset(npy(values), bands_axis=1).V, values.T)


def test_faces_as_columns_or_rows_of_a_matrix_or_as_a_stack():
    pictures = np.random.default_rng(0).uniform(size=(40, 5, 5))
    columns = pictures.reshape(40, 25).T
    for stored in (columns, columns.T, pictures):
        size = {} if stored is pictures else {"image_shape": (5, 5)}
        data = read_dataset(npy(stored), kind="faces", **size)
        assert data.V.shape == (25, 40)
        np.testing.assert_array_equal(data.images(), pictures)
    # Smooth ones are told by themselves.
    y, x = np.mgrid[:20, :20]
    phases = np.random.default_rng(3).uniform(0, 6, (100, 2))
    faces = np.stack([np.sin(y / 3 + a) + np.cos(x / 2 + b) + 2 for a, b in phases])
    for stored in (faces.reshape(100, -1, order="F"), faces.reshape(100, -1, order="F").T):
        np.testing.assert_array_equal(read_dataset(mat(faces=stored)).images(), faces)


def test_missing_saturated_and_negative_values_become_not_observed():
    values = CUBE.copy()
    values[0, 0, 0], values[1, 1, 1], values[2, 2, 2] = np.nan, 7777, np.inf
    data = read_dataset(npy(values), nodata=(7777, np.inf))
    assert (~data.observed).sum() == 3
    assert "2 entries with the no-data value: not observed." in data.notes

    values[0, 0, 0], values[2, 2, 2] = -0.01, 0
    assert (~read_dataset(npy(values), saturated=5, negative="missing").observed).sum() == 2


def test_negative_values_are_refused_or_set_to_zero_as_each_front_end_suggests():
    values = CUBE.copy()
    values[0, 0, :3] = -0.5
    refusal = problem(npy(values))
    assert "3 negative entries, down to -0.5" in str(refusal)
    assert 'To set negative entries to 0, give negative="zero"' in str(refusal)
    assert "To set negative entries to 0, give --negative=zero" in why_unreadable(refusal)
    assert "negative=" not in refusal.message
    assert "give “negative”" in refusal.explained(lambda remedy: f"“{remedy.setting}”")

    suggested = read_or_ask(npy(values)).suggested
    assert suggested == ReadingOptions(negative="zero")
    data = read_or_ask(npy(values), suggested).data
    np.testing.assert_array_equal(data.images(), np.maximum(values, 0).transpose(2, 0, 1))
    assert "3 negative entries were set to 0." in data.notes


def test_one_image_alone_is_a_matrix():
    picture = np.arange(30, dtype=np.uint8).reshape(5, 6)
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG")
    data = read_dataset(("photo.png", stream.getvalue()))
    assert data.kind == "matrix"
    np.testing.assert_array_equal(data.V, picture / 255)


def test_the_papers_own_files_load_like_anybodys(paper_data):
    data = read_dataset(paper_data / "moffet" / "clean_Moffet.mat", image_shape=(50, 50))
    assert data.V.shape == (165, 2500)
    faces = read_dataset(paper_data / "cbcl" / "cbcl_faces.zip", normalisation="lee-seung")
    from atnmf_core import load_dataset

    np.testing.assert_allclose(faces.V, load_dataset("cbcl", folder=paper_data).V, atol=1e-12)


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
def test_options_survive_an_address_unless_a_word_is_wrong(options):
    assert ReadingOptions.from_words(options.words()) == options
    with pytest.raises(UnreadableData) as refusal:
        ReadingOptions.from_words(options.words() | {"image_shape": "many"})
    assert refusal.value.setting == "image_shape"


def test_options_are_spelled_for_python_and_for_the_command_line():
    options = ReadingOptions(negative="zero", image_shape=(50, 40), nodata=-9999)
    assert options.python() == ', image_shape=(50, 40), nodata=(-9999,), negative="zero"'
    assert options.command_line() == " --image-shape=50x40 --nodata=-9999 --negative=zero"
    assert ReadingOptions().python() == ReadingOptions().command_line() == ""


@pytest.mark.parametrize("placeholder", [-9999.0, -32768.0, -1e34])
def test_a_placeholder_is_suggested_as_no_data(placeholder):
    values = CUBE.copy()
    values[0, 0, :3] = placeholder
    refusal = problem(npy(values))
    assert [(remedy.setting, remedy.value) for remedy in refusal.remedies] == [("nodata", placeholder)]
    assert (~read_dataset(npy(values), nodata=placeholder).observed).sum() == 3


def test_noise_below_zero_is_not_taken_for_a_placeholder():
    values = CUBE - 0.15
    assert {remedy.setting for remedy in problem(npy(values)).remedies} == {"negative"}


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


def test_a_reading_never_raises_and_hdf4_is_named():
    assert read_or_ask(("x.mat", b"only text")).problem is not None
    assert read_or_ask([]).problem is not None
    assert "HDF 4" in str(problem(("x.hdf", b"\x0e\x03\x13\x01" + bytes(100))))


@pytest.mark.parametrize(
    ("spelled", "named"),
    [
        ("{}", True),
        ("X{}", True),
        ("R_{}", True),
        ("{}nm", True),
        ("{} nm", True),
        ("X{}", False),
        ("b{}", False),
    ],
)
def test_a_heading_of_wavelengths_is_known_in_many_spellings(spelled, named):
    lines = [[spelled.format(400 + 10 * i) for i in range(30)], *CUBE[0].astype(str)]
    first = ["name,", *(f"s{i}," for i in range(len(CUBE[0])))] if named else [""] * len(lines)
    text = "\n".join(name + ",".join(cells) for name, cells in zip(first, lines, strict=True))
    data = read_dataset(("spectra.csv", text.encode()))
    if spelled == "b{}":
        assert data.wavelengths is None, "columns that are only numbered"
    else:
        np.testing.assert_array_equal(data.V, CUBE[0].T)
        np.testing.assert_array_equal(data.wavelengths, 400 + 10 * np.arange(30))


def test_an_envi_binary_may_have_any_extension(tmp_path):
    header = "ENVI\nsamples = 4\nlines = 3\nbands = 2\ndata type = 4\ninterleave = bsq\nbyte order = 0\n"
    (tmp_path / "flight.v1.rfl.hdr").write_text(header)
    (tmp_path / "flight.v1.rfl").write_bytes(np.arange(24, dtype="f4").tobytes())
    for name in ("flight.v1.rfl.hdr", "flight.v1.rfl"):
        assert read_dataset(tmp_path / name).V.shape == (2, 12)
