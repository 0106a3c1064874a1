"""The parts of the Hyperspectral page."""
