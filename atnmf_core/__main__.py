"""The command line: `python -m atnmf_core COMMAND`, one module of `atnmf_core.commands` per command."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pkgutil import iter_modules

from . import commands


def main(words: list[str] | None = None) -> int:
    """Run the command that the words name; the process ends with the number returned."""
    parser = argparse.ArgumentParser(prog="python -m atnmf_core", description="AT-NMF on the command line.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in iter_modules(commands.__path__):
        import_module(f"{commands.__name__}.{module.name}").add_parser(subparsers)
    args = parser.parse_args(words)
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
