"""What the Reproduce page alone uses."""
