"""Tests multicast addresses: how they are parsed and refused."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.model.names.multicast import normalized, read_address


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("224.0.0.0:1", "224.0.0.0:1"),
        ("239.255.255.255:65535", "239.255.255.255:65535"),
        (" 234.1.1.1:8001 ", "234.1.1.1:8001"),
        ("234.1.1.1:08001", "234.1.1.1:8001"),
    ],
)
def test_an_address_has_one_spelling(text: str, spelled: str) -> None:
    assert normalized(text) == spelled
    assert normalized(spelled) == spelled


def test_an_address_is_an_ip_and_a_port() -> None:
    assert read_address("234.1.1.1:8001") == (IPv4Address("234.1.1.1"), 8001)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "orders",
        "234.1.1.1",
        "234.1.1.1:",
        "234.1.1.1:0",
        "234.1.1.1:65536",
        "234.1.1.1:-1",
        "234.1.1.1:١",
        "223.255.255.255:8001",
        "240.0.0.0:8001",
        "234.1.1:8001",
        "234.1.1.1.1:8001",
        "[ff02::1]:8001",
        "all-systems:8001",
    ],
)
def test_what_is_none_is_refused_with_what_one_is(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        normalized(text)
    assert str(refusal.value) == (
        "a multicast address is 224.0.0.0 to 239.255.255.255 with a port of 1 to 65535,"
        f" such as 234.1.1.1:8001, not {text!r}"
    )
