"""`atnmf app`: the dashboard, started from anywhere."""

from __future__ import annotations

import argparse
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from ..model.problem import InputError
from .arguments import Subparsers

BESIDE_CORE = Path(__file__).resolve().parents[2]
"""The folder that holds `atnmf_core`: of installed packages, or the source tree."""


def add_parser(subparsers: Subparsers) -> None:
    """Add `app` to the command line."""
    parser = subparsers.add_parser(
        "app",
        help="start the dashboard",
        description="Start the dashboard and open it in a browser.",
        epilog="example: atnmf app --port 8600",
    )
    parser.set_defaults(run=run)
    parser.add_argument("--port", type=int, metavar="N", help="where it answers (default: 8501)")
    parser.add_argument(
        "options",
        nargs="*",
        metavar="-- OPTION",
        help="options of `streamlit run`, after two dashes: -- --server.headless true",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until it is stopped."""
    if find_spec("streamlit") is None:
        raise InputError("the dashboard needs Streamlit: install this with its extra, .[dashboard].")
    port = [] if args.port is None else [f"--server.port={args.port}"]
    sys.argv = ["streamlit", "run", str(script()), *port, *args.options]
    # In this process, so that Ctrl-C and signals reach it, and by name: the core imports no Streamlit.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0


def script(beside: Path = BESIDE_CORE) -> Path:
    """The dashboard's own script: where a wheel puts it, else that of the source tree."""
    for file in (beside / "atnmf_dashboard" / "app.py", beside / "app.py"):
        if file.is_file():
            return file
    raise InputError(f"there is no dashboard beside {beside / 'atnmf_core'}.")
