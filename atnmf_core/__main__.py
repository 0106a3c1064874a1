"""The command line, `atnmf COMMAND` or `python -m atnmf_core COMMAND`."""

import argparse
import io
import signal
import sys
from importlib import import_module
from typing import NoReturn

from .commands.arguments import Terminated, why_unreadable
from .datasets import DataUnavailable, UnreadableData
from .model.problem import InputError
from .sweep import EngineError, StoreError

_MODULES = ("fit", "restore", "sweep", "reproduce", "data", "app")
COMMANDS = {name: name for name in _MODULES} | {"queue": "sweep", "web": "app"}
"""Each with its module; only that of the given command is loaded."""


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help explains the options)\n")


def main(words: list[str] | None = None, program: str = "python -m atnmf_core") -> int:
    """Run a command line: 0 success, 1 failure, 2 wrong options, 130 ended by Ctrl-C, 143 terminated."""
    parser = OneLineParser(prog=program, description="AT-NMF on the command line.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    words = sys.argv[1:] if words is None else words
    given = COMMANDS.get(words[0]) if words else None
    for module in dict.fromkeys(COMMANDS.values()) if given is None else (given,):
        import_module(f"{__package__}.commands.{module}").add_parser(subparsers)
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


def atnmf(program: str = "atnmf") -> NoReturn:
    """The installed command, which `python -m atnmf_core` is as well."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show λ or ± shows a question mark.
        sys.stdout.reconfigure(errors="replace")
    sys.exit(main(program=program))


if __name__ == "__main__":
    atnmf("python -m atnmf_core")
