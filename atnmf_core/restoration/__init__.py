"""Restoring damaged data: what is wrong, what belongs there, and how sure that is."""

from ..datasets.dataset import Layout
from .choice import Candidate, Choice, ChoiceProgress, Treatment
from .holdout import hold_out_entries, hold_out_gaps
from .lines import BadLine
from .restore import Restoration, restore

__all__ = [
    "BadLine",
    "Candidate",
    "Choice",
    "ChoiceProgress",
    "Layout",
    "Restoration",
    "Treatment",
    "hold_out_entries",
    "hold_out_gaps",
    "restore",
]
