"""The paper's tables: the numbers as published, and as this program measures them."""

from .tables import NAMES, Measured, Published, measured, published, write_measured

__all__ = ["NAMES", "Measured", "Published", "measured", "published", "write_measured"]
