"""The paper's tables: the numbers as published, and the numbers that this program measures for the same cells."""

from .tables import NAMES, Measured, Published, measured, published, write_measured

__all__ = ["NAMES", "Measured", "Published", "measured", "published", "write_measured"]
