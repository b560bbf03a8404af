"""Stream receipts that are waited for, and what goes again without one."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, later, seconds
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.sender.resending import RECEIPT_WAIT
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.streams.ladder import RESEND_LADDER
from tests.protocols.srmp.sending import Sender


def resends(bench: Sender, count: int) -> list[int]:
    """Return the seconds before each resend; every one is answered, and none has a receipt."""
    spans: list[int] = []
    last = bench.now
    while len(spans) < count:
        [(_, moment)] = [each for each in bench.timers.items() if each[0][0] == RECEIPT_WAIT]
        bench.advance((moment - bench.now) / SECOND)
        assert bench.posts, "nothing was sent again"
        spans.append((bench.now - last) // SECOND)
        last = bench.now
        bench.answer_all()
    return spans


@pytest.mark.srmp("T-42")
@pytest.mark.spec("SR-143", "SR-151", "SR-247", "SR-248", "SR-271")
def test_without_a_receipt_all_goes_again_in_its_order_and_the_receipt_ends_it() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    first = [post.body for post in bench.posts]
    bench.answer_all()
    bench.advance(29.9)
    assert bench.posts == []
    bench.advance(0.1)
    assert [post.body for post in bench.posts] == first
    bench.answer_all()
    bench.receipt(3)
    assert bench.waiting() == 0
    bench.advance(100_000)
    assert bench.posts == []
    bench.check()


@pytest.mark.srmp("T-43")
@pytest.mark.spec("SR-148", "SR-158", "SR-224", "SR-248")
def test_each_time_out_in_a_row_makes_the_wait_longer_and_progress_makes_it_short() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", time_to_reach_queue=0xFFFFFFFF)
    bench.answer_all()
    expected = [30, 30, 30, 300, 300, 300, 1800, 1800, 1800, 21600, 21600, 21600]
    assert resends(bench, len(expected)) == expected
    bench.receipt(1)
    assert resends(bench, 4) == [30, 30, 30, 300]


def test_a_receipt_without_progress_does_not_shorten_the_wait() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", time_to_reach_queue=0xFFFFFFFF)
    bench.answer_all()
    bench.receipt(1)
    assert resends(bench, 3) == [30, 30, 30]
    bench.receipt(1)
    assert resends(bench, 1) == [300]


@pytest.mark.spec("SR-271")
def test_steady_traffic_does_not_put_the_time_out_off() -> None:
    bench = Sender()
    for _ in range(6):
        bench.stream(b"a")
        bench.answer_all()
        bench.advance(4.9)
    assert bench.posts == []
    bench.advance(0.7)
    assert bench.numbers == [1, 2, 3, 4, 5, 6]


def test_steady_receipts_restart_the_time_out() -> None:
    bench = Sender()
    for number in range(1, 20):
        bench.stream(b"a")
        bench.answer_all()
        bench.advance(5)
        bench.receipt(max(number - 2, 1))
    assert bench.posts == []


def test_a_time_out_waits_for_the_answers_that_are_due() -> None:
    """Otherwise one message would be sent twice at one time."""
    bench = Sender(settings=SrmpSettings(resend_ladder=(seconds(5),)))
    bench.stream(b"a", b"b")
    first, second = bench.posts
    bench.answer(first)
    bench.advance(5)
    bench.stream(b"c")
    assert len(bench.posts) == 2
    bench.answer(second)
    assert bench.numbers[2:] == [1, 2, 3]
    bench.check()


@pytest.mark.spec("SR-293")
def test_a_receiver_that_cannot_be_reached_does_not_lengthen_the_wait() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    bench.answer(bench.posts[0])
    for _ in range(100):
        bench.fail([each for each in bench.out if isinstance(each, Post)][-1])
        bench.advance(20)
    assert bench.session.wait.rung == 0
    bench.answer_all()
    bench.advance(30)
    assert bench.numbers == [1, 2]
    bench.check()


@pytest.mark.spec("SR-293")
def test_what_was_taken_is_asked_about_even_where_nothing_else_is_left_to_send() -> None:
    """The second message fails and expires; only the timer triggers a resend of the first."""
    bench = Sender()
    bench.stream(b"a")
    bench.answer_all()
    bench.stream(b"b", time_to_reach_queue=1)
    bench.fail(bench.posts[0])
    bench.forget()
    bench.advance(30)
    assert bench.numbers == [1]
    bench.check()


def test_the_retry_delays_are_a_setting() -> None:
    bench = Sender(settings=SrmpSettings(resend_ladder=(seconds(2), seconds(60))))
    bench.stream(b"a", time_to_reach_queue=0xFFFFFFFF)
    bench.answer_all()
    assert resends(bench, 3) == [2, 60, 60]
    assert len(RESEND_LADDER) == 10
    assert bench.session.wait.until == later(bench.now, seconds(60))


@pytest.mark.spec("SR-247")
def test_a_message_that_is_still_on_its_way_is_waited_for() -> None:
    bench = Sender()
    bench.stream(b"large", b"b")
    large, second = bench.posts
    bench.forget()
    bench.advance(300)
    assert (bench.posts, bench.session.wait.timeouts) == ([], 0)
    bench.answer(large)
    bench.receipt(1)
    bench.answer(second)
    bench.advance(29)
    assert bench.posts == []
    bench.advance(1)
    assert bench.sent_bodies() == [b"b"]
    bench.check()


def test_an_answer_to_the_first_message_begins_the_wait_for_its_receipt() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    first, second = bench.posts
    bench.forget()
    bench.answer(first)
    bench.advance(30)
    assert bench.posts == []  # the second is on its way: all goes again when it has its answer
    bench.answer(second)
    assert bench.sent_bodies() == [b"a", b"b"]
