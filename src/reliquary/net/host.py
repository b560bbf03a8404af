"""Finds the names and addresses of this computer."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

NETBIOS_LIMIT: Final = 15


def own_name() -> str:
    """Return the name of this computer as MSMQ writes it: the first label, in capitals, 15 characters."""
    label = socket.gethostname().partition(".")[0].upper()
    return re.sub(r"[^A-Z0-9-]", "-", label)[:NETBIOS_LIMIT] or "RELIQUARY"


def host_name() -> str:
    """Return the name of this computer in the network."""
    return socket.gethostname()


def own_addresses() -> tuple[str, ...]:
    """Return the IP addresses that this computer is known to have; without one behind a gateway.

    These are the loopback, those of the host name, and those from which packets to other networks would
    leave; to find these no packet is sent.
    """
    found = dict.fromkeys(("127.0.0.1", "::1"))
    with suppress(OSError):
        found |= dict.fromkeys(str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None))
    for family, elsewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            found[str(probe.getsockname()[0])] = None
    return tuple(found)


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this computer."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
