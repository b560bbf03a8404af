"""Tests Enqueue Message, [MS-MQDMPR] 3.1.7.1.9: quotas, identity, order, the time to reach the queue."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import LAST_SECOND, SECOND, Instant, in_whole_seconds
from reliquary.queueing.model.events import (
    AbortTransaction,
    Access,
    CommitTransaction,
    FlowControl,
    OpenQueue,
    SendMessages,
)
from reliquary.queueing.model.message import (
    FOREVER,
    PACKET_HEADERS,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
    size_of,
)
from reliquary.queueing.model.tables import LANE_SHIFT, MESSAGES, SEQUENCE_MASK, SHARES
from reliquary.queueing.rules import enqueue
from reliquary.queueing.rules.enqueue import STATUS, Enqueued, judge, too_late
from reliquary.queueing.rules.losses import by_word
from tests.queueing.answers import bodies, body, everything
from tests.queueing.manager_harness import NOON, Bench, message
from tests.queueing.state_checks import check, every, walk


def sized(size: int) -> bytes:
    """Return the body of a message of this size."""
    return b"x" * (size - PACKET_HEADERS)


# -- quotas


def test_each_answer_has_its_status() -> None:
    assert set(STATUS) == set(Enqueued)
    assert [each.value for each in Enqueued] == [0, 1, 2, 3]


@pytest.mark.spec("DM-188", "DM-197")
def test_a_queue_takes_messages_up_to_its_quota() -> None:
    """T29, the quota of a queue: refused with 1; no limit never refuses."""
    bench = Bench("other")
    bench.create("orders", quota=1)
    assert bench.send("orders", sized(900)).status is HResult.OK
    before = everything(bench.state)
    answer = bench.send("orders", sized(PACKET_HEADERS))
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "1 kilobytes" in answer.why
    assert "900 bytes" in answer.why
    assert answer.lookup_ids == ()
    assert everything(bench.state) == before
    check(bench.state)


@pytest.mark.spec("DM-188", "DM-288")
@pytest.mark.parametrize(("size", "status"), [(1024, HResult.OK), (1025, HResult.INSUFFICIENT_RESOURCES)])
def test_a_quota_can_be_used_to_the_last_byte(size: int, status: HResult) -> None:
    bench = Bench("other")
    bench.create("orders", quota=1)
    assert bench.send("orders", sized(size)).status is status


@pytest.mark.spec("DM-286")
def test_a_received_message_makes_room() -> None:
    bench = Bench("other")
    bench.create("orders", quota=1)
    bench.send("orders", sized(1024))
    assert bench.send("orders", b"").status is HResult.INSUFFICIENT_RESOURCES
    bench.receive("orders")
    assert bench.send("orders", sized(1024)).status is HResult.OK


@pytest.mark.spec("DM-188")
def test_what_a_transaction_will_send_is_room_that_is_taken() -> None:
    bench = Bench("other")
    bench.create("orders", quota=1)
    transaction = bench.begin()
    bench.send("orders", sized(900), transaction=transaction)
    assert bench.send("orders", sized(300)).status is HResult.INSUFFICIENT_RESOURCES


@pytest.mark.spec("DM-283")
def test_a_queue_without_a_quota_never_fills() -> None:
    bench = Bench()
    assert bench.queue().record.settings.quota == FOREVER
    assert judge(bench.state, bench.queue(), 2**29) is Enqueued.DONE


@pytest.mark.spec("DM-187")
def test_the_manager_takes_messages_up_to_its_quota() -> None:
    bench = Bench("orders", "other", quota=1)
    bench.send("other", sized(900))
    before = everything(bench.state)
    answer = bench.send("orders", sized(300))
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "manager's quota is 1 kilobytes, 900 bytes" in answer.why
    assert everything(bench.state) == before
    bench.receive("other")
    assert bench.send("orders", sized(300)).status is HResult.OK


@pytest.mark.spec("DM-187")
def test_a_manager_without_a_quota_never_fills() -> None:
    bench = Bench(quota=FOREVER)
    assert judge(bench.state, bench.queue(), 2**60) is Enqueued.DONE


@pytest.mark.spec("DM-187")
def test_what_a_transaction_sent_counts_against_the_managers_quota_before_it_ends() -> None:
    bench = Bench("orders", "other", quota=1)
    transaction = bench.begin()
    assert bench.send("orders", bytes(600), transaction=transaction).status is HResult.OK
    assert bench.send("other", bytes(600)).status is HResult.INSUFFICIENT_RESOURCES
    bench.ask(AbortTransaction(0, transaction))
    assert bench.send("other", bytes(600)).status is HResult.OK


@pytest.mark.spec("DM-187", "DM-188")
def test_the_managers_quota_is_looked_at_first() -> None:
    """T30, both quotas are exceeded: the manager's is named."""
    bench = Bench("other", quota=1)
    bench.create("orders", quota=1)
    assert judge(bench.state, bench.queue(), 1025) is Enqueued.MANAGER_FULL
    assert "manager" in bench.send("orders", sized(1025)).why


@pytest.mark.spec("DM-187", "DM-294", "DM-295", "DM-197")
def test_a_throttled_manager_says_why() -> None:
    bench = Bench()
    bench.handle(FlowControl(throttled=True, why="the disk is nearly full"))
    answer = bench.send("orders", b"x")
    assert (answer.status, answer.why) == (HResult.INSUFFICIENT_RESOURCES, "the disk is nearly full")
    bench.handle(FlowControl(throttled=True))
    assert "until its store has caught up" in bench.send("orders", b"x").why


def test_a_throttled_manager_takes_nothing() -> None:
    """T28, a throttled manager: refused with 2; nothing is stored."""
    bench = Bench()
    bench.handle(FlowControl(throttled=True))
    before = everything(bench.state)
    answer = bench.send("orders", b"m1")
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "caught up" in answer.why
    assert everything(bench.state) == before
    bench.handle(FlowControl(throttled=False))
    assert bench.send("orders", b"m1").status is HResult.OK


@pytest.mark.spec("DM-286", "DM-288")
def test_a_message_counts_with_its_headers_and_is_taken_off_again() -> None:
    bench = Bench()
    size = size_of(message(b"12345", label="ab"))
    assert size == PACKET_HEADERS + 5 + 2 * 2
    bench.send("orders", b"12345", label="ab")
    bench.send("orders", b"12345", label="ab", delivery=Delivery.EXPRESS)
    assert bench.queue().total_bytes == 2 * size == bench.state.totals.bytes
    bench.receive("orders", count=2)
    assert bench.queue().total_bytes == 0 == bench.state.totals.bytes


# -- many in one request: all or none


@pytest.mark.spec("DM-188", "DM-197")
def test_a_batch_that_does_not_fit_leaves_nothing_behind() -> None:
    bench = Bench("other")
    bench.create("orders", quota=1)
    before = everything(bench.state)
    assert bench.send("orders", *[sized(300)] * 4).status is HResult.INSUFFICIENT_RESOURCES
    assert everything(bench.state) == before


@pytest.mark.spec("DM-187")
def test_a_batch_with_journal_copies_is_taken_whole() -> None:
    """The copies count against the manager too, but they do not break a batch in two."""
    bench = Bench(quota=1)
    answer = bench.send("orders", *[sized(300)] * 3, positive_journaling=True)
    assert answer.status is HResult.OK
    assert len(bench.bodies()) == 3
    check(bench.state)


def test_a_late_message_in_a_batch_stays_out_alone() -> None:
    bench = Bench()
    late = message(b"late", sent_time=in_whole_seconds(NOON) - 100, time_to_reach_queue=10)
    for batch in ((message(b"a"), late, message(b"b")), (late, message(b"a"), message(b"b"))):
        answer = bench.ask(SendMessages(0, "orders", batch))
        assert answer.status is HResult.IO_TIMEOUT
        assert [bool(lookup_id) for lookup_id in answer.lookup_ids] == [each is not late for each in batch]
        assert bodies(bench.receive("orders", count=9)) == [b"a", b"b"]


@pytest.mark.spec("DM-197")
def test_a_late_message_that_is_not_kept_changes_nothing() -> None:
    bench = Bench()
    before = everything(bench.state)
    bench.ask(SendMessages(0, "orders", (travelled(100, time_to_reach_queue=10),)))
    assert everything(bench.state) == before


@pytest.mark.parametrize(("bodies_", "status"), [((99, 1), HResult.OK), ((99, 2), HResult.INVALID_PARAMETER)])
def test_a_transaction_has_a_largest_size(
    bodies_: tuple[int, int], status: HResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue, "TRANSACTION_BYTES", 3 * PACKET_HEADERS + 200)
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"x" * 100, transaction=transaction)
    before = everything(bench.state)
    answer = bench.send("orders", *[b"x" * size for size in bodies_], transaction=transaction)
    assert answer.status is status
    if status is not HResult.OK:
        assert str(3 * PACKET_HEADERS + 200) in answer.why
        assert str(3 * PACKET_HEADERS + 201) in answer.why
        assert everything(bench.state) == before


# -- identity and order


@pytest.mark.spec("DM-028", "DM-048", "DM-193")
def test_the_highest_priority_comes_first_and_equals_in_the_order_they_came() -> None:
    """T31, messages of different priority: higher first, equal ones by arrival."""
    bench = Bench()
    for text, priority in [(b"3a", 3), (b"7", 7), (b"3b", 3), (b"0", 0)]:
        bench.send("orders", text, priority=priority)
    assert bench.bodies() == [b"7", b"3a", b"3b", b"0"]
    assert bodies(bench.receive("orders", count=4)) == [b"7", b"3a", b"3b", b"0"]


@pytest.mark.spec("DM-191")
def test_a_transactional_queue_knows_only_the_order_of_arrival() -> None:
    bench = Bench("other")
    bench.create("orders", transactional=True)
    for text, priority in [(b"a", 3), (b"b", 7), (b"c", 0)]:
        bench.send("orders", text, priority=priority)
    assert bench.bodies() == [b"a", b"b", b"c"]


@pytest.mark.spec("DM-042", "DM-190", "DM-191", "DM-192")
@pytest.mark.parametrize("priority", range(8))
def test_a_lookup_identifier_is_the_lane_and_the_sequence(priority: int) -> None:
    """T32, with the high byte the other way round (AN-03)."""
    bench = Bench()
    bench.state.numbers.sequence = 0x1122334455667788
    (lookup_id,) = bench.send("orders", b"m", priority=priority).lookup_ids
    assert lookup_id >> LANE_SHIFT == 7 - priority
    assert lookup_id & SEQUENCE_MASK == 0x22334455667789
    assert bench.state.numbers.sequence == 0x1122334455667789


@pytest.mark.spec("DM-191", "DM-192")
def test_a_lookup_identifier_in_a_transactional_queue_is_the_sequence_alone() -> None:
    bench = Bench("other")
    bench.create("orders", transactional=True)
    bench.state.numbers.sequence = 0x1122334455667788
    assert bench.send("orders", b"m", priority=0).lookup_ids == (0x22334455667789,)


@pytest.mark.spec("DM-028", "DM-042")
def test_lookup_identifiers_grow_along_the_queue_and_never_repeat() -> None:
    bench = Bench("orders", "other")
    ids: list[int] = []
    for turn in range(40):
        ids += bench.send("orders" if turn % 3 else "other", b"a", b"b", priority=turn % 8).lookup_ids
    assert len(set(ids)) == 80
    here = [position.lookup_id for position in walk(bench.queue())]
    assert here == sorted(here)


@pytest.mark.spec("DM-189", "DM-190")
def test_a_new_message_gets_its_identity_from_the_manager() -> None:
    bench = Bench()
    answer = bench.send("orders", b"a", b"b")
    first, second = bench.receive("orders", count=2).messages
    lineage = bench.state.identity().identifier
    assert first.message.identifier == ObjectId(lineage, first.position.lookup_id & 0xFFFFFFFF)
    assert [first.message.identifier, second.message.identifier] == answer.identifiers()
    assert second.message.identifier.uniquifier == first.message.identifier.uniquifier + 1
    assert first.message.source_machine == lineage
    assert first.message.sent_time == in_whole_seconds(NOON)
    assert first.position.arrived == NOON


def test_a_message_that_travelled_keeps_its_identity() -> None:
    bench = Bench()
    identifier, origin = ObjectId(UUID(int=5), 17), UUID(int=6)
    sent_time = in_whole_seconds(NOON) - 60
    bench.send("orders", b"a", identifier=identifier, source_machine=origin, sent_time=sent_time)
    (found,) = bench.receive("orders").messages
    assert found.message.identifier == identifier
    assert found.message.source_machine == origin
    assert found.message.sent_time == sent_time


@pytest.mark.spec("DM-043", "DM-047", "DM-054", "DM-062")
def test_what_is_the_senders_own_comes_back_as_it_was_sent() -> None:
    sent = message(
        b"\x00\xff body",
        label="Ärger \U0001f4e6",
        body_type=8,
        application_tag=0xFFFFFFFF,
        correlation=ObjectId(UUID(int=9), 9),
        extension=b"\x01\x02",
        message_class=0x0123,
        connector_type=UUID(int=3),
        authentication_provider_type=7,
        authentication_provider_name="provider",
        transaction_status_queue="status",
        soap_envelope="<e/>",
        soap_compound_message="compound",
    )
    bench = Bench()
    bench.ask(SendMessages(0, "orders", (sent,)))
    bench.restart()
    (found,) = bench.receive("orders").messages
    for field in (
        "body", "label", "body_type", "application_tag", "correlation", "extension", "message_class",
        "connector_type", "authentication_provider_type", "authentication_provider_name",
        "transaction_status_queue", "soap_envelope", "soap_compound_message",
    ):  # fmt: skip
        assert getattr(found.message, field) == getattr(sent, field), field


@pytest.mark.spec("DM-195")
def test_a_message_in_a_transaction_is_recoverable_and_bears_its_name() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"a", transaction=transaction, delivery=Delivery.EXPRESS)
    sent = next(iter(bench.state.transactions.open[transaction].messages.values()))
    assert sent.delivery is Delivery.RECOVERABLE
    assert sent.transaction == transaction


@pytest.mark.spec("DM-196")
def test_a_message_is_available_at_once_without_a_transaction() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    assert body(bench.receive("orders")) == b"a"


def test_a_message_goes_where_the_handle_points() -> None:
    bench = Bench()
    handle = bench.ask(OpenQueue(0, "orders", Access.SEND)).handle
    assert bench.send(handle, b"a").status is HResult.OK
    assert bench.bodies() == [b"a"]


# -- the time to reach the queue


def travelled(seconds: int, **attributes: Any) -> Message:
    return message(b"late", sent_time=in_whole_seconds(NOON) - seconds, **attributes)


@pytest.mark.parametrize(
    ("travel", "allowed", "late"),
    [
        pytest.param(10, 11, False, id="before"),
        pytest.param(10, 10, False, id="in the last second"),
        pytest.param(11, 10, True, id="after"),
        pytest.param(10**9, FOREVER, False, id="forever"),
        pytest.param(345_600, 0x54600, False, id="four days"),
    ],
)
def test_a_message_has_a_time_to_reach_the_queue(travel: int, allowed: int, late: bool) -> None:
    """AN-06: a message past its time to reach the queue is refused with 3."""
    assert too_late(travelled(travel, time_to_reach_queue=allowed), NOON) is late
    bench = Bench()
    answer = bench.ask(SendMessages(0, "orders", (travelled(travel, time_to_reach_queue=allowed),)))
    assert answer.status is (HResult.IO_TIMEOUT if late else HResult.OK)
    assert len(bench.bodies()) == (0 if late else 1)
    assert bench.bodies("system$;deadletter") == []


def test_a_message_that_was_sent_after_2106_is_never_late() -> None:
    """SentTime does not say when it was sent."""
    message = Message.of(sent_time=LAST_SECOND, time_to_reach_queue=10)
    assert not too_late(message, Instant((LAST_SECOND + 1_000_000) * SECOND))


def test_a_message_that_did_not_travel_is_never_late() -> None:
    """The fraction of a second that SentTime does not show does not make it late either."""
    bench = Bench()
    bench.advance(0.999)
    assert bench.send("orders", b"now", time_to_reach_queue=0).status is HResult.OK
    assert body(bench.receive("orders")) == b"now"


@pytest.mark.spec("DM-050")
def test_a_late_message_goes_to_the_dead_letter_queue_where_it_asked_for_that() -> None:
    bench = Bench()
    late = travelled(100, time_to_reach_queue=10, negative_journaling=True)
    answer = bench.ask(SendMessages(0, "orders", (late,)))
    assert answer.status is HResult.IO_TIMEOUT
    assert "time to reach" in answer.why
    (dead,) = walk(bench.queue("system$;deadletter"))
    assert dead.reason is MessageClass.NACK_REACH_QUEUE_TIMEOUT
    assert bench.bodies("system$;deadletter") == [b"late"]
    assert bench.bodies() == []
    bench.restart()
    assert bench.bodies("system$;deadletter") == [b"late"]
    check(bench.state)


@pytest.mark.spec("DM-050")
def test_a_late_message_of_a_transaction_goes_to_the_transactional_dead_letter_queue() -> None:
    bench = Bench()
    late = travelled(100, time_to_reach_queue=10, negative_journaling=True)
    transaction = bench.begin()
    assert bench.ask(SendMessages(0, "orders", (late,), transaction)).status is HResult.IO_TIMEOUT
    assert bench.bodies("system$;deadxact") == [b"late"]
    assert bench.state.transactions.open[transaction].operations == []


# -- the system journal


@pytest.mark.spec("DM-049")
@pytest.mark.parametrize("asked", [True, False])
def test_a_copy_is_kept_in_the_system_journal_where_the_message_asks_for_it(asked: bool) -> None:
    bench = Bench()
    bench.send("orders", b"a", positive_journaling=asked)
    assert bench.bodies("system$;journal") == ([b"a"] if asked else [])
    assert bench.bodies() == [b"a"]


@pytest.mark.spec("DM-049")
def test_a_copy_and_its_message_share_one_body() -> None:
    bench = Bench()
    bench.send("orders", b"a", positive_journaling=True)
    assert len(every(bench.state, MESSAGES)) == 1
    assert [row.count for row in every(bench.state, SHARES).values()] == [2]
    bench.receive("orders")
    assert len(every(bench.state, MESSAGES)) == 1
    assert not every(bench.state, SHARES)
    bench.restart()
    assert body(bench.receive("system$;journal")) == b"a"
    assert not every(bench.state, MESSAGES)
    check(bench.state)


@pytest.mark.spec("DM-049")
def test_the_message_stays_when_its_copy_goes_first() -> None:
    bench = Bench()
    bench.send("orders", b"a", b"b", positive_journaling=True)
    bench.receive("system$;journal", count=2)
    check(bench.state)
    bench.restart()
    assert bodies(bench.receive("orders", count=2)) == [b"a", b"b"]
    assert not every(bench.state, MESSAGES)


@pytest.mark.spec("DM-049")
def test_a_copy_for_which_the_system_journal_has_no_room_is_not_kept() -> None:
    bench = Bench()
    bench.state.manager.record = msgspec.structs.replace(bench.state.identity(), journal_quota=1)
    bench.send("orders", sized(1024), positive_journaling=True)
    bench.send("orders", b"no room for its copy", positive_journaling=True)
    assert len(bench.bodies()) == 2
    assert len(bench.bodies("system$;journal")) == 1
    assert by_word(bench.queue().counts.lost) == {"source-journal": 1}
    check(bench.state)


@pytest.mark.spec("DM-049", "DM-080")
@pytest.mark.parametrize("delivery", list(Delivery))
def test_a_copy_in_the_system_journal_does_not_expire(delivery: Delivery) -> None:
    bench = Bench()
    bench.send("orders", b"a", positive_journaling=True, time_to_be_received=10, delivery=delivery)
    bench.advance(10)
    assert (bench.bodies(), bench.bodies("system$;journal")) == ([], [b"a"])
    check(bench.state)


@pytest.mark.spec("DM-046", "DM-049")
def test_an_express_message_and_its_copy_share_one_body_in_memory() -> None:
    bench = Bench()
    bench.send("orders", b"a", positive_journaling=True, delivery=Delivery.EXPRESS)
    assert not every(bench.state, MESSAGES)
    assert body(bench.receive("system$;journal")) == b"a"
    assert body(bench.receive("orders")) == b"a"
    check(bench.state)


@pytest.mark.spec("DM-049")
def test_a_copy_waits_for_the_commit() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"a", positive_journaling=True, transaction=transaction)
    assert bench.bodies("system$;journal") == []
    bench.ask(CommitTransaction(0, transaction))
    assert bench.bodies("system$;journal") == [b"a"]
    check(bench.state)
