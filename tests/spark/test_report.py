"""Tests what a stream reports: marks, what is left and for how long, holes, and managers that are away."""

from __future__ import annotations

from reliquary.spark.access import Access, Gone
from reliquary.spark.errors import DataLost
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import QueueKey, QueueOffset
from reliquary.spark.report import Report
from tests.spark.feed_double import World, Worlds

NORTH, SOUTH = QueueKey("north", "orders"), QueueKey("south", "orders")


def test_a_report_has_the_backlog_by_number_and_by_time() -> None:
    worlds = Worlds({"north": World(), "south": World()})
    for world in worlds.by_name.values():
        world.create("orders")
        world.queues["orders"].consumers["lake"] = 0
    sent = worlds.by_name["north"].send("orders", 4)
    accesses = [Access("", name=name) for name in ("north", "south")]
    managers = Managers(accesses, Gone.SKIP, worlds.connect, lambda _: None, lambda: 0.0)
    report = Report(managers, "lake", lambda: 100.0)
    marks = {NORTH: QueueOffset("inc-1", sent[-1]), SOUTH: QueueOffset("inc-1", 1)}
    report.planned(marks, {NORTH: QueueOffset("inc-1", sent[1]), SOUTH: QueueOffset("inc-1", 1)})
    assert report.made() == {
        "v": 2,
        "managers": {
            "north": {"orders": {"inc": "inc-1", "id": sent[-1]}},
            "south": {"orders": {"inc": "inc-1", "id": 1}},
        },
        "behind": {"north": {"orders": 2}, "south": {"orders": 0}},
        "lag": {"north": {"orders": 100.0 - sent[2]}, "south": {"orders": 0.0}},
    }
    worlds.by_name["north"].away = True
    managers.ask("north", lambda client: client.feeds([]))
    report.hole(SOUTH, DataLost("it is gone"))
    report.hole(SOUTH, DataLost("it is gone"))
    made = report.made()
    assert made["behind"]["north"] == {"orders": 0}, "a report does not wait"
    assert made["away"] == ["north"]
    assert made["holes"] == {"south": {"orders": ["it is gone"]}}


def test_a_report_that_cannot_be_made_stops_no_query() -> None:
    world = World()
    managers = Managers([Access("", name="north")], Gone.FAIL, world.connect, lambda _: None, lambda: 0.0)
    report = Report(managers, "lake")
    report.planned({NORTH: QueueOffset("inc-1", 9)}, {NORTH: QueueOffset("inc-1", 5)})
    assert report.made()["behind"] == {"north": {"orders": 0}}
