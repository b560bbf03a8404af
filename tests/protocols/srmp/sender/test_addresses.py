"""Whom to connect to, and where receipts are asked for."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.sender.addresses import PostAddress, own_origin, post_address, receipts_url
from reliquary.protocols.srmp.settings import SrmpSettings

PLAIN = SrmpSettings()
ORDERS = "DIRECT=HTTP://shop.example:8080/msmq/private$/Orders?Lane=2"


@pytest.mark.spec("SR-310")
def test_a_destination_is_reached_at_its_own_host_with_path_and_query() -> None:
    assert post_address(ORDERS, PLAIN) == PostAddress(
        server="http://shop.example:8080",
        authority="shop.example:8080",
        target="/msmq/private$/Orders?Lane=2",
        url="http://shop.example:8080/msmq/private$/Orders?Lane=2",
    )
    assert post_address(ORDERS, PLAIN).next_hop == "shop.example:8080"


def test_an_https_destination_is_connected_to_with_tls() -> None:
    assert post_address("DIRECT=HTTPS://shop.example/msmq/q", PLAIN).server == "https://shop.example"


def test_a_multicast_destination_is_its_address() -> None:
    address = post_address("MULTICAST=234.1.1.1:8001", PLAIN)
    assert address == PostAddress(multicast="234.1.1.1:8001")
    assert address.next_hop == "234.1.1.1:8001"


@pytest.mark.spec("SR-132", "SR-311", "SR-312")
def test_a_redirection_leads_to_a_forwarder_and_an_exception_straight_to_the_destination() -> None:
    settings = SrmpSettings(
        outbound_redirections=(
            Redirection("http://SHOP.example/*", "HTTPS://gate.example:444/msmq/in"),
            Redirection("http://shop.example/msmq/*", "http://never.example/"),
        ),
        outbound_exceptions=("http://shop.example/msmq/private$/urgent",),
    )
    there = post_address("DIRECT=HTTP://shop.example/msmq/private$/orders", settings)
    assert there.server == "https://gate.example:444"
    assert (there.authority, there.target) == ("shop.example", "/msmq/private$/orders")
    assert post_address("DIRECT=HTTP://shop.example/msmq/private$/URGENT", settings).server == (
        "http://shop.example"
    )
    assert post_address("DIRECT=HTTP://other.example/msmq/q", settings).server == "http://other.example"


@pytest.mark.spec("SR-130", "SR-281")
def test_receipts_go_where_the_first_replacement_says_or_to_the_default_or_to_the_order_queue() -> None:
    rule = Redirection("http://shop.example/*", "http://receipts.example/in")
    both = SrmpSettings(receipt_urls=(rule,), default_receipt_url="http://default.example/in")
    assert receipts_url("http://shop.example/msmq/q", both, "http://me") == "http://receipts.example/in"
    assert receipts_url("http://other.example/msmq/q", both, "http://me") == "http://default.example/in"
    assert receipts_url("http://other.example/msmq/q", PLAIN, "http://me:81") == (
        "http://me:81/MSMQ/PRIVATE$/order_queue$"
    )


@pytest.mark.spec("SR-281")
def test_receipts_come_as_the_messages_go_unless_we_listen_to_one_scheme_alone() -> None:
    secure, plain = "https://shop.example/msmq/q", "http://shop.example/msmq/q"
    assert own_origin(secure, host="me") == "https://me"
    assert own_origin(secure, host="me:80", secure_host="me:444") == "https://me:444"
    assert own_origin(secure, host="me", scheme="http") == "http://me"
    assert own_origin(plain, host="me:80", secure_host="me:444") == "http://me:80"
    assert own_origin("", host="me:80", secure_host="me:444") == "http://me:80"  # messages to a group
