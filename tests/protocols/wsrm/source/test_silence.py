"""Peers that answer every message with 202, and say at the end of a sequence what they have."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    CloseSequence,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.silence import SILENT_AFTER, is_silent
from reliquary.queueing.travel.failures import Failure
from tests.protocols.wsrm.source.source_bench import FIRST, SourceBench, closed, terminated

DEAD = "system$;deadletter"
RM10 = Dialect(version=Version.RM10)


def sent(*words: str, retries: int = 3, **peer: object) -> SourceBench:
    """Return a source whose peer has the first message, does not acknowledge it, and counts as silent."""
    peers = (PeerSettings(address="*", **peer),)  # type: ignore[arg-type]
    bench = SourceBench(settings=WsrmSettings(peers=peers, retries=retries))
    bench.put(*words, negative_journaling=True)
    bench.open()
    for _ in range(SILENT_AFTER):
        assert bench.numbers == [1]
        [post] = bench.take()
        bench.answer(post)
        bench.advance(2 if not is_silent(bench.session) else 0)
    return bench


def take_all(bench: SourceBench) -> list[str]:
    """Answer each message with 202, until something else is posted; the numbers, as they were posted."""
    seen = []
    while bench.posts and all(each.isdigit() for each in bench.kinds()):
        seen += bench.kinds()
        [post] = bench.take()  # one after the other
        bench.answer(post)
    return seen


def ended(post: Post, bench: SourceBench, *ranges: tuple[int, int]) -> Envelope:
    """Return how gSOAP answers TerminateSequence of WS-RM 1.0."""
    said = Acknowledgement(FIRST, ranges)
    return Envelope(dialect=bench.read(post).dialect, acknowledgements=(said,))


def test_messages_are_sent_one_by_one_and_the_close_confirms_them() -> None:
    bench = sent("a", "b", "c")
    assert bench.sent()[0].ack_requests == (FIRST,)
    assert take_all(bench) == ["2", "3"]
    assert bench.waiting() == 3
    bench.advance(4)
    assert bench.kinds() == ["CloseSequence"]
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 3), final=False))
    assert bench.waiting() == 0
    assert bench.kinds() == ["TerminateSequence"]
    [post] = bench.take()
    bench.answer(post, terminated(post, bench))
    assert bench.wsrm.source.sequences == {}
    assert bench.bodies(DEAD) == []


def test_a_full_window_is_closed_at_once_and_the_next_sequence_knows_the_peer() -> None:
    bench = sent("a", "b", "c", "d", "e", window=2)
    assert take_all(bench) == ["2"]
    assert bench.kinds() == ["CloseSequence"]
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 2)))
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]
    bench.open("urn:uuid:second")
    assert take_all(bench) == ["1", "2"]
    assert bench.kinds() == ["CloseSequence"]


def test_an_acknowledgement_while_the_sequence_is_open_ends_the_silence() -> None:
    bench = sent("a", "b", "c", "d")
    assert bench.numbers == [2]
    bench.acknowledge((1, 2))
    assert not is_silent(bench.session)
    assert bench.numbers == [3, 4]


@pytest.mark.parametrize("addressable", [False, True])
def test_only_a_peer_that_acknowledges_on_responses_can_be_silent(addressable: bool) -> None:
    peers = (PeerSettings(address="*", addressable=addressable),)
    bench = SourceBench(settings=WsrmSettings(peers=peers))
    bench.put("a", "b")
    bench.open()
    for _ in range(3):
        for post in bench.take():
            bench.answer(post)
        bench.advance(10)
    assert is_silent(bench.session) is not addressable


def test_a_peer_that_acknowledged_since_the_connection_began_is_not_silent() -> None:
    bench = SourceBench()
    bench.put("a", "b")
    bench.open()
    bench.acknowledge((1, 1))
    for _ in range(3):
        for post in bench.take():
            bench.answer(post)
        bench.advance(10)
    assert not is_silent(bench.session)


def test_what_was_taken_is_not_sent_again_after_a_failure() -> None:
    bench = sent("a", "b", "c")
    bench.answer(bench.take()[0])
    [post] = bench.take()
    bench.fail(post, Failure.LOST)
    bench.advance(1)
    assert take_all(bench) == ["3"]


def test_what_was_not_taken_goes_again_before_what_is_new() -> None:
    bench = sent("a", "b", "c")
    bench.answer(bench.take()[0], status=500)
    assert bench.posts == []
    bench.advance(4)
    assert take_all(bench) == ["2", "3"]


def test_what_did_not_arrive_goes_on_in_the_next_sequence() -> None:
    bench = sent("a", "b", "c")
    take_all(bench)
    bench.advance(4)
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 1)))
    assert bench.waiting() == 2
    bench.open("urn:uuid:second")
    assert bench.words == ["b"]


def test_a_message_that_is_taken_each_time_and_never_arrives_is_given_up() -> None:
    bench = sent("poison", "b", retries=3)
    sequences, closes = 1, 0
    for _ in range(60):
        for post in bench.take():
            asked = bench.read(post)
            match asked.body:
                case CreateSequence():
                    sequences += 1
                    body = CreateSequenceResponse(f"urn:uuid:{sequences}")
                    made = Envelope(dialect=asked.dialect, relates_to=asked.message_id, body=body)
                    bench.answer(post, made)
                case CloseSequence():
                    closes += 1
                    bench.answer(post, closed(post, bench))
                case TerminateSequence():
                    bench.answer(post, terminated(post, bench))
                case _:
                    bench.answer(post)
        bench.advance(1)
        if bench.bodies(DEAD):
            break
    assert closes == 3
    assert bench.bodies(DEAD) == [b"<m>poison</m>"]
    assert bench.waiting() == 1


def test_the_end_of_a_sequence_of_ws_rm_1_0_shows_the_messages_that_arrived() -> None:
    bench = sent("a", "b", "c", dialect=RM10)
    take_all(bench)
    bench.advance(4)
    assert bench.kinds() == ["AckRequested"]
    bench.answer(bench.take()[0])
    assert bench.kinds() == ["TerminateSequence"]
    [post] = bench.take()
    bench.answer(post, ended(post, bench, (1, 2)))
    assert bench.waiting() == 1
    assert bench.kinds() == ["CreateSequence"]  # the first sequence is not ended twice
    assert bench.bodies(DEAD) == []


def test_a_peer_of_ws_rm_1_0_that_never_says_anything_costs_the_messages() -> None:
    """It is unknown whether the messages arrived, so they are not sent again."""
    bench = sent("a", "b", dialect=RM10)
    take_all(bench)
    bench.advance(4)
    kinds = []
    for _ in range(5):
        kinds += bench.kinds()
        for post in bench.take():
            bench.answer(post)
    assert kinds == ["AckRequested", "TerminateSequence"]
    assert bench.waiting() == 0
    assert bench.bodies(DEAD) == [b"<m>a</m>", b"<m>b</m>"]
    assert bench.wsrm.source.sequences == {}
