"""The full run: `python -m tests.fuzz --count 20000 [--first 0] [--seed 0] [--only mat73,png]`.

Where a library takes the process down with it, the last case announced did it: go on behind it by `--first`.
"""

import argparse
import sys

from .run import run
from .seeds import SEEDS

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
parser.add_argument("--count", type=int, default=20_000)
parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--only", default=",".join(SEEDS), help="formats, separated by commas")
args = parser.parse_args()
tally = run(args.first, args.count, args.only.split(","), args.seed, announce=True)
print(*tally.violations, sep="\n")
print(f"{tally.read.total()} read, {tally.refused.total()} refused, {len(tally.violations)} violations")
print("slowest, in seconds:", ", ".join(f"{form} {seconds:.2f}" for form, seconds in tally.slowest.items()))
sys.exit(bool(tally.violations))
