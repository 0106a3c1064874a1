"""What the Curves page alone uses."""
