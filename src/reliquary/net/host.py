"""Who this computer is."""

from __future__ import annotations

import re
import socket
from ipaddress import ip_address
from typing import Final

NETBIOS_LIMIT: Final = 15


def own_name() -> str:
    """This computer's name as MSMQ would write it: the first label, in capitals, 15 characters."""
    label = socket.gethostname().partition(".")[0].upper()
    return re.sub(r"[^A-Z0-9-]", "-", label)[:NETBIOS_LIMIT] or "RELIQUARY"


def host_name() -> str:
    """This computer's name as the network knows it."""
    return socket.gethostname()


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
