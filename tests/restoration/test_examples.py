"""What comes with the program is what `restore` gives."""

import numpy as np
import pytest

from atnmf_core import load_dataset
from atnmf_core.restoration.task import EXAMPLES, RestoreTask, bundled, damaged_dataset, run_task


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_bundled_with_its_choice(name):
    outcome = bundled(*EXAMPLES[name])

    assert outcome is not None
    assert outcome.packed.choice is not None
    assert outcome.packed.choice.complete
    assert outcome.packed.W.shape[1] == outcome.packed.choice.chosen.K


def test_the_bundled_faces_are_off_as_their_setting_is_now():
    """Without the search, whose parts the bundled fit began with: so a few per cent are left open."""
    name, task = EXAMPLES["faces"]
    kept = bundled(name, task)
    chosen = kept.packed.choice.chosen
    lam = chosen.treatment.lam
    given = RestoreTask(
        task.damage, task.losses, chosen.K, np.inf if lam is None else lam, chosen.treatment.leash
    )

    now = run_task(lambda progress: None, load_dataset(name), given)

    assert vars(now.errors) == pytest.approx(vars(kept.errors), rel=0.05)


@pytest.mark.slow
def test_the_bundled_faces_are_as_restored_now():
    name, task = EXAMPLES["faces"]
    data, kept = load_dataset(name), bundled(name, task)

    now = run_task(lambda progress: None, data, task)

    assert vars(now.errors) == pytest.approx(vars(kept.errors), rel=1e-3)
    spoiled, _ = damaged_dataset(data, task)
    here, there = now.packed.unpack(spoiled), kept.packed.unpack(spoiled)
    assert (here.defects != there.defects).mean() < 1e-3
    same = here.defects == there.defects
    np.testing.assert_allclose(here.V[same], there.V[same], atol=2e-3)


def test_another_order_is_not_bundled():
    name, task = EXAMPLES["dead"]

    assert bundled(name, RestoreTask(task.damage, task.losses, seed=1)) is None
    assert bundled("lfw", task) is None
