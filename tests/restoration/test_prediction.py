"""What neighbours tell, against brute force and dense conditioning of normal distributions."""

from dataclasses import replace

import numpy as np
import pytest
from skimage.restoration import inpaint_biharmonic

from atnmf_core import load_dataset, restore, rmse
from atnmf_core.restoration import Layout, faces
from atnmf_core.restoration.faces import _conditioned
from atnmf_core.restoration.lines import line_offsets, striped_lines
from atnmf_core.restoration.prediction import REACH, WIDTH, interpolated, nonlocal_means

rng = np.random.default_rng(3)
CUBE = Layout("cube", (20, 24), "F")


def test_each_pixel_is_the_average_of_those_that_look_like_it():
    guide, maps = (rng.standard_normal((2, 15, 17)).astype(np.float32) for _ in range(2))
    average, left, share = nonlocal_means(guide, maps, 1.0)
    for row, col in ((0, 0), (7, 3), (14, 16)):
        rows, cols = np.mgrid[:15, :17]
        near = (abs(rows - row) <= REACH) & (abs(cols - col) <= REACH)
        apart = np.square(guide - guide[:, row, col][:, None, None]).sum(axis=0)
        weight = np.exp(-np.maximum(apart - 1, 0) / WIDTH) * near
        weight[row, col] = 1
        expected = (weight * maps).sum(axis=(1, 2)) / weight.sum()
        assert np.allclose(average[:, row, col], expected, atol=1e-5)
        assert share[row, col] == pytest.approx(1 / weight.sum(), rel=1e-5)
        assert left[row, col] == pytest.approx(np.square(weight).sum() / weight.sum() ** 2, rel=1e-5)


def test_unknown_pixels_of_a_face_are_those_of_a_conditioned_normal():
    pixels = 12
    root = rng.standard_normal((pixels, pixels))
    covariance, mean = root @ root.T + np.eye(pixels), rng.random(pixels)
    V = rng.standard_normal((pixels, 5))
    known = rng.random(V.shape) < 0.7
    field, _ = _conditioned(V, known, mean, covariance)
    for n in range(5):
        o, u = np.flatnonzero(known[:, n]), np.flatnonzero(~known[:, n])
        gain = covariance[np.ix_(u, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
        assert np.allclose(field.predicted[u, n], mean[u] + gain @ (V[o, n] - mean[o]), atol=1e-6)
        spread = np.sqrt(np.diag(covariance[np.ix_(u, u)] - gain @ covariance[np.ix_(o, u)]))
        assert np.allclose(field.deviation[u, n], spread, rtol=1e-6)
        for one in o:
            rest = o[o != one]
            gain = covariance[one, rest] @ np.linalg.inv(covariance[np.ix_(rest, rest)])
            assert field.others[one, n] == pytest.approx(
                mean[one] + gain @ (V[rest, n] - mean[rest]), abs=1e-6
            )


def test_lost_pixels_are_inpainted_map_by_map():
    z = rng.random((480, 3)).astype(np.float32)
    lost = np.zeros(480, bool)
    lost[[50, 51, 70, 71]] = True
    found = interpolated(z, lost, CUBE)
    for k in range(3):
        image = CUBE.unfold(z[:, k][None])[0].astype(np.float64)
        expected = inpaint_biharmonic(image, CUBE.unfold(lost[None])[0])
        assert np.allclose(CUBE.unfold(found[:, k][None])[0], expected, atol=1e-5)


def test_noise_is_smoothed_where_pixels_look_alike_and_clean_data_is_not():
    scene = load_dataset("simulated-scene")
    noisy = scene.V + 0.1 * rng.standard_normal(scene.V.shape)
    r = restore(replace(scene, V=noisy), "unmarked")
    assert r.is_smoothed
    assert np.array_equal(r.V[~r.defects], noisy[~r.defects])
    span = np.linalg.svd(noisy, full_matrices=False)
    truncated = min(rmse(scene.V, (span[0][:, :K] * span[1][:K]) @ span[2][:K]) for K in (3, 4, 5, 6, 8))
    assert rmse(scene.V, r.denoised) < 0.8 * truncated
    assert np.median(r.noise) == pytest.approx(0.1, rel=0.05)
    assert not restore(scene, "unmarked").is_smoothed


def test_the_offsets_of_stripes_are_taken_off_and_told_and_noise_alone_makes_none():
    missed = 0.01 * rng.standard_normal((6, 20, 24))
    offsets = np.zeros_like(missed)
    offsets[2, :, 5], offsets[4, 7, :] = 0.1, -0.08
    found = line_offsets(CUBE.fold(missed + offsets), np.ones((6, 480), bool), CUBE)
    assert np.abs(CUBE.unfold(found) - offsets).max() < 0.02
    assert not found[CUBE.fold(offsets) == 0].any()
    lines = striped_lines(found, CUBE)
    named = [str(line).split(", off")[0] for line in lines]
    assert named == ["image column 6 in band 3", "image row 8 in band 5"]
    assert [line.kind for line in lines] == ["offset", "offset"]
    for _ in range(20):
        assert not line_offsets(rng.standard_t(4, (6, 480)), rng.random((6, 480)) < 0.9, CUBE).any()


def test_faces_are_filled_in_better_by_neighbours_than_by_parts():
    data = load_dataset("lfw")
    gone = np.random.default_rng(0).random(data.V.shape) < 0.3
    V = np.where(gone, np.nan, data.V)
    layout = {"kind": "faces", "image_shape": data.image_shape, "order": data.order}
    by_neighbours, by_parts = restore(V, **layout), restore(V)
    assert rmse(data.V, by_neighbours.V, gone) < 0.75 * rmse(data.V, by_parts.V, gone)
    assert rmse(data.V, by_neighbours.V, gone) < 0.085


@pytest.mark.parametrize(("share", "most"), [(0.0, 0.0), (0.3, 0.085)])
def test_wrong_pixels_of_faces_are_told_from_eyes_and_mouths(share, most):
    data, draw = load_dataset("lfw"), np.random.default_rng(5)
    wrong = draw.random(data.V.shape) < share
    V = np.where(wrong, data.V * draw.uniform(0, 0.6, data.V.shape), data.V)

    r = restore(V, "unmarked", kind="faces", image_shape=data.image_shape, order=data.order)

    assert rmse(data.V, r.V) <= most
    if share:
        made = rmse(data.V, r.V, r.defects | wrong)
        assert made / 1.6 < r.expected_error < made * 1.6
    else:
        assert not r.defects.any()


def test_large_images_are_filled_in_as_well_by_windows(monkeypatch):
    data = load_dataset("lfw")
    gone = np.random.default_rng(0).random(data.V.shape) < 0.3
    V = np.where(gone, 0, data.V)
    whole = faces.face_field(V, ~gone, data.layout, "marked", 0)

    monkeypatch.setattr(faces, "MOST_WORK", 0)
    windows = faces.face_field(V, ~gone, data.layout, "marked", 0)

    assert np.array_equal(windows.predicted[~gone], V[~gone])
    assert rmse(data.V, windows.predicted, gone) < 1.02 * rmse(data.V, whole.predicted, gone)
