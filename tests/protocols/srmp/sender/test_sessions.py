"""The connection of an outgoing queue: open, closed, on hold; and how long a stream receipt is waited for."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, later, seconds
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.events import Failure
from reliquary.protocols.srmp.sender.sessions import RECEIPT_WAIT
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.events import BringOnline, TakeOffline
from reliquary.queueing.travel.link import ConnectionStatus, OutgoingState
from reliquary.streams.ladder import RESEND_LADDER
from tests.protocols.srmp.sending import Sender


def resends(bench: Sender, count: int) -> list[int]:
    """After how many seconds each of the next resends came; every one is answered, none has a receipt."""
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


# -- open and closed


@pytest.mark.spec("SR-121", "SR-308", "SR-310")
def test_a_message_opens_the_connection_and_all_that_follow_use_it() -> None:
    bench = Sender()
    bench.plain(b"a")
    bench.plain(b"b")
    assert len({post.epoch for post in bench.posts}) == 1
    assert [record.status for record in bench.link().history] == [
        ConnectionStatus.IN_PROCESS,
        ConnectionStatus.ESTABLISHED,
    ]
    assert bench.link().next_hops == ("shop.example",)


@pytest.mark.srmp("T-71")
@pytest.mark.spec("SR-154", "SR-254", "SR-291")
def test_a_connection_that_is_not_used_is_closed_and_the_next_message_opens_another() -> None:
    bench = Sender()
    bench.plain(b"a")
    bench.answer_all()
    bench.advance(299)
    bench.plain(b"b")
    bench.answer_all()  # and so it is used
    bench.advance(299)
    assert bench.ended == []
    bench.advance(1)
    [ended] = bench.ended
    assert ended == EndSession(ended.session, ended.epoch)
    assert bench.link().state is OutgoingState.DISCONNECTED
    assert bench.srmp.state.sessions == {}
    bench.plain(b"c")
    [post] = bench.posts
    assert post.epoch > ended.epoch
    bench.check()


def test_a_connection_with_an_answer_due_is_not_closed() -> None:
    bench = Sender(settings=SrmpSettings(session_cleanup=seconds(10)))
    bench.plain(b"a")
    bench.advance(60)
    assert bench.ended == []
    bench.answer_all()
    bench.advance(20)
    assert len(bench.ended) == 1


def test_a_stream_that_waits_for_its_receipt_outlives_the_connection() -> None:
    bench = Sender(settings=SrmpSettings(resend_ladder=(seconds(400),)))
    bench.stream(b"a")
    bench.answer_all()
    bench.advance(301)
    assert len(bench.ended) == 1
    bench.forget()
    bench.advance(100)
    assert bench.numbers == [1]
    bench.check()


def test_late_answers_to_a_closed_connection_change_nothing() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    old = list(bench.posts)
    bench.fail(old[0], Failure.LOST)
    bench.advance(20)
    for post in old:
        bench.answer(post, 400)
    assert (bench.waiting(), bench.numbers[2:]) == (2, [1, 2])
    bench.check()


# -- on hold


@pytest.mark.srmp("T-70")
@pytest.mark.spec("SR-304", "SR-305")
def test_nothing_is_posted_while_the_queue_is_on_hold_and_all_of_it_after() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    bench.answer(bench.posts[0])
    in_flight = bench.posts[1]
    bench.pause()
    assert (len(bench.ended), bench.link().state) == (1, OutgoingState.ON_HOLD)
    bench.forget()
    bench.stream(b"c")
    bench.answer(in_flight)  # too late
    bench.advance(3600)
    assert bench.posts == []
    assert RECEIPT_WAIT not in {name for name, _ in bench.timers}
    bench.resume()
    assert bench.numbers == [2, 3]
    bench.answer_all()
    bench.advance(30)
    assert bench.numbers == [1, 2, 3]
    bench.answer_all()
    bench.receipt(3)
    assert bench.waiting() == 0
    bench.check()


def test_after_a_pause_receipts_are_waited_for_even_where_nothing_else_is_to_be_sent() -> None:
    bench = Sender()
    bench.stream(b"a")
    bench.answer_all()
    bench.pause()
    bench.advance(100)
    bench.resume()
    bench.forget()
    bench.advance(30)
    assert bench.numbers == [1]


def test_receipts_count_while_the_queue_is_on_hold() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    bench.answer(bench.posts[0])
    bench.pause()
    bench.receipt(2)
    assert (bench.waiting(), bench.srmp.state.sent) == (0, {})
    bench.resume()
    bench.check()


# -- offline


def test_offline_answers_still_count_and_no_receipt_is_waited_for() -> None:
    bench = Sender()
    bench.plain(b"x")
    bench.stream(b"a")
    posts = list(bench.posts)
    bench.ask(TakeOffline(0))
    for post in posts:
        bench.answer(post)
    assert bench.waiting() == 1
    bench.forget()
    bench.advance(100_000)
    assert bench.posts == []
    bench.ask(BringOnline(0))
    bench.advance(30)
    assert bench.numbers == [1]
    bench.check()


# -- waiting for stream receipts


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
def test_each_time_out_in_a_row_lets_more_time_pass_and_progress_begins_anew() -> None:
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


def test_steady_receipts_do() -> None:
    bench = Sender()
    for number in range(1, 20):
        bench.stream(b"a")
        bench.answer_all()
        bench.advance(5)
        bench.receipt(max(number - 2, 1))
    assert bench.posts == []


def test_a_time_out_waits_for_the_answers_that_are_due() -> None:
    """Else one message would be under way twice."""
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
    """The second message fails and expires; nothing but the timer speaks for the first."""
    bench = Sender()
    bench.stream(b"a")
    bench.answer_all()
    bench.stream(b"b", time_to_reach_queue=1)
    bench.fail(bench.posts[0])
    bench.forget()
    bench.advance(30)
    assert bench.numbers == [1]
    bench.check()


def test_the_ladder_is_the_administrators_choice() -> None:
    bench = Sender(settings=SrmpSettings(resend_ladder=(seconds(2), seconds(60))))
    bench.stream(b"a", time_to_reach_queue=0xFFFFFFFF)
    bench.answer_all()
    assert resends(bench, 3) == [2, 60, 60]
    assert len(RESEND_LADDER) == 10
    assert bench.session.wait.until == later(bench.now, seconds(60))
