"""Sessions are closed by an administrator or by the server, and streams are reset."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.events import CloseSession, EndSessions, ResetStream
from reliquary.queueing.model.administration import Done
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.records import incoming_name, outgoing_name
from reliquary.streams.resetting import WHAT
from tests.protocols.mqqb.mqqb_harness import (
    ELSEWHERE,
    STREAM,
    MqqbBench,
    Peer,
    place_of,
    stream_of,
    waiting,
)
from tests.queueing.state_checks import check, walk

DEAD_STREAM = "system$;deadxact"
LEDGER = "TCP:10.0.0.2\\private$\\ledger"


def test_a_session_that_is_closed_is_opened_again_if_messages_wait() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    assert bench.ask(CloseSession(0, "out-1")).done
    assert peer.hung_up
    bench.advance(5.1)
    assert bench.dialled().bodies == [b"a"]


def test_an_unknown_session_is_not_closed() -> None:
    bench = MqqbBench()
    answer = bench.ask(CloseSession(0, "in-9"))
    assert (answer.done, answer.why) == (False, "there is no session in-9")


def test_the_end_of_the_server_closes_all_sessions_and_opens_no_other() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peers = [bench.dialled(), bench.accepted("10.0.0.5")]
    bench.handle(EndSessions())
    assert all(peer.hung_up for peer in peers)
    bench.advance(60)
    assert len(bench.dials) == 1


# -- a stream that goes out is reset


def reset(bench: MqqbBench, *, renumber: bool = False) -> Done:
    """Reset the stream of the one outgoing queue that has one; return the answer."""
    (queue,) = bench.mqqb.sent
    answer = bench.ask(ResetStream(0, outgoing_name(queue), renumber))
    assert isinstance(answer, Done)
    return answer


def streaming(*bodies: bytes, **attributes: bool) -> tuple[MqqbBench, Peer, int]:
    """Return a manager that has sent these messages, its peer, and the number of the stream."""
    bench = MqqbBench()
    for body in bodies:  # a failure of one message would end the others of its transaction too
        bench.transact(ELSEWHERE, body, **attributes)
    peer = bench.dialled()
    return bench, peer, stream_of(peer.messages[0])


@pytest.mark.parametrize("came", [True, False], ids=["session-ack", "no-session-ack"])
def test_what_is_not_confirmed_becomes_dead_letters_and_a_new_stream_begins(came: bool) -> None:
    bench, peer, old = streaming(b"1", b"2", b"3")
    if came:
        peer.ack_all()
    peer.order_ack(old, 1)
    assert reset(bench) == Done(True)
    assert {position.reason for position in walk(bench.queue(DEAD_STREAM))} == {NOT_KNOWN}
    assert (bench.bodies(DEAD_STREAM), waiting(bench)) == ([b"2", b"3"], 0)
    assert not [name for name, _ in bench.timers if name == "mqqb-order-wait"]
    bench.transact(ELSEWHERE, b"4")
    assert (peer.bodies[-1], place_of(peer.messages[-1])) == (b"4", (1, 0))
    assert stream_of(peer.messages[-1]) > old
    assert (bench.warnings[0].what, bench.warnings[0].why) == (
        WHAT,
        "2 messages without a receipt are dead letters",
    )
    peer.ack_all()  # a late acknowledgement of packets of the old stream is no error
    peer.order_ack(old, 3)
    peer.order_ack(stream_of(peer.messages[-1]), 1)
    assert waiting(bench) == 0
    assert not peer.hung_up
    check(bench.state)


@pytest.mark.parametrize("crash", [True, False])
@pytest.mark.parametrize("came", [True, False], ids=["session-ack", "no-session-ack"])
def test_a_reset_with_renumber_sends_messages_again_under_new_numbers(came: bool, crash: bool) -> None:
    bench, peer, old = streaming(b"1", b"2", b"3", negative_journaling=True)
    if came:
        peer.ack_all()
    peer.order_ack(old, 1)  # its final acknowledgement is still to come
    sent = len(peer.messages)
    assert reset(bench, renumber=True) == Done(True)
    if crash:
        bench.restart()
        peer, sent = bench.dialled(), 0
    again = peer.messages[sent:]
    assert [each.properties.body for each in again] == [b"2", b"3"]
    assert [place_of(each) for each in again] == [(1, 0), (2, 1)]
    assert stream_of(again[0]) > old
    assert bench.bodies(DEAD_STREAM) == [b"1"]
    peer.ack_all()
    peer.order_ack(stream_of(again[0]), 2)
    for number, packet in enumerate(again, 1):
        peer.final_ack(stream_of(packet), number, 0x4000)
    assert waiting(bench) == 0
    check(bench.state)


def test_a_stream_without_a_session_is_reset_too() -> None:
    bench, peer, old = streaming(b"1", b"2")
    peer.lose()
    assert reset(bench, renumber=True) == Done(True)
    bench.advance(5.1)
    again = bench.dialled()
    assert again.bodies == [b"1", b"2"]
    assert stream_of(again.messages[0]) > old
    bench.restart()
    assert reset(bench) == Done(True)  # no queue asked for a connection after the restart
    assert bench.bodies(DEAD_STREAM) == [b"1", b"2"]


# -- a stream that comes in is reset


@pytest.mark.parametrize("crash", [True, False])
@pytest.mark.parametrize(("number", "stream"), [(8, 0), (2, 0), (3, -1)], ids=["gap", "back", "older"])
def test_the_next_message_is_taken_and_the_stream_goes_on_from_there(
    number: int, stream: int, crash: bool
) -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    for each in (1, 2, 3, 4):
        peer.user(b"%d" % each, to=LEDGER, stream=(each, each - 1))
    (incoming,) = bench.mqqb.places
    assert bench.ask(ResetStream(0, incoming_name(incoming.key))) == Done(True)
    if crash:
        bench.restart()
        peer = bench.accepted()
    there = STREAM + stream
    for each in (number, number, number + 1):
        peer.user(b"%d" % each, to=LEDGER, stream=(there, each, each - 1))
    assert bench.bodies("ledger") == [b"1", b"2", b"3", b"4", b"%d" % number, b"%d" % (number + 1)]
    assert bench.warnings[0].what == WHAT
    bench.advance(20)
    assert peer.order_acks[-1].body.sequence == there
    assert peer.order_acks[-1].body.number == number + 1
    check(bench.state)


@pytest.mark.parametrize("name", ["out-99", "in-0123456789", "stream", ""])
def test_a_name_that_no_stream_has_is_refused(name: str) -> None:
    bench, _, _ = streaming(b"1")
    facts = len(bench.facts)
    assert bench.ask(ResetStream(0, name)) == Done(False, f"there is no stream {name}")
    assert len(bench.facts) == facts
