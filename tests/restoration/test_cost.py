"""The time that a restoration is said to take is of the right size."""

import time

import pytest

from atnmf_core import Dataset, load_dataset, restore
from atnmf_core.restoration.damage import Damage
from atnmf_core.restoration.task import RestoreTask, damaged_dataset, expected_restore_seconds


@pytest.mark.parametrize("losses", ["marked", "unmarked"])
def test_a_restoration_takes_about_as_long_as_expected(losses):
    """Processor time of one process; the order of magnitude, on any machine."""
    faces = load_dataset("lfw")
    small = Dataset(faces.V[:, :50], "faces", "some", image_shape=faces.image_shape, order=faces.order)
    data, _ = damaged_dataset(small, RestoreTask(Damage(dead=0.2), losses))

    began = time.process_time()
    restore(data, losses)
    taken = time.process_time() - began

    assert 0.1 * taken < expected_restore_seconds(data) < 10 * taken


def test_a_large_scene_costs_less_for_each_further_entry():
    def expected(entries):
        import numpy as np

        return expected_restore_seconds(Dataset(np.zeros((100, entries // 100)), "matrix", "zeros"))

    small, large, larger = (expected(entries) for entries in (100_000, 400_000, 700_000))

    assert 0 < larger - large < 3 * small
    assert larger - large == pytest.approx(3 * (expected(500_000) - large))
