"""The paper's tables as published, what was measured beside them, and finished sweeps; all bundled as CSV."""

from .curves import bundled_curve
from .tables import NAMES, TITLES, Published, measured, published

__all__ = ["NAMES", "TITLES", "Published", "bundled_curve", "measured", "published"]
