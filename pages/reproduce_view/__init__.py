"""What the Reproduce page alone uses."""

from pathlib import Path

COMPONENTS = Path(__file__).parent / "components"
"""The page's own components."""
