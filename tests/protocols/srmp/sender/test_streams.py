"""Tests a stream that goes out: numbers, gaps, and what goes again."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import SECOND, Instant, seconds
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import CommitTransaction
from reliquary.queueing.model.message import MessageClass
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamBegun
from reliquary.streams.numbering import LAST_NUMBER
from reliquary.streams.tables import Ordinals, OutgoingStream
from tests.protocols.srmp.sending import SHOP, Sender

DEAD, DEAD_STREAM, JOURNAL = "system$;deadletter", "system$;deadxact", "system$;journal"
SECURE = "DIRECT=HTTPS://shop.example/msmq/private$/orders"


# -- numbers


@pytest.mark.srmp("T-36")
@pytest.mark.spec("SR-072", "SR-073", "SR-074", "SR-075", "SR-076", "SR-077", "SR-262", "SR-263", "SR-280")
def test_the_messages_of_a_stream_are_numbered_from_one_and_only_the_first_starts_it() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    places = bench.places
    assert [(place.current, place.previous) for place in places] == [(1, 0), (2, 1), (3, 2)]
    assert len({place.identifier for place in places}) == 1
    assert [bool(place.receipts_to) for place in places] == [True, False, False]
    assert places[0].receipts_to == "http://bench.example/MSMQ/PRIVATE$/order_queue$"
    assert places[0].number >> 32 == 1_700_000_000
    assert places[0].number & 0xFFFFFFFF == 1
    assert all(bench.arrived(post).envelope.durable for post in bench.posts)
    bench.check()


@pytest.mark.srmp("T-41")
@pytest.mark.spec("SR-123", "SR-126", "SR-133", "SR-134", "SR-135", "SR-306")
def test_when_all_is_acknowledged_the_next_message_begins_another_stream() -> None:
    bench = Sender()
    bench.stream(b"a")
    bench.answer_all()
    before = bench.sent.stream
    bench.receipt(1)
    assert bench.srmp.state.sent == {}
    bench.stream(b"b")
    [place] = bench.places
    assert (place.current, place.previous, place.receipts_to != "") == (1, 0, True)
    assert place.number & 0xFFFFFFFF == (before.number & 0xFFFFFFFF) + 1
    assert place.number > before.number


@pytest.mark.spec("SR-071", "SR-279")
def test_a_message_of_another_protocol_is_sent_in_a_local_stream() -> None:
    """The message's own manager may have a stream to that queue; one name would mean two senders."""
    bench = Sender()
    bench.put(SHOP, b"theirs", transaction=UUID(int=3), source_machine=UUID(int=5))
    bench.stream(b"ours")
    own = bench.state.identity().identifier
    assert [(place.sender, place.current) for place in bench.places] == [(own, 1), (own, 2)]
    envelopes = [bench.arrived(post).envelope for post in bench.posts]
    assert [each.identifier.lineage for each in envelopes] == [UUID(int=5), own]


@pytest.mark.spec("SR-072")
def test_a_clock_that_goes_back_makes_no_older_stream() -> None:
    """A receiver takes a stream only when it is newer than the last."""
    bench = Sender()
    bench.stream(b"a")
    bench.answer_all()
    first = bench.sent.stream.number
    bench.receipt(1)
    bench.now = Instant(bench.now - 5000 * SECOND)
    bench.stream(b"b")
    second = bench.sent.stream.number
    assert second > first
    bench.restart()
    assert bench.srmp.state.ordinals == Ordinals(3, 1_700_000_000)


@pytest.mark.srmp("T-49")
@pytest.mark.spec("SR-126", "SR-261")
def test_each_queue_has_a_stream_of_its_own() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    bench.stream(b"c", to="DIRECT=HTTP://shop.example/msmq/private$/other")
    assert bench.numbers == [1, 2, 1]
    assert len({place.identifier for place in bench.places}) == 2


@pytest.mark.srmp("T-63", "T-64")
@pytest.mark.spec("SR-281")
def test_the_receipt_address_is_a_setting_or_follows_the_destination() -> None:
    rule = Redirection("http://shop.example/*", "http://receipts.example/in")
    for settings, to, expected in (
        (SrmpSettings(receipt_urls=(rule,)), SHOP, "http://receipts.example/in"),
        (SrmpSettings(default_receipt_url="http://any/in"), SHOP, "http://any/in"),
        (SrmpSettings(), SECURE, "https://bench.example/MSMQ/PRIVATE$/order_queue$"),
    ):
        bench = Sender(settings=settings)
        bench.stream(b"a", to=to)
        assert bench.places[0].receipts_to == expected


def test_what_was_numbered_in_another_order_goes_again_in_the_order_of_numbers() -> None:
    """The earlier of two transactions committed later: it is first in the queue, and last in the stream."""
    bench = Sender()
    early, late = bench.begin(), bench.begin()
    bench.send(SHOP, b"second", transaction=early)
    bench.send(SHOP, b"first", transaction=late)
    bench.ask(CommitTransaction(0, late))
    bench.ask(CommitTransaction(0, early))
    bench.answer_all()
    bench.advance(30)
    assert (bench.numbers, bench.sent_bodies()) == ([1, 2], [b"first", b"second"])


def test_a_stream_ends_before_its_numbers_do() -> None:
    bench = Sender()
    bench.plain(b"x")
    bench.answer_all()
    worn = OutgoingStream(1, LAST_NUMBER - 1, LAST_NUMBER - 1)
    apply(bench.srmp.state, StreamBegun(bench.outgoing().number, worn))
    bench.stream(b"a", b"b")
    assert bench.numbers == [LAST_NUMBER]
    bench.answer_all()
    bench.receipt(LAST_NUMBER)
    assert (bench.numbers, bench.sent_bodies()) == ([1], [b"b"])
    bench.check()


# -- too many without a receipt


def test_when_too_many_wait_for_a_receipt_nothing_more_is_sent_until_one_comes() -> None:
    bench = Sender(settings=SrmpSettings(in_flight=1, window=4))
    bench.stream(*[b"%d" % n for n in range(20)])
    bench.answer_all()
    assert bench.waiting() == 20
    assert bench.sent.stream.last == 6  # four that the manager knows of, and two more that it does not
    bench.receipt(3)
    bench.answer_all()
    assert bench.sent.stream.last == 9
    bench.check()
    for _ in range(20):
        if bench.srmp.state.sent:
            bench.receipt(bench.sent.stream.last)
            bench.answer_all()
    assert bench.waiting() == 0


# -- gaps


@pytest.mark.srmp("T-45")
@pytest.mark.spec("SR-136", "SR-258", "SR-259", "SR-264")
def test_a_number_that_expired_is_bridged_from_what_was_acknowledged() -> None:
    bench = Sender()
    bench.stream(b"1", b"2")
    bench.answer_all()
    bench.stream(b"3", time_to_reach_queue=10)
    bench.stream(b"4")
    bench.receipt(2)
    bench.fail(bench.posts[0])
    bench.forget()
    bench.advance(20)
    [place] = bench.places
    assert (place.current, place.previous) == (4, 2)
    bench.stream(b"5")
    assert [(each.current, each.previous) for each in bench.places] == [(4, 2), (5, 4)]
    bench.answer_all()
    bench.receipt(5)
    assert bench.waiting() == 0
    bench.check()


@pytest.mark.spec("SR-264")
def test_a_number_that_expired_is_bridged_from_one_that_still_waits() -> None:
    bench = Sender()
    bench.stream(b"1", b"2")
    bench.stream(b"3", time_to_reach_queue=10)
    bench.stream(b"4")
    bench.answer_all()
    bench.advance(30)
    assert [(each.current, each.previous) for each in bench.places] == [(1, 0), (2, 1), (4, 2)]


@pytest.mark.srmp("F-71")
@pytest.mark.spec("SR-292")
def test_a_message_that_is_refused_is_a_dead_letter_and_what_was_posted_behind_it_goes_again() -> None:
    """The receiver ignored all that named the refused one as the previous."""
    bench = Sender()
    bench.stream(b"1", b"2", b"3", b"4", negative_journaling=True)
    posts = list(bench.posts)
    bench.forget()
    bench.answer(posts[0])
    bench.answer(posts[1], 400)
    assert bench.bodies(DEAD_STREAM) == [b"2"]
    bench.stream(b"5")
    bench.answer(posts[2])
    assert bench.posts == []
    bench.answer(posts[3])
    assert [(each.current, each.previous) for each in bench.places] == [(1, 0), (3, 1), (4, 3), (5, 4)]
    bench.answer_all()
    bench.receipt(5)
    assert bench.waiting() == 3  # they wait for the final receipts
    bench.check()


def test_the_last_message_that_is_refused_lets_nothing_go_again() -> None:
    bench = Sender()
    bench.stream(b"1", b"2")
    first, second = bench.posts
    bench.forget()
    bench.answer(first)
    bench.answer(second, 400)
    assert bench.posts == []
    bench.stream(b"3")
    assert [(each.current, each.previous) for each in bench.places] == [(3, 1)]
    bench.check()


def test_a_receiver_that_refuses_everything_gets_everything_once() -> None:
    bench = Sender(settings=SrmpSettings(in_flight=4))
    bench.stream(*[b"%d" % n for n in range(10)])
    posted = 0
    while posted < len(bench.posts):
        bench.answer(bench.posts[posted], 400)
        posted += 1
    assert (posted, bench.waiting(), bench.srmp.state.sent) == (10, 0, {})
    bench.check()


# -- restart


@pytest.mark.srmp("T-57")
@pytest.mark.spec("SR-118", "SR-120", "SR-128", "SR-160", "SR-260")
def test_after_a_restart_all_goes_again_under_unchanged_numbers_and_identifiers() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    bench.answer_all()
    bench.advance(30)
    before = [post.body for post in bench.posts]
    bench.forget()
    bench.restart()
    assert [post.body for post in bench.posts] == before
    bench.answer_all()
    bench.advance(30)
    assert bench.numbers == [1, 2, 3]
    bench.answer_all()
    bench.receipt(3)
    assert bench.waiting() == 0
    bench.check()


def test_after_a_restart_those_that_only_wait_for_the_final_receipt_are_not_sent() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c", negative_journaling=True)
    bench.answer_all()
    bench.receipt(2)
    bench.restart()
    assert bench.numbers == [3]
    bench.final(1)
    bench.final(2, MessageClass.NACK_RECEIVE_TIMEOUT)
    assert (bench.waiting(), bench.bodies(DEAD_STREAM)) == (1, [b"b"])
    bench.check()


@pytest.mark.spec("SR-263")
def test_a_transaction_that_began_early_and_ended_late_does_not_stop_its_stream() -> None:
    bench = Sender(settings=SrmpSettings(in_flight=1, window=1, retransmission=seconds(1)))
    early = bench.begin()
    bench.send(SHOP, b"early", transaction=early)
    bench.send(SHOP, b"early too", transaction=early)
    bench.stream(b"late")
    bench.fail(bench.posts[0])
    bench.ask(CommitTransaction(0, early))
    bench.advance(2)
    assert bench.sent_bodies() == [b"late", b"early", b"early too"]  # these have lower LookupIdentifiers
    bench.answer(bench.posts[-1])
    assert bench.sent_bodies()[3:] == [b"late"]
    assert bench.numbers == [1, 2, 3, 1]
