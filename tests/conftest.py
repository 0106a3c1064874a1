"""Settings and fixtures that every test can rely on."""

import os
import tempfile
from pathlib import Path

import pytest

from .paper_data import REPOSITORY, look_beside_the_repository

# Before NumPy is first imported: two test workers on two cores must not fight over BLAS threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What tests run, and the dashboards that they start, stays out of the user's own results.
OWN_RESULTS = tempfile.TemporaryDirectory(prefix="atnmf-tests-", ignore_cleanup_errors=True)
os.environ["ATNMF_STORE"] = str(Path(OWN_RESULTS.name) / "store.sqlite")

look_beside_the_repository()

# Programs rather than tests; what they compare with is not installed for the tests.
collect_ignore = ["benchmarks", "screenshots.py"]


@pytest.fixture(scope="session")
def repository():
    """The top folder of the source tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def paper_data():
    """The folder with the paper's data files; tests that need it are skipped where it is not at hand."""
    folder = os.environ.get("ATNMF_DATA_DIR")
    if not folder:
        pytest.skip("the paper's data is not here: set ATNMF_DATA_DIR to the folder that holds it")
    if not Path(folder).is_dir():
        pytest.skip(f"the paper's data is not here: ATNMF_DATA_DIR names {folder!r}, which is no folder")
    return Path(folder)


@pytest.fixture(scope="session")
def foreign(paper_data):
    """The folder with files of other people, beside the paper's."""
    folder = paper_data / "foreign"
    if not folder.is_dir():
        pytest.skip("the folder of other people's files is not here")
    return folder


@pytest.fixture
def cluster():
    """A Dask cluster of two worker processes on loopback."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as running:
        running.wait_for_workers(2)
        yield running
