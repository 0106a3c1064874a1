"""Benchmarks: one objective, some data sets, several solvers. `python -m tests.benchmarks --help`."""
