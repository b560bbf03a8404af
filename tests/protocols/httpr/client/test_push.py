"""Tests batches of our messages: their ids, their sizes, whose turn it is, and what is too large."""

from __future__ import annotations

from itertools import pairwise

import pytest

from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.facts import BatchPrepared
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.queueing.model.facts import ReservationBegun
from reliquary.queueing.model.travel.transfer import MessagesReserved, ReservationRefusal
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

BILLS = "DIRECT=HTTPR://far.example/httpr/mq#bills"
SHARED = HttprSettings(peers=(Peer(responder=AGENT, channel="primary"),))


@pytest.mark.spec("HR-050", "HR-051")
def test_hold_fact_and_request_are_of_one_turn() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    kinds = [{type(fact) for fact in turn.facts} for turn in bench.turns]
    assert [each for each in kinds if each & {ReservationBegun, BatchPrepared}] == [
        {ReservationBegun, BatchPrepared}
    ]
    assert bench.unanswered[0].header.transaction_id == 1


@pytest.mark.spec("HR-102", "HR-103", "HR-104", "HR-005")
@pytest.mark.httpr("T05")
def test_a_thousand_batches_over_restarts_have_growing_ids() -> None:
    bench, far = ClientBench(), Far()
    for round_ in range(20):
        for each in range(50):
            bench.send(ORDERS, b"%d" % (50 * round_ + each))
            bench.talk(far)
        bench.restart()
    ids = [each.header.transaction_id for each in bench.requests if each.header.transaction_id is not None]
    assert len(ids) == 1000
    assert all(earlier < later for earlier, later in pairwise(ids))
    assert ids[0] == 1
    assert len(far.stored) == 1000


def test_queues_that_share_a_channel_take_turns() -> None:
    bench, far = ClientBench(settings=SHARED), Far(capabilities=(("maximum_batch_size", "2"),))
    bench.send(ORDERS, b"1", b"2", b"3", b"4")
    bench.send(BILLS, b"a", b"b", b"c", b"d")
    bench.talk(far)
    assert far.stored == [b"1", b"2", b"a", b"b", b"3", b"4", b"c", b"d"]
    assert len(bench.httpr.state.channels) == 1


def test_a_batch_is_closed_by_its_bytes_too() -> None:
    bench, far = ClientBench(settings=HttprSettings(batch_bytes=2000)), Far()
    bench.send(ORDERS, *[b"x" * 700] * 4)
    bench.answer(far)
    assert all(len(each.batch) <= 2 for each in bench.unanswered)
    bench.talk(far)
    assert len(far.stored) == 4


@pytest.mark.spec("HR-098")
@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_message_that_is_too_large_goes_to_the_dead_letters_and_blocks_no_other(place: int) -> None:
    bodies = [b"a", b"b", b"c"]
    bodies.insert(place, b"x" * 101)
    bench, far = ClientBench(), Far(capabilities=(("maximum_message_size", "100"),))
    bench.send(ORDERS, *bodies, negative_journaling=True)
    bench.talk(far)
    assert far.stored == [b"a", b"b", b"c"]
    assert bench.link().refused == 1
    assert [each.what for each in bench.warnings] == ["messages cannot be delivered"]


def test_a_deleted_queue_is_not_asked_again() -> None:
    bench, far = ClientBench(settings=SHARED), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    state, channel = bench.httpr.state, bench.client_channel()
    ((queue, _),) = state.waiting.items()
    channel.outgoing.preparing = queue
    bench.httpr.on_signal(MessagesReserved("httpr", (1, 2), refusal=ReservationRefusal.NO_QUEUE), bench.now)
    assert (state.waiting, state.client.by_queue) == ({}, {})
    assert (channel.outgoing.queues, channel.outgoing.ready) == ({}, {})


def test_messages_of_a_peer_that_takes_none_wait() -> None:
    bench, far = ClientBench(), Far(capabilities=(("flows", "PULL"),))
    bench.send(ORDERS, b"a")
    bench.talk(far)
    assert bench.commands() == [Command.GET_RESPONDER_INFO]
    assert [each.what for each in bench.warnings] == ["the peer does not allow a command of a channel"]
