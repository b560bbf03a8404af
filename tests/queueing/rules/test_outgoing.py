"""Tests of outgoing queues: how they are created, and which of their attributes survive a restart."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from reliquary.base.time import SECOND
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import (
    Access,
    ChangeQueue,
    CloseQueue,
    OpenQueue,
    PauseQueue,
    ResumeQueue,
    TakeOffline,
)
from reliquary.queueing.model.names.formats import key_of, parse_single
from reliquary.queueing.model.queue import Outgoing, QueueSettings, QueueType
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent, OutgoingState
from reliquary.queueing.model.travel.transfer import Outcome
from reliquary.queueing.rules.outgoing import IDLE_INTERVAL, LOOK, create_outgoing, link_of
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable


@pytest.mark.spec("DM-171", "DM-283")
def test_a_new_outgoing_queue_has_the_defaults_and_its_destination_for_a_label() -> None:
    bench = Bench()
    name = parse_single(ELSEWHERE)
    queue = create_outgoing(bench.state, name, bench.now)
    record = queue.record
    assert record.outgoing is not None
    assert (record.outgoing.destination, record.pathname, record.settings.label) == (ELSEWHERE,) * 3
    assert msgspec.structs.replace(record.settings, label="") == QueueSettings()
    assert not record.outgoing.multicast
    assert not record.outgoing.locked
    assert bench.state.names.outgoing[key_of(name)] is queue
    assert bench.state.names.by_identifier[record.identifier] is queue


def test_an_outgoing_queue_survives_a_restart() -> None:
    bench = Bench()
    create_outgoing(bench.state, parse_single(ELSEWHERE), bench.now)
    before = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == before
    assert list(bench.state.names.outgoing) == [ELSEWHERE.casefold()]
    check(bench.state)


@pytest.mark.spec("DM-173", "DM-031")
@pytest.mark.parametrize(
    ("name", "locked"),
    [
        (ELSEWHERE, True),
        ("MULTICAST=224.1.1.1:8001", True),
        ("PUBLIC=6ba7b810-9dad-11d1-80b4-00c04fd430c8", True),
        ("DIRECT=HTTP://elsewhere/msmq/private$/orders", False),
        ("DIRECT=HTTPS://elsewhere/msmq/private$/orders", False),
        ("DIRECT=HTTPR://elsewhere/httpr/mq#orders", False),
    ],
)
def test_a_hardened_manager_locks_what_does_not_go_by_http(name: str, locked: bool) -> None:
    bench = Bench(hardened=True)
    outgoing = create_outgoing(bench.state, parse_single(name), bench.now).record.outgoing
    assert outgoing is not None
    assert outgoing.locked is locked


@pytest.mark.spec("DM-174", "DM-027")
@pytest.mark.parametrize(
    ("name", "kind", "multicast"),
    [
        (ELSEWHERE, QueueType.PRIVATE, False),
        ("MULTICAST=224.1.1.1:8001", QueueType.PRIVATE, True),
        ("PUBLIC=6ba7b810-9dad-11d1-80b4-00c04fd430c8", QueueType.PUBLIC, False),
        ("CONNECTOR=6ba7b810-9dad-11d1-80b4-00c04fd430c8", QueueType.CONNECTOR, False),
    ],
)
def test_the_name_decides_on_kind_and_multicast(name: str, kind: QueueType, multicast: bool) -> None:
    bench = Bench()
    record = create_outgoing(bench.state, parse_single(name), bench.now).record
    assert record.outgoing is not None
    assert (record.kind, record.outgoing.multicast) == (kind, multicast)


# -- states that outlive the process


@pytest.mark.spec("DM-030", "DM-171")
@pytest.mark.parametrize(
    ("hardened", "state"), [(False, OutgoingState.INACTIVE), (True, OutgoingState.LOCKED)]
)
def test_a_new_queue_is_inactive_or_locked(hardened: bool, state: OutgoingState) -> None:
    exchange = Exchange(hardened=hardened)
    queue = create_outgoing(exchange.state, parse_single(ELSEWHERE), exchange.now)
    assert link_of(queue).state is state


@pytest.mark.spec("DM-095", "DM-031")
def test_a_start_without_hardened_security_lets_locked_queues_go() -> None:
    exchange = Exchange(hardened=True)
    exchange.send(ELSEWHERE, b"a")
    exchange.restart()
    assert exchange.link().state is OutgoingState.LOCKED
    assert exchange.sent() == []
    exchange.hardened = False
    exchange.manual_carrier.connects = False
    exchange.restart()
    assert exchange.link().state is OutgoingState.WAITING
    assert exchange.outgoing().record.outgoing == Outgoing(destination=ELSEWHERE)
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)
    assert exchange.sent() == [b"a"]


@pytest.mark.spec("DM-095", "DM-031")
def test_a_start_with_hardened_security_locks_what_does_not_go_by_http() -> None:
    exchange = Exchange()
    by_http = "DIRECT=HTTP://elsewhere/msmq/private$/orders"
    exchange.handle(TakeOffline(0))
    exchange.send(ELSEWHERE, b"a")
    exchange.send(by_http, b"b")
    exchange.hardened = True
    exchange.restart()
    assert exchange.link(ELSEWHERE).state is OutgoingState.LOCKED
    assert exchange.sent() == [b"b"]
    before = durable(exchange.state)
    exchange.restart(start=False)
    assert durable(exchange.state) == before


@pytest.mark.spec("DM-031", "DM-293")
def test_resuming_does_not_evade_hardened_security() -> None:
    exchange = Exchange(hardened=True)
    exchange.send(ELSEWHERE, b"a")
    exchange.ask(PauseQueue(0, ELSEWHERE))
    assert exchange.link().state is OutgoingState.ON_HOLD
    exchange.ask(ResumeQueue(0, ELSEWHERE))
    assert exchange.link().state is OutgoingState.LOCKED
    assert exchange.sent() == []


def test_the_end_of_hardened_security_does_not_resume_a_queue_on_hold() -> None:
    exchange = Exchange(hardened=True)
    exchange.send(ELSEWHERE, b"a")
    exchange.ask(PauseQueue(0, ELSEWHERE))
    exchange.hardened = False
    exchange.restart()
    assert exchange.link().state is OutgoingState.ON_HOLD
    exchange.ask(ResumeQueue(0, ELSEWHERE))
    assert exchange.sent() == [b"a"]


# -- Active


@pytest.mark.spec("DM-026")
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("filled", [False, True])
def test_an_outgoing_queue_is_active_while_it_is_open_or_holds_a_message(opened: bool, filled: bool) -> None:
    exchange = Exchange()
    queue = create_outgoing(exchange.state, parse_single(ELSEWHERE), exchange.now)
    if opened:
        exchange.ask(OpenQueue(0, ELSEWHERE, Access.SEND))
    if filled:
        exchange.send(ELSEWHERE, b"a")
    assert queue.active is (opened or filled)
    if filled:
        exchange.end(Outcome.DELIVERED)
    assert queue.active is opened


@pytest.mark.spec("DM-026")
def test_a_local_queue_is_active_only_while_it_is_open() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    assert not bench.queue().active


# -- queues without a user


def delivered(exchange: Exchange, *bodies: bytes) -> None:
    """Report that messages arrived, and that the connection was closed after them."""
    for body in bodies:
        exchange.send(ELSEWHERE, body)
        exchange.end(Outcome.DELIVERED)
    exchange.happen(OutgoingEvent.SESSION_CLEANED_UP, ConnectionStatus.ESTABLISHED)


def look(exchange: Bench, times: int = 1) -> None:
    """Let this number of checks for idle queues run."""
    exchange.advance(times * IDLE_INTERVAL / SECOND)


def test_an_outgoing_queue_that_is_not_used_goes_and_a_send_makes_it_again() -> None:
    exchange = Exchange()
    delivered(exchange, b"a", b"b")
    first = exchange.outgoing().number
    look(exchange)
    assert exchange.outgoing().number == first, "it has been idle for less than that"
    look(exchange)
    assert exchange.state.names.outgoing == {}
    assert facts.QueueDeleted(first) in exchange.facts
    assert LOOK not in exchange.timers
    check(exchange.state)
    before = durable(exchange.state)
    exchange.restart(start=False)
    assert durable(exchange.state) == before
    exchange.start()
    exchange.send(ELSEWHERE, b"c")
    assert exchange.sent()[-1] == b"c"
    assert exchange.outgoing().number != first
    assert LOOK in exchange.timers


def test_an_idle_queue_goes_after_a_restart_too() -> None:
    exchange = Exchange()
    delivered(exchange, b"a")
    look(exchange)
    exchange.restart()
    look(exchange)
    assert exchange.state.names.outgoing, "whether it was idle before is not known"
    look(exchange)
    assert exchange.state.names.outgoing == {}


def test_a_message_at_the_last_moment_is_sent_and_keeps_the_queue() -> None:
    exchange = Exchange()
    delivered(exchange, b"a")
    exchange.advance(2 * IDLE_INTERVAL / SECOND - 1)
    exchange.send(ELSEWHERE, b"last")
    exchange.advance(1)
    assert exchange.sent() == [b"a", b"last"]
    exchange.end(Outcome.DELIVERED)
    exchange.happen(OutgoingEvent.SESSION_CLEANED_UP, ConnectionStatus.ESTABLISHED)
    look(exchange)
    assert exchange.state.names.outgoing
    look(exchange)
    assert exchange.state.names.outgoing == {}


def test_a_message_that_came_and_went_between_two_looks_keeps_the_queue() -> None:
    exchange = Exchange()
    delivered(exchange, b"a")
    look(exchange)
    delivered(exchange, b"b")
    look(exchange)
    assert exchange.state.names.outgoing


def kept_open(exchange: Exchange) -> None:
    exchange.ask(OpenQueue(0, ELSEWHERE, Access.SEND))


def on_hold(exchange: Exchange) -> None:
    exchange.ask(PauseQueue(0, ELSEWHERE))


def connected(exchange: Exchange) -> None:
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)


def filled(exchange: Exchange) -> None:
    exchange.handle(TakeOffline(0))
    exchange.send(ELSEWHERE, b"waits")


def in_a_transaction(exchange: Exchange) -> None:
    exchange.send(ELSEWHERE, b"uncommitted", transaction=exchange.begin())


def delayed(exchange: Exchange) -> None:
    exchange.handle(TakeOffline(0))
    exchange.send(ELSEWHERE, b"later", delay=5 * IDLE_INTERVAL)
    assert exchange.outgoing().counts.delayed == 1


def changed(exchange: Exchange) -> None:
    exchange.advance(1)
    exchange.ask(ChangeQueue(0, ELSEWHERE, {"base_priority": 3}))


@pytest.mark.parametrize(
    "use",
    [kept_open, on_hold, connected, filled, in_a_transaction, delayed, changed],
    ids=lambda use: use.__name__,
)
def test_what_is_used_or_was_ordered_stays(use: Callable[[Exchange], None]) -> None:
    exchange = Exchange()
    delivered(exchange, b"a")
    use(exchange)
    look(exchange, 4)
    assert exchange.state.names.outgoing
    check(exchange.state)


def test_a_locked_queue_stays() -> None:
    bench = Bench(hardened=True)
    bench.ask(CloseQueue(0, bench.ask(OpenQueue(0, ELSEWHERE, Access.SEND)).handle))
    look(bench, 4)
    assert len(bench.state.names.outgoing) == 1


def test_a_manager_that_is_not_ready_lets_nothing_go() -> None:
    exchange = Exchange()
    delivered(exchange, b"a")
    look(exchange)
    exchange.stop()
    look(exchange)
    assert exchange.state.names.outgoing
