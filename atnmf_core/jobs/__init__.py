"""One fit in a process of its own, its film, and what it will cost."""
