"""Sound files whose contents or whose arguments cannot be used are refused with the reason."""

import numpy as np
import pytest

from atnmf_core.datasets import UnreadableData, read_dataset
from tests.datasets.refusal import refused
from tests.fuzz.seeds import npy


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.full((3, 3), np.nan), "every entry is missing"),
        (np.array([[1, np.inf]]), "1 infinite entry.*nodata=inf"),
        (np.ones((2, 2)) * 1j, "complex"),
        (np.ones((2, 2, 2, 2)), "4 axes"),
        (np.ones(5), "1 axes"),
    ],
)
def test_values_and_shapes_that_cannot_be_used(array, words):
    refused(("x.npy", npy(array)), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3\n", "line 2: 1 numbers, where the first line has 2"),
        ("1,2\n3,x\n", "line 2: 'x' is not a number"),
        ("", "no numbers"),
        ("a,b\n", "no numbers"),
        ("1,\0\n", "not a text file"),
    ],
)
def test_text_that_is_no_matrix_is_refused_by_line(text, words):
    refused(("x.csv", text.encode()), words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bands_axis": 5}, "axes 0 to 2"),
        ({"bands_axis": "last"}, "bands_axis"),
        ({"order": "K"}, "order"),
        ({"kind": "movie"}, "kind"),
        ({"kind": "matrix"}, "not a matrix"),
        ({"negative": "abs"}, "negative"),
        ({"nodata": "x"}, "nodata"),
        ({"image_shape": (0, 5)}, "image_shape"),
        ({"image_shape": 5}, "image_shape"),
        ({"normalisation": "unit"}, "normalisation"),
    ],
)
def test_wrong_arguments_are_refused_the_same_way(options, words):
    refused(("x.npy", npy(np.ones((3, 4, 5)))), words, **options)


def test_an_image_shape_that_does_not_fit_is_explained():
    refused(("x.npy", npy(np.ones((3, 20)))), "images of 4 x 6 have 24 pixels", image_shape=(4, 6))
    refused(("x.npy", npy(np.ones((3, 20)))), "give image_shape", kind="faces")


@pytest.mark.parametrize("files", [[], "no/such/file.npy", 5, [5], [("x.npy", 5)], "\0"])
def test_what_is_no_file_is_refused(files):
    refused(files, "file|bytes|read")


def test_a_folder_is_not_a_file(tmp_path):
    refused(tmp_path, "is not a file")


def test_a_long_or_odd_name_does_not_flood_the_message():
    with pytest.raises(UnreadableData) as refusal:
        read_dataset(("x" * 5000 + "\n\x1b[31m.png", b"nothing"))
    assert len(str(refusal.value)) < 300
    assert "\x1b" not in str(refusal.value)
