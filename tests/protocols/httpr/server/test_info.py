"""Tests GET-RESPONDER-INFO at the server: a session, or none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reliquary.protocols.httpr.codec.values import VERSION
from reliquary.protocols.httpr.settings import OFFERED, HttprSettings
from tests.protocols.httpr.client_harness import COMMIT, Client, ends, error, pair
from tests.protocols.httpr.httpr_harness import ORIGIN, HttprBench

SIMPLE = HttprSettings(offered=replace(OFFERED, sessions=False))


@pytest.mark.spec("HR-025", "HR-063", "HR-066", "HR-105")
@pytest.mark.httpr("T25", "H1", "H2")
def test_get_responder_info_begins_a_session_and_returns_the_last_outcome() -> None:
    client = Client(HttprBench())
    header = client.begin().header
    assert (header.version, header.responder, header.session) == (VERSION, f"{ORIGIN}/httpr/orders", None)
    assert (header.outcome, header.completed) == (COMMIT, 0)
    assert header.session_id.isalnum()
    assert len(header.session_id) <= 12
    client.push(7, b"a")
    assert pair(client.begin()) == (COMMIT, 7)


@pytest.mark.spec("HR-026", "HR-065", "HR-099")
@pytest.mark.httpr("T26")
def test_a_server_without_sessions_says_so_and_serves_without() -> None:
    client = Client(HttprBench(settings=SIMPLE))
    answer = client.begin()
    assert ends(answer)
    assert answer.header.capabilities == (("session_support", "SESSIONLESS"),)
    assert (answer.header.session_id, error(answer), answer.header.version) == ("", 0, VERSION)
    assert pair(client.push(1, b"a")) == (COMMIT, 1)
    refused = client.push(2, b"b", session_id="1", requester="", channel="")
    assert (error(refused), ends(refused)) == (528, True)
