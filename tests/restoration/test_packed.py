"""A restoration comes out of its packing as it went in."""

from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, restore
from atnmf_core.restoration.damage import Damage, damaged
from atnmf_core.restoration.task import PackedRestoration, pack


@pytest.fixture(scope="module")
def data():
    """With a stripe, a gap, and a band of which nothing is there."""
    rng = np.random.default_rng(0)
    sound = rng.random((24, 2)) @ rng.random((2, 400)) + 0.1 + rng.normal(0, 0.002, (24, 400))
    V = damaged(sound, Damage(dead=0.05)).V
    V[6, 100:120] += 0.02
    V[9] = np.nan
    V[3:5, 7:20] = np.nan
    return Dataset(V, "cube", "small", image_shape=(20, 20))


@pytest.fixture(scope="module", params=["chosen", "given"])
def restored(request, data):
    given = {"K": 2, "lam": 1.1, "leash": 1.0} if request.param == "given" else {"K": (2, 3), "lam": 1.1}
    return restore(data, "unmarked", **given)


@pytest.mark.parametrize("through_a_file", [False, True])
def test_what_was_packed_comes_out(data, restored, through_a_file):
    packed = pack(restored)
    if through_a_file:
        packed = PackedRestoration.from_bytes(packed.to_bytes())

    out = packed.unpack(data)

    np.testing.assert_allclose(out.V, restored.V, rtol=1e-6)
    for name in ("defects", "unrestorable", "bounded"):
        assert np.array_equal(getattr(out, name), getattr(restored, name))
    assert restored.unrestorable.any()
    np.testing.assert_allclose(out.denoised, restored.denoised, rtol=1e-6, atol=1e-6)
    assert restored.offsets.any()
    np.testing.assert_allclose(out.offsets, restored.offsets, rtol=1e-6)
    for name in ("noise", "is_smoothed", "expected_error"):
        assert np.array_equal(getattr(out, name), getattr(restored, name))
    np.testing.assert_allclose(out.deviation, restored.deviation, rtol=0.02, atol=1e-4)
    suspected = (restored.suspicion >= 0.5) & (restored.suspicion < 200)
    np.testing.assert_allclose(out.suspicion[suspected], restored.suspicion[suspected], rtol=0.02)
    assert out.lines == restored.lines
    assert repr(out.choice) == repr(restored.choice)
    assert out.summary == restored.summary


def test_other_data_gives_another_restoration(data, restored):
    brighter = replace(data, V=2 * data.V)

    measured = data.observed & ~restored.defects

    there = pack(restored).unpack(brighter).V[measured]
    np.testing.assert_allclose(there, (2 * data.V - restored.offsets)[measured], rtol=1e-6)
