"""Messages that waited before a carrier was there stay until an administrator resumes their queue."""

from __future__ import annotations

from collections.abc import Callable

from reliquary.queueing.model.names.formats import DirectName, SingleName
from reliquary.queueing.model.names.schemes import OS
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.rules import destinations
from reliquary.queueing.travel.backlog import WHAT
from tests.queueing.manager_harness import Bench

NAME = "DIRECT=OS:shop\\private$\\orders"
OTHER = "DIRECT=OS:mill\\private$\\orders"


def by_host(name: SingleName) -> bool:
    """Return whether a name is claimed by the carriers of these tests."""
    return isinstance(name, DirectName) and name.scheme is OS


def carrier(*, holds: bool, claims: Callable[[SingleName], bool] = by_host) -> Carrier:
    """Return a carrier for names with a host."""
    return Carrier(name="binary", claims=claims, holds_backlog=holds)


def restarted(bench: Bench, *carriers: Carrier) -> Bench:
    """Return the bench after a start with other carriers; its signals go nowhere."""
    bench.carriers = carriers
    bench.restart()
    return bench


def state_of(bench: Bench, name: str) -> OutgoingState:
    """Return the state of an outgoing queue."""
    queue = destinations.find(bench.state, name)
    assert queue is not None
    assert queue.link is not None
    return queue.link.state


def held_warnings(bench: Bench) -> list[str]:
    """Return the texts of the warnings about paused messages."""
    return [each.why for each in bench.warnings if each.what == WHAT]


def test_queues_with_messages_are_paused_when_their_carrier_is_new() -> None:
    bench = Bench()
    bench.send(NAME, b"a", b"b")
    bench.send(OTHER, b"c")
    restarted(bench, carrier(holds=True))
    assert state_of(bench, NAME) is state_of(bench, OTHER) is OutgoingState.ON_HOLD
    (why,) = held_warnings(bench)
    assert "2 outgoing queues have 3 messages from before binary was switched on" in why
    assert "reliquary outgoing resume 'DIRECT=OS:" in why


def test_a_backlog_is_paused_once_for_a_carrier() -> None:
    bench = Bench()
    bench.send(NAME, b"a")
    restarted(bench, carrier(holds=True))
    restarted(bench, carrier(holds=True))
    assert len(held_warnings(bench)) == 1


def test_a_backlog_is_paused_again_when_the_carrier_was_switched_off_in_between() -> None:
    bench = Bench()
    bench.send(NAME, b"a")
    restarted(bench, carrier(holds=True))
    restarted(bench)
    restarted(bench, carrier(holds=True))
    assert len(held_warnings(bench)) == 2


def test_other_carriers_send_at_once() -> None:
    bench = Bench()
    bench.send(NAME, b"a")
    restarted(bench, carrier(holds=False))
    assert state_of(bench, NAME) is OutgoingState.WAITING
    assert held_warnings(bench) == []


def test_a_queue_without_messages_is_not_paused() -> None:
    bench = Bench()
    bench.send(NAME, b"a", time_to_reach_queue=1)
    bench.advance(120)
    restarted(bench, carrier(holds=True))
    assert state_of(bench, NAME) is not OutgoingState.ON_HOLD
    assert held_warnings(bench) == []


def test_a_queue_that_was_created_with_its_carrier_is_never_held() -> None:
    bench = Bench(carriers=(carrier(holds=True),))
    bench.send(NAME, b"a")
    restarted(bench, carrier(holds=True))
    assert state_of(bench, NAME) is OutgoingState.WAITING
