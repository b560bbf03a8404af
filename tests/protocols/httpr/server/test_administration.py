"""An administrator forgets a channel of the server."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.events import ForgetChannel
from tests.protocols.httpr.client_harness import (
    COMMIT,
    Client,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import HttprBench


@pytest.mark.spec("HR-084")
def test_an_administrator_who_forgets_a_channel_closes_its_session() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=2, max_wait_batch=5000)
    client.push(1, b"a")
    waits = client.pull_later(0)
    behind = client.ask_later(Command.PUSH, b"b", transaction_id=2)
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    for caller in (waits, behind):
        answer = client.answer_to(caller)
        assert answer is not None
        assert (error(answer), pair(answer), ends(answer)) == (516, (COMMIT, 1), True)
    assert error(client.push(2, b"b")) == 528
    assert client.bench.bodies() == [b"a"]


def test_a_channel_with_something_in_doubt_is_not_closed() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    client.pull(0)
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    assert client.in_doubt == [1]
    assert error(client.pull(1)) == 0, "the session goes on"


def test_a_channel_over_which_nothing_goes_on_is_not_closed() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    client.bench.restart()
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    assert client.bench.httpr.state.server.channels == {}
