"""Tests what administrators see of associations, in both directions."""

from __future__ import annotations

from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.nouns import AssociationInfo
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.protocols.mqqp.state import State
from reliquary.protocols.mqqp.views import associations, totals
from tests.protocols.mqqp.client.two_managers import FAR, TwoManagers
from tests.protocols.mqqp.server.server_harness import ServerBench, user
from tests.queueing.manager_harness import Bench


def state_of(bench: Bench) -> State:
    machine = bench.machines["mqqp"]  # type: ignore[attr-defined]
    assert isinstance(machine, Mqqp)
    return machine.state


def test_a_client_that_reads_here_is_shown_with_all_that_it_has() -> None:
    bench = ServerBench()
    bench.send("orders", b"one")
    client = bench.client(user("ada"))
    queue = client.open()
    client.cursor(queue)
    client.receive(queue)
    client.begin_reading(queue)
    (found,) = associations(state_of(bench))
    assert found == AssociationInfo(
        name=f"in-{client.association}",
        direction="in",
        peer=found.peer,
        user="ada",
        state="open",
        connections=1,
        interfaces=["qm2qm", "qmcomm"],
        contexts=3,
        queues=[r"DIRECT=OS:.\private$\orders"],
        cursors=1,
        pending=1,
        held=1,
    )
    assert found.peer


def test_a_queue_elsewhere_is_shown_with_what_is_read_from_it() -> None:
    settings = MqqpSettings(seed=b"here", servers=(ServerSettings(name="far", user="eve", password="x"),))
    two = TwoManagers(b"one", settings=settings)
    handle = two.open()
    two.receive(handle, hold=60)
    two.begin_receiving(handle)
    (found,) = associations(state_of(two.here))
    assert (found.direction, found.peer, found.user, found.queues) == ("out", "far", "eve", [FAR])
    assert (found.held, found.pending, found.state) == (1, 1, "open")
    assert found.name.startswith("out-")


def test_sums_are_by_direction() -> None:
    two = TwoManagers(b"one")
    handle = two.open()
    two.receive(handle, hold=60)
    two.begin_receiving(handle)
    here, there = totals(state_of(two.here)), totals(state_of(two.there))
    for name in ("associations", "queues", "pending", "held"):
        assert getattr(here, name) == {"in": 0, "out": 1}, name
        assert getattr(there, name) == {"in": 1, "out": 0}, name
