"""Tests dispatch: which message is sent next, one at a time for each destination, and how its transfer
ends.
"""

from __future__ import annotations

import msgspec
import pytest

from reliquary.base.time import SECOND, later, seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import (
    BringOnline,
    CommitTransaction,
    DeleteQueue,
    PauseQueue,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessages,
    ResumeQueue,
    TakeOffline,
)
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.travel.link import (
    ConnectionStatus,
    OutgoingEvent,
    OutgoingState,
    OutgoingTransfer,
)
from reliquary.queueing.model.travel.transfer import (
    ConnectionWanted,
    Outcome,
    SendUserMessage,
    TransferEnded,
    TransferProgressed,
)
from reliquary.queueing.travel.dispatch import RESTS
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.state_checks import check, durable, walk

OTHER = r"DIRECT=OS:other\private$\orders"


# -- what goes next


@pytest.mark.spec("DM-266", "DM-267", "DM-322", "DM-323")
def test_the_highest_priority_goes_first_and_the_next_only_when_it_has_its_outcome() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    for priority in (3, 7, 5):
        exchange.send(ELSEWHERE, b"%d" % priority, priority=priority)
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)
    assert exchange.sent() == [b"7"]
    exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"7", b"5"]
    exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"7", b"5", b"3"]
    exchange.end(Outcome.DELIVERED)
    assert exchange.waiting() == []
    check(exchange.state)


@pytest.mark.spec("DM-323")
def test_the_first_message_of_a_priority_is_sent_first() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", b"b", b"c")
    for _ in range(3):
        exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"a", b"b", b"c"]


@pytest.mark.spec("DM-266", "DM-323")
def test_the_priority_of_the_queue_counts_too() -> None:
    exchange = Exchange()
    exchange.handle(TakeOffline(0))
    exchange.send(ELSEWHERE, b"plain", priority=7)
    exchange.send(OTHER, b"preferred", priority=0)
    record = exchange.outgoing(OTHER).record
    settings = msgspec.structs.replace(record.settings, base_priority=8)
    apply(exchange.state, facts.QueueChanged(msgspec.structs.replace(record, settings=settings)))
    exchange.handle(BringOnline(0))
    assert exchange.sent() == [b"preferred", b"plain"]


@pytest.mark.spec("DM-322")
def test_nothing_overtakes_what_is_being_sent() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.send(ELSEWHERE, b"urgent", priority=7)
    assert exchange.sent() == [b"a"]
    exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"a", b"urgent"]


@pytest.mark.spec("DM-322")
def test_a_destination_that_does_not_answer_stops_no_other() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", b"b")
    exchange.send(OTHER, b"c")
    assert exchange.sent() == [b"a", b"c"]


def test_messages_of_a_transaction_go_in_the_order_of_sending_with_any_priority() -> None:
    exchange = Exchange()
    transaction = exchange.begin()
    exchange.send(ELSEWHERE, b"a", transaction=transaction, priority=0)
    exchange.send(ELSEWHERE, b"b", transaction=transaction, priority=7)
    assert exchange.sent() == []
    exchange.ask(CommitTransaction(0, transaction))
    exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"a", b"b"]


def test_messages_of_a_transaction_keep_their_order_when_several_go_at_once() -> None:
    exchange = Exchange()
    exchange.manual_carrier.at_once = 4
    transaction = exchange.begin()
    for body, priority in ((b"a", 0), (b"b", 7), (b"c", 3)):
        exchange.send(ELSEWHERE, body, transaction=transaction, priority=priority)
    exchange.ask(CommitTransaction(0, transaction))
    assert exchange.sent() == [b"a", b"b", b"c"]


@pytest.mark.spec("DM-324")
@pytest.mark.parametrize(
    ("name", "carrier"),
    [
        (ELSEWHERE, "manual_carrier"),
        (r"DIRECT=TCP:10.0.0.1\private$\orders", "manual_carrier"),
        ("DIRECT=HTTP://elsewhere/msmq/private$/orders", "srmp"),
        ("DIRECT=HTTPS://elsewhere/msmq/private$/orders", "srmp"),
        ("MULTICAST=224.1.1.1:8001", "srmp"),
    ],
)
def test_the_name_decides_which_carrier_gets_the_message(name: str, carrier: str) -> None:
    exchange = Exchange()
    exchange.send(name, b"a")
    (wanted, send) = exchange.manual_carrier.received
    assert isinstance(wanted, ConnectionWanted)
    assert isinstance(send, SendUserMessage)
    assert (wanted.destination, wanted.to) == (name, carrier)
    assert (send.destination, send.to, send.message.body) == (name, carrier, b"a")


def test_a_deep_queue_costs_one_entry_and_drains_in_order() -> None:
    exchange = Exchange(sizes=Sizes(window=4))
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, *(b"%d" % number for number in range(50)))
    assert exchange.link().sending == {}
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)
    assert len(exchange.state.travel.to_dispatch) == 0
    assert len(exchange.outgoing().order.locked) == 1
    for _ in range(50):
        exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"%d" % number for number in range(50)]


# -- connections


def test_the_first_message_wakes_an_inactive_queue() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"a")
    assert exchange.link().state is OutgoingState.WAITING
    exchange.send(ELSEWHERE, b"b")
    assert len(exchange.manual_carrier.received) == 1  # it is asked once
    assert [record.status for record in exchange.link().history] == [ConnectionStatus.IN_PROCESS]
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)
    assert exchange.link().state is OutgoingState.CONNECTED
    assert exchange.sent() == [b"a"]


def test_a_session_that_was_cleaned_up_is_opened_again_by_the_next_message() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.DELIVERED)
    exchange.happen(OutgoingEvent.SESSION_CLEANED_UP, ConnectionStatus.ESTABLISHED)
    assert exchange.link().state is OutgoingState.DISCONNECTED
    exchange.send(ELSEWHERE, b"b")
    assert exchange.link().state is OutgoingState.CONNECTED
    assert exchange.sent() == [b"a", b"b"]


@pytest.mark.spec("DM-268")
def test_a_connection_that_fails_gives_back_what_was_being_sent() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", b"b")
    exchange.happen(OutgoingEvent.FAILED, ConnectionStatus.SOCKET_SEND_FAILURE)
    assert exchange.link().sending == {}
    assert exchange.link().state is OutgoingState.INACTIVE
    assert exchange.waiting() == [b"a", b"b"]
    exchange.advance(1)
    assert exchange.sent() == [b"a", b"a"]
    check(exchange.state)


def test_an_outcome_that_comes_after_it_was_given_back_is_ignored() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    (first,) = exchange.manual_carrier.sending
    exchange.happen(OutgoingEvent.FAILED, ConnectionStatus.SOCKET_SEND_FAILURE)
    exchange.send(ELSEWHERE, b"urgent", priority=7)
    exchange.advance(1)
    assert exchange.sent() == [b"a", b"urgent"]
    exchange.say(TransferEnded(first.queue, (first.lookup_id,), Outcome.DELIVERED))
    assert exchange.waiting() == [b"a"]
    assert exchange.sent() == [b"a", b"urgent"]
    check(exchange.state)


def test_an_outcome_by_receipt_counts_for_what_is_not_under_way_too() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"a", b"b", b"c", positive_journaling=True, negative_journaling=True)
    queue = exchange.outgoing(ELSEWHERE)
    first, second, third = (position.lookup_id for position in walk(queue))
    exchange.say(TransferEnded(queue.number, (first, 99), Outcome.DELIVERED, by_receipt=True))
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)
    assert exchange.sent() == [b"b"]
    reason = MessageClass.NACK_QUEUE_PURGED
    exchange.say(TransferEnded(queue.number, (second, third), Outcome.REFUSED, reason, by_receipt=True))
    assert (exchange.waiting(), exchange.bodies("system$;journal")) == ([], [b"a"])
    assert exchange.bodies("system$;deadletter") == [b"b", b"c"]
    dead = walk(exchange.queue("system$;deadletter"))
    assert {position.reason for position in dead} == {reason}, "the peer's reason is kept as it is"
    check(exchange.state)


@pytest.mark.spec("DM-032")
def test_what_a_carrier_says_of_a_connection_is_remembered() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"a")
    exchange.happen(OutgoingEvent.FAILED, ConnectionStatus.DNS_FAILURE)
    first, second = exchange.link().history
    assert (first.status, second.status) == (ConnectionStatus.IN_PROCESS, ConnectionStatus.DNS_FAILURE)
    assert second.time == exchange.now // SECOND


@pytest.mark.spec("DM-071")
def test_how_far_a_stream_got_is_what_its_carrier_says_and_is_volatile() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    reported = OutgoingTransfer(unacknowledged=3)
    exchange.say(TransferProgressed(exchange.outgoing().number, reported))
    assert exchange.link().transfer == reported
    exchange.restart()
    assert exchange.link().transfer == OutgoingTransfer()


# -- outcomes


def test_a_delivered_message_is_removed_permanently() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.DELIVERED)
    assert exchange.link().delivered == 1
    assert exchange.state.travel.delivered == {"manual_carrier": 1}
    exchange.restart()
    assert exchange.waiting() == []
    check(exchange.state)


def test_a_failure_lets_the_queue_rest_longer_each_time_until_something_goes_through() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    for count, rest in enumerate([*RESTS, RESTS[-1]], start=1):
        assert len(exchange.sent()) == count
        exchange.end(Outcome.TRY_LATER)
        exchange.advance((rest - 1) / SECOND)
        assert len(exchange.sent()) == count
        exchange.advance(1 / SECOND)
    exchange.end(Outcome.DELIVERED)
    exchange.send(ELSEWHERE, b"b")
    exchange.end(Outcome.TRY_LATER)
    exchange.advance(RESTS[0] / SECOND)
    assert exchange.sent()[-2:] == [b"b", b"b"]


def test_a_queue_that_rests_sends_nothing_new_either() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.TRY_LATER)
    exchange.send(ELSEWHERE, b"urgent", priority=7)
    assert exchange.sent() == [b"a"]
    exchange.advance(1)
    assert exchange.sent() == [b"a", b"urgent"]


# -- time


@pytest.mark.spec("DM-057")
def test_an_expired_message_is_never_sent() -> None:
    exchange = Exchange()
    exchange.handle(TakeOffline(0))
    exchange.send(ELSEWHERE, b"hasty", time_to_reach_queue=5, negative_journaling=True)
    exchange.send(ELSEWHERE, b"patient")
    exchange.now = later(exchange.now, seconds(10))  # and no timer fired
    exchange.handle(BringOnline(0))
    assert exchange.sent() == [b"patient"]
    assert _dead_letters(exchange) == [(b"hasty", MessageClass.NACK_REACH_QUEUE_TIMEOUT)]


@pytest.mark.spec("DM-057")
@pytest.mark.parametrize(
    ("reach", "receive", "reason"),
    [
        (5, 9, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
        (9, 5, MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER),
    ],
)
def test_time_runs_out_for_a_message_that_waits(reach: int, receive: int, reason: MessageClass) -> None:
    exchange = Exchange()
    exchange.handle(TakeOffline(0))
    exchange.send(
        ELSEWHERE, b"a", negative_journaling=True, time_to_reach_queue=reach, time_to_be_received=receive
    )
    exchange.restart()
    exchange.handle(TakeOffline(0))
    exchange.manual_carrier.received.clear()
    exchange.happen(OutgoingEvent.FAILED, ConnectionStatus.SOCKET_SEND_FAILURE)
    exchange.advance(4.9)
    assert exchange.waiting() == [b"a"]
    exchange.advance(0.2)
    assert exchange.waiting() == []
    assert _dead_letters(exchange) == [(b"a", reason)]
    check(exchange.state)


def test_a_reader_that_waits_for_dead_letters_gets_one_that_expired_before_it_was_sent() -> None:
    exchange = Exchange()
    waiting = exchange.begin_asking(ReceiveMessages(0, "system$;deadletter", timeout=seconds(60)))
    exchange.send(ELSEWHERE, b"a", time_to_be_received=0, negative_journaling=True)
    assert exchange.answer_to(waiting).messages[0].message.body == b"a"


def test_many_expired_messages_are_passed_over_a_turn_at_a_time() -> None:
    exchange = Exchange(sizes=Sizes(at_once=2))
    exchange.handle(TakeOffline(0))
    exchange.send(ELSEWHERE, *(b"%d" % number for number in range(7)), time_to_reach_queue=5)
    exchange.send(ELSEWHERE, b"patient")
    exchange.now = later(exchange.now, seconds(10))
    exchange.handle(BringOnline(0))
    assert exchange.sent() == [b"patient"]


def test_time_that_runs_out_on_the_way_counts_only_when_the_transfer_fails() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"arrives", b"fails", time_to_reach_queue=5, negative_journaling=True)
    exchange.advance(10)
    exchange.end(Outcome.DELIVERED)
    assert _dead_letters(exchange) == [(b"fails", MessageClass.NACK_REACH_QUEUE_TIMEOUT)]
    exchange.send(ELSEWHERE, b"fails too", time_to_reach_queue=5, negative_journaling=True)
    exchange.advance(10)
    exchange.end(Outcome.TRY_LATER)
    assert [body for body, _ in _dead_letters(exchange)] == [b"fails", b"fails too"]
    check(exchange.state)


# -- those who interfere


@pytest.mark.spec("DM-292", "DM-293")
def test_a_paused_queue_finishes_what_is_under_way_and_sends_nothing_else() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", b"b")
    exchange.ask(PauseQueue(0, ELSEWHERE))
    exchange.end(Outcome.DELIVERED)
    exchange.send(ELSEWHERE, b"urgent", priority=7)
    assert exchange.sent() == [b"a"]
    assert exchange.link().state is OutgoingState.ON_HOLD
    exchange.ask(ResumeQueue(0, ELSEWHERE))
    assert exchange.sent() == [b"a", b"urgent"]


def test_after_a_restart_what_waits_is_sent_unless_the_queue_is_on_hold() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.send(OTHER, b"b")
    exchange.ask(PauseQueue(0, OTHER))
    before = durable(exchange.state)
    exchange.restart(start=False)
    assert durable(exchange.state) == before
    exchange.manual_carrier.received.clear()
    exchange.start()
    assert exchange.sent() == [b"a"]
    assert exchange.link(OTHER).state is OutgoingState.ON_HOLD
    exchange.ask(ResumeQueue(0, OTHER))
    assert exchange.sent() == [b"a", b"b"]
    check(exchange.state)


@pytest.mark.spec("DM-096")
def test_a_manager_that_waits_for_outcomes_sends_when_it_is_ready() -> None:
    exchange = Exchange(in_doubt_wait=60)
    transaction = exchange.begin()
    exchange.send("orders", b"in doubt", transaction=transaction)
    exchange.ask(PrepareTransaction(0, transaction, single_phase=False))
    exchange.handle(TakeOffline(0))
    exchange.send(ELSEWHERE, b"a")
    exchange.restart()
    assert exchange.sent() == []
    exchange.ask(CommitTransaction(0, transaction))
    assert exchange.sent() == [b"a"]


@pytest.mark.spec("DM-124", "DM-125")
def test_offline_nothing_leaves_until_the_manager_is_online_again() -> None:
    exchange = Exchange()
    exchange.ask(TakeOffline(0))
    exchange.send(ELSEWHERE, b"a")
    assert exchange.manual_carrier.sending == []
    assert exchange.link().state is OutgoingState.INACTIVE
    exchange.ask(BringOnline(0))
    assert exchange.sent() == [b"a"]


def test_resuming_and_going_online_end_a_rest() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.TRY_LATER)
    exchange.ask(ResumeQueue(0, ELSEWHERE))
    assert exchange.sent() == [b"a", b"a"]
    exchange.end(Outcome.TRY_LATER)
    exchange.ask(BringOnline(0))
    assert exchange.sent() == [b"a", b"a", b"a"]


def test_a_purge_takes_what_waits_and_lets_the_carrier_finish() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", b"b", b"c")
    assert exchange.ask(PurgeQueue(0, ELSEWHERE)).count == 2
    assert exchange.waiting() == []
    check(exchange.state)
    exchange.end(Outcome.DELIVERED)
    assert exchange.link().delivered == 1
    check(exchange.state)


def test_what_was_being_sent_in_a_purge_does_not_come_back() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.ask(PurgeQueue(0, ELSEWHERE))
    exchange.end(Outcome.TRY_LATER)
    assert exchange.waiting() == []
    check(exchange.state)


def test_a_queue_that_is_deleted_takes_along_what_is_being_sent() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", b"b")
    exchange.ask(DeleteQueue(0, ELSEWHERE))
    exchange.end(Outcome.DELIVERED)
    assert exchange.sent() == [b"a"]
    assert not exchange.state.names.outgoing
    check(exchange.state)


def test_nothing_is_sent_by_a_manager_that_stops() -> None:
    exchange = Exchange()
    exchange.patient = True
    exchange.send(ELSEWHERE, b"a")
    assert exchange.manual_carrier.sending == []  # connected, and the turn that sends is still to come
    exchange.stop()
    exchange.go_on()
    assert exchange.manual_carrier.sending == []


def _dead_letters(exchange: Exchange) -> list[tuple[bytes, MessageClass]]:
    positions = exchange.queue("system$;deadletter").order.some(-1, 100)
    return [(exchange.state.messages.get(position).body, position.reason) for position in positions]
