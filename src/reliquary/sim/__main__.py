"""Runs one seed or several: `./dev sim --seed N`; a failure prints the command that repeats it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Final

from reliquary.sim import run
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.mqqp.plugin import MqqpPlugin
from reliquary.sim.reports import Report
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.run import simulate
from reliquary.sim.wsrm.plugin import WsrmPlugin

ONE: Final = "one"
PLUGINS: Final[dict[str, type[Plugin]]] = {
    each.name: each for each in (SrmpPlugin, HttprPlugin, WsrmPlugin, MqqpPlugin, MqqbPlugin)
}


def main(arguments: list[str]) -> int:
    """Run the requested seeds; return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="./dev sim", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--count", type=int, default=1, help="how many seeds from there on (1)")
    parser.add_argument(
        "--world",
        type=_plugins,
        default=ONE,
        help=f"one server ({ONE}), or several that use a protocol or more: {'+'.join(PLUGINS)}",
    )
    parser.add_argument("--steps", type=int, help="turns before the faults end")
    parser.add_argument("--verbose", action="store_true", help="print everything that happens")
    chosen = parser.parse_args(arguments)
    say = print if chosen.verbose else None
    broken = 0
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        report = _simulate(seed, chosen.world, chosen.steps, say)
        print(report, flush=True)
        broken += bool(report.failure)
    if chosen.count > 1:
        print(f"{chosen.count} seeds, {broken} broken")
    return 1 if broken else 0


def _plugins(world: str) -> list[type[Plugin]]:
    """Return the protocols of a world, by its name; none for one server alone."""
    try:
        return [] if world == ONE else [PLUGINS[name] for name in world.split("+")]
    except KeyError as unknown:
        raise argparse.ArgumentTypeError(f"there is no protocol {unknown}") from None


def _simulate(
    seed: int, plugins: list[type[Plugin]], steps: int | None, say: Callable[[str], None] | None
) -> Report:
    if plugins:
        return simulate(seed, plugins, steps, say=say)
    return run.simulate(seed, run.STEPS if steps is None else steps, say=say)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
