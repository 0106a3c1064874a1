"""Fuzzing of the file readers: `python -m tests.fuzz --count 20000`."""
