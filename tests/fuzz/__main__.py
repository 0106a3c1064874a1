"""The full run: `python -m tests.fuzz --count 20000 [--seed 0] [--only mat73,png]`.

Mutants are read in a process of its own, so that a crash of a library is found, reported and survived.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys

from .run import run
from .seeds import SEEDS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(SEEDS), help="formats, separated by commas")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        json.dump(
            vars(run(args.first, args.count, args.only.split(","), args.seed, announce=True)), sys.stdout
        )
        return 0
    return supervise(args)


def supervise(args: argparse.Namespace) -> int:
    violations: list[str] = []
    read = refused = 0
    slowest: dict[str, float] = {}
    grown = 0.0
    number, end = args.first, args.first + args.count
    while number < end:
        share = min(1000, end - number)
        done = _worker(args, number, share)
        if done.returncode != 0:
            begun = re.findall(r"^case (\d+)$", done.stderr, re.MULTILINE)
            if not begun:
                sys.exit(done.stderr)
            last = int(begun[-1])
            violations.append(f"case {last}: the process died with {done.returncode}")
            print(violations[-1])
            number = last + 1
            continue
        tally = json.loads(done.stdout)
        print(*tally["violations"], sep="\n", end="\n" if tally["violations"] else "")
        read += sum(tally["read"].values())
        refused += sum(tally["refused"].values())
        violations += tally["violations"]
        grown = max(grown, tally["grown_megabytes"])
        for form, seconds in tally["slowest"].items():
            slowest[form] = max(slowest.get(form, 0.0), seconds)
        number += share
        print(
            f"{number - args.first:6} mutants: {read} read, {refused} refused, {len(violations)} violations",
            flush=True,
        )
    print("slowest, in seconds:", ", ".join(f"{form} {seconds:.2f}" for form, seconds in slowest.items()))
    print(f"memory grew by at most {grown:.0f} MB")
    return 1 if violations else 0


def _worker(args: argparse.Namespace, first: int, count: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz", "--worker", "--first", str(first), "--count", str(count)]
    command += ["--seed", str(args.seed), "--only", args.only]
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
