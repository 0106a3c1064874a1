"""Benchmarks: one objective, some data sets, several solvers. `python -m tests.benchmarks --help`."""

from ..paper_data import look_beside_the_repository

look_beside_the_repository()
