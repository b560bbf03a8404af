"""Tests that messages become packets, and of the numbers that are kept for them."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.mqqb.sender.packets import MOST_TRANSACTIONS, is_final_ack, refused_sender
from reliquary.queueing.model.message import NO_GUID, Message, MessageClass
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, PEER, MqqbBench

QUEUE = f"PRIVATE={PEER}\\00000004"
FINAL = Message.of(message_class=MessageClass.NACK_BAD_DEST_QUEUE, label="QM Ordering Ack", body=bytes(36))


def test_a_final_acknowledgement_is_known_by_its_name_label_and_body() -> None:
    assert is_final_ack(FINAL, QUEUE)
    assert not is_final_ack(FINAL, ELSEWHERE)
    assert not is_final_ack(Message.of(message_class=0x4000, label="mine", body=bytes(36)), QUEUE)


@pytest.mark.parametrize(
    ("reason", "sender"),
    [
        (MessageClass.NACK_BAD_DEST_QUEUE, PEER),
        (MessageClass.ACK_RECEIVE, NO_GUID),
        (MessageClass.NACK_QUEUE_PURGED, NO_GUID),
    ],
)
def test_only_refusals_hold_up_the_order_acknowledgement(reason: MessageClass, sender: UUID) -> None:
    message = Message.of(message_class=reason, label="QM Ordering Ack", body=bytes(36))
    assert refused_sender(message, QUEUE) == sender


@pytest.mark.spec("QB-281")
def test_numbers_of_transactions_are_counted_and_forgotten() -> None:
    bench = MqqbBench()
    for number in range(3):
        bench.transact(ELSEWHERE, b"%d" % number)
    headers = [each.transaction for each in bench.dialled().messages]
    assert [each.identifier for each in headers if each is not None] == [1, 2, 3]
    assert len(bench.mqqb.sender.transactions) <= MOST_TRANSACTIONS


def test_an_order_acknowledgement_has_a_number_of_its_own() -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    for number in (1, 2):
        peer.user(b"", to="TCP:10.0.0.2\\private$\\ledger", stream=(number, number - 1))
        bench.advance(0.6)
    one, two = (each.user.message_id for each in peer.messages)
    assert one != two
