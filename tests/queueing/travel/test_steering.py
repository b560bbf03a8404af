"""Offline and online, pause and resume, as an administrator asks for them."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Turn
from reliquary.queueing.model.events import BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.model.travel.transfer import (
    AddressesKnown,
    ManagerOnline,
    Outcome,
    QueuePaused,
    QueueResumed,
)
from reliquary.queueing.travel.loopback import Loopback
from tests.queueing.exchange import ELSEWHERE, Exchange, Say


@pytest.mark.spec("DM-124", "DM-125")
def test_connection_active_is_what_an_administrator_said_last() -> None:
    exchange = Exchange()
    found = [exchange.state.travel.online]
    for event in (TakeOffline(0), TakeOffline(0), BringOnline(0)):
        assert exchange.ask(event).status is HResult.OK
        found.append(exchange.state.travel.online)
    assert found == [True, False, False, True]
    assert exchange.manual_carrier.received == [ManagerOnline(online=False), ManagerOnline(online=True)]


@pytest.mark.spec("DM-124")
def test_a_new_process_is_online() -> None:
    exchange = Exchange()
    exchange.ask(TakeOffline(0))
    exchange.restart()
    assert exchange.state.travel.online


@pytest.mark.spec("DM-126", "DM-127", "DM-292", "DM-293")
def test_pause_and_resume_set_the_state_and_are_reported() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.DELIVERED)
    number = exchange.outgoing().number
    exchange.manual_carrier.received.clear()
    assert exchange.ask(PauseQueue(0, ELSEWHERE)).status is HResult.OK
    assert exchange.link().state is OutgoingState.ON_HOLD
    assert exchange.ask(ResumeQueue(0, ELSEWHERE)).status is HResult.OK
    assert exchange.link().state is OutgoingState.INACTIVE
    assert exchange.manual_carrier.received == [
        QueuePaused("manual_carrier", number),
        QueueResumed("manual_carrier", number),
    ]


def test_pausing_twice_is_no_error_and_no_second_fact() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    first = exchange.handle(PauseQueue(0, ELSEWHERE))
    second = exchange.handle(PauseQueue(0, ELSEWHERE))
    assert (len(first.facts), len(second.facts)) == (1, 0)
    assert exchange.link().state is OutgoingState.ON_HOLD


def test_resuming_a_queue_that_is_not_paused_changes_nothing() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    turn = exchange.handle(ResumeQueue(0, ELSEWHERE))
    assert turn.facts == ()
    assert exchange.link().state is OutgoingState.CONNECTED
    assert exchange.sent() == [b"a"]


@pytest.mark.parametrize("event", [PauseQueue, ResumeQueue])
def test_only_an_outgoing_queue_is_paused(event: type[PauseQueue | ResumeQueue]) -> None:
    exchange = Exchange()
    unknown = exchange.ask(event(0, ELSEWHERE))
    assert (unknown.status, unknown.why) == (
        HResult.QUEUE_NOT_FOUND,
        f"nothing was ever sent to {ELSEWHERE}",
    )
    own = exchange.ask(event(0, "orders"))
    assert own.status is HResult.INVALID_PARAMETER
    assert own.why == "orders is a queue of this manager, and no outgoing queue"


def test_a_path_name_that_was_sent_to_names_the_outgoing_queue_too() -> None:
    exchange = Exchange()
    exchange.send(r"elsewhere\private$\orders", b"a")
    assert exchange.ask(PauseQueue(0, r"elsewhere\private$\orders")).status is HResult.OK
    assert exchange.link().state is OutgoingState.ON_HOLD


OWN = "DIRECT=TCP:10.0.0.2\\private$\\orders"


class TalkingLoopback(Loopback):
    """A loop-back that passes on what the test says."""

    def handle(self, event: Event, now: Instant) -> Turn:
        del now
        assert isinstance(event, Say)
        return Turn(signals=(event.signal,))


def test_messages_for_an_address_that_turns_out_to_be_local_are_delivered() -> None:
    exchange = Exchange(TalkingLoopback())
    exchange.send(OWN, b"a")
    assert len(exchange.waiting(OWN)) == 1
    exchange.say(AddressesKnown(("TCP",), frozenset({"10.0.0.3"})))
    exchange.say(AddressesKnown(("OS",), frozenset({"10.0.0.2"})))
    assert len(exchange.waiting(OWN)) == 1
    exchange.say(AddressesKnown(("TCP",), frozenset({"10.0.0.2"})))
    assert exchange.waiting(OWN) == []
    assert exchange.bodies("orders") == [b"a"]
