"""Refuses requests for hosts that are no names of this server.

The name of another site can resolve to 127.0.0.1 or to an address of this network (DNS rebinding).
Then the browser treats our answers as those of that site, and its Origin equals the Host.  Only the
Host header shows it: it has the name of that site.

    127.0.0.1:8480, [::1]     an address: passes, for no name was looked up
    localhost:8480            passes where the server listens on the loopback
    mq.example:8480           passes where it is a name of this server
    evil.example:8480         refused

The port is ignored, because a client may use a tunnel or a proxy.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from reliquary.net.identity.shown import Denied

KEPT: Final = 256
"""The number of valid values of Host that are cached."""


class NoHost(Denied):
    """A request has no Host, or several (RFC 9112 3.2)."""

    status = 400
    code = "INVALID_PARAMETER"


class WrongHost(Denied):
    """A request is for a server of another name (RFC 9110 15.5.20)."""

    status = 421
    code = "WRONG_HOST"


class Hosts:
    """The names of one listener."""

    __slots__ = ("_names", "known")

    def __init__(self, names: Iterable[str]) -> None:
        """`names` are hosts; a port after a name is ignored."""
        self._names = frozenset(map(host_of, names))
        self.known: set[bytes] = set()
        """The valid values of Host."""

    def check(self, host: bytes) -> None:
        """Refuse a value of Host that names another server."""
        name = host_of(host.decode("latin-1"))
        if name not in self._names and not is_address(name):
            raise WrongHost(f"this server has no name {name[:80]!r}; `names` in its settings may add it")
        if len(self.known) < KEPT:
            self.known.add(host)


def host_of(authority: str) -> str:
    """Return the host of `host:port` in lower case, without a dot at its end.

    >>> host_of("MQ.example:8480"), host_of("[::1]:8480"), host_of("localhost.")
    ('mq.example', '[::1]', 'localhost')
    """
    text = authority.strip().lower()
    bracket = text.rfind("]")
    colon = text.find(":", bracket + 1)
    return (text if colon < 0 else text[:colon]).removesuffix(".")


def is_address(host: str) -> bool:
    """Return whether a host is an IP address as a URL has it.

    >>> is_address("127.0.0.1"), is_address("[::1]"), is_address("::1"), is_address("mq.example")
    (True, True, False, False)
    """
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        return (ip_address(host[1:-1] if bracketed else host).version == 6) is bracketed
    except ValueError:
        return False
