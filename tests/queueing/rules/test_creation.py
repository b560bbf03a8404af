"""Tests of the creation of queues; test_lifecycle.py shows what a caller may ask for."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.queue import QueueSettings, QueueType
from reliquary.queueing.rules.creation import create_at
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check


@pytest.mark.spec("DM-137", "DM-138", "DM-140")
def test_a_queue_has_a_journal_and_a_part_of_it_has_none() -> None:
    bench = Bench()
    whole = create_at(bench.state, Pathname(QueueType.PRIVATE, "new"), QueueSettings(label="l"), bench.now)
    part = create_at(bench.state, Pathname(QueueType.PRIVATE, "new", "part"), QueueSettings(), bench.now)
    assert whole.settings.label == "l"
    assert whole.journal is not None
    assert bench.state.queues[whole.journal].record.parent == whole.number
    assert part.journal is None
    assert part.parent == whole.number
    assert bench.queue("new").subqueues == {part.number}
    bench.restart()
    assert bench.queue("new;part").record == part
    check(bench.state)
