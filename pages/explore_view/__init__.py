"""What the Explore page alone uses."""
