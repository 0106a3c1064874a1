"""What people mark by hand covers what they drew, and masks are read whatever their layout."""

import numpy as np
import pytest

from atnmf_core import Dataset, InputError
from atnmf_core.datasets.marks import Mark, entries_of, read_marks, read_mask, spell_marks

CUBE = Dataset(np.zeros((4, 60)), "cube", "cube", image_shape=(6, 10), order="C")
FACES = Dataset(np.zeros((60, 3)), "faces", "faces", image_shape=(6, 10))


def covered(data: Dataset, text: str) -> np.ndarray:
    return data.images(entries_of(read_marks(text), data))


@pytest.mark.parametrize("data", [CUBE, FACES], ids=lambda data: data.kind)
def test_a_rectangle_covers_its_corners_in_its_bands_alone(data):
    drawn = covered(data, "2-3r5.9.2.4")

    assert drawn[1:3, 1:5, 3:9].all()
    assert drawn.sum() == 2 * 4 * 6


@pytest.mark.parametrize(
    ("text", "rows", "cols"),
    [("1-1l2.2.2.6.5.6.5.2", slice(1, 5), slice(1, 6)), ("0-99r1.1.1.1", slice(0, 1), slice(0, 1))],
    ids=["lasso", "bands beyond the last"],
)
def test_a_mark_covers_what_it_encloses_and_its_edge(text, rows, cols):
    expected = np.zeros((6, 10), bool)
    expected[rows, cols] = True

    drawn = covered(CUBE, text)

    np.testing.assert_array_equal(drawn[0], expected)
    assert drawn.sum() == expected.sum() * (4 if "99" in text else 1)


def test_a_brush_covers_what_is_near_its_path_and_a_matrix_is_one_picture():
    drawn = covered(CUBE, "1-1b3.3.3.7")[0]
    assert drawn[1:4, 2:7].all()
    assert not drawn[0].any()
    assert not drawn[4:].any()

    drawn = entries_of(read_marks("1-1r2.3.2.5"), Dataset(np.zeros((5, 8)), "matrix", "m"))
    assert np.argwhere(drawn).tolist() == [[1, 2], [1, 3], [1, 4]]


def test_marks_are_spelled_as_they_are_read():
    marks = (Mark((1, 4), "lasso", ((1, 2), (3, 4), (5, 1))), Mark((2, 2), "brush", ((6, 6),)))

    assert read_marks(spell_marks(marks)) == marks
    with pytest.raises(InputError, match="is not a mark"):
        read_marks("1-2x3.4")


def test_a_mask_may_be_a_cube_or_one_image_for_all_bands_but_not_of_another_size(tmp_path):
    wrong = np.zeros((4, 6, 10), bool)
    wrong[1, 2:4, 5:8] = True
    np.save(tmp_path / "cube.npy", wrong.transpose(1, 2, 0))
    np.save(tmp_path / "image.npy", wrong[1].astype(np.uint8))
    np.save(tmp_path / "other.npy", np.zeros((5, 10)))

    assert np.array_equal(CUBE.images(read_mask(tmp_path / "cube.npy", CUBE)), wrong)
    image = CUBE.images(read_mask(tmp_path / "image.npy", CUBE))
    assert np.array_equal(image, np.repeat(wrong[1:2], 4, axis=0))
    with pytest.raises(InputError, match="and the data has 4 bands of 6 × 10 pixels"):
        read_mask(tmp_path / "other.npy", CUBE)
