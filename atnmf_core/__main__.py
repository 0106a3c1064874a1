"""The command line: `python -m atnmf_core COMMAND`, one module of `atnmf_core.commands` per command."""

from __future__ import annotations

import argparse
import io
import signal
import sys
from typing import NoReturn

from .commands import data, fit, queue, reproduce, restore, sweep
from .commands.reading import why_unreadable
from .commands.running import Terminated
from .datasets import DataUnavailable, UnreadableData
from .problem import InputError
from .sweep import EngineError, StoreError

COMMANDS = (fit, restore, sweep, queue, reproduce, data)


class OneLineParser(argparse.ArgumentParser):
    """A parser that rejects wrong options in one line, without printing the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help explains the options)\n")


def main(words: list[str] | None = None) -> int:
    """Run one command line and return its exit code:

    0 success, 1 failure, 2 wrong options, 130 interrupted by Ctrl-C, 143 terminated.
    """
    parser = OneLineParser(prog="python -m atnmf_core", description="AT-NMF on the command line.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    args = parser.parse_args(words)
    try:
        status: int = args.run(args)
    except InputError as error:
        return _fail(args.command, error, 2)
    except StoreError as error:
        return _fail(args.command, f"{error} --store names another file." if error.wrong_file else error, 1)
    except UnreadableData as error:
        return _fail(args.command, why_unreadable(error), 1)
    except (DataUnavailable, EngineError, OSError) as error:
        return _fail(args.command, error, 1)
    except Terminated:
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return status


def _fail(command: str, error: Exception | str, status: int) -> int:
    print(f"atnmf_core {command}: {' '.join(str(error).split())}", file=sys.stderr)
    return status


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show λ or ± shows a question mark.
        sys.stdout.reconfigure(errors="replace")
    sys.exit(main())
