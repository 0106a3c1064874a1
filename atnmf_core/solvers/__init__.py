"""The algorithms, one file each, all with the signature of `SolverFunction`."""

from .interface import Limits, Outcome, Recorder, SolverFunction

__all__ = ["Limits", "Outcome", "Recorder", "SolverFunction"]
