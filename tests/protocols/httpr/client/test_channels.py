"""Tests which channel brings which queue."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.client.channels import fetching_channel, sending_channel
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench


@pytest.mark.parametrize(
    ("peer", "sending", "fetching"),
    [
        (Peer(responder=AGENT), "orders", "fetch"),
        (Peer(responder=AGENT, channel="primary"), "primary", "primary"),
        (Peer(responder=AGENT, pull=True), "orders", "fetch"),
        (Peer(responder=AGENT, pull=True, exchange=True), "fetch", "fetch"),
    ],
    ids=["nothing said", "named", "fetches", "exchanges"],
)
def test_the_name_of_a_channel(peer: Peer, sending: str, fetching: str) -> None:
    assert sending_channel(peer, "orders") == sending
    assert fetching_channel(peer) == fetching


def test_messages_without_a_destination_use_a_plain_channel() -> None:
    assert sending_channel(Peer(responder=AGENT), "") == "default"


@pytest.mark.spec("HR-087")
def test_the_requester_is_what_the_settings_say_when_the_channel_begins() -> None:
    bench = ClientBench(settings=HttprSettings(requester="httpr://me.example/app"))
    bench.send(ORDERS, b"a")
    assert bench.channel().requester == "httpr://me.example/app"
    assert bench.requests[0].header.requester == "httpr://me.example/app"


def test_a_peer_is_fetched_from_without_a_queue() -> None:
    bench = ClientBench(settings=HttprSettings(peers=(Peer(responder=AGENT, pull=True),)))
    assert (bench.channel().name, bench.channel().responder) == ("fetch", AGENT)
    assert len(bench.requests) == 1
