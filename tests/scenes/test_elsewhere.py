"""Scenes of sending to other managers: states of outgoing queues, the order of messages, their packets."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.events import Access, CloseQueue, OpenQueue, PauseQueue, ResumeQueue
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent, OutgoingState
from reliquary.queueing.model.travel.transfer import Outcome
from tests.queueing.exchange import ELSEWHERE, Exchange

WEB = "DIRECT=HTTP://elsewhere/msmq/private$/orders"


def unconnected() -> Exchange:
    """Return a carrier that cannot connect yet."""
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    return exchange


@pytest.mark.scene("T04")
@pytest.mark.spec("DM-095")
def test_hardened_security_locks_and_releases_at_a_start() -> None:
    exchange = unconnected()
    exchange.send(ELSEWHERE, b"m1")
    exchange.send(WEB, b"m2")
    exchange.hardened = True
    exchange.restart()
    assert exchange.link(ELSEWHERE).state is OutgoingState.LOCKED
    assert exchange.link(WEB).state is not OutgoingState.LOCKED
    exchange.hardened = False
    exchange.restart()
    assert exchange.link(ELSEWHERE).state is OutgoingState.WAITING


@pytest.mark.scene("T74")
@pytest.mark.spec("DM-322", "DM-323", "DM-267")
def test_the_highest_priority_goes_first_and_alone() -> None:
    """One send at a time for each destination, and not for the whole manager (DM-322)."""
    exchange = unconnected()
    for priority in (3, 7, 5):
        exchange.send(ELSEWHERE, b"%d" % priority, priority=priority)
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)
    assert exchange.sent() == [b"7"]
    exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"7", b"5"]
    exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"7", b"5", b"3"]


@pytest.mark.scene("T75")
@pytest.mark.spec("DM-324")
@pytest.mark.parametrize(("name", "carrier"), [(WEB, "srmp"), (ELSEWHERE, "manual_carrier")])
def test_the_destination_decides_on_the_carrier(name: str, carrier: str) -> None:
    exchange = Exchange()
    exchange.send(name, b"m1")
    assert [each.to for each in exchange.manual_carrier.sending] == [carrier]


@pytest.mark.scene("T76")
@pytest.mark.spec("DM-126", "DM-127", "DM-292", "DM-293")
def test_a_queue_is_put_on_hold_and_goes_on() -> None:
    exchange = Exchange()
    exchange.ask(OpenQueue(0, ELSEWHERE, Access.SEND))
    exchange.ask(PauseQueue(0, ELSEWHERE))
    assert exchange.link().state is OutgoingState.ON_HOLD
    exchange.ask(ResumeQueue(0, ELSEWHERE))
    assert exchange.link().state is OutgoingState.INACTIVE


@pytest.mark.scene("T79")
@pytest.mark.spec("DM-026")
def test_an_outgoing_queue_is_active_while_it_is_open_or_has_something_to_send() -> None:
    exchange = unconnected()
    opened = exchange.ask(OpenQueue(0, ELSEWHERE, Access.SEND)).handle
    queue = exchange.outgoing()
    seen = [queue.active]
    exchange.ask(CloseQueue(0, opened))
    seen.append(queue.active)
    exchange.send(ELSEWHERE, b"m1")
    seen.append(queue.active)
    exchange.ask(OpenQueue(0, ELSEWHERE, Access.SEND))
    seen.append(queue.active)
    assert seen == [True, False, True, True]
