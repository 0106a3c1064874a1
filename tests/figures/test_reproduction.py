"""A table of the paper as a plot, and as a small picture of where it agrees."""

import numpy as np
import pytest

from atnmf_core.figures.mosaic import COLOURS, agreement_mosaic
from atnmf_core.figures.reproduction import reproduction_figure
from atnmf_core.reference import NAMES, measured, published
from atnmf_core.reference.compare import compare


@pytest.mark.parametrize("name", NAMES)
def test_every_published_number_is_drawn_and_measured_ones_where_there_are_some(name: str) -> None:
    figure = reproduction_figure(compare(name, measured(name)))

    drawn = {(x, y) for trace in figure.data[::2] for x, y in zip(trace.x, trace.y, strict=True)}
    found = [y for trace in figure.data[1::2] for y in trace.y]

    assert drawn == {(cell.alpha, cell.mean) for cell in published(name)}
    assert sorted(found) == sorted(cell.mean for cell in measured(name) if cell.missing == "zero")


def test_a_mosaic_has_a_tile_per_cell_in_the_tables_order() -> None:
    agreements = ["within", "near", "outside", None, "within", "within"]

    picture = agreement_mosaic(agreements, columns=2)

    assert picture.shape == (12, 12, 3)
    tiles = picture.reshape(3, 4, 2, 6, 3)[:, 1, :, 2]
    assert [tuple(colour) for colour in tiles.reshape(-1, 3)] == [
        COLOURS[agreement] for agreement in agreements
    ]
    assert np.all(picture[3] == picture[7])
