"""Tests the way of messages, and the own address that a peer gets."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.addressing import ANONYMOUS
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Reference
from reliquary.protocols.wsrm.schemes import offered_name
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.protocols.wsrm.source.ways import SendingMode, own_reference, way_of, way_to

SHOP = "DIRECT=WSRM://shop.example/orders"
POLLED = "http://docs.oasis-open.org/ws-rx/wsmc/200702/anonymous?id=1"


def test_an_endpoint_is_posted_to_at_its_url() -> None:
    way = way_to(SHOP, WsrmSettings())
    assert (way.kind, way.url, way.to) == (
        SendingMode.DIAL,
        "http://shop.example/orders",
        Reference("http://shop.example/orders"),
    )
    assert way.next_hop == "shop.example"
    assert way_to("DIRECT=WSRMS://shop.example:8443/a?b", WsrmSettings()).url == (
        "https://shop.example:8443/a?b"
    )


def test_an_administrator_may_set_where_it_is_reached_and_what_it_is_called() -> None:
    peer = PeerSettings(address="wsrm://shop.example/*", url="http://proxy:8080/x", to="urn:shop", window=5)
    way = way_to(SHOP, WsrmSettings(peers=(peer,)))
    assert (way.url, way.to.address, way.peer.window) == ("http://proxy:8080/x", "urn:shop", 5)


@pytest.mark.parametrize("address", ["", ANONYMOUS[Addressing.WSA10], ANONYMOUS[Addressing.WSA2004]])
def test_a_client_without_an_address_gets_messages_on_responses(address: str) -> None:
    name = offered_name("urn:uuid:1", "")
    row = Outbound(1, Dialect(), 2, name, target=Reference(address), offered_by=3)
    assert way_of(row, WsrmSettings()).kind is SendingMode.BACK
    assert way_to(name, WsrmSettings()).kind is SendingMode.BACK


def test_a_client_that_polls_and_one_that_listens_have_their_own_modes() -> None:
    name = offered_name("urn:uuid:1", "http://client.example/cb")
    polled = Outbound(1, Dialect(), 2, name, target=Reference(POLLED), offered_by=3)
    assert way_of(polled, WsrmSettings()).kind is SendingMode.POLL
    listens = Outbound(1, Dialect(), 2, name, target=Reference("http://c/cb", b"<p/>"), offered_by=3)
    way = way_of(listens, WsrmSettings())
    assert (way.kind, way.url, way.to) == (SendingMode.DIAL, "http://c/cb", Reference("http://c/cb", b"<p/>"))


def test_a_sequence_keeps_the_target_it_was_created_with() -> None:
    row = Outbound(1, Dialect(), 2, SHOP, target=Reference("urn:old"))
    assert way_of(row, WsrmSettings()).to == Reference("urn:old")


@pytest.mark.parametrize("addressing", Addressing)
def test_our_own_address_is_anonymous_or_our_endpoint(addressing: Addressing) -> None:
    dialect = Dialect(addressing=addressing)
    way = way_to(SHOP, WsrmSettings())
    assert own_reference(way, dialect, "http://here") == Reference(ANONYMOUS[addressing])
    peers = (PeerSettings(address="*", addressable=True),)
    way = way_to(SHOP, WsrmSettings(peers=peers))
    assert own_reference(way, dialect, "http://here") == Reference("http://here/wsrm/")
