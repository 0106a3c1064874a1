"""The parts of the Restore page."""

from pathlib import Path

COMPONENTS = Path(__file__).parent / "components"
"""The page's own components."""
