"""The parts of the Restore page."""
