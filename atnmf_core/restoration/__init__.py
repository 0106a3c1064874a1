"""Restoring damaged data: hold-outs, the choice of K and of the adversary, defects, and uncertainty."""

from ..datasets.dataset import Layout
from .candidates import Candidate, Treatment
from .choice import Choice, ChoiceProgress
from .holdout import hold_out_entries, hold_out_gaps
from .lines import BadLine
from .restore import Restoration, restore
from .search import choose

__all__ = [
    "BadLine",
    "Candidate",
    "Choice",
    "ChoiceProgress",
    "Layout",
    "Restoration",
    "Treatment",
    "choose",
    "hold_out_entries",
    "hold_out_gaps",
    "restore",
]
