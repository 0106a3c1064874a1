"""The paper's tables as published, what was measured beside them, and finished sweeps; all bundled as CSV."""

from .tables import NAMES, TITLES, Published, bundled_curve, measured, published

__all__ = ["NAMES", "TITLES", "Published", "bundled_curve", "measured", "published"]
