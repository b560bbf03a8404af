"""The first message of a stream is lost before any receipt: what becomes of those behind it."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import later, seconds
from reliquary.protocols.srmp.codec.blocks import commitment_block, stream_receipt_block
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.protocols.srmp.codec.values import CommitmentReceipt, StreamReceipt
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import CommitTransaction, PurgeQueue
from reliquary.queueing.model.message import Delivery, Message, MessageClass, ObjectId
from reliquary.queueing.model.travel.transfer import MessageArrived
from tests.protocols.srmp.sending import SHOP, Sender

DEAD_STREAM = "system$;deadxact"


@pytest.mark.parametrize("how", ["refused", "expired", "purged"])
@pytest.mark.spec("SR-075", "SR-076")
def test_when_the_first_message_is_lost_before_any_receipt_the_rest_is_a_new_stream(how: str) -> None:
    bench = Sender()
    bench.stream(b"1", time_to_reach_queue=10)
    bench.stream(b"2", b"3")
    old, posts = bench.stream_id, list(bench.posts)
    bench.forget()
    if how == "refused":
        bench.answer(posts[0], 400)
        for post in posts[1:]:
            bench.answer(post)
    elif how == "expired":
        bench.fail(posts[0])
        bench.advance(20)
    else:
        bench.fail(posts[0])
        bench.ask(PurgeQueue(0, SHOP))
        bench.stream(b"2", b"3")
        bench.advance(20)
    assert [(each.current, each.previous) for each in bench.places] == [(1, 0), (2, 1)]
    assert bench.stream_id != old
    assert bench.places[0].receipts_to
    if how != "purged":  # of that stream nothing was left
        assert bench.warnings[0].what == "the first message of a stream is lost and no receipt came"
    bench.answer_all()
    bench.receipt(2)
    assert bench.waiting() == 0
    bench.check()


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.spec("SR-069")
def test_a_start_that_is_answered_after_its_session_closed_was_seen(late: bool) -> None:
    """Seed 715 of the SRMP world: the receiver has all three messages by the numbers of the old stream."""
    bench = Sender()
    bench.stream(b"1", time_to_reach_queue=10)
    bench.stream(b"2", b"3")
    old, posts = bench.stream_id, list(bench.posts)
    bench.forget()
    bench.fail(posts[1])
    if late:
        bench.answer(posts[0])
    bench.advance(20)  # number 1 expires before it is posted again
    assert (bench.stream_id == old) is late
    assert [each.current for each in bench.places] == ([2, 3] if late else [1, 2])


@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.spec("SR-069", "SR-264")
def test_a_number_that_was_answered_was_seen_though_its_receipt_never_comes(crash: bool) -> None:
    bench = Sender()
    for number in range(1, 7):
        bench.stream(b"%d" % number, time_to_reach_queue=100 * number)
    stream = bench.stream_id
    bench.answer_all()
    if crash:
        bench.restart()
        bench.answer_all()
    seen = set()
    while bench.waiting():
        bench.advance(50)
        for place in bench.places:
            seen.add((place.identifier, place.current, place.previous))
        bench.answer_all()
    assert {each for each, _, _ in seen} == {stream}
    assert {(current, previous) for _, current, previous in seen if previous < current - 1} <= {
        (current, 0) for current in range(2, 7)
    }
    assert not bench.warnings
    bench.check()


def test_an_answer_counts_after_a_restart_in_which_the_first_message_expired() -> None:
    bench = Sender()
    bench.stream(b"1", time_to_reach_queue=10)
    bench.stream(b"2")
    stream = bench.stream_id
    bench.answer_all()
    bench.now = later(bench.now, seconds(60))
    bench.restart()
    bench.advance(60)
    assert bench.stream_id == stream
    assert {(each.current, each.previous) for each in bench.places} == {(2, 0)}


@pytest.mark.spec("SR-228", "SR-229")
def test_a_final_receipt_finds_its_message_under_the_number_it_has_now() -> None:
    bench = Sender()
    bench.stream(b"1", b"2", negative_journaling=True)
    old, posts = bench.stream_id, list(bench.posts)
    about = bench.arrived(posts[1]).envelope.id
    bench.answer(posts[0], 400)
    bench.answer(posts[1])
    assert bench.stream_id != old
    bench.final(2, stream=old, about="uuid:7@" + about.partition("@")[2])
    bench.final(2, stream=old, about="no identifier")
    assert bench.waiting() == 1
    bench.restart()
    bench.final(2, stream=old, about=about)
    assert (bench.waiting(), bench.srmp.state.sent) == (0, {})
    bench.check()


@pytest.mark.spec("SR-228", "SR-229")
def test_a_final_receipt_distinguishes_messages_of_two_managers_with_one_number() -> None:
    bench = Sender()
    bench.stream(b"1", b"2", negative_journaling=True)
    old, posts = bench.stream_id, list(bench.posts)
    ours = bench.arrived(posts[1]).envelope.identifier
    theirs = Message.of(
        body=b"3",
        identifier=ObjectId(UUID(int=5), ours.uniquifier),
        source_machine=UUID(int=5),
        delivery=Delivery.RECOVERABLE,
        transaction=UUID(int=3),
        negative_journaling=True,
    )
    bench.tell(MessageArrived("srmp", (0, 0), SHOP, theirs))
    bench.answer(posts[0], 400)
    bench.answer_all()
    bench.final(3, stream=old, about=f"uuid:{ours.uniquifier}@{UUID(int=5)}")
    (left,) = bench.sent.finals.values()
    assert (bench.waiting(), left) == (1, ours.uniquifier)
    bench.final(2, stream=old, about=f"uuid:{ours.uniquifier}@{ours.lineage}")
    assert (bench.waiting(), bench.srmp.state.sent) == (0, {})


@pytest.mark.spec("SR-228")
def test_a_final_receipt_is_accepted_under_any_name_of_the_manager() -> None:
    bench = Sender(settings=SrmpSettings(default_receipt_url="http://dmz.example/msmq/private$/receipts"))
    bench.stream(b"1", b"2", negative_journaling=True)
    old, posts = bench.stream_id, list(bench.posts)
    asked_for = bench.places[0].receipts_to
    about = bench.arrived(posts[1]).envelope.id
    bench.answer(posts[0], 400)
    bench.answer(posts[1])
    blocks = stream_receipt_block(StreamReceipt(identifier=old, last=2))
    blocks += commitment_block(CommitmentReceipt(decided_at=0, positive=True, id=about))
    receipt = Message.of(
        identifier=ObjectId(UUID(int=9), 4),
        source_machine=UUID(int=9),
        message_class=MessageClass.ACK_RECEIVE,
        label="QM Ordering Ack",
        sent_time=1_700_000_000,
        destination_queue=f"DIRECT={asked_for}",
        soap_header=blocks,
    )
    assert bench.post("text/xml", encode(receipt).encode()).status == 200
    assert (bench.waiting(), bench.srmp.state.sent) == (0, {})


@pytest.mark.parametrize("via", ["http://shop.example/msmq/private$/bills", "http://shop.example/"])
def test_of_two_copies_a_final_receipt_ends_the_one_that_it_comes_from(via: str) -> None:
    bench = Sender()
    copies = f"{SHOP},DIRECT=HTTP://shop.example/msmq/private$/bills"
    transaction = bench.begin()
    bench.send(copies, b"1", transaction=transaction, negative_journaling=True)
    bench.ask(CommitTransaction(0, transaction))
    about = bench.arrived(bench.posts[0]).envelope.id
    bench.final(1, stream=f"uid:{about.partition('@')[2]}\\1", about=about, via=via)
    assert len(bench.srmp.state.sent) == (1 if via.endswith("bills") else 2)


@pytest.mark.parametrize("how", ["refused", "expired"])
def test_the_rest_of_the_stream_is_given_up_with_the_setting(how: str) -> None:
    bench = Sender(settings=SrmpSettings(dead_letter_stream=True))
    bench.stream(b"1", time_to_reach_queue=10, negative_journaling=True)
    bench.stream(b"2", b"3", negative_journaling=True)
    posts = list(bench.posts)
    bench.forget()
    if how == "refused":
        bench.answer(posts[0], 400)
    else:
        bench.fail(posts[0])
        bench.advance(20)
    assert (bench.posts, bench.bodies(DEAD_STREAM)) == ([], [b"1", b"2", b"3"])
    assert (bench.waiting(), bench.srmp.state.sent) == (0, {})
    for post in posts[1:]:
        bench.answer(post)
    bench.stream(b"4")
    assert bench.numbers == [1]
    bench.check()


def test_a_first_message_that_was_acknowledged_is_not_missed() -> None:
    bench = Sender()
    bench.stream(b"1", b"2")
    bench.answer_all()
    stream = bench.stream_id
    bench.receipt(1)
    bench.advance(30)
    assert [(each.current, each.previous, each.receipts_to) for each in bench.places] == [(2, 1, "")]
    assert bench.stream_id == stream
