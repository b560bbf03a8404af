"""Tests OutgoingTransferInfo: what the manager shows of a stream."""

from __future__ import annotations

import pytest

from reliquary.base.time import later, seconds
from reliquary.queueing.model.events import PurgeQueue
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.travel.link import OutgoingTransfer, SequenceInfo
from tests.protocols.srmp.sending import SHOP, Sender

STREAM = SequenceId(1, 1_700_000_000)


def info(number: int, previous: int) -> SequenceInfo:
    return SequenceInfo(STREAM, number, previous)


def shown(bench: Sender) -> OutgoingTransfer:
    transfer = bench.link().transfer
    assert isinstance(transfer, OutgoingTransfer)
    return transfer


@pytest.mark.spec("SR-266", "SR-267", "SR-268", "SR-269", "SR-270", "SR-271")
def test_what_was_sent_is_counted_and_named() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    assert shown(bench) == OutgoingTransfer(
        first_unacknowledged=info(1, 0),
        last_acknowledged=info(0, 0),
        last_unacknowledged=info(3, 2),
        next_to_send=info(4, 3),
        unacknowledged=3,
        resend_interval=30,
        resend_time=later(bench.now, seconds(30)),
    )


@pytest.mark.srmp("T-40")
@pytest.mark.spec("SR-221", "SR-222", "SR-223")
def test_a_receipt_moves_what_it_confirms() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    bench.answer_all()
    bench.advance(1)
    bench.receipt(2)
    after = shown(bench)
    assert (after.first_unacknowledged, after.last_acknowledged) == (info(3, 2), info(2, 0))
    assert (after.unacknowledged, after.unread) == (1, 2)
    assert (after.acknowledged_count, after.acknowledged_time) == (1, bench.now)
    bench.receipt(2)  # a repeated receipt is counted, and changes nothing else
    again = shown(bench)
    assert (again.acknowledged_count, again.unacknowledged, again.unread) == (2, 1, 2)


@pytest.mark.spec("SR-223")
def test_when_all_is_confirmed_nothing_is_waited_for() -> None:
    bench = Sender()
    bench.stream(b"a", b"b")
    bench.answer_all()
    bench.receipt(2)
    after = shown(bench)
    assert (after.first_unacknowledged, after.last_unacknowledged) == (None, None)
    assert (after.unacknowledged, after.resend_time) == (0, 0)


@pytest.mark.parametrize("rest", [0, 2])
@pytest.mark.parametrize("how", ["refused", "expired", "purged"])
@pytest.mark.spec("SR-270")
def test_what_is_given_up_is_not_waited_for(how: str, rest: int) -> None:
    bench = Sender()
    bench.stream(b"a", time_to_reach_queue=10)
    if rest:
        bench.stream(b"b", b"c")
    assert shown(bench).unacknowledged == 1 + rest
    if how == "refused":
        bench.answer(bench.posts[0], 400)
    elif how == "expired":
        bench.fail(bench.posts[0])
        bench.advance(11)
    else:
        bench.fail(bench.posts[0])
        bench.ask(PurgeQueue(0, SHOP))
    left = 0 if how == "purged" else rest
    after = shown(bench)
    assert (after.unacknowledged, after.first_unacknowledged is None) == (left, not left)
    assert (after.resend_time > 0) == bool(left and bench.session.wait.running)


@pytest.mark.spec("SR-230")
def test_a_final_receipt_says_that_one_more_was_read() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", negative_journaling=True)
    bench.answer_all()
    bench.receipt(2)
    assert shown(bench).unread == 2
    bench.final(1)
    assert shown(bench).unread == 1


@pytest.mark.spec("SR-224", "SR-248")
def test_time_outs_are_counted_until_there_is_progress() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", time_to_reach_queue=0xFFFFFFFF)
    for _ in range(4):
        bench.answer_all()
        bench.advance(30)
    bench.answer_all()
    assert (shown(bench).resent, shown(bench).resend_interval) == (3, 300)
    assert shown(bench).resend_time > bench.now
    bench.receipt(1)
    assert (shown(bench).resent, shown(bench).resend_interval) == (0, 30)


@pytest.mark.spec("SR-267", "SR-269")
def test_a_new_stream_begins_to_count_anew() -> None:
    bench = Sender()
    bench.stream(b"a")
    bench.answer_all()
    bench.receipt(1)
    bench.stream(b"b")
    after = shown(bench)
    assert (after.acknowledged_count, after.unread, after.unacknowledged) == (0, 0, 1)
    assert after.last_acknowledged == SequenceInfo(SequenceId(2, 1_700_000_000), 0, 0)
