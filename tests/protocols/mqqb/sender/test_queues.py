"""Outgoing queues are connected, paused and resumed."""

from __future__ import annotations

from reliquary.queueing.model.events import PauseQueue, ResumeQueue
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.rules import destinations
from tests.protocols.mqqb.mqqb_harness import (
    ADDRESS,
    ELSEWHERE,
    PEER_ADDRESS,
    MqqbBench,
    link,
    stream_of,
    waiting,
)


def test_a_paused_queue_of_a_stream_does_not_send_again_until_it_is_resumed() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1")
    peer = bench.dialled()
    peer.ack_all()
    bench.ask(PauseQueue(0, ELSEWHERE))
    bench.advance(120)
    assert len(peer.messages) == 1
    bench.ask(ResumeQueue(0, ELSEWHERE))
    bench.advance(31)
    assert waiting(bench) == 1
    assert peer.is_closed or len(peer.messages) == 2


def test_a_session_that_ends_during_a_pause_is_opened_again_at_the_resume() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"1", b"2")
    peer = bench.dialled(window=1)
    bench.ask(PauseQueue(0, ELSEWHERE))
    peer.lose()
    bench.advance(30)
    assert len(bench.dials) == 1
    bench.ask(ResumeQueue(0, ELSEWHERE))
    assert bench.dialled().bodies == [b"1", b"2"]


def test_our_own_address_is_not_dialled() -> None:
    bench = MqqbBench(addressed=False)
    bench.send(f"DIRECT=TCP:{ADDRESS}\\private$\\orders", b"a")  # made while it was not known as our own
    bench.handle(bench.ADDRESSED)
    assert bench.dials == []


def test_a_queue_that_is_removed_and_created_again_has_one_entry() -> None:
    """The manager removes idle queues, and a sender that anyone can invent may have one again and again."""
    bench = MqqbBench()
    numbers: set[int] = set()
    for body in (b"1", b"2", b"3"):
        bench.send(ELSEWHERE, body)
        peer = bench.dialled()
        peer.ack_all()
        assert peer.bodies[-1] == body
        numbers |= bench.mqqb.sender.queues.keys()
        assert len(bench.mqqb.sender.queues) == len(peer.state.queues) == 1
        bench.advance(4 * 3600)
        assert destinations.find(bench.state, ELSEWHERE) is None
    assert len(numbers) == 3


def test_a_busy_session_does_not_hold_the_queues_that_used_it_once() -> None:
    """Answers may go to a new response queue for each request, and one session carries them all."""
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"busy")
    peer = bench.dialled()
    names = [f"DIRECT=TCP:{PEER_ADDRESS}\\private$\\response-{number}" for number in range(20)]
    for name in names:
        bench.send(name, b"once")
    peer.ack_all()
    for _ in range(11):
        bench.advance(60)
        bench.send(ELSEWHERE, b"busy")
        peer.ack_all()
    assert not peer.is_closed
    assert len(bench.mqqb.sender.queues) == len(peer.state.queues) == len(bench.mqqb.sender.queue_to) == 1
    assert {link(bench, name).state for name in names} == {OutgoingState.DISCONNECTED}
    for _ in range(3 * 60):
        bench.advance(60)
        bench.send(ELSEWHERE, b"busy")
        peer.ack_all()
    assert all(destinations.find(bench.state, name) is None for name in names)
    bench.send(names[0], b"again")
    assert peer.bodies[-1] == b"again"
    assert len(bench.dials) == 1


def test_a_session_that_ends_forgets_queues_without_messages() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"1")
    peer = bench.dialled()
    peer.ack_all()
    peer.lose()
    assert not bench.mqqb.sender.queues
    assert not bench.mqqb.sender.queue_to
    bench.send(ELSEWHERE, b"2")
    bench.advance(6)
    assert bench.dialled().bodies == [b"2"]


def test_a_queue_that_waits_for_an_acknowledgement_keeps_its_session() -> None:
    bench = MqqbBench()
    other = f"DIRECT=TCP:{PEER_ADDRESS}\\private$\\other"
    bench.transact(ELSEWHERE, b"1", negative_journaling=True)
    peer = bench.dialled()
    peer.ack_all()
    peer.order_ack(stream_of(peer.messages[0]), 1)
    for _ in range(20):
        bench.send(other, b"busy", delivery=Delivery.EXPRESS)
        peer.ack_all()
        bench.advance(60)
    assert len(bench.mqqb.sender.queues) == len(peer.state.queues) == 2
    peer.final_ack(stream_of(peer.messages[0]), 1, 0x4000)
    assert waiting(bench) == 0
