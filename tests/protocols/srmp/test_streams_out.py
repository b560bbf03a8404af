"""A stream that goes out: numbers, gaps, receipts, and what becomes of each message."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Instant, seconds
from reliquary.protocols.srmp.apply import apply
from reliquary.protocols.srmp.facts import StreamBegun
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.streams_out import LAST_NUMBER
from reliquary.protocols.srmp.tables import Ordinals, OutgoingStream
from reliquary.queueing.events import CommitTransaction
from reliquary.queueing.message import MessageClass
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


@pytest.mark.srmp("T-37")
@pytest.mark.spec("SR-143", "SR-265", "SR-291")
def test_a_message_that_was_taken_stays_until_its_receipt_comes() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c", positive_journaling=True)
    bench.answer_all()
    assert (bench.waiting(), bench.bodies(JOURNAL)) == (3, [])
    bench.check()


@pytest.mark.srmp("T-40")
@pytest.mark.spec("SR-220", "SR-225", "SR-226")
def test_a_receipt_ends_all_up_to_its_number() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c", positive_journaling=True)
    bench.answer_all()
    bench.receipt(2)
    assert (bench.waiting(), bench.bodies(JOURNAL)) == (1, [b"a", b"b"])
    assert list(bench.sent.numbers.values()) == [3]
    bench.check()


@pytest.mark.srmp("F-57")
def test_a_receipt_that_comes_again_or_late_or_for_another_stream_changes_nothing() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    bench.answer_all()
    bench.receipt(2)
    before = len(bench.facts)
    bench.receipt(2)
    bench.receipt(1)
    bench.receipt(0)
    bench.receipt(3, stream="uid:00000000-0000-0000-0000-000000000000\\1")
    bench.receipt(3, stream="no stream at all")
    assert (len(bench.facts), bench.waiting()) == (before, 1)
    bench.check()


def test_a_stream_is_known_whatever_the_case_of_its_identifier() -> None:
    bench = Sender()
    bench.stream(b"a")
    bench.receipt(1, stream=f" {bench.stream_id.upper()} ")
    assert bench.waiting() == 0


@pytest.mark.srmp("F-59")
def test_a_receipt_for_more_than_was_sent_counts_for_what_was() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    bench.answer_all()
    bench.receipt(99)
    assert bench.waiting() == 0
    assert [each.what for each in bench.warnings] == ["a receipt for what was not sent"]
    bench.stream(b"c")
    assert bench.numbers == [1]


def test_a_receipt_may_come_before_the_answer_to_the_post() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    posts = list(bench.posts)
    bench.receipt(1)
    assert bench.waiting() == 1
    for post in posts:
        bench.answer(post)
    assert bench.waiting() == 1
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
def test_where_receipts_are_asked_for_is_the_administrators_choice_or_follows_the_destination() -> None:
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
    """Of two transactions the earlier committed later: first in the queue, and last in the stream."""
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


# -- final receipts


@pytest.mark.srmp("T-50")
@pytest.mark.spec("SR-227", "SR-229", "SR-231", "SR-245")
def test_one_that_asked_for_dead_letters_stays_until_it_was_read() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", negative_journaling=True, positive_journaling=True)
    bench.answer_all()
    bench.receipt(2)
    assert (bench.waiting(), bench.bodies(JOURNAL)) == (2, [])
    bench.advance(100_000)
    assert bench.posts == []
    bench.final(2)
    bench.final(1)
    assert (bench.waiting(), bench.bodies(JOURNAL)) == (0, [b"a", b"b"])
    assert (bench.bodies(DEAD_STREAM), bench.srmp.state.sent) == ([], {})
    bench.check()


@pytest.mark.srmp("T-51")
@pytest.mark.spec("SR-231", "SR-243")
@pytest.mark.parametrize(
    "reason",
    [
        MessageClass.NACK_PURGED,
        MessageClass.NACK_QUEUE_DELETED,
        MessageClass.NACK_QUEUE_PURGED,
        MessageClass.NACK_RECEIVE_TIMEOUT,
        MessageClass.NACK_RECEIVE_REJECTED,
    ],
)
def test_one_that_was_never_read_is_a_dead_letter_with_the_receivers_reason(reason: MessageClass) -> None:
    bench = Sender()
    bench.stream(b"a", negative_journaling=True, positive_journaling=True)
    bench.answer_all()
    bench.receipt(1)
    bench.final(1, reason)
    assert (bench.waiting(), bench.bodies(DEAD_STREAM), bench.bodies(JOURNAL)) == (0, [b"a"], [])
    position = bench.queue(DEAD_STREAM).order.first()
    assert position is not None
    assert position.reason is reason
    bench.check()


@pytest.mark.srmp("T-52")
@pytest.mark.spec("SR-244")
@pytest.mark.parametrize(("transactional", "kept_in"), [(True, "graveyard"), (False, DEAD_STREAM)])
def test_an_application_may_name_a_transactional_queue_for_its_dead_letters(
    transactional: bool, kept_in: str
) -> None:
    bench = Sender()
    bench.create("graveyard", transactional=transactional)
    bench.stream(b"a", negative_journaling=True, application_deadletter_queue="graveyard")
    bench.answer_all()
    bench.final(1, MessageClass.NACK_RECEIVE_TIMEOUT)
    assert bench.bodies(kept_in) == [b"a"]


@pytest.mark.srmp("T-53", "F-58")
@pytest.mark.spec("SR-228")
def test_a_final_receipt_for_what_is_not_there_is_discarded() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", negative_journaling=True)
    bench.answer_all()
    bench.receipt(2)
    bench.final(1)
    before = len(bench.facts)
    bench.final(1)
    bench.final(1, stream="uid:00000000-0000-0000-0000-000000000000\\1")
    assert (len(bench.facts), bench.waiting()) == (before, 1)
    bench.check()


def test_a_final_receipt_says_that_all_before_it_arrived() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    bench.stream(b"c", negative_journaling=True)
    bench.answer_all()
    bench.final(3)
    assert (bench.waiting(), bench.srmp.state.sent) == (0, {})
    bench.check()


@pytest.mark.spec("SR-225")
def test_one_that_was_acknowledged_does_not_expire_before_it_is_read() -> None:
    bench = Sender()
    bench.stream(b"a", negative_journaling=True, time_to_reach_queue=60)
    bench.answer_all()
    bench.receipt(1)
    bench.stream(b"b", time_to_reach_queue=0xFFFFFFFF)
    bench.answer_all()
    bench.advance(1000)
    assert bench.bodies(DEAD_STREAM) == []
    bench.restart()
    bench.advance(1000)
    assert bench.bodies(DEAD_STREAM) == []
    bench.final(1)
    assert bench.waiting() == 1
    bench.check()


# -- restart


@pytest.mark.srmp("T-57")
@pytest.mark.spec("SR-118", "SR-120", "SR-128", "SR-160", "SR-260")
def test_after_a_restart_all_goes_again_under_the_same_numbers_and_identifiers() -> None:
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


def test_receipts_count_right_after_a_restart() -> None:
    """Before the manager handed anything out again."""
    bench = Sender()
    bench.stream(b"a", positive_journaling=True)
    bench.stream(b"b", negative_journaling=True)
    bench.answer_all()
    bench.addressed = False
    bench.restart()
    bench.receipt(2)
    assert (bench.waiting(), bench.bodies(JOURNAL)) == (1, [b"a"])
    bench.final(2)
    assert (bench.waiting(), bench.posts, bench.srmp.state.sent) == (0, [], {})
    bench.check()


def test_a_receipt_that_comes_while_all_is_to_go_again_keeps_what_it_confirms_from_going() -> None:
    """Nor does one expire then that only waits for the word that it was read."""
    bench = Sender(settings=SrmpSettings(resend_ladder=(seconds(5),)))
    bench.stream(b"a", negative_journaling=True, time_to_reach_queue=8)
    bench.answer_all()
    bench.stream(b"b", b"c")
    second, third = bench.posts
    bench.advance(5)  # time to go again, and two answers are due
    bench.forget()
    bench.advance(4)
    bench.receipt(2)
    assert (bench.posts, bench.bodies(DEAD_STREAM), bench.waiting()) == ([], [], 2)
    bench.answer(second)
    bench.answer(third)
    assert bench.numbers == [3]
    assert (bench.bodies(DEAD_STREAM), bench.waiting()) == ([], 2)
    bench.receipt(3)
    bench.final(1)
    assert bench.waiting() == 0
    bench.check()


def test_a_receipt_for_all_that_was_posted_ends_the_wait_for_their_answers() -> None:
    bench = Sender(settings=SrmpSettings(resend_ladder=(seconds(5),)))
    bench.stream(b"a", negative_journaling=True, time_to_reach_queue=8)
    bench.answer_all()
    bench.stream(b"b")
    bench.advance(5)
    bench.stream(b"c")  # held back until the answer to b
    bench.forget()
    bench.advance(4)
    bench.receipt(2)
    assert bench.numbers == [3]
    assert (bench.bodies(DEAD_STREAM), bench.waiting()) == ([], 2)
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
