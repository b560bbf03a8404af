"""An administrator decides about batches in doubt."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.events import Failure, ForgetChannel, ReportChannel, SettleChannel
from reliquary.protocols.httpr.facts import ChannelOpened
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.queueing.model.administration import Done
from tests.protocols.httpr.client_harness import Client, bodies, error
from tests.protocols.httpr.far_server import AGENT, HERE, ORDERS, ClientBench, Far
from tests.protocols.httpr.httpr_harness import HttprBench


def fetched() -> Client:
    """Return a bench whose client got a batch, and sent nothing after that."""
    client = Client(HttprBench())
    client.bench.send("orders", b"a", b"b")
    assert bodies(client.pull()) == [b"a", b"b"]
    return client


def test_what_counts_as_lost_is_there_again() -> None:
    client = fetched()
    assert client.bench.ask(SettleChannel(0, client.row.number, False)) == Done(True)
    assert client.in_doubt == []
    assert client.bench.bodies() == [b"a", b"b"]
    assert [each.what for each in client.bench.warnings] == ["an administrator settled what was in doubt"]
    assert "batches 1 count as lost" in client.bench.warnings[0].why


def test_what_counts_as_arrived_leaves() -> None:
    client = fetched()
    assert client.bench.ask(SettleChannel(0, client.row.number, True)) == Done(True)
    assert (client.in_doubt, client.bench.bodies()) == ([], [])
    client.bench.restart()
    assert (client.in_doubt, client.bench.bodies()) == ([], [])


def test_the_outcome_of_a_client_that_returns_later_is_ignored() -> None:
    client = fetched()
    client.bench.ask(SettleChannel(0, client.row.number, False))
    answer = client.pull(1)
    assert (error(answer), answer.header.transaction_id, bodies(answer)) == (0, 2, [b"a", b"b"])


@pytest.mark.parametrize("arrived", [True, False])
def test_an_administrator_decides_for_a_peer_that_cannot_be_asked(arrived: bool) -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    lost = bench.next_request()
    far.take(lost)  # the peer has the batch, and this manager does not know it
    bench.fail(lost, Failure.TIMED_OUT)
    assert bench.ask(SettleChannel(0, 1, arrived)) == Done(True)
    assert bench.channel().in_doubt == ()
    bench.advance(60)
    bench.talk(far)
    assert far.stored == ([b"a"] if arrived else [b"a", b"a"]), "a wrong answer doubles messages"


def test_a_late_batch_is_refused_after_the_decision() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    late = bench.next_request()
    bench.fail(late, Failure.TIMED_OUT)
    bench.ask(SettleChannel(0, 1, False))
    bench.advance(60)
    bench.talk(far)
    header, _ = far.take(late)
    assert header.error is not None
    assert far.stored == [b"a"]


def test_no_decision_is_made_while_the_peer_sends() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    refused = bench.ask(SettleChannel(0, 1, True))
    assert refused == Done(
        False, "httpr://far.example/httpr/mq is being asked over channel 1 for the outcome of these batches"
    )
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin(maximum_pipeline_depth=2, max_wait_batch=5000)
    client.pull(0)
    client.pull_later()
    refused = client.bench.ask(SettleChannel(0, client.row.number, True))
    assert not refused.done
    assert refused.why.startswith("httpr://client.example/app uses channel 1 now")


def test_a_decision_without_batches_in_doubt_is_refused() -> None:
    bench = HttprBench()
    assert bench.ask(SettleChannel(0, 9, True)) == Done(False, "there is no channel 9")
    client = Client(bench)
    client.push(1, b"a")
    assert bench.ask(SettleChannel(0, 1, True)) == Done(False, "nothing is in doubt on channel 1")


@pytest.mark.spec("HR-016")
def test_an_administrator_lets_a_channel_be_forgotten_but_not_in_doubt() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    answer = bench.ask(ForgetChannel(0, 1))
    assert answer == Done(False, "channel 1 cannot be forgotten while it is in doubt about 1")
    bench.talk(far)
    caller = bench.begin_asking(ForgetChannel(0, 1))
    bench.talk(far)
    assert bench.answer_to(caller) == Done(True)
    assert bench.channel().source_forgotten


def test_channels_of_other_agents_and_unknown_ones_are_refused() -> None:
    bench = ClientBench()
    served = Channel(7, Role.SERVER, AGENT, "fetch", HERE, last_source_id=3, last_received_id=4)
    apply(bench.httpr.state, ChannelOpened(served))
    bench.httpr.state.draft.take()
    assert bench.ask(ReportChannel(0, 9)) == Done(False, "there is no channel 9")
    assert bench.ask(ForgetChannel(0, 9)) == Done(False, "there is no channel 9")
    why = f"channel 7 is driven by {AGENT}; only that agent can send a REPORT over it"
    assert bench.ask(ReportChannel(0, 7)) == Done(False, why)
    assert bench.ask(ForgetChannel(0, 7)) == Done(True)
    channel = bench.httpr.state.channels[7]
    assert (channel.source_forgotten, channel.last_received_id, channel.last_source_id) == (True, 0, 3)
