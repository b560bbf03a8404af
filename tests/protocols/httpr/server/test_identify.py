"""Tests which channel a request is for, and who may use it, in the order of the checks."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.events import Answer, ForgetChannel, RequestBegun
from reliquary.protocols.httpr.settings import HttprSettings, Service
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.wire.security import Sid
from tests.protocols.httpr.client_harness import (
    COMMIT,
    ROLLBACK,
    Client,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import ORIGIN, HttprBench

ALICE = Principal(Sid(5, (21, 1, 2, 3, 1001)), name="alice")


MALLORY = Principal(Sid(5, (21, 1, 2, 3, 1002)), name="mallory")


def as_user(client: Client, by: Principal, command: Command, **fields: Any) -> Answer:
    header = client.header(command, **fields)
    return client.bench.request(header, connection=client.connection, service=client.service, by=by)


@pytest.mark.spec("HR-086")
@pytest.mark.httpr("T35")
def test_another_version_is_refused_and_ends_the_session() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=4)
    answer = client.push(1, b"a", version="HTTPR/2.0")
    assert (error(answer), pair(answer), ends(answer)) == (530, (None, None), True)
    assert error(client.push(2, b"b")) == 528
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-061")
@pytest.mark.httpr("T07")
@pytest.mark.parametrize("missing", ["requester", "channel"])
def test_a_request_without_a_session_names_its_channel(missing: str) -> None:
    answer = Client(HttprBench()).push(1, b"a", **{missing: ""})
    assert (error(answer), pair(answer)) == (520, (ROLLBACK, 1))


@pytest.mark.spec("HR-089", "HR-090")
@pytest.mark.httpr("T32")
@pytest.mark.parametrize(
    ("named", "number"),
    [
        ("", 0),
        ("httpr://bench.example/httpr/orders", 0),
        ("httpr://localhost/httpr/orders", 0),
        ("httpr://bench.example/orders", 0),
        ("httpr:/orders", 0),
        ("httpr://other.example/httpr/orders", 511),
        ("httpr://bench.example/httpr/invoices", 511),
        ("httpr://bench.example/httpr/orders#x", 511),
        ("nonsense", 511),
    ],
)
def test_the_responder_that_is_meant_is_us(named: str, number: int) -> None:
    client = Client(HttprBench())
    answer = client.push(1, b"a", responder=named)
    assert error(answer) == number
    if number:
        assert (pair(answer), ends(answer)) == ((ROLLBACK, 1), True)
        assert answer.header.responder == f"{ORIGIN}/httpr/orders"
        assert client.bench.bodies() == []
    else:
        assert answer.header.responder == (named or f"{ORIGIN}/httpr/orders")
        assert client.row.responder == f"{ORIGIN}/httpr/orders", (
            "the channel is one, whatever name the client uses for the server"
        )


@pytest.mark.spec("HR-090")
def test_services_that_are_not_listed_may_be_unknown() -> None:
    settings = HttprSettings(open_services=False, services=(Service(name="shop", into="orders"),))
    bench = HttprBench(settings=settings)
    assert error(Client(bench).push(1, b"a")) == 511
    assert pair(Client(bench, service="shop").push(1, b"a")) == (COMMIT, 1)
    assert error(Client(bench, service="mq").report()) == 0
    assert bench.bodies() == [b"a"]


@pytest.mark.spec("HR-011")
@pytest.mark.httpr("T32")
def test_channels_that_are_not_known_may_be_refused() -> None:
    bench = HttprBench(settings=HttprSettings(open_channels=False, channels=("known",)))
    answer = Client(bench).push(1, b"a")
    assert (error(answer), pair(answer), ends(answer)) == (512, (ROLLBACK, 1), True)
    assert pair(Client(bench, channel="known").push(1, b"a")) == (COMMIT, 1)
    assert len(bench.httpr.state.channels) == 1


def test_nothing_is_served_before_we_know_our_name() -> None:
    answer = Client(HttprBench(addressed=False)).push(1, b"a")
    assert (error(answer), pair(answer)) == (513, (ROLLBACK, 1))


@pytest.mark.spec("HR-084")
def test_a_channel_belongs_to_the_first_user_that_is_identified() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.pull(0)
    assert error(as_user(client, ALICE, Command.REPORT)) == 0
    for other in (MALLORY, ANONYMOUS):
        refused = as_user(client, other, Command.REPORT, completed=1, outcome=COMMIT)
        assert (error(refused), ends(refused)) == (525, True)
        assert str(ALICE.user) not in str(refused.header.product)  # another user cannot see whose it is
        assert error(as_user(client, other, Command.GET_RESPONDER_INFO)) == 525
        begun = client.header(Command.PULL)
        client.bench.handle(RequestBegun(client.connection + 1, "orders", begun, other))
    assert client.bench.cuts == []
    assert client.in_doubt == [1]
    client.bench.restart()
    assert error(as_user(client, MALLORY, Command.REPORT)) == 525
    assert error(as_user(client, ALICE, Command.REPORT, completed=1, outcome=COMMIT)) == 0
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    assert error(as_user(client, MALLORY, Command.REPORT)) == 0, "an administrator has freed it"
