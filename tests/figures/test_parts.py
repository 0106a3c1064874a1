"""Sheets of parts."""

import numpy as np
import pytest

from atnmf_core.figures.parts import columns_for, part_sheet

STRONG_AND_WEAK = np.stack([np.full((2, 2), 4.0), np.full((2, 2), 1.0)])


def test_each_part_is_dark_where_it_is_strong_on_its_own_scale() -> None:
    sheet = part_sheet(STRONG_AND_WEAK, gap=0)

    assert (sheet == 0).all()


def test_on_a_shared_scale_a_weaker_part_is_lighter() -> None:
    sheet = part_sheet(STRONG_AND_WEAK, gap=0, shared_scale=True)

    assert (sheet[:, :2] == 0).all()
    assert (sheet[:, 2:] == 191).all()


def test_a_part_that_is_zero_is_white() -> None:
    assert (part_sheet(np.zeros((1, 2, 2))) == 255).all()


@pytest.mark.parametrize(("K", "columns"), [(1, 1), (4, 2), (5, 3), (25, 5), (49, 7)])
def test_sheets_are_about_square(K: int, columns: int) -> None:
    assert columns_for(np.zeros((K, 19, 19))) == columns


def test_upright_strips_stand_in_one_row() -> None:
    assert columns_for(np.zeros((5, 200, 50))) == 5


def test_unknown_pixels_of_a_part_have_the_reserved_colour() -> None:
    parts = np.array([[[1.0, np.nan], [0.0, 0.5]]])

    sheet = part_sheet(parts, gap=0, unknown="#1F3BFF")

    assert sheet[0, 1].tolist() == [0x1F, 0x3B, 0xFF]
    assert sheet[0, 0].tolist() == [0, 0, 0]
