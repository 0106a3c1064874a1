"""The pieces of the Curves page."""
