"""The dashboard's store has one place, which the environment can move."""

from pathlib import Path

import pytest

from atnmf_core.sweep.store import default_store, default_store_path


def test_the_environment_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATNMF_STORE", str(tmp_path / "new folder" / "results.sqlite"))

    assert default_store_path() == tmp_path / "new folder" / "results.sqlite"
    assert not default_store_path().parent.exists()
    assert default_store() == default_store_path()
    assert default_store().parent.is_dir()


def test_without_a_name_it_lies_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATNMF_STORE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert default_store() == tmp_path / "atnmf" / "sweeps.sqlite"
