"""An agent that fetches its messages is sent none."""

from __future__ import annotations

from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.values import (
    Command,
    RequestHeader,
)
from reliquary.protocols.httpr.events import ForgetChannel
from reliquary.protocols.httpr.facts import ChannelOpened, FetchingSeen
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.link import OutgoingState
from tests.protocols.httpr.far_server import AGENT, HERE, ORDERS, ClientBench

GRI, PUSH, PULL, EXCHANGE, REPORT = Command


def test_an_agent_that_fetches_is_not_dialled() -> None:
    bench = ClientBench()
    served = Channel(7, Role.SERVER, AGENT, "fetch", HERE)
    apply(bench.httpr.state, ChannelOpened(served))
    apply(bench.httpr.state, FetchingSeen(7))
    bench.httpr.state.draft.take()
    bench.send(ORDERS, b"a")
    assert not bench.requests
    assert bench.link().state is OutgoingState.CONNECTED
    bench.restart()
    assert not bench.requests
    assert bench.ask(ForgetChannel(0, 7)) == Done(True)
    assert bench.commands() == [GRI], "an administrator says that it comes no more"


def test_a_queue_that_is_dialled_is_left_to_the_agent_that_begins_to_fetch() -> None:
    bench = ClientBench()
    bench.send(ORDERS, b"a")
    assert [each.header.command for each in bench.requests] == [Command.GET_RESPONDER_INFO]
    pull = RequestHeader(command=Command.PULL, requester=AGENT, channel="fetch")
    caller = bench.request_later(pull, service="mq")
    bench.advance(0.1)
    assert [each.body for each in bench.answer_to(caller).batch] == [b"a"]
    assert bench.link().state is OutgoingState.CONNECTED
    bench.fail(bench.requests[0])
    assert bench.link().state is OutgoingState.CONNECTED  # the outcome of the dial does not matter
    bench.advance(100)
    assert len(bench.requests) == 1
