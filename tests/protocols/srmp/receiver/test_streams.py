"""Tests streams that come in: in order, once, and receipted."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.time import seconds
from reliquary.base.turn import SetTimer
from reliquary.protocols.srmp.events import PostArrived
from reliquary.protocols.srmp.receiver.receipts import COALESCING
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import DeleteQueue
from tests.protocols.srmp.peer import (
    ALPHA,
    RECEIPTS,
    STREAM,
    TORDERS,
    stream_id,
    stream_message,
)
from tests.protocols.srmp.receiving import Receipt, Receiving


def post(bench: Receiving, *numbers: int, **elements: Any) -> None:
    """Post messages of the stream; each is answered with 200."""
    for number in numbers:
        assert bench.post(*stream_message(number, **elements)).status == 200


def acknowledgement(last: int, stream: int = STREAM) -> Receipt:
    said = {"streamId": stream_id(stream), "lastOrdinal": str(last)}
    return Receipt(RECEIPTS, 255, said, "QM Ordering Ack")


def last_of(bench: Receiving, destination: str = TORDERS) -> int:
    return bench.srmp.state.incoming[ALPHA, destination].stream.last


def rejected(bench: Receiving) -> int:
    return bench.srmp.state.incoming[ALPHA, TORDERS].rejected


# -- in order, and once


@pytest.mark.srmp("T-44")
@pytest.mark.spec("SR-070", "SR-211", "SR-212", "SR-213")
def test_a_message_before_its_turn_comes_again() -> None:
    bench = Receiving()
    post(bench, 1, 3, 2)
    assert bench.bodies("torders") == [b"1", b"2"]
    post(bench, 3)
    assert bench.bodies("torders") == [b"1", b"2", b"3"]


@pytest.mark.srmp("T-45")
@pytest.mark.spec("SR-136", "SR-074", "SR-250")
def test_numbers_that_the_sender_skipped_are_not_waited_for() -> None:
    bench = Receiving()
    post(bench, 1, 2)
    post(bench, 4, previous=2)
    assert bench.bodies("torders") == [b"1", b"2", b"4"]
    bench.advance(1)
    assert bench.receipts == [acknowledgement(4)]


@pytest.mark.srmp("T-46", "T-47", "F-63")
@pytest.mark.spec("SR-217")
def test_what_is_not_taken_is_counted_until_something_is() -> None:
    bench = Receiving()
    post(bench, 1)
    post(bench, 9, previous=7)
    post(bench, 1)
    assert rejected(bench) == 2
    post(bench, 2)
    assert rejected(bench) == 0
    assert bench.bodies("torders") == [b"1", b"2"]


@pytest.mark.spec("SR-069")
def test_a_stream_message_is_taken_once_however_long_ago_it_was() -> None:
    bench = Receiving(settings=SrmpSettings(history_size=1, history_age=seconds(1)))
    post(bench, 1, 2)
    bench.advance(100_000)
    post(bench, 1, 2)
    bench.restart()
    post(bench, 1, 2)
    assert bench.bodies("torders") == [b"1", b"2"]


@pytest.mark.srmp("T-48")
@pytest.mark.spec("SR-211")
def test_an_older_stream_is_not_taken_a_second_time() -> None:
    bench = Receiving()
    post(bench, 1, 2)
    post(bench, 1, stream=STREAM + 1, number=5)
    post(bench, 1, 3, number=6)
    assert bench.bodies("torders") == [b"1", b"2", b"1"]


def test_a_stream_that_was_not_begun_is_ignored_and_leaves_nothing() -> None:
    bench = Receiving()
    post(bench, 2, 3)
    assert bench.bodies("torders") == []
    assert not bench.srmp.state.incoming


@pytest.mark.srmp("F-39")
def test_the_sender_of_a_stream_is_the_one_that_its_name_says() -> None:
    """The sender is not taken from SourceQmGuid, which differs in the published examples."""
    bench = Receiving()
    content_type, body = stream_message(1)
    other = str(UUID(int=9)).encode()
    source = b"<SourceQmGuid>%s<" % str(ALPHA).encode()
    assert bench.post(content_type, body.replace(source, b"<SourceQmGuid>%s<" % other)).status == 200
    post(bench, 2)
    assert bench.bodies("torders") == [b"1", b"2"]


@pytest.mark.spec("SR-127")
def test_streams_of_two_senders_and_to_two_queues_are_apart() -> None:
    bench = Receiving()
    bench.create("more", transactional=True)
    other = UUID(int=5)
    post(bench, 1, 2)
    assert bench.post(*stream_message(1, sender=other, body=b"x")).status == 200
    assert (
        bench.post(*stream_message(1, to=TORDERS.replace("torders", "more"), stream=STREAM - 1)).status == 200
    )
    post(bench, 3)
    assert bench.bodies("torders") == [b"1", b"2", b"x", b"3"]
    assert bench.bodies("more") == [b"1"]


def test_two_names_of_one_queue_are_two_streams() -> None:
    """A sender has an outgoing queue for each name, and a stream in each of them."""
    bench = Receiving()
    other = TORDERS.replace("bench.example", "localhost")
    for number in (1, 2):
        assert bench.post(*stream_message(number, number=number)).status == 200
        post_of_other = stream_message(number, to=other, stream=STREAM + 1, number=10 + number, body=b"x")
        assert bench.post(*post_of_other).status == 200
    assert bench.bodies("torders") == [b"1", b"x", b"2", b"x"]


@pytest.mark.spec("SR-190")
def test_a_stream_message_that_is_refused_does_not_use_up_its_number() -> None:
    bench = Receiving()
    post(bench, 1)
    bench.ask(DeleteQueue(0, "torders"))
    assert bench.post(*stream_message(2)).status == 400
    assert last_of(bench) == 1
    bench.create("torders", transactional=True)
    post(bench, 2)
    assert bench.bodies("torders") == [b"2"]


def test_a_message_that_is_known_under_another_number_advances_its_stream() -> None:
    """The sender of the message had to begin a new stream, and the message was here before."""
    bench = Receiving()
    post(bench, 1, number=71)
    post(bench, 1, stream=STREAM + 1, number=71)
    post(bench, 2, stream=STREAM + 1, number=72)
    assert bench.bodies("torders") == [b"1", b"2"]
    bench.advance(1)
    assert bench.receipts[-1] == acknowledgement(2, STREAM + 1)


def test_a_stream_without_the_word_durable_is_durable() -> None:
    """The published examples have streams of this form; they spell the element with a capital."""
    bench = Receiving()
    content_type, body = stream_message(1, durable=False)
    body = body.replace(b"<stream ", b"<Stream ").replace(b"</stream>", b"</Stream>")
    assert bench.post(content_type, body).status == 200
    bench.flush()
    bench.restart(crash=True)
    assert bench.bodies("torders") == [b"1"]


@pytest.mark.spec("SR-216")
def test_a_transfer_is_shown_with_its_progress() -> None:
    bench = Receiving()
    post(bench, 1, 2)
    incoming = bench.srmp.state.incoming[ALPHA, TORDERS]
    stream = incoming.stream
    assert (incoming.key[0], stream.number, stream.last, stream.accessed) == (ALPHA, STREAM, 2, bench.now)
    assert (stream.format_name, stream.receipts_to) == (f"DIRECT={TORDERS}", RECEIPTS)


# -- receipts


@pytest.mark.srmp("T-38")
@pytest.mark.spec("SR-138", "SR-142", "SR-152", "SR-153", "SR-251", "SR-252", "SR-028", "SR-087", "SR-088")
@pytest.mark.spec("SR-249", "SR-253")
def test_a_receipt_covers_all_messages_of_half_a_second() -> None:
    bench = Receiving()
    for number in (1, 2, 3):
        post(bench, number)
        bench.advance(0.4)
    assert bench.receipts == []
    bench.advance(0.1)
    assert bench.receipts == [acknowledgement(3)]
    bench.advance(60)
    assert bench.receipts == [acknowledgement(3)]


@pytest.mark.srmp("T-39")
@pytest.mark.spec("SR-142", "SR-214", "SR-215")
def test_a_receipt_comes_ten_seconds_after_the_first_message_at_the_latest() -> None:
    bench = Receiving()
    moments = []
    for number in range(1, 60):
        post(bench, number)
        before = len(bench.receipts)
        bench.advance(0.4)
        moments += [round(number * 0.4, 1)] * (len(bench.receipts) - before)
    assert moments == [10.0, 20.0]  # the message of 10.0 s begins the second span
    last = [int(receipt.said["lastOrdinal"]) for receipt in bench.receipts]
    assert last == [25, 50]


@pytest.mark.spec("SR-142")
def test_many_messages_that_share_a_receipt_set_one_timer() -> None:
    bench = Receiving()
    turns = [
        bench.handle(PostArrived(bench.new_caller(), *stream_message(number, previous=number - 1 or None)))
        for number in range(1, 21)
    ]
    timers = [effect for turn in turns for effect in turn.effects if isinstance(effect, SetTimer)]
    assert [timer.name[0] for timer in timers] == [COALESCING]
    bench.advance(0.5)
    assert bench.receipts == [acknowledgement(20)]


def test_a_receipt_does_not_wait_when_many_are_outstanding() -> None:
    bench = Receiving(settings=SrmpSettings(most_coalesced=3))
    post(bench, 1, 2)
    assert bench.receipts == []
    post(bench, 3)
    assert bench.receipts == [acknowledgement(3)]
    assert not any(name[0] == COALESCING for name in bench.timers)
    post(bench, 4)
    bench.advance(1)
    assert bench.receipts == [acknowledgement(3), acknowledgement(4)]


@pytest.mark.spec("SR-140")
def test_a_receipt_that_does_not_wait_still_waits_for_the_disk() -> None:
    bench = Receiving(settings=SrmpSettings(most_coalesced=1))
    bench.core.close()
    bench.core.take_at_once()
    bench.core.turn(PostArrived(1, *stream_message(1)), bench.now)
    batch = bench.core.close()
    assert not any(effect.waits_for_disk for effect in bench.core.take_at_once())
    assert batch.applied


@pytest.mark.spec("SR-140", "SR-139")
def test_the_receipt_leaves_in_a_later_turn_than_the_message_is_stored_in() -> None:
    bench = Receiving()
    turn = bench.handle(PostArrived(bench.new_caller(), *stream_message(1)))
    assert turn.facts
    assert bench.outgoing == []
    bench.advance(0.5)
    assert bench.receipts == [acknowledgement(1)]


def test_a_clock_that_is_set_back_does_not_put_receipts_off() -> None:
    bench = Receiving()
    post(bench, 1)
    bench.now -= seconds(3600)  # type: ignore[assignment]
    bench.timers = {name: moment - seconds(3600) for name, moment in bench.timers.items()}  # type: ignore[misc]
    for number in range(2, 40):
        post(bench, number)
        bench.advance(0.4)
    assert len(bench.receipts) == 1


@pytest.mark.srmp("F-63")
@pytest.mark.spec("SR-141")
def test_a_duplicate_is_receipted_again() -> None:
    bench = Receiving()
    post(bench, 1, 2)
    bench.advance(1)
    post(bench, 1, 2)
    assert len(bench.receipts) == 1
    bench.advance(0.5)
    assert bench.receipts == [acknowledgement(2), acknowledgement(2)]


def test_duplicates_without_end_do_not_put_the_receipt_off() -> None:
    bench = Receiving()
    post(bench, 1)
    bench.advance(1)
    for _ in range(5):
        post(bench, 1)
        bench.advance(0.25)
    assert len(bench.receipts) == 3


def test_what_is_out_of_order_or_outdated_is_not_receipted() -> None:
    bench = Receiving()
    post(bench, 1)
    bench.advance(1)
    post(bench, 3)
    post(bench, 1, stream=STREAM - 1)
    bench.advance(20)
    assert len(bench.receipts) == 1


@pytest.mark.srmp("T-56")
@pytest.mark.spec("SR-160", "SR-161", "SR-128")
@pytest.mark.parametrize("crash", [True, False])
def test_a_message_is_receipted_after_a_restart(crash: bool) -> None:
    bench = Receiving()
    post(bench, 1, 2)
    bench.flush()
    bench.restart(crash=crash)
    post(bench, 2)
    assert bench.bodies("torders") == [b"1", b"2"]
    bench.advance(1)
    assert bench.receipts == [acknowledgement(2)]


def test_the_first_message_of_another_stream_is_receipted_after_a_restart() -> None:
    bench = Receiving()
    post(bench, 1, 2)
    bench.advance(1)
    post(bench, 1, stream=STREAM + 1, number=5)
    bench.restart()
    bench.advance(1)
    assert bench.receipts == [acknowledgement(1, STREAM + 1)]


def test_a_crash_before_the_disk_has_it_forgets_message_and_number_together() -> None:
    bench = Receiving()
    post(bench, 1)
    bench.flush()
    post(bench, 2)
    bench.restart(crash=True)
    assert (bench.bodies("torders"), last_of(bench)) == ([b"1"], 1)
    post(bench, 2)
    assert bench.bodies("torders") == [b"1", b"2"]


def test_a_stream_that_is_receipted_is_not_receipted_after_a_restart() -> None:
    bench = Receiving()
    post(bench, 1)
    bench.advance(1)
    bench.restart()
    bench.advance(20)
    assert bench.receipts == []  # the first one was express, and the crash took it


# -- against a plain model


class Model:
    """A receiver that remembers everything it took."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    def come(self, current: int, previous: int) -> None:
        last = self.taken[-1] if self.taken else 0
        next_one = current == last + 1 if last else current == 1
        if next_one or (last and current > last and previous <= last):
            self.taken.append(current)


ARRIVALS = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 3)), max_size=25)


@pytest.mark.spec("SR-069", "SR-070")
@settings(max_examples=60, deadline=None)
@given(arrivals=ARRIVALS, restarts=st.sets(st.integers(0, 24), max_size=3))
def test_any_arrivals_are_taken_in_order_and_once(
    arrivals: list[tuple[int, int]], restarts: set[int]
) -> None:
    bench, model = Receiving(), Model()
    for step, (current, skipped) in enumerate(arrivals):
        previous = max(current - 1 - skipped, 0)
        post(bench, current, previous=previous)
        model.come(current, previous)
        if step in restarts:
            bench.flush()
            bench.restart(crash=True)
    assert bench.bodies("torders") == [b"%d" % number for number in model.taken]
    assert model.taken == sorted(set(model.taken))
    bench.advance(11)
    receipts = [int(receipt.said["lastOrdinal"]) for receipt in bench.receipts]
    assert receipts == sorted(receipts)
    if model.taken:
        assert bench.srmp.state.incoming[ALPHA, TORDERS].stream.acknowledged == model.taken[-1]
