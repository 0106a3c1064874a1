"""What people read for methods, solvers, the two treatments of hidden entries, and errors."""

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


def three_digits(error: float) -> str:
    """An error as people read it: always three digits, so that errors side by side are alike.

    Examples
    --------
    >>> three_digits(0.002), three_digits(0.00198), three_digits(123.4)
    ('0.00200', '0.00198', '123')
    """
    return f"{error:#.3g}".rstrip(".")
