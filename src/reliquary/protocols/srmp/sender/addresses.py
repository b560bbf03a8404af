"""Finds the addresses for messages and for their receipts, [MC-MQSRM] 3.1.7.9 and 3.1.7.2.4.

DIRECT=HTTP://shop.example/msmq/private$/orders     connect to shop.example, or to a forwarder
POST /msmq/private$/orders, Host: shop.example      in both cases
http://here/MSMQ/PRIVATE$/order_queue$              the address for its stream receipts
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.protocols.srmp.redirection import matches, redirected
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.names.formats import DirectName, MulticastName, parse_single

ORDER_QUEUE: Final = "/MSMQ/PRIVATE$/order_queue$"
PLAIN: Final = "http"
SECURE: Final = "https"


class PostAddress(msgspec.Struct, frozen=True):
    """The address that messages of an outgoing queue are posted to."""

    server: str = ""
    """The server to connect to, as `http://host[:port]`."""
    authority: str = ""
    """The Host header, which names the host of the destination."""
    target: str = ""
    """The path and query of the request."""
    url: str = ""
    """The URL of the destination."""
    multicast: str = ""
    """`ip:port` of a multicast address; the other fields are empty then."""

    @property
    def is_direct(self) -> bool:
        """Whether messages are posted to the host of their destination, and not to a forwarder."""
        return self.server == _origin(self.url)

    @property
    def next_hop(self) -> str:
        """The host or the multicast address to which messages are sent next."""
        return self.multicast or self.server.partition("://")[2]


def post_address(destination: str, settings: SrmpSettings) -> PostAddress:
    """Return where messages to a destination are posted of SRMP."""
    name = parse_single(destination)
    if isinstance(name, MulticastName):
        return PostAddress(multicast=f"{name.address}:{name.port}")
    assert isinstance(name, DirectName), f"{destination} is not reached by SRMP"
    url = f"{name.scheme.word.lower()}://{name.address}{name.path}"
    return PostAddress(_server(url, settings), name.address, name.path, url)


def _server(url: str, settings: SrmpSettings) -> str:
    """Return the server to connect to (SR-311); for an excepted destination it is its own host (SR-312)."""
    # DEPARTS from 3.1.7.9 (SR-311): the whole URL is matched, not its host, because a rule for one queue of a
    # host could not be written.
    if any(matches(each, url) for each in settings.outbound_exceptions):
        return _origin(url)
    return _origin(redirected(settings.outbound_redirections, url) or url)


def _origin(url: str) -> str:
    """Return scheme and authority of a URL."""
    scheme, _, rest = url.partition("://")
    return f"{scheme.lower()}://{rest.partition('/')[0]}"


def receipts_url(url: str, settings: SrmpSettings, here: str) -> str:
    """Return the address for the receipts of a stream to this URL (SR-281); `here` is from `own_origin`."""
    chosen = redirected(settings.receipt_urls, url) or settings.default_receipt_url
    return chosen or here + ORDER_QUEUE


def own_origin(url: str, *, host: str, secure_host: str = "", scheme: str = "") -> str:
    """Return `http://host` under which the receiver of messages to this URL reaches this server.

    `scheme` is set if the server listens to only one; otherwise it is that of the URL, or `http` for
    multicast.
    """
    # DEPARTS from 3.1.7.2.4 (SR-281): the host is a setting of the administrator, with a port if need be, not
    # the ComputerName, because a name without a domain and a port is not reachable outside one network.
    scheme = scheme or url.partition("://")[0] or PLAIN
    return f"{scheme}://{secure_host or host if scheme == SECURE else host}"
