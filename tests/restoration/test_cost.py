"""The time that a restoration is said to take is of the right size."""

import time

import numpy as np
import pytest

from atnmf_core import Dataset, load_dataset, restore
from atnmf_core.restoration.bench import RestoreTask, damaged_dataset
from atnmf_core.restoration.cost import expected_restore_seconds
from atnmf_core.restoration.damage import Damage


def one_by_one(function, V, observed, held_out, trials):
    for trial in trials:
        yield function(V, observed, held_out[trial.replicate], trial)


@pytest.mark.parametrize("losses", ["marked", "unmarked"])
def test_a_restoration_takes_about_as_long_as_expected(losses: str) -> None:
    """Processor time of one process; the order of magnitude, on any machine."""
    faces = load_dataset("lfw")
    small = Dataset(faces.V[:, :50], "faces", "some", image_shape=faces.image_shape, order=faces.order)
    data, _ = damaged_dataset(small, RestoreTask(Damage(dead=0.2), losses))

    began = time.process_time()
    restore(data, losses, map_trials=one_by_one)
    taken = time.process_time() - began

    assert 0.1 * taken < expected_restore_seconds(data.shape, losses) < 10 * taken


def test_more_workers_shorten_the_search_alone() -> None:
    shape = (100, 4000)
    alone, many = (expected_restore_seconds(shape, "unmarked", workers=workers) for workers in (1, 4))
    final = expected_restore_seconds(shape, "unmarked", K=8)

    assert np.isclose(many - final, (alone - final) / 4)
