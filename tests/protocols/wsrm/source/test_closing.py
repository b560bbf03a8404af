"""A sequence ends: in both versions, with and without an answer, with everything there and with gaps."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    CloseSequenceResponse,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Incomplete,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.closing import LAST_MESSAGE
from tests.protocols.wsrm.source.source_bench import FIRST, Came, SourceBench, closed, kind_of, terminated

RM10 = Dialect(version=Version.RM10)


def idle(**peer: object) -> SourceBench:
    """Return a source whose only message has arrived, after the idle time."""
    peers = (PeerSettings(address="*", **peer),)  # type: ignore[arg-type]
    bench = SourceBench(settings=WsrmSettings(peers=peers, retries=2))
    bench.put("a")
    bench.open()
    bench.acknowledge((1, 1))
    bench.advance(300)
    return bench


def test_ws_rm_1_1_closes_and_terminates() -> None:
    bench = idle()
    assert bench.kinds() == ["CloseSequence"]
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 1)))
    assert bench.kinds() == ["TerminateSequence"]
    [post] = bench.take()
    bench.answer(post, terminated(post, bench))
    assert bench.posts == []
    assert bench.wsrm.source.sequences == {}


def test_ws_rm_1_0_sends_an_empty_last_message_and_terminates() -> None:
    bench = idle(dialect=RM10)
    [last] = bench.sent()
    assert last.sequence is not None
    assert (last.sequence.number, last.sequence.last) == (2, True)
    assert last.action == LAST_MESSAGE
    assert last.ack_requests == (FIRST,)
    bench.acknowledge((1, 2))
    [terminate] = bench.sent()
    assert terminate.body == TerminateSequence(FIRST)
    bench.answer(bench.take()[0])
    assert bench.wsrm.source.sequences == {}


def test_a_bare_202_to_last_message_is_enough() -> None:
    bench = idle(dialect=RM10)
    bench.answer(bench.take()[0])
    assert bench.kinds() == ["TerminateSequence"]


@pytest.mark.parametrize("status", [202, 404, 500])
def test_a_peer_that_does_not_know_close_is_informed_that_the_sequence_ends(status: int) -> None:
    bench = idle()
    bench.answer(bench.take()[0], status=status)
    assert bench.kinds() == ["TerminateSequence"]


def test_an_addressable_peer_is_waited_for() -> None:
    bench = idle(addressable=True)
    [post] = bench.take()
    bench.answer(post)
    assert bench.posts == []
    bench.advance(2)
    assert bench.kinds() == ["CloseSequence"]  # it goes again
    bench.handle(Came(closed(post, bench, (1, 1))))
    post = bench.posts[-1]
    bench.answer(post)
    assert bench.wsrm.source.sequences
    bench.handle(Came(terminated(post, bench)))
    assert bench.wsrm.source.sequences == {}


def test_a_sequence_whose_end_is_never_answered_is_not_left_behind() -> None:
    bench = idle(addressable=True)
    kinds = []
    for _ in range(60):
        kinds += bench.kinds()
        for post in bench.take():
            bench.answer(post)
        bench.advance(1)
    assert kinds == ["CloseSequence"] * 3 + ["TerminateSequence"] * 3
    assert bench.wsrm.source.sequences == {}
    assert not [name for name in bench.timers if name[0].startswith("wsrm")]


def test_a_sequence_without_its_peer_is_forgotten_in_time() -> None:
    bench = idle()
    for _ in range(60):
        for post in bench.take():
            bench.fail(post)
        bench.advance(1)
    assert bench.wsrm.source.sequences == {}
    assert bench.wsrm.source.sessions == {}


def test_messages_that_come_while_a_sequence_ends_go_on_in_the_next() -> None:
    bench = idle()
    bench.put("b")
    assert bench.kinds() == ["CloseSequence"]
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 1)))
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]
    terminate = bench.posts[0]
    bench.open("urn:uuid:second")
    assert bench.words == ["b"]
    bench.answer(terminate, terminated(terminate, bench))
    assert len(bench.wsrm.source.sequences) == 1


def test_a_sequence_without_messages_has_no_last_number() -> None:
    bench = SourceBench(settings=WsrmSettings(peers=(PeerSettings(address="*", addressable=True),)))
    bench.put("a", time_to_reach_queue=3)
    [post] = bench.take()
    asked = bench.read(post)
    bench.answer(post)
    while bench.waiting():  # the queue rests, and what was to be sent expires
        bench.advance(1)
        for again in bench.take():
            bench.answer(again)
    body = CreateSequenceResponse(FIRST)
    bench.handle(Came(Envelope(dialect=asked.dialect, relates_to=asked.message_id, body=body)))
    bench.forget()
    bench.advance(300)
    assert [each.body for each in bench.sent()] == [CloseSequence(FIRST, 0)]


def test_a_close_response_without_final_counts_with_the_acknowledgement_in_its_envelope() -> None:
    bench = SourceBench(settings=WsrmSettings(retries=1))
    bench.put("a", "b")
    bench.open()
    bench.acknowledge((1, 1))
    for wait in (2, 4):
        bench.answer(bench.take()[0])
        bench.advance(wait)
    [post] = bench.take()
    bench.answer(post, Envelope(dialect=Dialect(), body=CloseSequenceResponse(FIRST)))
    assert bench.posts == []  # nothing was said of what arrived
    bench.advance(2)
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 2), final=False))
    assert bench.waiting() == 0
    assert bench.kinds() == ["TerminateSequence"]


@pytest.mark.parametrize("incomplete", [None, *Incomplete])
def test_what_a_peer_discards_behind_a_gap_is_reported(incomplete: Incomplete | None) -> None:
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open(incomplete=incomplete)
    bench.acknowledge((1, 1))
    bench.acknowledge((1, 1), (3, 3), final=True)
    warned = [each.why for each in bench.warnings if each.what.startswith("the peer discards")]
    discards = incomplete in (Incomplete.FOLLOWING, Incomplete.ENTIRE)
    assert bool(warned) is discards
    if discards:
        assert warned == ["1 acknowledged messages are behind message 2, which did not arrive"]


def test_a_last_message_for_which_there_is_no_room_ends_the_sequence_nevertheless() -> None:
    peers = (PeerSettings(address="*", dialect=RM10, addressable=True),)
    bench = SourceBench(settings=WsrmSettings(peers=peers, retries=4))
    bench.put("poison", "b")
    bench.open()
    kinds: list[str] = []
    for _ in range(200):
        kinds += bench.kinds()
        for post in bench.take():
            acknowledges = kind_of(bench.read(post)) == "LastMessage 2"
            if acknowledges:
                bench.hear()  # it has neither the message nor room for what is behind it
            bench.answer(post)
        bench.advance(1)
        if "CreateSequence" in kinds[1:]:
            break
    assert kinds == [*["1"] * 5, *["LastMessage 2"] * 5, "TerminateSequence", "CreateSequence"]
    assert bench.waiting() == 1


def test_only_an_acknowledgement_of_last_message_is_newer_than_all_messages() -> None:
    """An acknowledgement that was sent before a message arrived does not say that it is missing."""
    peers = (PeerSettings(address="*", dialect=RM10, addressable=True),)
    bench = SourceBench(settings=WsrmSettings(peers=peers, retries=1))
    bench.put("a", "b")
    bench.open()
    old = bench.acknowledgement()
    for wait in (2, 4):
        bench.answer(bench.take()[0])
        bench.advance(wait)
    assert bench.kinds() == ["LastMessage 2"]
    bench.answer(bench.take()[0])
    bench.handle(Came(old))
    assert bench.waiting() == 2
    assert bench.posts == []
    bench.hear((1, 2))
    assert bench.waiting() == 1
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]


def test_the_next_sequence_waits_until_the_peer_has_delivered_messages_after_a_gap() -> None:
    """WS-RM 1.0 has no CloseSequence: what is held at the peer is delivered when TerminateSequence comes."""
    peers = (PeerSettings(address="*", dialect=RM10),)
    bench = SourceBench(settings=WsrmSettings(peers=peers, retries=1))
    bench.put("a", "poison", "c", "d")
    bench.open()
    bench.acknowledge((1, 1))
    for _ in range(60):
        if bench.kinds() == ["AckRequested"]:
            break
        for post in bench.take():
            bench.answer(post, bench.acknowledgement((1, 1), (3, 4)))
        bench.advance(1)
    bench.put("e")
    bench.acknowledge((1, 1), (3, 4))
    assert bench.kinds() == ["TerminateSequence"]
    [lost] = bench.take()
    bench.fail(lost)
    bench.advance(3)
    assert bench.kinds() == ["TerminateSequence"], "it goes again before all else"
    bench.answer(bench.take()[0])
    assert bench.kinds() == ["CreateSequence"]
