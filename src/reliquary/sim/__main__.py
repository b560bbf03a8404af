"""`./dev sim --seed N`: run a seed, or some from there on; a failure prints the command that repeats it."""

from __future__ import annotations

import argparse
import sys

from reliquary.sim import run
from reliquary.sim.exchange import run as exchange
from reliquary.sim.httpr import run as httpr

WORLDS = {"one": run, "srmp": exchange, "httpr": httpr}
"""One server and its applications, or several that write to each other by one protocol."""


def main(arguments: list[str]) -> int:
    """Run the seeds that were asked for; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="./dev sim", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--count", type=int, default=1, help="how many seeds from there on (1)")
    parser.add_argument("--world", choices=WORLDS, default="one", help="one server (one), or several")
    parser.add_argument(
        "--steps", type=int, help=f"turns before the sky clears ({run.STEPS}, {exchange.STEPS})"
    )
    parser.add_argument("--verbose", action="store_true", help="print everything that happens")
    chosen = parser.parse_args(arguments)
    world = WORLDS[chosen.world]
    steps = world.STEPS if chosen.steps is None else chosen.steps
    broken = 0
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        report = world.simulate(seed, steps, say=print if chosen.verbose else None)
        print(report, flush=True)
        broken += bool(report.failure)
    if chosen.count > 1:
        print(f"{chosen.count} seeds, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
