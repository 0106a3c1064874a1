"""The paper's tables: the numbers as published, and as this program measures them; and a finished sweep."""

from .curves import CurvePoint, lfw_curve
from .tables import NAMES, Measured, Published, measured, published, write_measured

__all__ = [
    "NAMES",
    "CurvePoint",
    "Measured",
    "Published",
    "lfw_curve",
    "measured",
    "published",
    "write_measured",
]
