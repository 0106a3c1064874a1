"""Arrays to pictures and plots: pure functions, no state."""
