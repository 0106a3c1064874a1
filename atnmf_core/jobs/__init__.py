"""Processes: children and workers, the scheduler, a fit as a task; and files written whole or not at all."""
