"""Parses IP multicast addresses in queue settings and in format names, such as `234.1.1.1:8001`."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address
from typing import Final

from reliquary.base.faults import UsageError

PORT_LIMIT: Final = 65535


def read_address(text: str) -> tuple[IPv4Address, int]:
    """Return the address and the port; raise UsageError when the text is not a multicast address."""
    host, _, port = text.strip().rpartition(":")
    try:
        address = IPv4Address(host)
    except AddressValueError as why:
        raise _no_address(text) from why
    is_port = port.isascii() and port.isdigit() and 1 <= int(port) <= PORT_LIMIT
    if not address.is_multicast or not is_port:
        raise _no_address(text)
    return address, int(port)


def normalized(text: str) -> str:
    """Return the canonical spelling of an address.

    >>> normalized(" 234.1.1.1:08001")
    '234.1.1.1:8001'
    """
    address, port = read_address(text)
    return f"{address}:{port}"


def _no_address(text: str) -> UsageError:
    return UsageError(
        "a multicast address is 224.0.0.0 to 239.255.255.255 with a port of 1 to"
        f" {PORT_LIMIT}, such as 234.1.1.1:8001, not {text!r}"
    )
