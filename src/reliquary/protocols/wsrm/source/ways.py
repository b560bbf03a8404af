"""Finds the way of the messages of an outgoing queue, and the own address for its peer.

DIRECT=WSRM://shop.example/orders            DIAL   posted to http://shop.example/orders
DIRECT=WSRM://client.example/cb#urn:uuid:1   DIAL   in the sequence that this client offered
DIRECT=WSRM://anonymous.invalid/urn:uuid:1   BACK   on the responses to the requests of that client
                                             POLL   the client fetches them with MakeConnection
"""

from __future__ import annotations

from enum import Enum
from typing import Final
from urllib.parse import quote

import msgspec

from reliquary.protocols.wsrm.codec.addressing import ANONYMOUS, NONE, is_anonymous, is_none, is_polled
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Reference
from reliquary.protocols.wsrm.schemes import BACK, ENDPOINT_PATH, names_endpoint, url_of
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.queueing.model.names.formats import DirectName, is_format_name, name_of_url, parse_single
from reliquary.queueing.model.names.schemes import is_bare_url


class SendingMode(Enum):
    """How envelopes of a sequence reach the peer."""

    DIAL = "dial"
    """Envelopes are sent as requests of this manager."""
    BACK = "back"
    """Messages leave on responses to requests of the client."""
    POLL = "poll"
    """Messages leave on responses to MakeConnection."""


class SendingWay(msgspec.Struct, frozen=True):
    """The way of the messages of an outgoing queue."""

    kind: SendingMode
    url: str
    """The URL to which they are posted; empty if none are posted."""
    to: Reference
    peer: PeerSettings

    @property
    def next_hop(self) -> str:
        """The host, with its port, that messages are sent to next."""
        return self.url.partition("://")[2].partition("/")[0]


def name_of(destination: str) -> DirectName:
    """Return the parsed name of an outgoing queue of WS-RM."""
    name = parse_single(destination)
    assert isinstance(name, DirectName), f"{destination} is not reached by WS-RM"
    return name


def way_to(destination: str, settings: WsrmSettings) -> SendingWay:
    """Return the way to an endpoint, as the administrator set it up."""
    name = name_of(destination)
    url = url_of(name)
    peer = settings.peer(f"{name.scheme.word.lower()}://{name.address}{name.path.partition('#')[0]}")
    if name.authority == BACK:
        return SendingWay(SendingMode.BACK, "", Reference(""), peer)
    return SendingWay(SendingMode.DIAL, peer.url or url, Reference(peer.to or peer.url or url), peer)


def way_of(row: Outbound, settings: WsrmSettings) -> SendingWay:
    """Return the way of a sequence; for an offered sequence it leads to its client.

    Before the first reply, an offered sequence has no outgoing queue, and so no destination.
    """
    way = way_to(row.destination, settings) if row.destination else _NOWHERE
    target = row.target
    if not row.offered_by:
        return way if target is None else msgspec.structs.replace(way, to=target)
    address = "" if target is None else target.address
    if is_polled(address):
        return SendingWay(SendingMode.POLL, "", Reference(address), way.peer)
    if target is None or not address or is_anonymous(address) or is_none(address):
        return SendingWay(SendingMode.BACK, "", Reference(ANONYMOUS[row.dialect.addressing]), way.peer)
    return SendingWay(SendingMode.DIAL, address, target, way.peer)


_NOWHERE: Final = SendingWay(SendingMode.BACK, "", Reference(""), PeerSettings(address=""))


def own_reference(way: SendingWay, dialect: Dialect, origin: str) -> Reference:
    """Return the reference for AcksTo and ReplyTo; both have equal bytes, as WCF requires."""
    return Reference(f"{origin}{ENDPOINT_PATH}" if way.peer.addressable else ANONYMOUS[dialect.addressing])


def reply_reference(way: SendingWay, row: Outbound, response_queue: str, origin: str) -> Reference | None:
    """Return ReplyTo of a message.

    Without a response queue no reply is wanted; after an offer this must be written, because the peer
    would wait for a reply.  With an offer, replies come in the offered sequence.
    """
    if not response_queue:
        says_none = row.offer and row.dialect.addressing is Addressing.WSA10
        return Reference(NONE) if says_none else None
    if row.offer:
        return own_reference(way, row.dialect, origin)
    url = _url_of_queue(response_queue, origin)
    return Reference(url) if url else None


def _url_of_queue(name: str, origin: str) -> str:
    """Return the URL at which WS-RM reaches a queue; empty if there is none."""
    if is_format_name(name) or is_bare_url(name):
        queue = parse_single(name if is_format_name(name) else name_of_url(name))
        return url_of(queue) if names_endpoint(queue) and isinstance(queue, DirectName) else ""
    path = name.removeprefix(".\\").replace("\\", "/")
    computer, found, _ = path.partition("/")
    is_here = not found or computer.casefold() == "private$"
    return f"{origin}{ENDPOINT_PATH}{quote(path)}" if is_here and origin else ""
