"""The paper's tables and what was measured beside them, finished sweeps, and the league; bundled as CSV."""

from .paper_tables import NAMES, TITLES, Published, bundled_curve, measured, published

__all__ = ["NAMES", "TITLES", "Published", "bundled_curve", "measured", "published"]
