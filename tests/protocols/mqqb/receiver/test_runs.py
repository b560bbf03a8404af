"""Runs of messages: what comes in one piece has the result of what comes packet by packet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.queueing.model.travel.transfer import MessageArrived, RunArrived
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.mqqb.mqqb_harness import ADDRESS, STREAM, MqqbBench, Peer
from tests.queueing.state_checks import walk

SID_OF_ONE, SID_OF_OTHER = (
    bytes.fromhex("0105000000000005 15000000") + bytes(15) + b"%c" % end for end in b"12"
)
QUEUES = ("orders", "other")


def name(queue: str) -> str:
    return f"TCP:{ADDRESS}\\private$\\{queue}"


def bench_with_streams() -> MqqbBench:
    bench = MqqbBench(*QUEUES)
    bench.create("strict", transactional=True)
    bench.create("full", quota=0)
    return bench


def signals(bench: MqqbBench, kind: type) -> list[Any]:
    return [each for each in bench.signals if isinstance(each, kind)]


def senders(bench: MqqbBench, queue: str) -> list[bytes]:
    """Return the SIDs of the messages in a queue."""
    return [bench.state.messages.get(each).sender for each in walk(bench.queue(queue))]


def test_messages_of_one_piece_are_handed_over_together() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    peer.send(*(peer.made(b"%d" % number) for number in range(10)))
    (run,) = signals(bench, RunArrived)
    assert len(run.messages) == 10
    assert not signals(bench, MessageArrived)
    assert bench.bodies("orders") == [b"%d" % number for number in range(10)]
    assert (peer.state.received, peer.state.recoverable_received, peer.state.unacked) == (10, 10, 10)


@pytest.mark.parametrize("stream", [False, True], ids=["single", "stream"])
def test_messages_with_the_sid_of_a_user_are_handed_over_together(stream: bool) -> None:
    """Windows adds it to each message."""
    bench = bench_with_streams()
    peer = bench.accepted()
    queue = "strict" if stream else "orders"
    made = [
        peer.made(
            b"%d" % number,
            to=name(queue),
            sender=SID_OF_OTHER if number == 6 else SID_OF_ONE,
            stream=(number, number - 1) if stream else None,
        )
        for number in range(1, 11)
    ]
    assert all(packet.security is not None for packet in made)
    peer.send(*made)
    (run,) = signals(bench, RunArrived)
    assert [message.body for message in run.messages] == bench.bodies(queue)
    assert senders(bench, queue) == [SID_OF_ONE] * 5 + [SID_OF_OTHER] + [SID_OF_ONE] * 4
    read = peer.state.read_before
    assert read is not None
    assert read.pattern.read(made[-1].encode()) is not None, "further ones are read by their pattern"


def test_a_message_with_a_signature_ends_a_run() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    signed: dict[str, Any] = {"signature": b"wrong", "sender_certificate": b"none"}
    peer.send(
        *(
            peer.made(b"%d" % number, sender=SID_OF_ONE, **(signed if number == 2 else {}))
            for number in range(5)
        )
    )
    assert [message.body for message in signals(bench, RunArrived)[0].messages] == [b"0", b"1"]
    assert bench.bodies("orders") == [b"0", b"1", b"3", b"4"]


@pytest.mark.spec("QB-213", "QB-214")
@pytest.mark.mqqb("T-34")
def test_a_run_ends_where_an_acknowledgement_is_due() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    peer.send(*(peer.made(b"x") for _ in range(70)))
    assert len(signals(bench, RunArrived)[0].messages) == 32
    assert (len(bench.bodies("orders")), peer.state.unacked) == (70, 6)
    assert [(ack.ack, ack.recoverable_ack, ack.recoverable_set) for ack in peer.acks] == [
        (32, 1, 0xFFFFFFFF),
        (64, 33, 0xFFFFFFFF),
    ]


@pytest.mark.spec("QB-259", "QB-262")
@pytest.mark.mqqb("T-56")
def test_a_stream_advances_by_a_run_in_one_step() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    stream = [peer.made(b"%d" % each, to=name("strict"), stream=(each, each - 1)) for each in range(1, 6)]
    peer.send(*stream)
    (run,) = signals(bench, RunArrived)
    assert len(run.messages) == 5
    assert bench.bodies("strict") == [b"1", b"2", b"3", b"4", b"5"]
    (incoming,) = bench.mqqb.incoming.values()
    assert (incoming.stream.number, incoming.stream.last) == (STREAM, 5)
    peer.send(*stream)
    assert len(bench.bodies("strict")) == 5


@pytest.mark.mqqb("T-57")
def test_a_gap_in_a_stream_ends_a_run_and_what_is_behind_it_is_dropped() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    numbers = [(1, 0), (2, 1), (4, 3), (5, 4)]
    peer.send(*(peer.made(b"%d" % each[0], to=name("strict"), stream=each) for each in numbers))
    assert bench.bodies("strict") == [b"1", b"2"]
    (incoming,) = bench.mqqb.incoming.values()
    assert (incoming.stream.last, incoming.rejected) == (2, 2)


@pytest.mark.mqqb("T-51")
def test_a_duplicate_within_a_piece_is_dropped_and_counted() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    peer.send(*(peer.made(b"%d" % number, number=number) for number in (1, 2, 2, 3, 1)))
    assert bench.bodies("orders") == [b"1", b"2", b"3"]
    assert peer.state.received == 5


def test_a_run_that_the_manager_does_not_take_is_judged_one_by_one() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    peer.send(*(peer.made(b"xx", to=name("full")) for _ in range(3)))
    assert len(signals(bench, RunArrived)) == 1
    assert (peer.state.received, peer.state.unacked, peer.state.singly) == (3, 3, 0)
    assert not bench.mqqb.receiver.runs
    assert not peer.is_closed


def test_what_was_remembered_by_a_run_survives_a_restart() -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    made = [peer.made(b"%d" % number) for number in range(4)]
    peer.send(*made)
    bench.restart()
    again = bench.accepted()
    again.send(*made)
    assert len(bench.bodies("orders")) == 4


@pytest.mark.spec("QB-214")
@pytest.mark.mqqb("T-33", "T-64")
@pytest.mark.parametrize("other", [{"to": name("other")}, {"express": True}], ids=["queue", "delivery"])
def test_a_run_that_begins_with_another_kind_ends_before_the_kind_of_the_last_run(
    other: dict[str, Any],
) -> None:
    bench = bench_with_streams()
    peer = bench.accepted()
    peer.send(peer.made(b"1"), peer.made(b"2"))
    peer.send(peer.made(b"3", **other), peer.made(b"4"))
    there = bench.bodies("orders") + bench.bodies("other")
    assert there == ([b"1", b"2", b"4", b"3"] if "to" in other else [b"1", b"2", b"3", b"4"])
    assert (peer.state.received, peer.state.recoverable_received) == (peer.sent, peer.recoverable_sent)


kinds = st.fixed_dictionaries(
    {
        "queue": st.sampled_from([*QUEUES, "strict", "full", "nowhere"]),
        "number": st.integers(1, 12),
        "place": st.sampled_from([0, 0, 0, 1, 2]),
        "express": st.booleans(),
        "sender": st.sampled_from([b"", b"", SID_OF_ONE, SID_OF_OTHER]),
        "late": st.sampled_from([False, False, False, False, True]),
    }
)


def packets_of(peer: Peer, wanted: list[dict[str, Any]]) -> list[UserMessage]:
    """Return messages, some of them in a stream that has gaps and repeats."""
    made: list[UserMessage] = []
    last = 0
    for each in wanted:
        attributes: dict[str, Any] = {}
        if each["late"]:
            attributes = {"sent_time": peer.bench.now // 1_000_000 - 10, "time_to_reach_queue": 5}
        if each["queue"] == "strict":
            number = last + 1 + each["place"] if each["place"] else last + 1
            attributes["stream"] = (number, number - 1)
            last = number if not each["place"] else last
        else:
            attributes |= {"number": each["number"], "express": each["express"]}
        made.append(peer.made(b"%d" % len(made), to=name(each["queue"]), sender=each["sender"], **attributes))
    return made


def outcome(bench: MqqbBench, peer: Peer) -> dict[str, Any]:
    """Return what can be seen of both sides in the end."""
    state = peer.state
    return {
        "bodies": {queue: bench.bodies(queue) for queue in (*QUEUES, "strict")},
        "senders": {queue: senders(bench, queue) for queue in (*QUEUES, "strict")},
        "received": (state.received, state.recoverable_received),
        "acked": sum(ack.recoverable_set.bit_count() for ack in peer.acks) + state.bits.bit_count(),
        "streams": {key: each.stream.last for key, each in bench.mqqb.incoming.items()},
        "counts": {each: count for each, count in bench.mqqb.counts.items() if "acks" not in each.value},
        "finals": len(peer.final_acks),
    }


@given(st.lists(kinds, max_size=45), st.lists(st.integers(1, 9), min_size=45, max_size=45))
def test_any_pieces_have_the_result_of_single_packets(wanted: list[dict[str, Any]], sizes: list[int]) -> None:
    alone, together = bench_with_streams(), bench_with_streams()
    first, second = alone.accepted(), together.accepted()
    for packet in packets_of(first, wanted):
        first.send(packet)
    left = packets_of(second, wanted)
    for size in sizes:
        if left:
            second.send(*left[:size])
            del left[:size]
    assert outcome(together, second) == outcome(alone, first)
