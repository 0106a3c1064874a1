"""Other methods on the same data: each is told what people know who would use it."""

import numpy as np
import pytest

from atnmf_core import Dataset, factorize
from atnmf_core.restoration import Layout
from atnmf_core.restoration.inpainting import inpaint
from atnmf_core.restoration.rivals import INPAINTING, L1, NMF, Rivals, RivalsProgress, run_rivals
from atnmf_core.restoration.robust_nmf import robust_nmf

ROWS, COLS = 7, 9


def cube(*, missing: bool) -> Dataset:
    rng = np.random.default_rng(5)
    V = (rng.random((12, 2)) + 0.1) @ (rng.random((2, ROWS * COLS)) + 0.1)
    if missing:
        V[rng.random(V.shape) < 0.2] = np.nan
    return Dataset(V, "cube", "small", image_shape=(ROWS, COLS))


def result(data: Dataset, losses: str, replaced: np.ndarray) -> Rivals:
    return run_rivals(lambda progress: None, data, losses, replaced, K=2)


def test_one_lost_pixel_is_what_the_biharmonic_stencil_says() -> None:
    """The bilaplacian is zero there: 20 u = 8 (next) - 2 (diagonal) - (second next)."""
    rng = np.random.default_rng(0)
    image = rng.random((ROWS, COLS))
    known = np.ones_like(image, dtype=bool)
    known[3, 4] = False
    layout = Layout("cube", (ROWS, COLS), "C")

    filled = layout.unfold(inpaint(image.reshape(1, -1), known.reshape(1, -1), layout))[0]

    near = image[2, 4] + image[4, 4] + image[3, 3] + image[3, 5]
    diagonal = image[2, 3] + image[2, 5] + image[4, 3] + image[4, 5]
    second = image[1, 4] + image[5, 4] + image[3, 2] + image[3, 6]
    # scikit-image keeps predictions within the range of what is known.
    expected = np.clip((8 * near - 2 * diagonal - second) / 20, image[known].min(), image[known].max())
    assert filled[3, 4] == pytest.approx(expected)
    assert np.array_equal(filled[known], image[known])


def test_a_band_of_which_nothing_is_known_cannot_be_inpainted() -> None:
    V, known = np.ones((2, ROWS * COLS)), np.ones((2, ROWS * COLS), dtype=bool)
    known[1] = False

    filled = inpaint(V, known, Layout("cube", (ROWS, COLS)))

    assert (filled[0] == 1).all()
    assert np.isnan(filled[1]).all()


def test_marked_losses_are_zeros_for_nmf_and_gaps_for_the_others() -> None:
    data = cube(missing=True)
    gaps = ~data.observed

    whole = result(data, "marked", gaps).made_whole(data.V, gaps)

    zeros = np.nan_to_num(data.V)
    expected = {
        NMF: factorize(zeros, K=2).V_hat,
        L1: np.matmul(*robust_nmf(zeros, data.observed, K=2)),
        INPAINTING: inpaint(zeros, data.observed, Layout("cube", data.image_shape, data.order)),
    }
    assert list(whole) == list(expected)
    for name, V in whole.items():
        assert np.array_equal(V[~gaps], data.V[~gaps])
        assert np.allclose(V[gaps], expected[name][gaps], rtol=1e-5)


def test_with_unmarked_losses_factorizations_replace_everything_and_inpainting_the_suspects() -> None:
    data = cube(missing=False)
    suspects = np.random.default_rng(1).random(data.shape) < 0.1

    whole = result(data, "unmarked", suspects).made_whole(data.V, suspects)

    assert np.allclose(whole[NMF], factorize(data.V, K=2).V_hat)
    assert (whole[INPAINTING] != data.V).sum() == suspects.sum()
    assert np.array_equal(whole[INPAINTING][~suspects], data.V[~suspects])


def test_data_without_images_is_not_inpainted() -> None:
    data = Dataset(cube(missing=False).V, "matrix", "small")

    whole = result(data, "unmarked", np.zeros(data.shape, dtype=bool)).made_whole(data.V, data.V < 0)

    assert list(whole) == [NMF, L1]


def test_the_progress_names_each_method_in_turn() -> None:
    data, told = cube(missing=True), list[RivalsProgress]()

    run_rivals(told.append, data, "marked", ~data.observed, K=2)

    assert list(dict.fromkeys(progress.name for progress in told)) == [NMF, L1, INPAINTING]
    assert told[-1].share == 1
