"""Scenes T-72 to T-77 of MQQB: how a transactional message left its queue."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.events import ChangeQueue, DeleteQueue, EndRead, FlowControl, PurgeQueue
from reliquary.queueing.model.message import Message, size_of
from reliquary.queueing.rules.enqueue import bytes_used
from tests.protocols.mqqb.mqqb_harness import (
    ELSEWHERE,
    LEDGER,
    PEER,
    STREAM,
    MqqbBench,
    receiving,
    sent_five,
    stream_of,
    waiting,
)
from tests.protocols.mqqb.pair import RIGHT, Pair
from tests.queueing.state_checks import walk

OTHER = "TCP:10.0.0.2\\private$\\other"
NOWHERE = "TCP:10.0.0.2\\private$\\nowhere"
STRANGER = UUID("11111111-2222-3333-4444-555555555555")


@pytest.mark.mqqb("T-72", "T-73")
@pytest.mark.spec("QB-073", "QB-074", "QB-075", "QB-306", "QB-308", "QB-319", "QB-321")
@pytest.mark.parametrize(
    ("end", "message_class"),
    [("read", 0x4000), ("purged", 0xC001), ("deleted", 0xC000), ("expired", 0xC002), ("rejected", 0xC004)],
)
def test_a_final_acknowledgement_says_how_a_message_left(end: str, message_class: int) -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), number=42, negative_journaling=True, time_to_be_received=60)
    if end == "read":
        bench.receive("ledger")
    elif end == "purged":
        bench.ask(PurgeQueue(0, "ledger"))
    elif end == "deleted":
        bench.ask(DeleteQueue(0, "ledger"))
    elif end == "rejected":
        receipt = bench.receive("ledger", hold=30).receipt
        bench.ask(EndRead(0, receipt, delete=True, reject=True))
    else:
        bench.advance(1)
        peer.ack_all()  # the order acknowledgement
        bench.advance(130)
    (ack,) = peer.final_acks
    assert ack.message_class == message_class
    body = ack.body
    assert (body.sequence, body.number, body.previous, body.source, body.message_id) == (
        STREAM,
        1,
        0,
        PEER,
        42,
    )


@pytest.mark.mqqb("T-73", "G-46")
@pytest.mark.spec("QB-234")
@pytest.mark.parametrize("message_class", [0xC001, 0xC000, 0xC002, 0xC004, 0x8003])
@pytest.mark.parametrize("own", ["", "failed"], ids=["of the manager", "of the application"])
def test_a_message_that_was_not_received_becomes_a_dead_letter_of_its_sender(
    message_class: int, own: str
) -> None:
    bench = MqqbBench()
    bench.create("failed", transactional=True)
    for number in range(1, 4):
        bench.transact(ELSEWHERE, b"%d" % number, negative_journaling=True, application_deadletter_queue=own)
    peer = bench.dialled()
    stream = stream_of(peer.messages[-1])
    peer.order_ack(stream, 3)
    peer.final_ack(stream, 2, message_class)
    dead = own or "system$;deadxact"
    assert bench.bodies(dead) == [b"2"]
    (position,) = walk(bench.queue(dead))
    assert position.reason == message_class
    assert waiting(bench) == 2


@pytest.mark.mqqb("T-74")
@pytest.mark.spec("QB-114")
def test_a_final_acknowledgement_is_matched_days_and_restarts_later() -> None:
    bench, peer, stream = sent_five(negative_journaling=True)
    peer.ack_all()
    peer.order_ack(stream, 5)
    bench.restart()
    bench.advance(3 * 86_400)
    bench.restart()
    again = bench.accepted()
    again.final_ack(stream, 3, 0x4000)
    assert waiting(bench) == 4
    receiver, sender = receiving()
    sender.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    receiver.restart()
    receiver.advance(86_400)
    receiver.restart()
    back = receiver.accepted()
    receiver.receive("ledger")
    assert [each.message_class for each in back.final_acks] == [0x4000]


@pytest.mark.mqqb("T-75", "G-45")
@pytest.mark.spec("QB-233", "QB-234")
def test_a_final_acknowledgement_counts_once_and_only_for_its_own_message() -> None:
    bench, peer, stream = sent_five(negative_journaling=True)
    peer.final_ack(stream, 1, 0x4000, source=STRANGER)
    peer.final_ack(stream + 99, 1, 0x4000)
    assert waiting(bench) == 5
    peer.final_ack(stream, 2, 0x4000)  # before any order acknowledgement: 1 is confirmed by it too
    assert waiting(bench) == 4
    assert bench.mqqb.sent[link_queue(bench)].stream.acknowledged == 2
    peer.final_ack(stream, 2, 0x4000)
    peer.final_ack(stream, 1, 0xC001)
    assert waiting(bench) == 3


def link_queue(bench: MqqbBench) -> int:
    """Return the number of the outgoing queue."""
    return next(iter(bench.mqqb.sender.queues))


@pytest.mark.mqqb("T-76")
@pytest.mark.spec("QB-237", "QB-244", "QB-245")
def test_a_refused_message_of_a_stream_has_a_final_acknowledgement_and_the_stream_goes_on() -> None:
    bench, peer = receiving()
    nowhere, plain = "TCP:10.0.0.2\\private$\\nowhere", "TCP:10.0.0.2\\private$\\orders"
    peer.user(b"1", to=nowhere, stream=(1, 0))
    peer.user(b"2", to=nowhere, stream=(2, 1))
    peer.user(b"3", to=plain, stream=(STREAM + 1, 1, 0))
    assert [each.message_class for each in peer.final_acks] == [0x8000, 0x8000, 0x8009]
    peer.ack_all()
    bench.advance(1)
    assert sorted(each.body.number for each in peer.order_acks) == [1, 2]
    before = len(peer.final_acks)
    peer.user(b"1", to=nowhere, stream=(1, 0))  # repeated: no second verdict
    bench.advance(1)
    assert len(peer.final_acks) == before
    assert len(peer.order_acks) == 3


@pytest.mark.mqqb("T-76", "G-26")
@pytest.mark.spec("QB-237")
def test_a_message_that_comes_again_after_its_queue_was_deleted_has_no_second_verdict() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    bench.receive("ledger")
    bench.ask(DeleteQueue(0, "ledger"))
    peer.ack_all()
    bench.advance(1)
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)  # its acknowledgements were lost
    bench.advance(1)
    assert [each.message_class for each in peer.final_acks] == [0x4000]  # and not 0x8000 as well (G-26)
    assert [each.body.number for each in peer.order_acks] == [1, 1]
    peer.user(b"2", to=LEDGER, stream=(2, 1))
    assert [each.message_class for each in peer.final_acks] == [0x4000, 0x8000]


@pytest.mark.mqqb("T-76")
def test_the_sender_is_notified_of_a_refusal_before_the_order_acknowledgement() -> None:
    pair = Pair()
    name = f"DIRECT=TCP:{RIGHT}\\private$\\nowhere"
    pair.left.transact(name, b"1")
    pair.run()
    pair.advance(2)
    assert waiting(pair.left, name) == 0
    assert pair.left.bodies("system$;deadxact") == [b"1"]


@pytest.mark.mqqb("T-77")
@pytest.mark.spec("QB-264")
def test_a_full_queue_refuses_permanently() -> None:
    bench, peer = receiving()
    bench.create("tiny", transactional=True, quota=1)
    bench.create("small", quota=1)
    peer.user(bytes(2000), to="TCP:10.0.0.2\\private$\\tiny", stream=(1, 0))
    assert [each.message_class for each in peer.final_acks] == [0x8003]
    peer.user(bytes(2001), to="TCP:10.0.0.2\\private$\\small", negative_journaling=True)
    assert [len(each) for each in bench.bodies("system$;deadletter")] == [2001]
    assert not peer.is_closed


def test_a_dead_letter_of_a_full_queue_that_comes_again_is_a_duplicate() -> None:
    """Its session acknowledgement was lost, and the queue has room meanwhile: it must not be there twice."""
    bench, peer = receiving()
    bench.create("small", quota=1)
    for _ in range(2):
        peer.user(bytes(2001), to="TCP:10.0.0.2\\private$\\small", number=7, negative_journaling=True)
        bench.ask(ChangeQueue(0, ".\\private$\\small", {"quota": 100}))
    assert [len(each) for each in bench.bodies("system$;deadletter")] == [2001]
    assert bench.bodies("small") == []
    assert bench.mqqb.counts[Count.DUPLICATES] == 1


def fill(bench: MqqbBench, quota: int) -> None:
    """Use up the quota of the manager, but for one byte."""
    room = quota * 1024 - bytes_used(bench.state) - size_of(Message())
    assert bench.send("orders", bytes(room - 1)).status is HResult.OK


@pytest.mark.mqqb("T-53", "T-76")
@pytest.mark.spec("QB-239", "QB-265")
@pytest.mark.parametrize(
    "to", [NOWHERE, "TCP:10.0.0.2\\private$\\orders"], ids=["no queue", "not transactional"]
)
def test_a_manager_without_room_refuses_no_message_of_a_stream_permanently(to: str) -> None:
    """The final acknowledgement could not be kept, and the order acknowledgement would say "delivered"."""
    bench, peer = receiving()
    bench.handle(FlowControl(True, "the disk is almost full"))
    peer.user(b"1", to=to, stream=(1, 0), negative_journaling=True)
    assert peer.hung_up
    assert bench.mqqb.places == []
    bench.handle(FlowControl(False, ""))
    again = bench.accepted()
    again.user(b"1", to=to, stream=(1, 0), negative_journaling=True)
    again.ack_all()
    bench.advance(1)
    assert len(again.final_acks) == len(again.order_acks) == 1
    assert bench.mqqb.counts[Count.FINAL_ACKS_LOST] == 0


@pytest.mark.mqqb("T-53", "T-76")
@pytest.mark.spec("QB-239", "QB-265")
def test_the_last_refusal_within_the_quota_is_reported_and_the_next_one_waits_for_room() -> None:
    bench, peer = receiving(quota=1)
    fill(bench, 1)
    for number in (1, 2):
        peer.user(b"%d" % number, to=NOWHERE, stream=(number, number - 1))
    assert [each.body.number for each in peer.final_acks] == [1]
    assert peer.hung_up
    assert [each.stream.last for each in bench.mqqb.places] == [1]


@pytest.mark.mqqb("T-72")
@pytest.mark.spec("QB-308")
@pytest.mark.parametrize("full", ["quota", "throttled"])
def test_a_manager_without_room_reports_what_became_of_a_message(full: str) -> None:
    bench, peer = receiving(quota=2)
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    peer.user(b"2", to=LEDGER, stream=(2, 1), negative_journaling=True)
    fill(bench, 2)
    bench.handle(FlowControl(full == "throttled", "the disk is almost full"))
    for _ in range(2):
        bench.receive("ledger")
    bench.restart()
    bench.handle(FlowControl(full == "throttled", "the disk is almost full"))
    again = bench.accepted()
    assert [each.message_class for each in again.final_acks] == [0x4000, 0x4000]


@pytest.mark.mqqb("T-76")
@pytest.mark.spec("QB-131")
def test_an_order_acknowledgement_that_is_due_at_once_waits_for_the_refusal_that_it_confirms() -> None:
    bench, peer = receiving(settings=MqqbSettings(most_coalesced=1))
    peer.user(b"1", to=NOWHERE, stream=(1, 0))
    bench.advance(2)
    assert (len(peer.final_acks), peer.order_acks) == (1, [])
    peer.ack_all()
    bench.advance(2)
    assert [each.body.number for each in peer.order_acks] == [1]


@pytest.mark.mqqb("T-76")
@pytest.mark.spec("QB-131")
def test_an_order_acknowledgement_that_waits_for_the_window_confirms_no_message_refused_meanwhile() -> None:
    bench, _ = receiving(settings=MqqbSettings(most_coalesced=1))
    bench.create("other", transactional=True)
    peer = bench.accepted(window=1)
    peer.user(b"1", to=LEDGER, stream=(STREAM + 1, 1, 0))
    peer.user(b"1", to=OTHER, stream=(1, 0))  # its order acknowledgement waits for that of the other stream
    bench.ask(DeleteQueue(0, "other"))
    peer.user(b"2", to=OTHER, stream=(2, 1))
    assert [each.body.number for each in peer.order_acks] == [1]
    peer.ack_all()
    assert [each.body.number for each in peer.order_acks] == [1, 1]
    for _ in range(4):
        peer.ack_all()
        bench.advance(1)
    assert [each.body.number for each in peer.order_acks] == [1, 1, 2]
    assert [each.message_class for each in peer.final_acks] == [0x8000]


IMPOSTOR = "10.0.0.66"


@pytest.mark.mqqb("T-70", "T-79")
@pytest.mark.spec("QB-303", "QB-308")
@pytest.mark.parametrize("first", [True, False], ids=["before the sender", "while the sender is connected"])
def test_a_caller_that_claims_the_guid_of_a_sender_gets_none_of_its_acknowledgements(first: bool) -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    if first:
        peer.lose()
    impostor = bench.accepted(IMPOSTOR, PEER)
    if first:
        peer = bench.accepted()
    peer.user(b"2", to=LEDGER, stream=(2, 1), negative_journaling=True)
    bench.advance(1)
    bench.receive("ledger")
    assert [each.body.number for each in peer.order_acks] == [2]
    assert [each.body.number for each in peer.final_acks] == [1]
    assert impostor.messages == []


@pytest.mark.mqqb("T-71")
def test_acknowledgements_that_another_caller_would_get_go_to_the_sender_when_it_comes_back() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    peer.user(b"2", to=LEDGER, stream=(2, 1), negative_journaling=True)
    peer.lose()
    impostor = bench.accepted(IMPOSTOR, PEER)
    bench.receive("ledger")  # without a session at its address, the sender may have moved
    assert [each.body.number for each in impostor.final_acks] == [1]
    back = bench.accepted()
    bench.receive("ledger")
    assert [each.body.number for each in back.final_acks] == [1, 2]
    bench.advance(1)
    back.ack_all()
    assert [each.body.number for each in back.final_acks] == [1, 2]
    assert bench.mqqb.counts[Count.FINAL_ACKS_LOST] == 0
