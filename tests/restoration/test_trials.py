"""An interrupted choice goes on where it was."""

from pathlib import Path

import numpy as np
import pytest

from atnmf_core.restoration import ChoiceProgress, choose
from atnmf_core.restoration.trials import stored_trials


class Interrupted(Exception):
    pass


def test_trials_that_were_done_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    V = rng.random((20, 2)) @ rng.random((2, 30)) + 0.1
    V[3, 5] = 0
    observed = np.ones(V.shape, dtype=bool)

    def search(callback=None):
        return choose(
            V, observed, "unmarked", K=(1, 2), callback=callback, map_trials=stored_trials(tmp_path, 1)
        )

    def interrupt(progress: ChoiceProgress) -> None:
        if progress.done == 3:
            raise Interrupted

    with pytest.raises(Interrupted):
        search(interrupt)
    fitted = sum(1 for _ in tmp_path.rglob("output.pkl"))
    assert fitted >= 3

    whole = search()
    in_all = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("output.pkl")}
    again = search()

    assert len(in_all) > fitted
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("output.pkl")} == in_all
    assert repr(again.scores) == repr(whole.scores)
    assert again.chosen == whole.chosen == choose(V, observed, "unmarked", K=(1, 2)).chosen
