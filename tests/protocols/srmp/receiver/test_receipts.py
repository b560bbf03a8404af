"""Receipts that senders get after the answer to their POST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reliquary.base.turn import Continue
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostArrived
from reliquary.protocols.srmp.receiver.receipts import DECISIONS, on_receipt_due
from reliquary.protocols.srmp.state import Count
from reliquary.queueing.model.events import DeleteQueue, EndRead, FlowControl, PurgeQueue, SendMessages
from reliquary.queueing.model.message import Delivery, Message, MessageClass
from reliquary.queueing.model.travel.transfer import MessageArrived, ReceiptDue
from reliquary.queueing.rules.leave import leave as leave_queue
from tests.protocols.srmp.peer import (
    ADMIN,
    ALPHA,
    ORDERS,
    RECEIPTS,
    SENT,
    TORDERS,
    stream_id,
    stream_message,
    user_message,
)
from tests.protocols.srmp.peer import read as read_post
from tests.protocols.srmp.receiving import Receipt, Receiving
from tests.queueing.state_checks import walk

OTHER = "http://alpha.example/msmq/private$/other"
LONG_AFTER = "20231201T000000"
ID = f"uuid:1@{ALPHA}"
POSITIVE = (ADMIN, "positiveOnly")
NEGATIVE = (ADMIN, "negativeOnly")
BOTH = (ADMIN, "positiveOnly", "negativeOnly")


def committed(
    decision: str, message_class: int, *, to: str = ADMIN, about: str = ID, label: str = ""
) -> Receipt:
    """Return a commitment receipt that is written at the bench's noon."""
    return Receipt(to, message_class, {"decidedAt": SENT, "decision": decision, "id": about}, label)


def final(decision: str, message_class: int, number: int) -> Receipt:
    """Return the receipt that is expected when a message has reached its final state."""
    said = {"streamId": stream_id(), "lastOrdinal": str(number), "decidedAt": SENT, "decision": decision}
    said["id"] = f"uuid:{1000 + number}@{ALPHA}"
    return Receipt(RECEIPTS, message_class, said, "QM Ordering Ack")


def read(bench: Receiving, queue: str = "orders") -> None:
    assert len(bench.receive(queue).messages) == 1


def purge(bench: Receiving, queue: str = "orders") -> None:
    bench.ask(PurgeQueue(0, queue))


def delete(bench: Receiving, queue: str = "orders") -> None:
    bench.ask(DeleteQueue(0, queue))


def reject(bench: Receiving, queue: str = "orders") -> None:
    held = bench.receive(queue, hold=60)
    bench.ask(EndRead(0, held.receipt, delete=True, reject=True))


def time_out(bench: Receiving, queue: str = "orders") -> None:
    del queue
    bench.advance(4 * 24 * 3600)  # until LATER


def take_out(bench: Receiving, queue: str = "orders") -> None:
    """Remove a message as a protocol could; no event of the manager lets administrators do that."""
    found = bench.queue(queue)
    leave_queue(bench.state, found, walk(found), MessageClass.NACK_PURGED)
    bench.manager._finish(bench.now)
    for effect in bench.keep(bench.core._spread(bench.state.draft.take(), bench.now)):
        if isinstance(effect, Continue):
            bench.handle(effect.event)


# -- delivery receipts


@pytest.mark.srmp("T-26")
@pytest.mark.spec("SR-059", "SR-060", "SR-078", "SR-079", "SR-080", "SR-081", "SR-210", "SR-056")
@pytest.mark.parametrize("durable", [True, False])
def test_a_delivery_receipt_says_when_the_message_came(durable: bool) -> None:
    bench = Receiving()
    bench.advance(5)
    assert bench.post(*user_message(delivery_to=ADMIN, durable=durable, action="MSMQ:order")).status == 200
    receipt = Receipt(ADMIN, 2, {"receivedAt": "20231114T221325", "id": ID}, "order")
    assert bench.receipts == [receipt]
    (message,) = bench.outgoing
    assert (message.delivery, message.body, message.priority) == (Delivery.EXPRESS, b"", 3)
    assert (message.correlation.lineage, message.correlation.uniquifier) == (ALPHA, 1)
    assert message.response_queue == f"DIRECT={ORDERS}"
    assert message.acknowledgements == ()


@pytest.mark.spec("SR-137")
def test_a_message_without_a_request_gets_no_receipt() -> None:
    bench = Receiving()
    bench.post(*user_message())
    read(bench)
    assert bench.outgoing == []


@pytest.mark.spec("SR-056", "SR-234")
def test_what_is_not_stored_is_not_receipted() -> None:
    bench = Receiving()
    bench.create("small", quota=1)
    bench.post(*user_message(ORDERS.replace("orders", "small"), b"x" * 2000, delivery_to=ADMIN))
    bench.post(*user_message(TORDERS, delivery_to=ADMIN))
    assert bench.receipts == []
    for _ in range(2):
        bench.post(*user_message(delivery_to=ADMIN))
    assert len(bench.receipts) == 1


@pytest.mark.spec("SR-080", "SR-034")
def test_a_receipt_repeats_an_id_that_says_nothing_to_us() -> None:
    bench = Receiving()
    content_type, body = user_message(delivery_to=ADMIN, commitment=POSITIVE, msmq=False)
    odd = b"order &lt;7&gt; of ".ljust(len(ID), b"x")
    assert bench.post(content_type, body.replace(ID.encode(), odd)).status == 200
    read(bench)
    assert [receipt.said["id"] for receipt in bench.receipts] == ["order <7> of " + "x" * (len(ID) - 19)] * 2


@pytest.mark.srmp("T-28")
@pytest.mark.spec("SR-027", "SR-165")
@pytest.mark.parametrize(("action", "label"), [("MSMQ:", ""), ("MSMQ:a & b", "a & b"), ("other", "")])
def test_a_receipt_has_the_label_of_its_message(action: str, label: str) -> None:
    bench = Receiving()
    bench.post(*user_message(delivery_to=ADMIN, commitment=BOTH, action=action))
    read(bench)
    assert [receipt.label for receipt in bench.receipts] == [label, label]


@pytest.mark.spec("SR-056", "SR-140")
def test_a_receipt_waits_for_the_disk_in_every_turn() -> None:
    """An express message, which by itself waits for no sync, shares its turn with a receipt."""
    bench = Receiving()
    bench.post(*user_message(number=1, delivery_to=ADMIN, durable=False))
    bench.answer(bench.posts[0])
    bench.core.close()
    bench.core.take_at_once()
    bench.core.turn(PostArrived(1, *user_message(number=2, delivery_to=ADMIN)), bench.now)
    bench.core.turn(SendMessages(2, "orders", (Message(body=b"express"),)), bench.now)
    batch = bench.core.close()
    assert not [effect for effect in bench.core.take_at_once() if isinstance(effect, Post)]
    assert [effect for effect in batch.after_sync if isinstance(effect, Post)]


# -- commitment receipts


def test_every_reason_to_leave_a_queue_is_decided() -> None:
    assert set(DECISIONS) == set(MessageClass)


@pytest.mark.srmp("T-29")
@pytest.mark.spec("SR-062", "SR-145", "SR-295", "SR-296", "SR-297", "SR-083", "SR-084", "SR-085", "SR-086")
def test_a_sender_that_requests_positive_receipts_gets_one_when_the_message_was_read() -> None:
    bench = Receiving()
    bench.post(*user_message(commitment=POSITIVE))
    assert bench.receipts == []
    read(bench)
    assert bench.receipts == [committed("positive", 0x4000)]


@pytest.mark.srmp("T-30")
@pytest.mark.spec("SR-062")
@pytest.mark.parametrize("leave", [purge, delete, reject])
def test_a_sender_that_requests_positive_receipts_gets_no_negative_ones(
    leave: Callable[[Receiving], None],
) -> None:
    bench = Receiving()
    bench.post(*user_message(commitment=POSITIVE))
    leave(bench)
    assert bench.receipts == []


@pytest.mark.srmp("T-31")
@pytest.mark.spec("SR-063", "SR-146", "SR-297")
@pytest.mark.parametrize("asked", [NEGATIVE, BOTH])
@pytest.mark.parametrize(
    ("leave", "message_class"),
    [(purge, 49153), (delete, 49152), (time_out, 49154), (take_out, 32769), (reject, 49156)],
)
def test_a_sender_that_requests_negative_receipts_gets_the_reason(
    leave: Callable[[Receiving], None], message_class: int, asked: tuple[str, ...]
) -> None:
    bench = Receiving()
    bench.post(*user_message(commitment=asked, ttrq=LONG_AFTER))
    assert bench.posts == []
    leave(bench)
    (receipt,) = bench.receipts
    assert (receipt.to, receipt.message_class) == (ADMIN, message_class)
    assert receipt.said["decision"] == "negative"
    (post,) = bench.posts
    elements = read_post(post.body)
    assert (elements["Class"], elements["decision"]) == (str(message_class), "negative")
    assert elements["to"] == ADMIN


@pytest.mark.srmp("T-32")
@pytest.mark.spec("SR-065")
def test_a_sender_that_requests_both_receipts_gets_one_of_them() -> None:
    bench = Receiving()
    bench.post(*user_message(commitment=BOTH))
    read(bench)
    assert bench.receipts == [committed("positive", 0x4000)]


@pytest.mark.srmp("T-33")
@pytest.mark.spec("SR-064", "SR-147")
@pytest.mark.parametrize("leave", [read, purge, delete, reject])
def test_a_sender_without_requests_gets_no_receipt(leave: Callable[[Receiving], None]) -> None:
    bench = Receiving()
    bench.post(*user_message(commitment=(ADMIN,)))
    leave(bench)
    assert bench.receipts == []


@pytest.mark.srmp("T-34")
@pytest.mark.spec("SR-060", "SR-086")
def test_two_requests_may_name_two_queues() -> None:
    bench = Receiving()
    bench.post(*user_message(delivery_to=OTHER, commitment=BOTH))
    read(bench)
    assert [(receipt.to, receipt.message_class) for receipt in bench.receipts] == [
        (OTHER, 2),
        (ADMIN, 0x4000),
    ]


def test_a_message_that_comes_back_to_its_queue_is_not_decided() -> None:
    bench = Receiving()
    bench.post(*user_message(commitment=BOTH))
    held = bench.receive("orders", hold=60)
    bench.ask(EndRead(0, held.receipt, delete=False))
    assert bench.receipts == []
    read(bench)
    assert len(bench.receipts) == 1


@pytest.mark.spec("SR-296")
def test_a_commitment_receipt_is_written_after_a_restart_too() -> None:
    bench = Receiving()
    bench.post(*user_message(commitment=BOTH, action="MSMQ:order"))
    bench.restart()
    read(bench)
    assert bench.receipts == [committed("positive", 0x4000, label="order")]


# -- receipts that cannot be sent


@pytest.mark.parametrize(
    ("queue", "why"),
    [
        ("nowhere", "it is a queue of this manager, and is not there"),
        ("small", "the queue on its way is full"),
        ("torders", "it is a queue of this manager for transactions only"),
    ],
)
def test_a_receipt_that_the_manager_does_not_take_is_logged(queue: str, why: str) -> None:
    bench = Receiving()
    bench.create("small", quota=0)
    url = f"http://bench.example/msmq/private$/{queue}"
    assert bench.post(*user_message(delivery_to=url, commitment=(url, "positiveOnly"))).status == 200
    (warning,) = bench.warnings
    assert (warning.about, warning.what, warning.why) == (url, "a receipt was not sent", why)
    read(bench)
    assert len(bench.warnings) == 2
    counts = bench.srmp.state.counts
    assert (counts[Count.RECEIPTS_LOST], counts[Count.RECEIPTS_SENT]) == (2, 0)
    bench.create("admin")
    bench.post(*user_message(number=2, delivery_to="http://bench.example/msmq/private$/admin"))
    assert (counts[Count.RECEIPTS_LOST], counts[Count.RECEIPTS_SENT], len(bench.warnings)) == (2, 1, 2)


def test_a_receipt_for_which_the_manager_has_no_room_is_logged() -> None:
    bench = Receiving()
    bench.post(*user_message(body=b"", delivery_to=ADMIN))
    room = 4 * 1024 - bench.queue("orders").total_bytes
    bench = Receiving(quota=4)
    assert bench.post(*user_message(body=b"x" * room, delivery_to=ADMIN)).status == 200
    (warning,) = bench.warnings
    assert (warning.about, warning.why) == (ADMIN, "the manager's quota is used up, or it is not ready")


# -- final stream receipts


def stream(bench: Receiving, number: int, **elements: Any) -> None:
    assert bench.post(*stream_message(number, **elements)).status == 200


@pytest.mark.srmp("T-54")
@pytest.mark.spec("SR-144")
def test_a_stream_message_has_no_final_receipt_unless_its_sender_keeps_it() -> None:
    bench = Receiving()
    stream(bench, 1)
    read(bench, "torders")
    assert bench.receipts == []


@pytest.mark.spec("SR-144", "SR-300", "SR-301", "SR-302", "SR-082")
@pytest.mark.parametrize(
    ("leave", "decision", "message_class"),
    [
        (read, "positive", 0x4000),
        (purge, "negative", 0xC001),
        (delete, "negative", 0xC000),
        (reject, "negative", 0xC004),
    ],
)
def test_a_final_receipt_says_what_became_of_the_message(
    leave: Callable[[Receiving, str], None], decision: str, message_class: int
) -> None:
    bench = Receiving()
    for number in (1, 2):
        stream(bench, number, flags="<DeadLetter/>")
    leave(bench, "torders")
    if leave in (read, reject):
        leave(bench, "torders")
    # the second message does not say where receipts go: the first one did
    assert bench.receipts[-1] == final(decision, message_class, 2)
    assert [receipt.said["lastOrdinal"] for receipt in bench.receipts] == ["1", "2"]
    assert {message.priority for message in bench.outgoing} == {0}


@pytest.mark.srmp("T-55")
@pytest.mark.spec("SR-300", "SR-295")
def test_a_commitment_receipt_and_a_final_one_go_their_ways() -> None:
    bench = Receiving()
    stream(bench, 1, flags="<DeadLetter/>", commitment=BOTH)
    read(bench, "torders")
    about = f"uuid:1001@{ALPHA}"
    assert bench.receipts == [committed("positive", 0x4000, about=about), final("positive", 0x4000, 1)]


@pytest.mark.spec("SR-300")
def test_a_final_receipt_outlives_a_crash() -> None:
    bench = Receiving()
    stream(bench, 1, flags="<DeadLetter/>")
    read(bench, "torders")
    bench.restart()
    assert final("positive", 0x4000, 1) in bench.receipts


@pytest.mark.spec("SR-300")
def test_a_final_receipt_is_written_without_room() -> None:
    bench = Receiving()
    stream(bench, 1, flags="<DeadLetter/>")
    bench.handle(FlowControl(True, "the disk is almost full"))
    read(bench, "torders")
    assert bench.receipts == [final("positive", 0x4000, 1)]
    assert bench.srmp.state.counts[Count.RECEIPTS_LOST] == 0


def written(bench: Receiving, reason: MessageClass) -> list[MessageArrived]:
    """Return what is written when the message at the head leaves for this reason."""
    position = bench.queue("torders").order.first()
    assert position is not None
    due = ReceiptDue("srmp", bench.queue("torders").number, bench.state.messages.get(position), reason)
    on_receipt_due(bench.srmp.state, due, bench.now)
    return [each for each in bench.srmp.state.draft.take().signals if isinstance(each, MessageArrived)]


@pytest.mark.srmp("T-31")
@pytest.mark.spec("SR-297", "SR-301")
@pytest.mark.parametrize(
    ("reason", "decision"),
    [(each, decision) for each, decision in DECISIONS.items() if decision is not None],
)
def test_the_reason_is_the_class_of_both_receipts(reason: MessageClass, decision: bool) -> None:
    bench = Receiving()
    stream(bench, 1, flags="<DeadLetter/>", commitment=BOTH)
    receipts = written(bench, reason)
    assert [each.destination for each in receipts] == [f"DIRECT={ADMIN}", f"DIRECT={RECEIPTS}"]
    assert {each.message.message_class for each in receipts} == {reason}
    word = "positive" if decision else "negative"
    assert all(f"<decision>{word}</decision>" in each.message.soap_header for each in receipts)


@pytest.mark.spec("SR-298", "SR-303")
@pytest.mark.parametrize("reason", [each for each in MessageClass if DECISIONS[each] is None])
def test_no_other_reason_leads_to_a_receipt(reason: MessageClass) -> None:
    bench = Receiving()
    stream(bench, 1, flags="<DeadLetter/>", commitment=BOTH)
    assert written(bench, reason) == []
