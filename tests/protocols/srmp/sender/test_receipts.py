"""Tests receipts for outgoing streams, and the outcome of each message."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.message import MessageClass
from tests.protocols.srmp.sending import Sender

DEAD, DEAD_STREAM, JOURNAL = "system$;deadletter", "system$;deadxact", "system$;journal"


# -- stream receipts


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


def test_the_case_of_a_stream_identifier_does_not_matter() -> None:
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


# -- final receipts


@pytest.mark.srmp("T-50")
@pytest.mark.spec("SR-227", "SR-229", "SR-231", "SR-245")
def test_a_message_that_requests_dead_letters_stays_until_it_was_read() -> None:
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
def test_a_message_that_was_never_read_is_a_dead_letter_with_the_receivers_reason(
    reason: MessageClass,
) -> None:
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
def test_an_acknowledged_message_does_not_expire_before_it_is_read() -> None:
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
