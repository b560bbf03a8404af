"""Scenes T-56 to T-79 of MQQB: transactional messages, once and in order."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from reliquary.base.restoration import Restoration
from reliquary.base.time import SECOND, Instant
from reliquary.protocols.mqqb.sessions.links import AHEAD
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.link import OutgoingState
from tests.protocols.mqqb.mqqb_harness import (
    ELSEWHERE,
    LEDGER,
    PEER,
    STREAM,
    MqqbBench,
    Peer,
    link,
    place_of,
    receiving,
    sent_five,
    stream_of,
    waiting,
)
from tests.protocols.mqqb.pair import LEFT, RIGHT, Pair

OTHER = "TCP:10.0.0.1\\private$\\other"
STRANGER = UUID("11111111-2222-3333-4444-555555555555")


def at_order_queue(address: str) -> str:
    """Return the direct name of the order queue at this address."""
    return f"TCP:{address}\\PRIVATE$\\order_queue$"


# -- the sender


@pytest.mark.mqqb("T-56")
@pytest.mark.spec("QB-020", "QB-065", "QB-119", "QB-132", "QB-276", "QB-281", "QB-320", "QB-259")
def test_a_hundred_messages_are_numbered_confirmed_and_the_next_stream_begins() -> None:
    pair = Pair()
    pair.right.create("ledger", transactional=True)
    name = f"DIRECT=TCP:{RIGHT}\\private$\\ledger"
    pair.left.transact(name, *(b"%d" % number for number in range(100)))
    pair.run()
    (stream,) = (each.stream for each in pair.right.mqqb.places)
    assert pair.right.bodies("ledger") == [b"%d" % number for number in range(100)]
    assert stream.last == 100
    pair.advance(1)
    assert waiting(pair.left, name) == 0
    assert pair.left.mqqb.sent == {}
    pair.left.transact(name, b"more")
    pair.run()
    assert pair.right.mqqb.places[0].stream.number > stream.number
    assert pair.right.mqqb.places[0].stream.last == 1


@pytest.mark.mqqb("T-56")
def test_numbers_and_previous_numbers_are_in_the_packets() -> None:
    _, peer, stream = sent_five()
    assert [place_of(each) for each in peer.messages] == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]
    assert {stream_of(each) for each in peer.messages} == {stream}
    assert {each.user.source for each in peer.messages} == {peer.bench.own}


@pytest.mark.mqqb("T-58", "T-59")
@pytest.mark.spec("QB-133", "QB-134", "QB-207", "QB-211", "QB-228")
def test_only_an_order_acknowledgement_frees_a_message_of_a_stream() -> None:
    bench, peer, stream = sent_five()
    peer.ack_all()
    assert waiting(bench) == 5
    peer.order_ack(stream, 3)
    assert waiting(bench) == 2
    early, other, number = sent_five()
    other.order_ack(number, 5)  # before any session acknowledgement
    assert waiting(early) == 0
    other.ack_all()
    assert not other.is_closed


@pytest.mark.mqqb("T-58", "T-72")
@pytest.mark.spec("QB-072", "QB-134", "QB-229", "QB-233")
def test_a_message_that_requests_a_journal_copy_stays_until_its_final_acknowledgement() -> None:
    bench, peer, stream = sent_five(positive_journaling=True)
    peer.ack_all()
    peer.order_ack(stream, 5)
    assert waiting(bench) == 5
    assert bench.bodies("system$;journal") == []
    peer.final_ack(stream, 1, 0x4000)
    peer.final_ack(stream, 1, 0x4000)
    assert waiting(bench) == 4
    assert bench.bodies("system$;journal") == [b"1"]


@pytest.mark.mqqb("T-60")
@pytest.mark.spec("QB-109", "QB-115", "QB-155", "QB-156")
def test_a_new_session_and_a_new_process_keep_numbers_and_stream() -> None:
    bench, peer, stream = sent_five()
    peer.lose()
    bench.advance(5.1)
    second = bench.dialled()
    assert [place_of(each) for each in second.messages] == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]
    assert {stream_of(each) for each in second.messages} == {stream}
    bench.restart()
    third = bench.dialled()
    assert [place_of(each)[0] for each in third.messages] == [1, 2, 3, 4, 5]
    assert {stream_of(each) for each in third.messages} == {stream}


@pytest.mark.mqqb("T-61")
@pytest.mark.spec("QB-110", "QB-111", "QB-116")
@pytest.mark.parametrize("seed", range(6))
def test_crashes_between_facts_deliver_once_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    pair = Pair()
    pair.right.create("ledger", transactional=True)
    pair.right.flush()
    name = f"DIRECT=TCP:{RIGHT}\\private$\\ledger"
    bodies = [b"%d" % number for number in range(40)]
    for body in bodies:
        pair.left.transact(name, body)
    pair.left.flush()
    for _ in range(5):
        pair.budget = chance.randint(100, 9000)
        pair.run()
        pair.advance(chance.choice((0.1, 0.6, 6)))
        pair.restart(chance.choice((LEFT, RIGHT)), crash=True)
    pair.budget = None
    pair.advance(60)
    assert pair.right.bodies("ledger") == bodies
    assert waiting(pair.left, name) == 0


@pytest.mark.mqqb("T-62")
@pytest.mark.spec("QB-282")
def test_an_expired_message_leaves_no_hole_in_the_stream() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", time_to_reach_queue=2)
    bench.transact(ELSEWHERE, b"2")
    bench.transact(ELSEWHERE, b"3", time_to_reach_queue=2)
    bench.transact(ELSEWHERE, b"4", b"5")
    bench.dialled().lose()
    bench.advance(6)
    peer = bench.dialled()
    assert [place_of(each) for each in peer.messages] == [(2, 0), (4, 2), (5, 4)]


@pytest.mark.mqqb("T-62")
def test_a_stream_may_begin_with_any_number_that_has_no_previous_one() -> None:
    bench, peer = receiving()
    peer.user(b"2", to=LEDGER, stream=(2, 0))
    peer.user(b"4", to=LEDGER, stream=(4, 2))
    assert bench.bodies("ledger") == [b"2", b"4"]


@pytest.mark.mqqb("T-63", "G-32")
@pytest.mark.spec("QB-106", "QB-107", "QB-120", "QB-121", "QB-122", "QB-230")
def test_every_stream_has_a_greater_number_than_all_before() -> None:
    bench, peer, stream = sent_five()
    peer.order_ack(stream, 5)
    bench.now = Instant(bench.now - 3600 * SECOND)
    bench.restart()
    bench.transact(ELSEWHERE, b"6")
    later = bench.dialled()
    assert stream_of(later.messages[-1]) > stream
    assert place_of(later.messages[-1]) == (1, 0)


@pytest.mark.mqqb("T-64")
def test_each_destination_name_has_a_stream_of_its_own() -> None:
    bench, peer = receiving()
    bench.create("second", transactional=True)
    second = "TCP:10.0.0.2\\private$\\second"
    alias = "OS:bench\\private$\\ledger"
    for number in (1, 2, 3):
        peer.user(b"a%d" % number, to=LEDGER, stream=(STREAM + 1, number, number - 1))
        peer.user(b"b%d" % number, to=second, stream=(STREAM, number, number - 1))
        peer.user(b"c%d" % number, to=alias, stream=(STREAM - 1, number, number - 1))
    assert bench.bodies("ledger") == [b"a1", b"c1", b"a2", b"c2", b"a3", b"c3"]
    assert bench.bodies("second") == [b"b1", b"b2", b"b3"]
    ours = MqqbBench()
    ours.transact(ELSEWHERE, b"x")
    ours.transact(f"DIRECT={OTHER}", b"y")
    streams = [stream_of(each) for each in ours.dialled().messages]
    assert len(set(streams)) == 2


@pytest.mark.mqqb("T-65")
@pytest.mark.spec("QB-102", "QB-103", "QB-141", "QB-145", "QB-152", "QB-225", "QB-227", "QB-235")
def test_a_stream_without_acknowledgements_is_sent_again_less_and_less_often() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1")
    bench.transact(ELSEWHERE, b"2")
    peer = bench.dialled()
    spans = 3 * [30] + 3 * [300] + 3 * [1800] + 2 * [21_600]
    for count, span in enumerate(spans):
        peer = _sent_again_after(bench, peer, span)
        assert bench.mqqb.counts[Count.RETRANSMITTED] == 2 * (count + 1)
    peer.order_ack(stream_of(peer.messages[0]), 1)
    peer = _sent_again_after(bench, peer, 30)  # progress makes the wait short again
    assert peer.bodies[-1] == b"2"
    peer.order_ack(stream_of(peer.messages[0]), 2)
    bench.advance(30_000)
    assert waiting(bench) == 0
    assert bench.mqqb.counts[Count.RETRANSMITTED] == 2 * len(spans) + 1


def _sent_again_after(bench: MqqbBench, peer: Peer, span: int) -> Peer:
    """Let the peer acknowledge its packets, not the messages; return the peer to which they go again.

    The session is closed meanwhile if the wait is long, because it is idle; then another one is opened.
    """
    peer.ack_all()
    sent, dials = len(peer.messages), len(bench.dials)
    bench.advance(span - 0.5)
    assert (len(peer.messages), len(bench.dials)) == (sent, dials)
    bench.advance(0.5)
    assert (len(peer.messages) > sent) is not peer.is_closed
    return bench.dialled() if peer.is_closed else peer


@pytest.mark.mqqb("T-66", "T-37")
@pytest.mark.spec("QB-226")
def test_a_late_acknowledgement_of_the_stream_before_frees_nothing() -> None:
    bench, peer, stream = sent_five()
    peer.order_ack(stream, 5)
    bench.transact(ELSEWHERE, b"6", b"7")
    peer.order_ack(stream, 5)
    assert waiting(bench) == 2
    assert bench.mqqb.counts[Count.STRANGE_ACKS] == 1


@pytest.mark.mqqb("T-67")
def test_an_acknowledgement_of_numbers_never_given_frees_nothing_and_warns() -> None:
    bench, peer, stream = sent_five()
    peer.order_ack(stream, 9)
    assert waiting(bench) == 5
    assert "5 is the last number" in bench.warnings[-1].why


@pytest.mark.mqqb("T-67")
@pytest.mark.spec("QB-107")
def test_after_a_restore_new_messages_begin_a_later_stream() -> None:
    bench, _, stream = sent_five()
    bench.restoration = Restoration(STRANGER, alive_until=bench.now)
    bench.advance(2)
    bench.restart()
    bench.transact(ELSEWHERE, b"6")
    peer = bench.dialled()
    assert {stream_of(each) for each in peer.messages} == {stream}
    peer.order_ack(stream, 5)
    bench.advance(1)
    assert stream_of(peer.messages[-1]) > stream
    assert peer.bodies[-1] == b"6"


# -- the receiver


@pytest.mark.mqqb("T-57")
@pytest.mark.spec("QB-108", "QB-129", "QB-259", "QB-260", "QB-262")
def test_a_message_before_its_turn_is_dropped_until_the_hole_is_filled() -> None:
    bench, peer = receiving()
    for number, previous in ((1, 0), (2, 1), (4, 3)):
        peer.user(b"%d" % number, to=LEDGER, stream=(number, previous))
    (incoming,) = bench.mqqb.places
    assert bench.bodies("ledger") == [b"1", b"2"]
    assert (incoming.stream.last, incoming.rejected) == (2, 1)
    bench.advance(0.6)
    assert peer.order_acks[-1].body.number == 2
    for number, previous in ((3, 2), (4, 3)):
        peer.user(b"%d" % number, to=LEDGER, stream=(number, previous))
    assert bench.bodies("ledger") == [b"1", b"2", b"3", b"4"]
    assert incoming.rejected == 0
    bench.advance(0.6)
    assert [(each.body.sequence, each.body.number) for each in peer.order_acks] == [(STREAM, 2), (STREAM, 4)]


@pytest.mark.mqqb("T-68")
@pytest.mark.spec("QB-130", "QB-131", "QB-142", "QB-161", "QB-162")
def test_order_acknowledgements_wait_for_more_messages_for_a_limited_time() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0))
    bench.advance(0.4)
    assert peer.order_acks == []
    bench.advance(0.2)
    assert len(peer.order_acks) == 1
    for number in range(2, 302):
        peer.user(b"", to=LEDGER, stream=(number, number - 1))
        bench.advance(0.1)
        peer.ack_all()
    assert 2 <= len(peer.order_acks) - 1 <= 4  # thirty seconds, one about every ten
    bench.advance(0.6)
    assert peer.order_acks[-1].body.number == 301


@pytest.mark.mqqb("T-69", "G-40")
@pytest.mark.spec("QB-303")
def test_an_order_acknowledgement_is_sent_after_a_restart_without_a_new_message() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0))
    bench.restart()
    bench.advance(0.6)
    assert bench.dials[-1].host == "10.0.0.1"
    back = bench.dialled()
    assert [each.body.number for each in back.order_acks] == [1]


@pytest.mark.mqqb("T-70")
@pytest.mark.spec("QB-063", "QB-241", "QB-322")
def test_acknowledgements_use_the_session_of_a_sender_that_cannot_be_dialled() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    bench.advance(0.6)
    assert bench.dials == []
    ack = peer.messages[-1]
    assert ack.user.destination.direct == "TCP:10.0.0.1\\PRIVATE$\\order_queue$"
    peer.lose()
    bench.receive("ledger")
    bench.fail_dial()
    again = bench.accepted()
    bench.advance(5.1)
    assert [each.message_class for each in again.final_acks] == [0x4000]


@pytest.mark.mqqb("T-70")
@pytest.mark.spec("QB-061", "QB-322")
def test_messages_to_a_private_name_are_acknowledged_to_a_private_name() -> None:
    bench, peer = receiving()
    number = bench.queue("ledger").number
    peer.user(b"1", to=f"PRIVATE={bench.state.identity().identifier}\\{number:08x}", stream=(1, 0))
    assert bench.bodies("ledger") == [b"1"]
    bench.advance(0.6)
    ack = peer.messages[-1]
    assert (ack.user.destination.number, ack.user.address) == (4, PEER)


@pytest.mark.mqqb("T-71")
@pytest.mark.spec("QB-063", "QB-070")
def test_a_sender_that_moved_gets_its_final_acknowledgements_at_the_new_address() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    peer.lose()
    moved = bench.accepted("10.0.0.77")
    moved.user(b"2", to=LEDGER, stream=(2, 1), negative_journaling=True)
    moved.lose()
    bench.receive("ledger")
    assert bench.dials[-1].host == "10.0.0.77"
    back = bench.dialled("10.0.0.77")
    assert [each.body.number for each in back.final_acks] == [1]  # it came from the old address
    assert {each.user.destination.direct for each in back.messages} == {at_order_queue("10.0.0.77")}


@pytest.mark.mqqb("T-71")
@pytest.mark.spec("QB-063", "QB-070")
def test_a_sender_that_moved_and_sends_nothing_new_gets_acknowledgements_with_its_new_address() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    peer.lose()
    bench.receive("ledger")
    bench.fail_dial()  # no manager is at the old address
    moved = bench.accepted("10.0.0.77")
    bench.advance(6)
    assert [each.body.number for each in moved.final_acks] == [1]
    moved.ack_all()
    bench.advance(1)
    assert [each.body.number for each in moved.order_acks] == [1]
    assert {each.user.destination.direct for each in moved.messages} == {at_order_queue("10.0.0.77")}


@pytest.mark.mqqb("T-78")
@pytest.mark.spec("QB-224", "QB-231", "QB-261", "QB-266")
def test_the_progress_of_streams_is_shown() -> None:
    bench, peer, stream = sent_five(positive_journaling=True)
    peer.ack_all()
    bench.advance(30.1)  # all go again
    peer.ack_all()
    peer.order_ack(stream, 2)
    peer.final_ack(stream, 1, 0x4000)
    transfer = link(bench).transfer
    places = {
        "first_unacknowledged": (3, 2),
        "last_acknowledged": (2, 0),
        "last_unacknowledged": (5, 4),
        "next_to_send": (6, 5),
    }
    for name, numbers in places.items():
        place = getattr(transfer, name)
        assert (place.number, place.previous) == numbers, name
        assert place.sequence.timestamp << 32 | place.sequence.ordinal == stream
    assert (transfer.unacknowledged, transfer.unread) == (3, 1)
    assert (transfer.acknowledged_count, transfer.acknowledged_time) == (2, bench.now)
    assert (transfer.resent, transfer.resend_interval) == (0, 30)  # progress makes the wait short again
    receiver, sender = receiving()
    sender.user(b"1", to=LEDGER, stream=(1, 0))
    (incoming,) = receiver.mqqb.places
    assert incoming.stream.accessed == receiver.now
    assert incoming.stream.format_name == f"DIRECT={LEDGER}"


@pytest.mark.mqqb("T-79")
def test_another_manager_empties_no_outgoing_queue() -> None:
    bench, peer, stream = sent_five()
    stranger = bench.accepted("10.0.0.66", STRANGER)
    stranger.order_ack(stream, 5)
    assert waiting(bench) == 5
    assert str(STRANGER) in bench.warnings[-1].why
    peer.order_ack(stream, 5)
    assert waiting(bench) == 0


@pytest.mark.mqqb("T-79")
def test_a_manager_with_routing_servers_may_accept_acknowledgements_from_anyone() -> None:
    bench = MqqbBench(settings=MqqbSettings(acks_from_anyone=True))
    bench.transact(ELSEWHERE, b"1")
    stream = stream_of(bench.dialled().messages[-1])
    bench.accepted("10.0.0.66", STRANGER).order_ack(stream, 1)
    assert waiting(bench) == 0


def test_an_outdated_stream_is_dropped_without_an_acknowledgement() -> None:
    bench, peer = receiving()
    peer.user(b"new", to=LEDGER, stream=(STREAM + 5, 1, 0))
    bench.advance(0.6)
    before = len(peer.order_acks)
    peer.user(b"old", to=LEDGER, stream=(STREAM, 1, 0))
    bench.advance(0.6)
    assert bench.bodies("ledger") == [b"new"]
    assert len(peer.order_acks) == before


def test_too_many_messages_without_an_order_acknowledgement_stop_the_sender() -> None:
    bench = MqqbBench(settings=MqqbSettings(window=2, awaiting=5))
    for number in range(40):
        bench.transact(ELSEWHERE, b"%d" % number)
    peer = bench.dialled()
    for _ in range(40):
        peer.ack_all()
    sent = len(peer.messages)
    assert sent <= 5 + AHEAD * 2  # those that were handed out before the limit was reached
    peer.order_ack(stream_of(peer.messages[0]), sent)
    peer.ack_all()
    assert len(peer.messages) > sent


def test_messages_of_one_transaction_share_a_number_that_others_do_not_have() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2")
    bench.transact(ELSEWHERE, b"3")
    peer = bench.dialled()
    headers = [each.transaction for each in peer.messages]
    assert [(each.identifier, each.first, each.last) for each in headers if each] == [
        (1, True, False),
        (1, False, True),
        (2, True, True),
    ]


def test_a_queue_waits_for_validation_when_the_manager_is_unknown() -> None:
    bench, peer = receiving()
    peer.user(b"1", to=LEDGER, stream=(1, 0), negative_journaling=True)
    name = f"PRIVATE={PEER}\\00000004"
    bench.receive("ledger")
    assert link(bench, name).state is OutgoingState.CONNECTED
    assert peer.final_acks[0].message_class == MessageClass.ACK_RECEIVE
