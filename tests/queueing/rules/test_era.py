"""Tests of what a manager does differently after its store was restored from a backup."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.restoration import Restoration
from reliquary.base.time import SECOND, Instant
from reliquary.queueing.model.message import MessageClass, ObjectId, SequenceId
from reliquary.queueing.model.tables import SEQUENCE_MASK
from reliquary.queueing.model.travel.transfer import (
    ArrivalJudged,
    BatchArrived,
    BatchJudged,
    EraBegan,
    MessageArrived,
    MessagesReserved,
    Outcome,
    ReceiptDue,
    ReservationWanted,
)
from reliquary.queueing.rules.era import NOT_KNOWN
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import NOON, message
from tests.queueing.state_checks import check, walk

RESTORATION = Restoration(UUID(int=99), NOON)
LAST_SECOND = NOON // SECOND
STRANGER = UUID(int=7)
DEAD, DEAD_TRANSACTIONAL = "system$;deadletter", "system$;deadxact"


def restored(exchange: Exchange) -> Exchange:
    """Let the store be restored at the next start, and start."""
    exchange.restoration = RESTORATION
    exchange.restart()
    return exchange


def bodies_in(exchange: Exchange, queue: str) -> list[bytes]:
    return [exchange.state.messages.get(position).body for position in walk(exchange.queue(queue))]


# -- numbers


def test_a_manager_that_was_never_restored_has_no_era() -> None:
    exchange = Exchange()
    record = exchange.state.identity()
    assert (record.era, record.lineage) == (None, record.identifier)


def test_a_backup_that_is_restored_twice_gives_out_no_number_twice() -> None:
    numbers = []
    for moment in (NOON, NOON + 1):
        exchange = Exchange()
        exchange.send("orders", b"a")
        exchange.now = Instant(moment)
        numbers.append(restored(exchange).send("orders", b"b").lookup_ids[0])
    assert numbers[1] - numbers[0] >= 16  # a manager gives out fewer numbers in a microsecond


def test_identifiers_and_numbers_of_a_new_era_were_never_given_out() -> None:
    exchange = Exchange()
    before = exchange.send("orders", b"a")
    restored(exchange)
    after = exchange.send("orders", b"b")
    record = exchange.state.identity()
    assert record.era is not None
    assert after.lineage == record.lineage not in (before.lineage, record.identifier)
    (number,) = after.lookup_ids
    assert number & SEQUENCE_MASK > exchange.sizes.sequence_block * 1000
    assert bodies_in(exchange, "orders") == [b"a", b"b"]
    check(exchange.state)


def test_one_restoration_begins_one_era_also_after_a_crash() -> None:
    exchange = restored(Exchange())
    era = exchange.state.identity().era
    assert era is not None
    exchange.restart()
    assert exchange.state.identity().era == era
    exchange.restoration = Restoration(UUID(int=100))
    exchange.restart()
    second = exchange.state.identity().era
    assert second is not None
    assert (second.number, second.alive_until) == (2, exchange.now)
    assert second.lineage != era.lineage


def test_carriers_are_notified_in_the_turn_of_the_restore_and_an_administrator_is_warned() -> None:
    exchange = restored(Exchange())
    era = exchange.state.identity().era
    assert era is not None
    assert [each for each in exchange.manual_carrier.received if isinstance(each, EraBegan)] == [
        EraBegan(era)
    ]
    assert [warning.what for warning in exchange.warnings] == ["the store was restored, era 1 begins"]


# -- what waited when the backup was made


def test_a_carrier_gets_a_mark_with_messages_from_before_the_restore() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"old")
    restored(exchange)
    exchange.end(Outcome.DELIVERED)
    exchange.send(ELSEWHERE, b"new")
    handed_out = [(each.message.body, each.of_older_era) for each in exchange.manual_carrier.sending]
    assert handed_out == [(b"old", False), (b"old", True), (b"new", False)]


@pytest.mark.parametrize("asked", [True, False])
def test_a_message_that_may_have_been_delivered_becomes_a_dead_letter_unconditionally(asked: bool) -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"old", negative_journaling=asked)
    restored(exchange)
    exchange.end(Outcome.REFUSED, NOT_KNOWN)
    (kept,) = walk(exchange.queue(DEAD))
    assert (kept.reason, kept.origin_path) == (NOT_KNOWN, ELSEWHERE)
    check(exchange.state)


def test_another_refusal_makes_no_dead_letter_of_what_wants_none() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"old", discard_refused=True)
    exchange.end(Outcome.REFUSED, MessageClass.NACK_ACCESS_DENIED)
    assert not walk(exchange.queue(DEAD))


def test_a_hold_has_messages_of_one_era_alone() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b")
    restored(exchange)
    exchange.send("orders", b"c")
    for batch in (1, 2):
        exchange.say(ReservationWanted("manual_carrier", (1, batch), ("orders",), 10, 1000))
    held = [each for each in exchange.manual_carrier.received if isinstance(each, MessagesReserved)]
    found = [(each.of_older_era, [one.body for one in each.messages]) for each in held]
    assert found == [(True, [b"a", b"b"]), (False, [b"c"])]


def test_a_hold_that_grows_stays_in_its_era() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a")
    restored(exchange)
    exchange.send("orders", b"b")
    for _ in range(2):
        exchange.say(ReservationWanted("manual_carrier", (1, 1), ("orders",), 10, 1000))
    held = [each for each in exchange.manual_carrier.received if isinstance(each, MessagesReserved)]
    assert [[one.body for one in each.messages] for each in held] == [[b"a"], []]


# -- what arrives


def arrive(
    exchange: Exchange, sent_time: int, *, in_stream: bool = True, to: str = "", **attributes: Any
) -> ArrivalJudged:
    """Bring a message, of a stream or not, and return the verdict."""
    brought = message(
        b"m",
        identifier=ObjectId(STRANGER, 5),
        sent_time=sent_time,
        sequence=SequenceId(1, 1) if in_stream else None,
        **attributes,
    )
    queue = to or ("stream" if in_stream else "orders")
    exchange.say(MessageArrived("manual_carrier", (1, 2), queue, brought))
    return next(
        each for each in reversed(exchange.manual_carrier.received) if isinstance(each, ArrivalJudged)
    )


@pytest.mark.parametrize(
    ("sent_time", "in_stream", "expected"),
    [
        (LAST_SECOND, True, DEAD_TRANSACTIONAL),
        (LAST_SECOND + 1, True, "stream"),
        (0, True, "stream"),
        (LAST_SECOND, False, "orders"),
    ],
    ids=["sent-before", "sent-after", "no-time", "not-once"],
)
def test_a_message_that_may_have_come_before_is_put_aside_and_counts_as_taken(
    sent_time: int,
    in_stream: bool,
    expected: str,
) -> None:
    exchange = Exchange()
    exchange.create("stream", transactional=True)
    restored(exchange)
    reported = arrive(exchange, sent_time, in_stream=in_stream)
    assert reported.outcome is Outcome.DELIVERED
    assert (reported.reason is NOT_KNOWN) is (expected == DEAD_TRANSACTIONAL)
    found = {name: bodies_in(exchange, name) for name in ("orders", "stream", DEAD, DEAD_TRANSACTIONAL)}
    assert {name for name, bodies in found.items() if bodies} == {expected}
    if expected == DEAD_TRANSACTIONAL:
        (kept,) = walk(exchange.queue(expected))
        assert (kept.reason, kept.origin_path) == (NOT_KNOWN, "stream")
    exchange.restoration = None
    exchange.restart()
    assert bodies_in(exchange, expected) == [b"m"]
    check(exchange.state)


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("count", [1, 3])
def test_only_the_doubtful_messages_of_a_batch_are_put_aside(count: int, once: bool) -> None:
    exchange = restored(Exchange())
    times = [LAST_SECOND, LAST_SECOND + 1, 0][:count]
    brought = tuple(
        message(b"m%d" % place, identifier=ObjectId(STRANGER, place + 1), sent_time=time)
        for place, time in enumerate(times)
    )
    names = ("orders",) * count
    exchange.say(BatchArrived("manual_carrier", 4, names, brought, UUID(int=1), checked=True, once=once))
    assert exchange.manual_carrier.received[-1] == BatchJudged("manual_carrier", 4, Outcome.DELIVERED)
    everything = [b"m0", b"m1", b"m2"][:count]
    assert bodies_in(exchange, "orders") == (everything[1:] if once else everything)
    assert bodies_in(exchange, DEAD) == ([b"m0"] if once else [])
    check(exchange.state)


def test_a_record_without_an_era_is_still_read() -> None:
    record = Exchange().state.identity()
    assert b"era" not in msgspec.msgpack.encode(record)


def test_what_passes_by_in_its_stream_is_not_put_aside() -> None:
    """The last receiver knows repeats by the stream's numbers, and refuses later ones without this one."""
    exchange = restored(Exchange())
    arrive(exchange, LAST_SECOND, to=ELSEWHERE)
    assert exchange.sent() == [b"m"]
    assert bodies_in(exchange, DEAD_TRANSACTIONAL) == []


def test_a_sender_that_waits_for_the_outcome_is_notified_that_its_message_was_put_aside() -> None:
    exchange = Exchange()
    exchange.create("stream", transactional=True)
    restored(exchange)
    arrive(exchange, LAST_SECOND, soap_envelope="<e/>", final_ack_required=True)
    due = [each for each in exchange.manual_carrier.received if isinstance(each, ReceiptDue)]
    assert [(each.message.body, each.reason) for each in due] == [(b"m", NOT_KNOWN)]
