"""The state of the server holds everything that an administrator wants to see."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.server.state import Ending, ServerState
from reliquary.protocols.mqqp.settings import MqqpSettings
from tests.protocols.mqqp.server.server_harness import ServerBench, user


def test_a_new_server_has_nothing() -> None:
    server = ServerState(MqqpSettings())
    kept = (server.associations, server.connections, server.queues, server.handles, server.asked)
    assert not any(kept)


@pytest.mark.spec("QP-030", "QP-033", "QP-060")
def test_an_association_shows_its_connections_queues_reads_and_locks() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client(user("ann"))
    queue = client.open()
    client.receive(queue, request=3)
    client.begin_reading(queue, request=4)
    association = bench.server.associations[client.association]
    assert association.by.name == "ann"
    assert [each.peer for each in association.connections.values()] == [association.peer]
    (opened,) = [session.queue for session in association.sessions.values()]
    assert [context.queue for context in association.contexts.values()] == [opened]
    assert (opened.name, opened.since, opened.by.name) == (r"DIRECT=OS:.\private$\orders", bench.now, "ann")
    (held,) = association.held.values()
    assert (held.queue, held.request, held.since) == (opened, 3, bench.now)
    (read,) = association.reads.values()
    assert (read.queue, read.descriptor.request, read.receives, read.ending) == (opened, 4, True, None)
    assert association.load == 2
    assert list(opened.pending.values()) == [read]
    assert list(opened.held.values()) == [held]


def test_a_read_is_ended_in_one_of_three_ways() -> None:
    assert len(Ending) == 3
