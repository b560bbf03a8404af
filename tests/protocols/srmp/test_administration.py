"""Tests what an administrator decides about streams that cannot go on."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.events import ResetStream
from reliquary.queueing.model.administration import Done
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.acceptance import judge
from reliquary.streams.records import incoming_name, outgoing_name
from reliquary.streams.resetting import WHAT
from tests.protocols.srmp import peer
from tests.protocols.srmp.receiving import Receiving
from tests.protocols.srmp.sending import Sender
from tests.protocols.srmp.srmp_harness import SrmpBench
from tests.queueing.state_checks import check, walk

DEAD_STREAM = "system$;deadxact"


def reset(bench: SrmpBench, name: str, *, renumber: bool = False) -> Done:
    """Reset a stream; the machine's answer."""
    answer = bench.ask(ResetStream(0, name, renumber))
    assert isinstance(answer, Done)
    return answer


def out_name(bench: Sender) -> str:
    return outgoing_name(bench.outgoing().number)


def in_name(bench: Receiving) -> str:
    (incoming,) = bench.srmp.state.places
    return incoming_name(incoming.key)


# -- a stream that goes out


@pytest.mark.parametrize("answered", [True, False])
def test_what_is_not_confirmed_becomes_dead_letters_and_a_new_stream_begins(answered: bool) -> None:
    bench = Sender()
    bench.stream(b"1", b"2", b"3")
    old = bench.stream_id
    if answered:
        bench.answer_all()
    bench.receipt(1)
    assert reset(bench, out_name(bench)) == Done(True)
    assert {position.reason for position in walk(bench.queue(DEAD_STREAM))} == {NOT_KNOWN}
    assert (bench.bodies(DEAD_STREAM), bench.waiting()) == ([b"2", b"3"], 0)
    bench.forget()
    bench.stream(b"4")
    assert bench.stream_id != old
    assert (bench.sent_bodies(), bench.numbers) == ([b"4"], [1])
    assert (bench.warnings[0].what, bench.warnings[0].why) == (
        WHAT,
        "2 messages without a receipt are dead letters",
    )
    bench.check()


@pytest.mark.parametrize("crash", [True, False])
def test_a_reset_with_renumber_sends_messages_again_under_new_numbers(crash: bool) -> None:
    bench = Sender()
    bench.stream(b"1", b"2", b"3", negative_journaling=True)
    old, posts = bench.sent.stream, list(bench.posts)
    bench.answer(posts[0])
    bench.receipt(1)  # its final receipt is still to come
    bench.forget()
    assert reset(bench, out_name(bench), renumber=True) == Done(True)
    if crash:
        bench.restart()
    else:
        for post in posts[1:]:  # those under way are answered first
            assert not bench.posts
            bench.answer(post)
        assert not bench.sent.stream.started
    assert (bench.sent_bodies(), bench.numbers) == ([b"2", b"3"], [1, 2])
    assert bench.sent.stream.number > old.number
    assert bench.bodies(DEAD_STREAM) == [b"1"]
    bench.answer_all()
    bench.receipt(2)
    bench.final(1)
    bench.final(2)
    assert bench.waiting() == 0
    bench.check()


def test_a_stream_keeps_its_name_after_a_reset() -> None:
    bench = Sender()
    bench.stream(b"1")
    name = out_name(bench)
    reset(bench, name, renumber=True)
    assert reset(bench, name) == Done(True)
    assert bench.bodies(DEAD_STREAM) == [b"1"]


# -- a stream that comes in


@pytest.mark.parametrize("crash", [True, False])
@pytest.mark.parametrize(("current", "stream"), [(8, 0), (2, 0), (3, -1)], ids=["gap", "back", "older"])
def test_the_next_message_is_taken_and_the_stream_goes_on_from_there(
    current: int, stream: int, crash: bool
) -> None:
    bench = Receiving()
    for number in (1, 2, 3, 4):
        bench.post(*peer.stream_message(number))
    there = peer.STREAM + stream
    assert reset(bench, in_name(bench)) == Done(True)
    if crash:
        bench.restart()
    for number in (current, current, current + 1):
        assert bench.post(*peer.stream_message(number, stream=there, number=2000 + number)).status == 200
    expected = [b"1", b"2", b"3", b"4", b"%d" % current, b"%d" % (current + 1)]
    assert bench.bodies("torders") == expected
    assert bench.warnings[0].what == WHAT
    bench.advance(20)
    assert bench.receipts[-1].said["lastOrdinal"] == str(current + 1)
    check(bench.state)


def test_a_message_out_of_turn_is_refused_without_a_reset() -> None:
    bench = Receiving()
    bench.post(*peer.stream_message(1))
    (incoming,) = bench.srmp.state.places
    assert not incoming.stream.reset
    bench.post(*peer.stream_message(8))
    assert bench.bodies("torders") == [b"1"]
    assert judge(incoming.stream, peer.STREAM, 8, 7).value == "out-of-order"


# -- neither


@pytest.mark.parametrize("name", ["out-99", "in-0123456789", "stream", ""])
def test_a_name_that_no_stream_has_is_refused(name: str) -> None:
    bench = Sender()
    bench.stream(b"1")
    facts = len(bench.facts)
    assert reset(bench, name) == Done(False, f"there is no stream {name}")
    assert len(bench.facts) == facts
