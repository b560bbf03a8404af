"""Tests that messages become packets, and of the numbers that are kept for them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.protocols.mqqb.sender.packets import MOST_TRANSACTIONS, is_final_ack, refused_sender
from reliquary.queueing.model.message import NO_GUID, Message, MessageClass
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, PEER, MqqbBench, place_of, stream_of

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


ANSWERS: dict[str, Any] = {"response_queue": r"DIRECT=OS:bench.example\private$\orders"}
"""A rare attribute: messages that have equal rare attributes are written by the pattern of the first one."""


def test_a_message_outside_streams_never_gets_the_place_of_the_stream_before_it() -> None:
    """With it the receiver would drop the message as a repeated one, and acknowledge it."""
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", **ANSWERS)
    peer = bench.dialled()
    bench.send(ELSEWHERE, b"3", b"4", **ANSWERS)
    bench.transact(ELSEWHERE, b"5", **ANSWERS)
    assert [each.transaction is not None for each in peer.messages] == [True, True, False, False, True]
    assert peer.bodies == [b"1", b"2", b"3", b"4", b"5"]


def test_a_message_of_a_stream_has_its_place_behind_messages_outside_streams() -> None:
    """Written over another header, the place made a packet that closed each session."""
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"1", b"2", **ANSWERS)
    peer = bench.dialled()
    bench.transact(ELSEWHERE, b"3", b"4", **ANSWERS)
    assert [place_of(each) for each in peer.messages[2:]] == [(1, 0), (2, 1)]


def test_each_message_of_a_stream_has_the_place_of_its_own_transaction_and_stream() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", b"3")
    bench.transact(ELSEWHERE, b"4", b"5", b"6", negative_journaling=True)
    peer = bench.dialled()
    headers = [each.transaction for each in peer.messages]
    places = [(each.identifier, each.first, each.last) for each in headers if each is not None]
    assert places == [
        (1, True, False), (1, False, False), (1, False, True),
        (2, True, False), (2, False, False), (2, False, True),
    ]  # fmt: skip
    peer.ack_all()
    peer.order_ack(stream_of(peer.messages[0]), 6)
    for number in (4, 5, 6):
        peer.final_ack(stream_of(peer.messages[0]), number, MessageClass.ACK_RECEIVE)
    bench.transact(ELSEWHERE, b"7", b"8", b"9", negative_journaling=True)
    again = peer.messages[6:]
    assert [place_of(each) for each in again] == [(1, 0), (2, 1), (3, 2)]
    assert {stream_of(each) for each in again} != {stream_of(peer.messages[0])}
    assert len({stream_of(each) for each in again}) == 1
