"""The pieces of the Reproduce page."""
