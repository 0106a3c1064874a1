"""The parts of the Hyperspectral page."""

from pathlib import Path

COMPONENTS = Path(__file__).parent / "components"
"""The page's own components."""
