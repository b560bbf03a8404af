"""An incoming stream decides when its receipt is due."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import Duration, Instant
from reliquary.streams.incoming import Coalescing, Incoming
from reliquary.streams.tables import IncomingStream
from tests.streams.streams_harness import SENDER

RULE = Coalescing(delay=Duration(5), longest=Duration(20), most=10)


def incoming(last: int = 0, acknowledged: int = 0) -> Incoming:
    return Incoming(0, (SENDER, "a"), IncomingStream(1, last, acknowledged))


@pytest.mark.spec("SR-142", "SR-215")
def test_a_receipt_waits_for_further_messages_for_a_limited_time() -> None:
    stream = incoming(last=1)
    timers = []
    for now in (100, 104, 108, 112, 116, 118):
        assert not stream.is_receipt_due(RULE, Instant(now))
        timers.append(now + stream.wait(RULE, Instant(now)))
    assert timers == [105, 109, 113, 117, 120, 120]
    assert stream.is_receipt_due(RULE, Instant(120))


@pytest.mark.spec("SR-142")
@pytest.mark.parametrize(("last", "due"), [(9, False), (12, False), (13, True), (20, True)])
def test_a_receipt_waits_for_a_limited_number_of_messages(last: int, due: bool) -> None:
    assert incoming(last, acknowledged=3).is_receipt_due(RULE, Instant(100)) is due


@pytest.mark.spec("SR-215")
def test_after_a_receipt_the_time_counts_anew() -> None:
    stream = incoming(last=1)
    stream.is_receipt_due(RULE, Instant(100))
    stream.wait(RULE, Instant(100))
    stream.receipted()
    assert (stream.waiting, stream.unreceipted_since) == (False, 0)
    assert not stream.is_receipt_due(RULE, Instant(120))
    assert stream.wait(RULE, Instant(120)) == RULE.delay


def test_a_clock_that_goes_back_makes_no_wait_longer() -> None:
    stream = incoming(last=1)
    assert not stream.is_receipt_due(RULE, Instant(1000))
    assert not stream.is_receipt_due(RULE, Instant(100))
    assert stream.unreceipted_since == 100
    assert stream.is_receipt_due(RULE, Instant(120))


@pytest.mark.spec("SR-142", "SR-215")
@pytest.mark.parametrize(
    ("accessed", "now", "left"),
    [
        pytest.param(100, 105, 0, id="no message came meanwhile"),
        pytest.param(104, 105, 4, id="a message came meanwhile"),
        pytest.param(118, 119, 1, id="the longest time ends before"),
        pytest.param(118, 120, 0, id="the longest time is over"),
        pytest.param(118, 200, 0, id="the clock was set forward"),
        pytest.param(118, 90, 0, id="the clock was set back"),
    ],
)
def test_a_timer_that_fires_leaves_the_rest_of_the_time(accessed: int, now: int, left: int) -> None:
    stream = incoming(last=1)
    stream.wait(RULE, Instant(100))
    stream.stream = IncomingStream(1, 2, accessed=accessed)
    assert stream.time_left(RULE, Instant(now)) == left


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_no_message_waits_longer_than_the_rule_says(pauses: list[int]) -> None:
    """Messages come after these pauses; the timer fires in between, and is set again for the time left."""
    stream, now, timer, oldest = incoming(), 100, 0, 0
    for last, pause in enumerate(pauses, 1):
        now += pause
        while timer and timer <= now:
            assert timer - oldest <= RULE.longest
            left = stream.time_left(RULE, Instant(timer))
            if left:
                assert timer < stream.stream.accessed + RULE.delay
                timer += left
            else:
                stream.receipted()
                stream.stream, timer, oldest = IncomingStream(1, last - 1, last - 1), 0, 0
        stream.stream = IncomingStream(1, last, stream.stream.acknowledged, accessed=now)
        oldest = oldest or now
        if stream.is_receipt_due(RULE, Instant(now)):
            assert now - oldest <= RULE.longest
            stream.receipted()
            stream.stream, timer, oldest = IncomingStream(1, last, last), 0, 0
        else:
            assert last - stream.stream.acknowledged < RULE.most
            if not stream.waiting:
                timer = now + stream.wait(RULE, Instant(now))
            assert now < timer <= now + RULE.delay
        assert stream.waiting is bool(timer)
