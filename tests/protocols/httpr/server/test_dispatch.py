"""Requests of a channel are served in their order, and refused in it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reliquary.protocols.httpr.codec.values import Capabilities, Command, ErrorNumber
from reliquary.protocols.httpr.server.dispatch import COMMANDS
from reliquary.protocols.httpr.settings import OFFERED, HttprSettings, Service
from tests.protocols.httpr.client_harness import (
    COMMIT,
    ROLLBACK,
    Client,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import HttprBench

WAITS = Capabilities(max_wait_batch=5000)


def test_every_command_has_its_rule() -> None:
    assert set(COMMANDS) == set(Command)


@pytest.mark.spec("HR-084")
def test_commands_outside_the_agreed_flows_are_refused_and_report_never_is() -> None:
    offered = replace(OFFERED, flows=frozenset({Command.PUSH}))
    client = Client(HttprBench(settings=HttprSettings(offered=offered)))
    client.begin()
    refused = client.exchange(1, b"a")
    assert (error(refused), pair(refused), ends(refused)) == (524, (ROLLBACK, 1), True)
    client.begin()
    assert error(client.report()) == 0
    assert pair(client.push(2, b"a")) == (COMMIT, 2)
    assert error(client.pull()) == 524


@pytest.mark.spec("HR-014")
@pytest.mark.httpr("T30")
def test_a_request_without_a_session_ends_the_session_of_its_channel() -> None:
    client = Client(HttprBench())
    client.begin()
    session, client.session = client.session, ""
    assert pair(client.push(1, b"a")) == (COMMIT, 1)
    assert error(client.push(2, b"b", session_id=session)) == 528


@pytest.mark.spec("HR-012", "HR-062")
@pytest.mark.httpr("T07")
def test_requests_without_a_session_are_served_one_at_a_time() -> None:
    client = Client(HttprBench())
    first = client.pull_later(capabilities=WAITS)
    second = client.ask_later(Command.PUSH, b"a", transaction_id=1)
    assert client.answer_to(second) is None, "answers come in the order of the requests"
    client.wait_for(first)
    refused = client.wait_for(second)
    assert (error(refused), pair(refused)) == (523, (ROLLBACK, 1))
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-044", "HR-045", "HR-046")
@pytest.mark.httpr("T28")
def test_more_requests_than_agreed_are_refused_in_their_order() -> None:
    client = Client(HttprBench("orders", "source"))
    client.bench.httpr.state.settings = HttprSettings(
        services=(Service(name="orders", into="orders", source="source"),)
    )
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    callers = [client.pull_later(0)]
    callers += [client.ask_later(Command.PUSH, b"%d" % batch, transaction_id=batch) for batch in (1, 2, 3, 4)]
    client.wait_for(callers[0])
    answers = [client.wait_for(caller) for caller in callers]
    assert [error(answer) for answer in answers] == [0, 0, 0, 523, 528]
    assert [pair(answer) for answer in answers[1:4]] == [(COMMIT, 1), (COMMIT, 2), (ROLLBACK, 3)]
    assert client.bench.bodies() == [b"1", b"2"]


@pytest.mark.spec("HR-009", "HR-084")
@pytest.mark.httpr("T23")
def test_what_is_pipelined_behind_a_rollback_is_not_taken() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3)
    client.push(1, b"1")
    assert pair(client.push(2, fault=ErrorNumber(521))) == (ROLLBACK, 2)
    assert error(client.push(3, b"3")) == 528
    assert pair(client.begin()) == (COMMIT, 1)
    client.report(last_pushed_id=3)
    assert pair(client.push(4, b"2")) == (COMMIT, 4)
    assert pair(client.push(5, b"3")) == (COMMIT, 5)
    assert client.bench.bodies() == [b"1", b"2", b"3"]
