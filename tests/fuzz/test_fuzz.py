"""A short, always equal run of the fuzzer; the long one is `python -m tests.fuzz --count 20000`."""

from tests.fuzz.run import run
from tests.fuzz.seeds import SEEDS

IN_THIS_PROCESS = [form for form in SEEDS if not form.startswith("mat73")]


def test_mutants_of_every_format_are_read_or_refused_and_nothing_else():
    tally = run(0, 40 * len(IN_THIS_PROCESS), IN_THIS_PROCESS)
    assert tally.violations == []
    assert set(tally.refused) == set(IN_THIS_PROCESS)
    assert sum(tally.read.values()) > 100


def test_mutants_of_matlab_73_are_read_or_refused_and_nothing_else():
    """Fewer: each is opened in a process of its own."""
    tally = run(0, 24, ["mat73", "mat73-packed"])
    assert tally.violations == []
    assert tally.refused
