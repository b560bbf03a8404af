"""Histories of simulated systems, as rows: several managers, their crashes, a network that loses things."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.time import HOUR, Duration
from reliquary.sim.chance import SeededChance
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.mqqp.plugin import MqqpPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.run import World
from reliquary.sim.wsrm.plugin import WsrmPlugin
from reliquary.store.history.columns import rows_of
from tests.spark.pipelines.audit.world import Row


class RememberingSrmp(SrmpPlugin):
    """SRMP whose duplicate detection lasts for the whole run."""

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        super().draw_settings(chance, names)
        self.settings = {
            name: replace(each, history_size=100_000, history_age=Duration(100 * HOUR))
            for name, each in self.settings.items()
        }


class RememberingMqqb(MqqbPlugin):
    """MQQB whose duplicate detection lasts for the whole run."""

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        super().draw_settings(chance, names)
        self.settings = {
            name: replace(each, history_size=100_000, history_age=Duration(100 * HOUR))
            for name, each in self.settings.items()
        }


def srmp(seed: int) -> World:
    """Return managers that send by SRMP, with duplicate detection for the whole run."""
    return World(seed, [RememberingSrmp])


def forgetful(seed: int) -> World:
    """Return managers that talk by SRMP with drawn settings, small histories of identifiers among them."""
    return World(seed, [SrmpPlugin])


def httpr(seed: int) -> World:
    """Return managers that send by HTTPR."""
    return World(seed, [HttprPlugin])


def wsrm(seed: int) -> World:
    """Return managers that send by WS-ReliableMessaging."""
    return World(seed, [WsrmPlugin])


def mqqp(seed: int) -> World:
    """Return managers that read each other's queues by MQQP."""
    return World(seed, [MqqpPlugin])


def mqqb(seed: int) -> World:
    """Return managers that talk by MQQB, and remember long enough which messages they know."""
    return World(seed, [RememberingMqqb])


def played(world: World) -> list[Row]:
    """Play a world to its end, and take the histories of all its sites."""
    world.play(world.steps)
    return [row for site in world.sites.values() for row in rows(rows_of(site.process.disk))]


def rows(table: pa.Table) -> list[Row]:
    """Return the rows as the world of tests has them: times are numbers, 0 and empty stand for none."""
    for name in ("time", "deadline", "sent"):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].cast(pa.int64()))
    return [
        row
        | {
            "queue_kind": row["queue_kind"] or "",
            "message": row["message"] or 0,
            "lookup_id": row["lookup_id"] or 0,
        }
        for row in table.to_pylist()
    ]


def without(all_rows: list[Row], manager: str, identifier: str) -> list[Row]:
    """Return a history that knows nothing of one message at one manager, numbered again without a gap."""
    numbers = {
        row["message"] for row in all_rows if row["manager"] == manager and row["message_id"] == identifier
    }
    kept: list[Row] = []
    events = 0
    for row in all_rows:
        if row["manager"] != manager:
            kept.append(row)
        elif row["message_id"] != identifier and not (row["message"] and row["message"] in numbers):
            events += 1
            kept.append(row | {"event_id": events})
    return kept


def delivered(all_rows: Iterable[Row]) -> list[tuple[str, str, str, str]]:
    """Durable messages that left one manager for another: identifier, source, queue, destination."""
    all_rows = list(all_rows)
    entered = {
        (row["manager"], row["message"]): row
        for row in all_rows
        if row["event"] in {"queued", "committed"} and row["queue_kind"] == "outgoing" and row["durable"]
    }
    came: dict[str, list[Row]] = {}
    for row in all_rows:
        if row["event"] == "arrived":
            came.setdefault(row["message_id"], []).append(row)
    found = []
    for row in all_rows:
        entry = entered.get((row["manager"], row["message"]))
        if row["event"] == "delivered" and entry and not entry["reason"] and entry["protocol"] != "manager":
            arrivals = came.get(entry["message_id"], [])
            if len(arrivals) == 1 and arrivals[0]["manager"] != row["manager"]:
                found.append((entry["message_id"], row["manager"], entry["queue"], arrivals[0]["manager"]))
    return found
