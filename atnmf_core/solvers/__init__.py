"""The algorithms, one file each, all with the signature of `SolverFunction`."""

from ..model.result import Recorder, Solution, SolverFunction, StoppingRules

__all__ = ["Recorder", "Solution", "SolverFunction", "StoppingRules"]
