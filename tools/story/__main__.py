"""`./dev run`: a server with its console, and once the story of two managers.

./dev run            start; the first time, with the story
./dev run --story    start, and play the story again
./dev run --bare     one empty server, in place of this process
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from tools.story.play import DONE, FOLDER, REPORT, out, try_story
from tools.story.relay import Relay
from tools.story.sites import HOST, Pair, Site, free_mqqb_host, free_port
from tools.story.waiting import StoryFault, pause, stop


def main(arguments: list[str]) -> int:
    """Start the servers, play the story where it is wanted, and wait for a signal."""
    given, rest = parser().parse_known_args(arguments)
    refuse_nearly_own(rest)
    if given.bare:
        program = str(Path(sys.executable).parent / "reliquary")
        os.execv(program, [program, "serve", "--first-queue", "orders", *options_of_serve(given), *rest])
    try:
        pair = managers(given, rest)
    except OSError as why:
        sys.exit(
            f"./dev run keeps its data in the folder that it is called from, and cannot write there: {why}"
        )
    north, south = pair.north, pair.south
    with Relay(pair.routes()) as relay, running(north):
        out.print(f"[bold]Web console: {north.console}/[/bold]   (data plane {north.data}; Ctrl-C ends all)")
        with running(south):
            out.print(f"A second manager, SOUTH, runs: its console is {south.console}/")
            if given.story or not DONE.exists():
                try_story(pair, relay, with_spark=not given.without_spark)
            else:
                report = f" The report of its audit: {REPORT.resolve().as_uri()}." if REPORT.exists() else ""
                out.print(f"The story was played before; ./dev run --story plays it again.{report}")
            return wait_for_end([north, south])


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(
        prog="./dev run",
        description="Start a server with its web console; the first time, play a story of two managers.",
        epilog="All other options are those of `reliquary serve`.",
        allow_abbrev=False,
    )
    found.add_argument("--bare", action="store_true", help="one empty server without the story")
    found.add_argument("--story", action="store_true", help="play the story again")
    found.add_argument("--without-spark", action="store_true", help="leave out the part on Spark")
    folder = os.environ.get("RELIQUARY_FOLDER")
    found.add_argument("--data", metavar="DIR", default=folder, help="the folder of the messages")
    for option, variable in (("--port", "DATA_PORT"), ("--control-port", "CONTROL_PORT")):
        default = os.environ.get(f"RELIQUARY_{variable}")
        found.add_argument(option, type=int, metavar="PORT", default=default, help=f"as {variable.lower()}")
    return found


def refuse_nearly_own(rest: list[str]) -> None:
    """Refuse an option that is nearly one of the story: `reliquary serve` would suggest one of its own."""
    for word in rest:
        if near := get_close_matches(word, ("--story", "--bare", "--without-spark"), cutoff=0.8):
            parser().error(f"there is no option {word}; did you mean {near[0]}?")


def options_of_serve(given: argparse.Namespace) -> list[str]:
    """Return the options that are read here and that `reliquary serve` has too."""
    pairs = (("--data", given.data), ("--port", given.port), ("--control-port", given.control_port))
    return [word for name, value in pairs if value is not None for word in (name, str(value))]


def managers(given: argparse.Namespace, rest: list[str]) -> Pair:
    """Return both managers with their addresses; all ports but the north's give way to those in use."""
    FOLDER.mkdir(exist_ok=True)
    port = 8480 if given.port is None else given.port or free_port(0)
    control = port + 1 if given.control_port is None else given.control_port
    to_north, to_south = free_port(port + 20), free_port(port + 21)
    mqqb_to_south = free_mqqb_host(4)
    north = Site(
        "NORTH",
        Path(given.data or "reliquary-data"),
        port,
        control,
        {
            "MQQB_ENABLED": "true",
            "MQQB_HOST": free_mqqb_host(2),
            "SRMP_RECEIPTS_HOST": f"{HOST}:{to_north}",
        },
        ["--first-queue", "orders", *rest],
    )
    by_relay = f"{HOST}:{to_south}"
    south = Site(
        "SOUTH",
        FOLDER / "south",
        free_port(port + 10),
        free_port(control + 10),
        {
            "SRMP_NAMES": by_relay,
            "HTTPR_NAMES": by_relay,
            "WSRM_NAMES": by_relay,
            "MQQB_ENABLED": "true",
            "MQQB_HOST": free_mqqb_host(3),
            "MQQB_ADDRESSES": mqqb_to_south,
            "MQQP_ENABLED": "true",
            "MQQP_HANDSHAKE_PORT": str(free_port(2103)),
            "MQQP_READ_PORT": str(free_port(2105)),
        },
    )
    if "RELIQUARY_SETTINGS" not in os.environ and not any(word.startswith("--settings") for word in rest):
        north.ask_for_history(south, FOLDER)
    south.ask_for_history(north, FOLDER)
    return Pair(north, south, to_north, to_south, mqqb_to_south)


@contextmanager
def running(site: Site) -> Iterator[None]:
    """Yield a site that is stopped in order at the end."""
    try:
        site.start()
        yield
    finally:
        site.stop()


def wait_for_end(every: list[Site]) -> int:
    """Wait until a person or a service manager ends this process, or a server ends by itself."""
    while not (ended := [site for site in every if site.ended_with() is not None]):
        pause()
    for site in ended:
        out.print(f"{site.name} has ended with exit code {site.ended_with()}, so the story ends too.")
    return 1


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)  # a shell may start its jobs with SIGINT ignored
    try:
        sys.exit(main(sys.argv[1:]))
    except StoryFault as why:
        sys.exit(f"./dev run could not start: {why}")
    except KeyboardInterrupt:
        out.print("All is stopped in order; the data stays. ./dev run goes on with it.")
