"""Tests the simulator's own histories: healthy seeds have no finding, and one forgotten message is found.

The reference looks at each world by itself; the audit at many of them in one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from reliquary.sim.world.run import World
from reliquary.spark.pipelines.audit.rules import Limits
from reliquary.spark.pipelines.audit.run import AuditConfig, audit
from tests.spark.pipelines.audit.alone import Alone
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.simulated import (
    delivered,
    forgetful,
    httpr,
    mqqb,
    mqqp,
    played,
    srmp,
    without,
    wsrm,
)
from tests.spark.pipelines.audit.world import HOUR, Row, write

ALWAYS = 10 * 365 * 24 * HOUR
HEALTHY = (1, 6)
"""In every tenth seed a site is restored from a backup, and what it took since then is lost indeed."""


def audited(rows: list[Row], grace: int = ALWAYS) -> Reference:
    """Calendars of simulated sites jump, so nothing is late."""
    return Reference(rows, late=ALWAYS, grace=grace)


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("world", [srmp, httpr, wsrm, mqqp, mqqb])
def test_a_healthy_system_has_no_finding(world: Callable[[int], World], seed: int) -> None:
    assert audited(played(world(seed))).found == set()


def test_a_ring_that_is_too_small_gives_duplicates_and_nothing_else() -> None:
    found = [audited(played(forgetful(seed))).found for seed in range(3)]
    assert {kind for each in found for kind, *_ in each} == {"duplicated"}


@pytest.mark.parametrize("world", [srmp, httpr, wsrm, mqqb])
def test_a_message_that_its_destination_does_not_know_is_lost_or_not_judged(
    world: Callable[[int], World],
) -> None:
    judged = 0
    for seed in (1, 2):
        rows = played(world(seed))
        for identifier, source, queue, destination in delivered(rows)[:5]:
            broken = audited(without(rows, destination, identifier), grace=0)
            mine = {finding for finding in broken.found if finding[1] == identifier and finding[0] != "late"}
            assert {kind for kind, *_ in mine} <= {"lost", "acknowledged"}
            assert mine or broken.unjudged, f"seed {seed}: {identifier}"
            judged += sum(1 for finding in mine if finding[2:] == (source, queue))
    assert judged > 0


def test_the_audit_says_of_many_worlds_at_once_what_it_says_of_each(tmp_path: Path) -> None:
    worlds = (srmp, httpr, wsrm, mqqp, mqqb)
    healthy = [nameless(played(world(seed))) for world in worlds for seed in HEALTHY]
    broken, erased = [], set()
    for world in (srmp, httpr, wsrm, mqqb):
        for seed in (3, 4):
            rows = nameless(played(world(seed)))
            for identifier, destination in three_of_known_routes(rows):
                rows = without(rows, destination, identifier)
                erased.add(identifier)
            broken.append(rows)
    every = [row for rows in healthy + broken for row in rows]
    write(tmp_path / "history", every, files=4)
    config = AuditConfig([str(tmp_path / "history")], tmp_path / "out", Limits(late=ALWAYS, grace=0))
    report = audit(Alone(), config)
    table = pq.read_table(tmp_path / "out" / "findings").to_pylist()
    found = [(row["kind"], row["message_id"], row["manager"], row["queue"]) for row in table]
    reference = audited(every, grace=0)
    # one message may leave a queue twice, as two: then it is lost twice, by other events
    assert set(found) == reference.found
    assert len({(*each, *row["events"]) for each, row in zip(found, table, strict=True)}) == len(found)
    assert sum(report.unjudged.values()) == reference.unjudged
    sound = {row["manager"] for rows in healthy for row in rows}
    # a calendar that jumped over a deadline is not the fault of the managers
    assert {kind for kind, _, manager, _ in found if manager in sound} <= {"late"}
    missed = {identifier for kind, identifier, *_ in found if kind in {"lost", "acknowledged"}}
    assert missed == erased


def three_of_known_routes(rows: list[Row]) -> list[tuple[str, str]]:
    """Return three messages, with their destinations, whose routes have further messages.

    Without any message that arrived, nothing says which manager a route leads to.
    """
    found, left = [], Counter(tuple(route) for _, *route in delivered(rows))
    for identifier, *route in delivered(rows):
        if left[tuple(route)] > 1:
            left[tuple(route)] -= 1
            found.append((identifier, route[2]))
    return found[:3]


def nameless(rows: list[Row]) -> list[Row]:
    """Return managers of many worlds share a few names: what arrived must say which is which."""
    return [row | {"manager_name": ""} for row in rows]
