"""Files as other people make them load without help, and doubtful cases follow the stated rules."""

import io
import zipfile

import numpy as np
import pytest
import scipy.io
from PIL import Image

from atnmf_core.datasets import UnreadableData, read_dataset

CUBE = np.random.default_rng(0).uniform(0, 1, (10, 8, 30))


def mat(**variables):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables)
    return ("file.mat", stream.getvalue())


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return ("file.npy", stream.getvalue())


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


def test_a_mat_with_only_a_cube_of_an_unknown_name():
    data = read_dataset(mat(salinasA_corrected=CUBE))
    np.testing.assert_array_equal(data.images(), CUBE.transpose(2, 0, 1))


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


def test_an_upload_object_is_read_like_a_file():
    class Uploaded(io.BytesIO):
        name = "file.npy"

    data = read_dataset([Uploaded(npy(CUBE)[1])])
    assert data.name == "file"
    np.testing.assert_array_equal(data.images(), CUBE.transpose(2, 0, 1))


def test_an_open_file_is_read_from_where_it_stands(tmp_path):
    path = tmp_path / "cube.npy"
    path.write_bytes(npy(CUBE)[1])
    with path.open("rb") as stream:
        assert read_dataset(stream).kind == "cube"


def test_several_arrays_are_offered_by_name():
    file = mat(before=CUBE, after=CUBE + 1, year=2020)
    with pytest.raises(UnreadableData, match=r"choose one of before \(10 x 8 x 30\), after") as refusal:
        read_dataset(file)
    assert [(one.name, one.shape) for one in refusal.value.arrays] == [
        ("before", (10, 8, 30)),
        ("after", (10, 8, 30)),
    ]
    data = read_dataset(file, variable="after")
    np.testing.assert_array_equal(data.images(), CUBE.transpose(2, 0, 1) + 1)
    with pytest.raises(UnreadableData, match="no array called 'middle'"):
        read_dataset(file, variable="middle")


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


def test_wavelengths_tell_the_bands_axis():
    values = np.random.default_rng(0).uniform(size=(20, 7, 6))
    data = read_dataset(mat(cube=values, wavelength=np.linspace(400, 900, 20)))
    np.testing.assert_array_equal(data.images(), values)


def test_a_stack_can_be_declared_to_be_faces():
    values = np.random.default_rng(0).uniform(size=(40, 8, 8))
    data = read_dataset(npy(values), kind="faces")
    assert data.V.shape == (64, 40)
    np.testing.assert_array_equal(data.images(), values)


def test_a_matrix_without_a_size_stays_a_matrix_and_can_be_turned():
    values = np.random.default_rng(0).uniform(size=(20, 7))
    assert read_dataset(npy(values)).kind == "matrix"
    np.testing.assert_array_equal(read_dataset(npy(values), bands_axis=1).V, values.T)


def test_faces_as_columns_or_rows_of_a_matrix():
    pictures = np.random.default_rng(0).uniform(size=(9, 5, 4))
    columns = pictures.reshape(9, 20).T
    for stored in (columns, columns.T):
        data = read_dataset(npy(stored), kind="faces", image_shape=(5, 4))
        assert data.V.shape == (20, 9)
        np.testing.assert_array_equal(data.images(), pictures)


def test_missing_values_become_not_observed():
    values = CUBE.copy()
    values[0, 0, 0], values[1, 1, 1], values[2, 2, 2] = np.nan, 7777, np.inf
    data = read_dataset(npy(values), nodata=(7777, np.inf))
    assert (~data.observed).sum() == 3
    assert "2 entries with the no-data value: not observed." in data.notes


def test_negative_values_are_refused_or_set_to_zero_on_request():
    values = CUBE.copy()
    values[0, 0, :3] = -0.5
    with pytest.raises(UnreadableData, match=r"3 negative entries, down to -0\.5"):
        read_dataset(npy(values))
    data = read_dataset(npy(values), negative="zero")
    np.testing.assert_array_equal(data.images(), np.maximum(values, 0).transpose(2, 0, 1))
    assert "3 negative entries were set to 0." in data.notes


def test_a_normalisation_can_be_asked_for():
    data = read_dataset(npy(CUBE * 9), normalisation="maximum")
    assert data.V.max() == 1
    assert data.normalisation == "maximum"


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
