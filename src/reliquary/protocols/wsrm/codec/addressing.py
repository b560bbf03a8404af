"""Defines the spelling of WS-Addressing 2004/08 and 1.0, and the meaning of the special addresses of both."""

from __future__ import annotations

from typing import Final

from reliquary.protocols.wsrm.codec.values import Addressing

NAMESPACES: Final = {
    Addressing.WSA2004: "http://schemas.xmlsoap.org/ws/2004/08/addressing",
    Addressing.WSA10: "http://www.w3.org/2005/08/addressing",
}
VERSIONS: Final = {namespace: version for version, namespace in NAMESPACES.items()}
ANONYMOUS: Final = {
    Addressing.WSA2004: f"{NAMESPACES[Addressing.WSA2004]}/role/anonymous",
    Addressing.WSA10: f"{NAMESPACES[Addressing.WSA10]}/anonymous",
}
"""The address of a client that is answered on the HTTP response."""
NONE: Final = f"{NAMESPACES[Addressing.WSA10]}/none"
"""The address to which nothing is to be sent; 2004/08 has none."""
FAULT_ACTIONS: Final = {version: f"{namespace}/fault" for version, namespace in NAMESPACES.items()}
SOAP_FAULT_ACTIONS: Final = {
    Addressing.WSA2004: FAULT_ACTIONS[Addressing.WSA2004],
    Addressing.WSA10: f"{NAMESPACES[Addressing.WSA10]}/soap/fault",
}
"""The action of faults that SOAP itself defines."""
POLLED: Final = "http://docs.oasis-open.org/ws-rx/wsmc/200702/anonymous?id="
"""The prefix of addresses whose messages their clients fetch with MakeConnection."""

_ANONYMOUS: Final = frozenset(ANONYMOUS.values())


def is_anonymous(address: str) -> bool:
    """Return whether messages to this address go on the HTTP response, in either version."""
    return address in _ANONYMOUS


def is_none(address: str) -> bool:
    """Return whether messages to this address are not to be sent."""
    return address == NONE


def is_polled(address: str) -> bool:
    """Return whether the client fetches messages to this address with MakeConnection."""
    return address.startswith(POLLED) and len(address) > len(POLLED)
