"""All process plumbing: children, workers, the scheduler, a fit as a task, files written whole or not at all."""
