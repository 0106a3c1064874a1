"""A short, always equal run of the fuzzer; the long one is `python -m tests.fuzz --count 20000`."""

from tests.fuzz.run import run
from tests.fuzz.seeds import SEEDS

DECODED_ELSEWHERE = [form for form in SEEDS if form.startswith(("mat", "tiff", "geotiff", "netcdf", "hdf5"))]
IN_THIS_PROCESS = [form for form in SEEDS if form not in DECODED_ELSEWHERE]


def test_mutants_of_every_format_are_read_or_refused_and_nothing_else():
    tally = run(0, 40 * len(IN_THIS_PROCESS), IN_THIS_PROCESS)
    assert tally.violations == []
    assert set(tally.refused) == set(IN_THIS_PROCESS)
    assert sum(tally.read.values()) > 100


def test_mutants_for_the_decoding_process_are_read_or_refused_and_nothing_else():
    """Fewer: each is opened in a process of its own."""
    tally = run(0, 6 * len(DECODED_ELSEWHERE), DECODED_ELSEWHERE)
    assert tally.violations == []
    assert tally.refused
