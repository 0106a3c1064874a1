"""How a refusal is checked: the one exception, in one sentence, without a warning on the side."""

import warnings

import pytest

from atnmf_core.datasets import Limits, UnreadableData, read_dataset

SMALL = Limits(entries=10_000, bytes=1 << 20, members=50)


def refused(files, words, **options):
    options.setdefault("limits", SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnreadableData, match=words) as refusal:
            read_dataset(files, **options)
    message = str(refusal.value)
    assert message.endswith(".")
    assert len(message) < 600
    assert "\n" not in message
