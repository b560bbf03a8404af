"""Tests outgoing queues as records, and as a noun."""

from __future__ import annotations

from reliquary.base.time import SECOND, as_datetime
from reliquary.queueing.model.events import PauseQueue, ResumeQueue
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingState
from reliquary.queueing.model.travel.transfer import DestinationReached, Outcome
from reliquary.queueing.travel.dispatch import RESTS
from reliquary.views.outgoing_queues import OUTGOING, outgoing_queue, outgoing_queues
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import Bench
from tests.views.viewing import view_of


def test_an_outgoing_queue_is_shown_with_its_connection_and_what_waits() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"one", b"two")
    view = outgoing_queue(exchange.state, ELSEWHERE)
    assert view is not None
    assert list(outgoing_queues(exchange.state)) == [view]
    assert (view.destination, view.state) == (ELSEWHERE, OutgoingState.CONNECTED.value)
    assert (view.messages, view.sending, view.accepted, view.delivered) == (2, 1, 0, 0)
    assert view.bytes == exchange.outgoing().total_bytes
    statuses = [record.status for record in view.history]
    assert statuses == [ConnectionStatus.IN_PROCESS.value, ConnectionStatus.ESTABLISHED.value]
    exchange.end(Outcome.TRY_LATER)
    after = outgoing_queue(exchange.state, ELSEWHERE)
    assert after is not None
    assert (after.sending, after.resting, after.failures) == (0, True, 1)
    assert (view.next_attempt, after.next_attempt) == (None, as_datetime(exchange.now + RESTS[0]))
    exchange.advance(RESTS[0] / SECOND)
    again = outgoing_queue(exchange.state, ELSEWHERE)
    assert again is not None
    assert (again.failures, again.next_attempt) == (1, None)


def test_an_outgoing_queue_shows_how_many_are_being_sent_and_how_many_the_peer_has() -> None:
    exchange = Exchange()
    exchange.manual_carrier.at_once = 2
    exchange.send(ELSEWHERE, b"a", b"b", b"c", b"d", b"e")
    exchange.accept(b"a", b"b")
    exchange.say(DestinationReached(exchange.outgoing().number, exchange.latest(b"a")))
    view = outgoing_queue(exchange.state, ELSEWHERE)
    assert view is not None
    assert (view.messages, view.sending, view.accepted) == (5, 2, 2)


def test_a_local_queue_is_no_outgoing_queue() -> None:
    bench = Bench("orders")
    assert outgoing_queue(bench.state, "orders") is None
    assert outgoing_queue(bench.state, ELSEWHERE) is None
    assert list(outgoing_queues(bench.state)) == []


def test_an_outgoing_queue_is_listed_and_found_by_its_destination() -> None:
    exchange = Exchange()
    view = view_of(exchange.state)
    assert OUTGOING.showing is not None
    assert OUTGOING.showing.record(view, ELSEWHERE) is None
    exchange.send(ELSEWHERE, b"one")
    [listed] = OUTGOING.listing.records(view)
    assert listed.destination == ELSEWHERE
    assert OUTGOING.showing.record(view, ELSEWHERE) == listed


def test_an_outgoing_queue_is_paused_and_resumed() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"one")
    pause, resume = (OUTGOING.act(verb).event(0, ELSEWHERE) for verb in ("pause", "resume"))
    assert (pause, resume) == (PauseQueue(0, ELSEWHERE), ResumeQueue(0, ELSEWHERE))
    exchange.ask(pause)
    [listed] = OUTGOING.listing.records(view_of(exchange.state))
    assert listed.state == OutgoingState.ON_HOLD.value
