"""A short, always equal run of the fuzzer; with `ATNMF_FUZZ=100` one that is a hundred times as long."""

import os

import pytest

from tests.fuzz.run import run
from tests.fuzz.seeds import SEEDS

TIMES = int(os.environ.get("ATNMF_FUZZ", "1"))
"""How many times as many mutants as usual are to be read."""
DECODED_ELSEWHERE = [form for form in SEEDS if form.startswith(("mat", "tiff", "geotiff", "netcdf", "hdf5"))]
IN_THIS_PROCESS = [form for form in SEEDS if form not in DECODED_ELSEWHERE]


# Each of those that are decoded elsewhere is opened in a process of its own.
@pytest.mark.parametrize(("formats", "each"), [(IN_THIS_PROCESS, 40), (DECODED_ELSEWHERE, 6)])
def test_mutants_of_every_format_are_read_or_refused_and_nothing_else(formats, each):
    tally = run(each * TIMES * len(formats), formats)

    assert tally.violations == []
    assert len(tally.refused) > 0.9 * len(formats)
    assert tally.read.total() > 2 * len(formats)
