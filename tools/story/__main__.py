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
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from reliquary.client.errors import ReliquaryError
from tools.story import flows, pipelines
from tools.story.flows import ORDERS, Flow
from tools.story.sites import Site, free_mqqb_host, free_port
from tools.story.waiting import StoryFault, wait_for

FOLDER = Path("reliquary-story")
DONE = FOLDER / "done"
"""Written when the story has ended, so that the next start does not repeat it."""
REPORT = FOLDER / "audit" / "report.html"

out = Console(highlight=False, soft_wrap=True)


def main(arguments: list[str]) -> int:
    """Start the servers, play the story where it is wanted, and wait for a signal."""
    given, rest = parser().parse_known_args(arguments)
    if given.bare:
        program = str(Path(sys.executable).parent / "reliquary")
        os.execv(program, [program, "serve", "--first-queue", "orders", *options_of_serve(given), *rest])
    north, south = sites(given, rest)
    with running(north):
        out.print(f"[bold]Web console: {north.console}/[/bold]   (data plane {north.data}; Ctrl-C ends all)")
        with running(south):
            out.print(f"A second manager, SOUTH, runs: its console is {south.console}/")
            if given.story or not DONE.exists():
                try_story(north, south, with_spark=not given.without_spark)
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
    environment = os.environ
    found.add_argument(
        "--data",
        metavar="DIR",
        default=environment.get("RELIQUARY_FOLDER"),
        help="the folder of the messages",
    )
    for option, variable in (("--port", "DATA_PORT"), ("--control-port", "CONTROL_PORT")):
        default = os.environ.get(f"RELIQUARY_{variable}")
        found.add_argument(option, type=int, metavar="PORT", default=default, help=f"as {variable.lower()}")
    return found


def options_of_serve(given: argparse.Namespace) -> list[str]:
    """Return the options that are read here and that `reliquary serve` has too."""
    pairs = (("--data", given.data), ("--port", given.port), ("--control-port", given.control_port))
    return [word for name, value in pairs if value is not None for word in (name, str(value))]


def sites(given: argparse.Namespace, rest: list[str]) -> tuple[Site, Site]:
    """Return both managers; those of the south's ports that are in use are replaced by free ones."""
    FOLDER.mkdir(exist_ok=True)
    port = 8480 if given.port is None else given.port or free_port(0)
    control = port + 1 if given.control_port is None else given.control_port
    north = Site(
        "NORTH",
        Path(given.data or "reliquary-data"),
        port,
        control,
        {"MQQB_ENABLED": "true", "MQQB_HOST": free_mqqb_host(2)},
        ["--first-queue", "orders", *rest],
    )
    south = Site(
        "SOUTH",
        FOLDER / "south",
        free_port(port + 10),
        free_port(control + 10),
        {
            "MQQB_ENABLED": "true",
            "MQQB_HOST": free_mqqb_host(3),
            "MQQP_ENABLED": "true",
            "MQQP_HANDSHAKE_PORT": str(free_port(2103)),
            "MQQP_READ_PORT": str(free_port(2105)),
        },
    )
    if "RELIQUARY_SETTINGS" not in os.environ and not any(word.startswith("--settings") for word in rest):
        north.ask_for_history(south, FOLDER)
    south.ask_for_history(north, FOLDER)
    return north, south


@contextmanager
def running(site: Site) -> Iterator[None]:
    """Yield a site that is stopped in order at the end."""
    try:
        site.start()
        yield
    finally:
        site.stop()


def try_story(north: Site, south: Site, *, with_spark: bool) -> None:
    """Play the story; what stops it ends no server."""
    try:
        play(north, south, with_spark=with_spark)
    except (StoryFault, ReliquaryError) as why:
        out.print(f"The story stopped: {why}.")
        out.print("Both servers stay up, and ./dev run --story plays it again. Ctrl-C ends them.")


def play(north: Site, south: Site, *, with_spark: bool) -> None:
    """Send the orders, cut the link, kill the south, and show that nothing was lost."""
    flows.create_queues(south)
    every = flows.flows_of(north, south, FOLDER)
    for flow in every:
        flow.before = flows.depths(south)[flow.queue]
    out.print(
        f"NORTH sends {ORDERS} orders to SOUTH by each of {', '.join(flow.protocol for flow in every)}."
    )
    with Progress(console=out, transient=True) as progress:
        bar = progress.add_task("arrived at SOUTH", total=ORDERS * len(every))

        def show() -> int:
            count = flows.arrived(south, every)
            progress.update(bar, completed=count)
            return count

        for flow in every:
            flow.send_next(ORDERS // 4)
            show()
        progress.console.print("The link is cut: NORTH goes offline, and its orders wait.")
        with north.connect() as manager:
            manager.take_offline()
            for flow in every:
                flow.send_next(ORDERS // 4)
            manager.bring_online()
        progress.console.print(
            "The link is back. SOUTH is killed in the middle (kill -9), and NORTH goes on sending."
        )
        south.kill()
        for flow in every:
            if flow.protocol != "HTTPR":
                flow.send_next(ORDERS // 4)
        south.start()
        progress.console.print("SOUTH is up again, from what is on its disk.")
        for flow in every:
            flow.send_next(ORDERS - flow.sent)
        flows.flush_agent(south, FOLDER)
        where = f"the outgoing queues of NORTH, {north.console}/console/records/outgoing"
        wait_for("orders at SOUTH", ORDERS * len(every), show, where)
    for flow in every:
        flows.look(south, flow)
    every.append(flows.read_by_mqqp(south))
    flows.count_refused_duplicates(south, every)
    show_table(every)
    if with_spark:
        show_spark(north, south)
    DONE.write_text("the story was played\n")
    out.print(
        f"Look around: {north.console}/ and {south.console}/. Ctrl-C ends both servers; their data stays."
    )


def show_table(every: list[Flow]) -> None:
    """Print what was sent and what arrived."""
    table = Table(
        "Protocol", "Sent", "Delivered", "Duplicates refused", "Delivered twice", "Lost", "In order"
    )
    for flow in every:
        order = "yes" if flow.is_in_order else "not promised" if flow.protocol == "WS-RM" else "NO"
        counts = (flow.sent, len(flow.arrived), flow.refused, flow.doubled, flow.lost)
        table.add_row(flow.protocol, *map(str, counts), order)
    out.print(table)


def show_spark(north: Site, south: Site) -> None:
    """Run the lake and the audit, and print where their results are; a failure ends no server."""
    with out.status("Spark is installed if it is missing (400 MB, once) ..."):
        if not pipelines.prepare_spark():
            out.print("Spark could not be installed, so this story has no lake and no audit.")
            return
    part = "The lake"
    try:
        with out.status("Spark reads the queues of SOUTH into a lake ..."):
            lake = pipelines.run_lake(south, FOLDER)
        out.print(f"The lake: {lake}/ (bronze, silver, gold)")
        part = "The audit"
        with out.status("Spark audits the histories of both managers ..."):
            verdict = pipelines.run_audit([north, south], REPORT.parent)
        out.print(f"The audit says: {verdict}. Its report: {REPORT.resolve().as_uri()}")
    except (Exception, SystemExit) as why:  # noqa: BLE001 - both servers outlive any failure of Spark
        out.print(f"{part} failed, and both servers stay up: {why}")


def wait_for_end(every: list[Site]) -> int:
    """Wait until a person or a service manager ends this process, or a server ends by itself."""
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    for site in every:
        code = site.ended_with()
        if code is not None:
            out.print(f"{site.name} has ended with exit code {code}, so the story ends too.")
    return 1


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a shell may start its jobs deaf to SIGINT
        signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        out.print("All is stopped in order; the data stays. ./dev run goes on with it.")
