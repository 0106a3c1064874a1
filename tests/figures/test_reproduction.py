"""A table of the paper as a plot, and as a small picture of where it agrees."""

import numpy as np
import pytest

from atnmf_core.figures.mosaic import COLOURS, GROUND, agreement_mosaic
from atnmf_core.figures.reproduction import reproduction_figure
from atnmf_core.reference import NAMES, measured, published
from atnmf_core.reference.compare import compare_table


@pytest.mark.parametrize("name", NAMES)
def test_every_published_number_is_drawn_and_measured_ones_where_there_are_some(name: str) -> None:
    figure = reproduction_figure(compare_table(name, measured(name)))

    drawn = {(x, y) for trace in figure.data[::2] for x, y in zip(trace.x, trace.y, strict=True)}
    found = [y for trace in figure.data[1::2] for y in trace.y]

    assert drawn == {(cell.alpha, cell.mean) for cell in published(name)}
    assert sorted(found) == sorted(cell.mean for cell in measured(name) if cell.missing == "zero")


def test_a_mosaic_has_a_tile_per_cell_in_the_tables_order() -> None:
    agreements = ["within", "near", "outside", None, "within", "within"]

    picture = agreement_mosaic(agreements, columns=2, side=28)

    assert picture.shape == (28, 28, 3)
    middles = picture[4::10, 6::15]
    assert [tuple(colour) for colour in middles.reshape(-1, 3)] == [COLOURS[told] for told in agreements]
    assert np.all(picture[8:10] == GROUND)
    assert np.all(picture[:, 13:15] == GROUND)
