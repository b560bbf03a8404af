"""Tests the session of an outgoing queue: open, closed, on hold, offline."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.srmp.effects import EndSession
from reliquary.protocols.srmp.sender.resending import RECEIPT_WAIT
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import BringOnline, TakeOffline
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingState
from reliquary.queueing.travel.failures import Failure
from tests.protocols.srmp.sending import Sender

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
    assert bench.srmp.state.sender.sessions == {}
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
