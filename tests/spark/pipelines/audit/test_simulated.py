"""The simulator's own histories: healthy seeds have no finding, and one forgotten message is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reliquary.sim.between.run import World
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.simulated import delivered, forgetful, httpr, played, srmp, without
from tests.spark.pipelines.audit.world import HOUR, Row

ALWAYS = 10 * 365 * 24 * HOUR


def audited(rows: list[Row], grace: int = ALWAYS) -> Reference:
    """Calendars of simulated sites jump, so nothing is late."""
    return Reference(rows, late=ALWAYS, grace=grace)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("world", [srmp, httpr])
def test_a_healthy_system_has_no_finding(world: Callable[[int], World], seed: int) -> None:
    assert audited(played(world(seed))).found == set()


def test_a_ring_that_is_too_small_gives_duplicates_and_nothing_else() -> None:
    found = [audited(played(forgetful(seed))).found for seed in range(3)]
    assert {kind for each in found for kind, *_ in each} == {"duplicated"}


@pytest.mark.parametrize("world", [srmp, httpr])
def test_a_message_that_its_destination_does_not_know_is_lost_or_not_judged(
    world: Callable[[int], World],
) -> None:
    judged = 0
    for seed in range(2):
        rows = played(world(seed))
        for identifier, source, queue, destination in delivered(rows)[:5]:
            broken = audited(without(rows, destination, identifier), grace=0)
            mine = {finding for finding in broken.found if finding[1] == identifier and finding[0] != "late"}
            assert {kind for kind, *_ in mine} <= {"lost", "acknowledged"}
            assert mine or broken.unjudged, f"seed {seed}: {identifier}"
            judged += sum(1 for finding in mine if finding[2:] == (source, queue))
    assert judged > 0
