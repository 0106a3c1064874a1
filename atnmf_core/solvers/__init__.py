"""The algorithms, one file each, all with the signature of `SolverFunction`."""

from .interface import Recorder, Solution, SolverFunction, StoppingRules

__all__ = ["Recorder", "Solution", "SolverFunction", "StoppingRules"]
