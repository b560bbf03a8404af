"""Tests sessions: begun, agreed, idle, ended, and forgotten by a crash."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.protocols.httpr.codec.values import Capabilities, Command, ErrorNumber, SessionMark
from reliquary.protocols.httpr.server.sessions import UNIDENTIFIED, base_36, limits_of
from reliquary.protocols.httpr.settings import OFFERED, HttprSettings
from reliquary.queueing.model.security.principals import Principal
from reliquary.wire.security import Sid
from tests.protocols.httpr.client_harness import CLIENT, COMMIT, Client, ends, error, pair
from tests.protocols.httpr.httpr_harness import HttprBench


def bench_that_offers(**values: Any) -> HttprBench:
    return HttprBench(settings=HttprSettings(offered=replace(OFFERED, **values)))


@pytest.mark.spec("HR-100")
@pytest.mark.httpr("T25")
def test_no_two_sessions_ever_share_a_name() -> None:
    bench = HttprBench()
    names = [Client(bench, channel=name).begin().header.session_id for name in "abcabc"]
    bench.restart()
    bench.now = bench.now - 1_000_000  # type: ignore[assignment]
    names += [Client(bench, channel=name).begin().header.session_id for name in "abc"]
    assert len(set(names)) == len(names)


def test_names_of_sessions_stay_short() -> None:
    assert base_36(0) == "0"
    assert base_36(36**12 - 1) == "Z" * 12


@pytest.mark.spec("HR-037", "HR-040", "HR-064", "HR-091")
@pytest.mark.httpr("T24")
def test_the_response_says_what_is_less_and_the_session_holds_to_it() -> None:
    client = Client(bench_that_offers(maximum_batch_size=5))
    assert client.begin(maximum_batch_size=20).header.capabilities == (("maximum_batch_size", "5"),)
    assert client.server_channel.session is not None
    assert client.server_channel.session.agreed.maximum_batch_size == 5
    header = client.header(Command.PUSH, transaction_id=1)
    assert limits_of(client.bench.httpr.state, "orders", header).messages == 5
    assert client.begin(maximum_batch_size=4).header.capabilities is None
    client.report(session=SessionMark.END)
    client.session = ""
    header = client.header(Command.PUSH, transaction_id=1)
    assert limits_of(client.bench.httpr.state, "orders", header).messages == 5, "of 10, which is the default"


@pytest.mark.spec("HR-123")
@pytest.mark.httpr("T24")
def test_what_the_specification_does_not_know_is_never_added() -> None:
    client = Client(bench_that_offers(product=(("app-zip", "1"), ("app-more", "1"))))
    answer = client.begin(product=(("app-zip", "1"), ("app-other", "2")))
    assert answer.header.capabilities == (("app-zip", "1"),)


@pytest.mark.spec("HR-098")
def test_limits_of_a_batch_are_known_when_its_header_is() -> None:
    client = Client(HttprBench())
    state = client.bench.httpr.state
    proposed = Capabilities(maximum_batch_size=3, maximum_message_size=70)
    sessionless = client.header(Command.PUSH, capabilities=proposed)
    assert limits_of(state, "orders", sessionless).messages == 3
    assert limits_of(state, "orders", sessionless).message_bytes == 70
    assert limits_of(state, "orders", client.header(Command.PUSH)).messages == 10
    client.begin(maximum_message_size=80)
    assert limits_of(state, "orders", client.header(Command.PUSH)).message_bytes == 80
    assert limits_of(state, "orders", client.header(Command.PUSH, session_id="NOBODY")) == UNIDENTIFIED


@pytest.mark.httpr("T26")
@pytest.mark.spec("HR-099", "HR-128")
def test_a_server_with_sessions_only_refuses_requests_without() -> None:
    client = Client(bench_that_offers(sessionless=False))
    assert error(client.push(1, b"a")) == ErrorNumber.INCOMPATIBLE
    assert client.begin().header.session_id
    assert pair(client.push(1, b"a")) == (COMMIT, 1)


@pytest.mark.spec("HR-128")
def test_capabilities_that_leave_nothing_are_refused() -> None:
    client = Client(bench_that_offers(flows=frozenset({Command.PUSH})))
    only_pull = Capabilities(flows=frozenset({Command.PULL}))
    assert error(client.push(1, b"a", capabilities=only_pull)) == 510
    nothing = Capabilities(maximum_batch_size=0)
    assert error(client.push(1, b"a", capabilities=nothing)) == 510
    assert error(client.ask(Command.GET_RESPONDER_INFO, capabilities=only_pull)) == 510


@pytest.mark.spec("HR-128")
@pytest.mark.httpr("T24")
def test_a_sessionless_request_is_served_with_less_and_says_so() -> None:
    client = Client(bench_that_offers(maximum_batch_size=5))
    assert client.push(1, b"a").header.capabilities == (("maximum_batch_size", "5"),)
    fewer = Capabilities(maximum_batch_size=2)
    assert client.push(2, b"a", capabilities=fewer).header.capabilities is None


@pytest.mark.spec("HR-036")
def test_a_new_session_ends_the_one_before() -> None:
    client = Client(HttprBench())
    client.begin()
    older = client.session
    client.begin()
    assert error(client.push(1, b"a", session_id=older)) == 528
    assert pair(client.push(1, b"a")) == (COMMIT, 1)


@pytest.mark.spec("HR-028", "HR-029", "HR-031", "HR-093")
@pytest.mark.httpr("T27", "H15")
def test_an_idle_session_is_over_and_what_was_sent_in_it_is_not() -> None:
    client = Client(HttprBench())
    client.begin()
    for batch in (1, 2, 3):
        client.bench.advance(9)
        assert pair(client.push(batch, b"a")) == (COMMIT, batch)
    client.bench.advance(11)
    refused = client.push(4, b"a")
    assert (error(refused), ends(refused), pair(refused)) == (528, True, (None, None))
    assert pair(client.begin()) == (COMMIT, 3)


@pytest.mark.spec("HR-028", "HR-029", "HR-031")
@pytest.mark.httpr("T27", "T29")
def test_after_a_restart_no_session_is_known_and_every_batch_is() -> None:
    client = Client(HttprBench())
    client.begin()
    client.push(1, b"a")
    client.bench.restart()
    assert error(client.push(2, b"b")) == 528
    assert pair(client.report(session_id="", requester=CLIENT, channel="primary")) == (COMMIT, 1)
    assert pair(client.begin()) == (COMMIT, 1)


def test_a_session_that_waits_for_messages_is_not_idle() -> None:
    client = Client(HttprBench())
    client.begin(idle_session_interval=1, empty_batch_delay=30_000, max_wait_batch=30_000)
    caller = client.pull_later()
    client.bench.advance(29)
    assert client.answer_to(caller) is None
    client.bench.advance(1.5)
    assert client.answer_to(caller) is not None
    assert pair(client.push(1, b"a")) == (COMMIT, 1)


def test_no_other_client_may_use_the_name_of_a_session() -> None:
    client = Client(HttprBench())
    client.begin()
    mallory = Principal(Sid(5, (21, 1, 2, 3, 1001)))
    header = client.header(Command.REPORT, session=SessionMark.END)
    assert error(client.bench.request(header, connection=client.connection + 1, by=mallory)) == 528
    assert error(client.bench.request(header, connection=client.connection + 1, service="invoices")) == 528
    assert pair(client.push(1, b"a")) == (COMMIT, 1)


def test_a_batch_behind_one_with_other_credentials_is_not_taken() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3)
    other = Principal(Sid(5, (21, 1, 2, 3, 1001)))
    header = client.header(Command.PUSH, transaction_id=1)
    assert error(client.bench.request(header, connection=client.connection, by=other)) == 528
    assert error(client.push(2, b"b")) == 528
    assert client.bench.bodies() == []
