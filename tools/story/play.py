"""The story itself: orders by each protocol, a cut link, a killed server, the table, and Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

import reliquary
from reliquary.base.time import as_datetime
from reliquary.client.errors import ReliquaryError
from reliquary.net.clock import RealClock
from tools.story import flows, pipelines
from tools.story.flows import ORDERS, Flow
from tools.story.relay import Relay
from tools.story.sites import Pair, Site
from tools.story.waiting import StoryFault, wait_for

FOLDER: Final = Path("reliquary-story")
DONE: Final = FOLDER / "done"
"""Written when the story has ended, so that the next start does not repeat it."""
REPORT: Final = FOLDER / "audit" / "report.html"
QUARTER: Final = ORDERS // 4
SPARK_STEPS: Final = 3
"""Steps of the part on Spark: the installation, the lake, the audit."""

out = Console(highlight=False, soft_wrap=True)


def try_story(pair: Pair, relay: Relay, *, with_spark: bool) -> None:
    """Play the story; what stops it ends no server."""
    try:
        play(pair, relay, with_spark=with_spark)
    except (StoryFault, ReliquaryError) as why:
        out.print(f"The story stopped: {why}.")
        out.print("Both servers stay up, and ./dev run --story plays it again. Ctrl-C ends them.")


def play(pair: Pair, relay: Relay, *, with_spark: bool) -> None:
    """Send the orders through a cut link and to a killed server, and show that nothing was lost."""
    began = as_datetime(RealClock().now())
    flows.create_queues(pair.south)
    with pair.north.connect() as north, flows.open_agent(pair, FOLDER) as agent:
        story = Story(pair, relay, north, agent, flows.flows_of(north, agent, pair))
        story.send_and_deliver()
        story.cut_link()
        story.kill_south()
        every = story.flows
    for flow in every:
        flows.look(pair.south, flow)
    every.append(flows.read_by_mqqp(pair.south))
    flows.count_refused_duplicates(pair.south, every, began)
    show_table(every)
    if with_spark:
        show_spark(pair.north, pair.south)
    DONE.write_text("the story was played\n")
    consoles = f"{pair.north.console}/ and {pair.south.console}/"
    out.print(f"Look around: {consoles}. Ctrl-C ends both servers; their data stays.")


@dataclass(frozen=True)
class Story:
    """The parts of the story in which orders go from the north to the south."""

    pair: Pair
    relay: Relay
    north: reliquary.Manager
    agent: reliquary.Agent
    flows: list[Flow]

    def send_and_deliver(self) -> None:
        """Deliver the first quarter of the orders while nothing is wrong."""
        present = flows.depths(self.pair.south)
        for flow in self.flows:
            flow.before = present[flow.queue]
        names = ", ".join(flow.protocol for flow in self.flows)
        out.print(f"NORTH sends {ORDERS} orders to SOUTH by each of {names}.")
        flows.send_in_turns(self.flows, QUARTER)
        self.wait_until_delivered()

    def cut_link(self) -> None:
        """Lose the answers of the south, cut the link, and restore it when all senders have failed.

        Then the south has orders of which no sender knows: some protocols ask, others send them again.
        """
        before = flows.arrived(self.pair.south, self.flows)
        self.relay.drop_all_to(self.pair.north_target)
        out.print("The link loses what SOUTH sends: its answers do not arrive, while NORTH goes on sending.")
        flows.send_in_turns(self.flows, QUARTER)

        def unanswered() -> int:
            found = flows.arrived(self.pair.south, self.flows)
            return sum(found[flow.queue] > before[flow.queue] for flow in self.flows)

        wait_for("orders of each flow were unanswered", len(self.flows), unanswered, self._where())
        broken = self.relay.broken
        self.relay.cut()
        broken = self.relay.broken - broken
        out.print(f"The link is cut: {broken} connections are reset, and new ones are refused.")
        wait_for("the senders had failed to connect", len(self.flows), self._failed_senders, self._where())
        self.show_senders()
        self.relay.restore()
        out.print("The link is back. The senders are left alone, and try again when their time has come.")
        self.wait_until_delivered()
        out.print("All orders that waited for the link are at SOUTH.")

    def kill_south(self) -> None:
        """Kill the south while it receives, send on, and start it again."""
        flows.send_in_turns(self.flows, QUARTER)
        self.pair.south.kill()
        out.print("SOUTH is killed in the middle (kill -9), and NORTH goes on sending.")
        flows.send_in_turns(self.flows, QUARTER)
        self.pair.south.start()
        out.print("SOUTH is up again, from what is on its disk.")
        self.wait_until_delivered()

    def wait_until_delivered(self) -> None:
        """Return when all orders that were sent are at the south."""
        total = sum(flow.sent for flow in self.flows)
        with progress_bar(MofNCompleteColumn()) as progress:
            bar = progress.add_task("arrived at SOUTH", total=total)

            def delivered() -> int:
                count = sum(flows.arrived(self.pair.south, self.flows).values())
                progress.update(bar, completed=count)
                return count

            wait_for("the orders were at SOUTH", total, delivered, self._where())

    def show_senders(self) -> None:
        """Print what each sender keeps while the link is cut."""
        table = Table("Protocol", "Sent", "Delivered", "Kept by the sender", "Failed attempts")
        delivered = flows.arrived(self.pair.south, self.flows)
        for flow in self.flows:
            sender = flows.sender_of(flow, self.north, self.agent)
            counts = (flow.sent, delivered[flow.queue], sender.kept, sender.failures)
            table.add_row(flow.protocol, *map(str, counts))
        out.print(table)

    def _failed_senders(self) -> int:
        return sum(flows.sender_of(flow, self.north, self.agent).failures > 0 for flow in self.flows)

    def _where(self) -> str:
        return f"the outgoing queues of NORTH, {self.pair.north.console}/console/records/outgoing"


def progress_bar(*more: ProgressColumn) -> Progress:
    """Return a bar with the time that passed: the time that is left depends on the senders, or on Spark."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), *more, TimeElapsedColumn())
    return Progress(*columns, console=out, transient=True)


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
    if any(flow.refused for flow in every):
        out.print("Orders whose answers were lost were sent again, and SOUTH refused them: it had them.")


def show_spark(north: Site, south: Site) -> None:
    """Run the lake and the audit, and print where their results are; a failure ends no server."""
    with SparkSteps() as steps:
        steps.begin("Spark is installed if it is missing (600 MB, once)")
        if not pipelines.prepare_spark():
            out.print("Spark could not be installed, so this story has no lake and no audit.")
            return
        part = "The lake"
        try:
            steps.begin("Spark reads the queues of SOUTH into a lake")
            lake = pipelines.run_lake(south, FOLDER)
            out.print(f"The lake: {lake}/ (bronze, silver, gold)")
            part = "The audit"
            steps.begin("Spark audits the histories of both managers")
            verdict = pipelines.run_audit([north, south], REPORT.parent)
            out.print(f"The audit says: {verdict} Its report: {REPORT.resolve().as_uri()}")
        except (Exception, SystemExit) as why:  # noqa: BLE001 - both servers outlive any failure of Spark
            out.print(f"{part} failed, and both servers stay up: {why}")


class SparkSteps:
    """The progress of the part on Spark: a line for each step, and a bar with the time at a terminal."""

    def __init__(self) -> None:
        self._progress = progress_bar()
        self._bar = self._progress.add_task("", total=SPARK_STEPS)
        self._begun = 0

    def __enter__(self) -> SparkSteps:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def begin(self, what: str) -> None:
        """Say what is done next; the bar shows how many steps have ended."""
        self._begun += 1
        out.print(f"{what} (step {self._begun} of {SPARK_STEPS}; it may take minutes) ...")
        self._progress.update(self._bar, completed=self._begun - 1, description=what)
