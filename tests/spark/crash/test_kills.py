"""One failure at each place of a query, in each process that can fail there; rows arrive once, in order.

All of it in few runs of a driver: a task that fails is tried again, and a query that fails is started again
in its session.  Only a driver that is killed costs a session.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING

import pytest

from tests.spark.crash.faults import Fault
from tests.spark.crash.harness import Crossing, Drivers, Ground

if TYPE_CHECKING:
    from collections.abc import Sequence

FALLS = [
    ("worker", "read", 0),
    ("raise", "unstaged", 0),
    ("worker", "staging", 1),
    ("raise", "staged", 1),
    ("worker", "staged", 2),
    ("server", "read", 2),
    ("server", "staging", 3),
    ("raise", "plan", 4),
    ("worker", "logged", 5),
    ("raise", "unpublished", 6),
    ("worker", "publishing", 7),
    ("raise", "published", 8),
    ("server", "publishing", 9),
]
KILLS = [("driver", "published", 0), ("driver", "publishing", 2)]


def cross(crossing: Crossing, drivers: Drivers, faults: Sequence[Fault]) -> list[str]:
    done = drivers.run(crossing.job(faults))
    assert crossing.fired() == {fault.name for fault in faults}, drivers.said
    crossing.assert_arrived()
    return done.errors


@pytest.mark.long
def test_whichever_process_is_killed_every_row_arrives_once_and_in_order(
    crash_ground: Ground, drivers: Drivers
) -> None:
    faults = list(starmap(Fault, FALLS))
    errors = cross(Crossing(crash_ground, "falls", 200, 20), drivers, faults)
    assert len(errors) == 5, errors  # the tasks were tried again, and a server that comes back stops no query
    assert drivers.lives == 1


@pytest.mark.long
@pytest.mark.parametrize("kills", [KILLS[:1], KILLS], ids=len)
def test_a_driver_that_is_killed_goes_on_where_it_was(
    crash_ground: Ground, drivers: Drivers, kills: list[tuple[str, str, int]]
) -> None:
    lives = max(drivers.lives, 1)  # the first one starts with the first job
    faults = list(starmap(Fault, kills))
    crossing = Crossing(crash_ground, f"kills{len(kills)}", 60, 20)
    assert cross(crossing, drivers, faults) == []
    assert drivers.lives == lives + len(kills)
