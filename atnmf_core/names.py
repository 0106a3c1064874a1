"""What people read for methods, solvers and the two treatments of hidden entries."""

__all__ = ["ANMF_NOTE", "METHOD_NAMES", "SOLVER_NAMES", "TREATMENT_NAMES"]

METHOD_NAMES: dict[str, str] = {"nmf": "NMF", "atnmf": "AT-NMF", "anmf": "ANMF (reconstruction)"}
SOLVER_NAMES: dict[str, str] = {"fast": "fast solver", "paper": "Algorithm 1"}
TREATMENT_NAMES: dict[str, str] = {"ignore": "marked", "zero": "unmarked"}
"""The solver knows that a *marked* entry is missing and leaves it out; an *unmarked* one looks like a
measured zero.
"""
ANMF_NOTE = (
    "The code of ANMF (Luo, Zhang, Huang, ICML 2020) is not public, and we do not know its default target and"
    " weights. This is the method as the AT-NMF paper describes it, with defaults that come closest to the"
    " published numbers."
)
"""Why it is called a reconstruction."""
