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
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tools.story import flows, pipelines
from tools.story.flows import ORDERS, Flow
from tools.story.sites import Site

FOLDER = Path("reliquary-story")
DONE = FOLDER / "done"
"""Written when the story has ended, so that the next start does not repeat it."""

out = Console(highlight=False)


def main(arguments: list[str]) -> int:
    """Start the server, play the story where it is wanted, and wait for a signal."""
    parser = argparse.ArgumentParser(prog="./dev run", description="Start a server with its web console.")
    parser.add_argument("--bare", action="store_true", help="one empty server without the story")
    parser.add_argument("--story", action="store_true", help="play the story again")
    parser.add_argument(
        "--without-spark", action="store_true", help="leave out the part of the story on Spark"
    )
    given, rest = parser.parse_known_args(arguments)
    if given.bare:
        program = str(Path(sys.executable).parent / "reliquary")
        os.execv(program, [program, "serve", "--first-queue", "orders", *rest])
    north = Site(
        "NORTH",
        Path("reliquary-data"),
        8480,
        8481,
        {"MQQB_ENABLED": "true", "MQQB_HOST": "127.0.0.2"},
        ("--first-queue", "orders", *rest),
    )
    with running(north):
        out.print(f"[bold]Web console: {north.console}/[/bold]   (data plane {north.data}; Ctrl-C ends all)")
        if given.story or not DONE.exists():
            south = Site(
                "SOUTH",
                FOLDER / "south",
                8490,
                8491,
                {
                    "MQQB_ENABLED": "true",
                    "MQQB_HOST": "127.0.0.3",
                    "MQQP_ENABLED": "true",
                    "MQQP_HANDSHAKE_PORT": "2103",
                    "MQQP_READ_PORT": "2105",
                },
            )
            with running(south):
                play(north, south, with_spark=not given.without_spark)
                wait_for_signal()
        else:
            out.print("The story was played before; ./dev run --story plays it again.")
            wait_for_signal()
    return 0


@contextmanager
def running(site: Site) -> Iterator[None]:
    """Yield a site that is stopped in order at the end."""
    site.start()
    try:
        yield
    finally:
        site.stop()


def play(north: Site, south: Site, *, with_spark: bool) -> None:
    """Send the orders, cut the link, kill the south, and show that nothing was lost."""
    FOLDER.mkdir(exist_ok=True)
    out.print(f"A second manager, SOUTH, runs: its console is {south.console}/")
    flows.create_queues(south)
    every = flows.flows_of(north, south, FOLDER)
    before = flows.waiting(south, every)
    out.print(
        f"NORTH sends {ORDERS} orders to SOUTH by each of {', '.join(flow.protocol for flow in every)}."
    )
    with Progress(console=out, transient=True) as progress:
        bar = progress.add_task("arrived at SOUTH", total=ORDERS * len(every))

        def show() -> int:
            count = flows.waiting(south, every) - before
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
        while show() < ORDERS * len(every):
            threading.Event().wait(0.5)
    for flow in every:
        flows.look(south, flow)
        flow.arrived = flow.arrived[before // len(every) :] if before else flow.arrived
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
    """Run the lake and the audit, and print where their results are."""
    with out.status("Spark is installed if it is missing (400 MB, once) ..."):
        pipelines.prepare_spark()
    with out.status("Spark reads the queues of SOUTH into a lake ..."):
        lake = pipelines.run_lake(south, FOLDER)
    out.print(f"The lake: {lake}/ (bronze, silver, gold)")
    with out.status("Spark audits the histories of both managers ..."):
        report, verdict = pipelines.run_audit([north, south], FOLDER)
    out.print(f"The audit says: {verdict}. Its report: {report.resolve().as_uri()}")


def wait_for_signal() -> None:
    """Wait until a person or a service manager ends the process."""
    signal.pause()


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may start its background jobs deaf to SIGINT
        signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(0)
