"""The Learn page's chapters, and what they share."""
