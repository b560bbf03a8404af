r"""Routes a message that arrived, [MC-MQSRM] 3.1.5.1.3, to a local queue or another host, or refuses it.

    to --> redirected? --> a local authority       --> .\private$\orders, a queue here
       |                '-> of another host        --> DIRECT=..., forwarded
       |                '-> of another protocol    --> DIRECT=WORD://..., forwarded as a local message
       '-> MSMQ:MULTICAST=ip:port                  --> all queues that listen there

A refusal raises `SrmpFault`, and the sender gets 400 (SR-192).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.messages import format_name
from reliquary.protocols.srmp.redirection import redirected
from reliquary.protocols.srmp.state import State, queue_of
from reliquary.queueing.model.names.formats import DirectName, MulticastName, parse_single
from reliquary.queueing.model.names.schemes import HTTP, HTTPS
from reliquary.queueing.travel.crossing import leads_elsewhere, onward_name

_SECTION: Final = "3.1.5.1.3"


class MessageTarget(msgspec.Struct, frozen=True, gc=False):
    """The queue or the next hop that a message goes to."""

    destination: str
    """The path name or the format name that the manager gets."""
    name: str = ""
    """The key of the stream for a message to a local queue; otherwise empty."""
    known_as: str = ""
    """The key of its identifier: one name for all URLs of a queue, because a repeat may use another URL."""
    multicast: bool = False
    crosses: bool = False
    """Whether another protocol forwards the message, so that SRMP does not handle it further."""


class _UrlParts(msgspec.Struct, frozen=True, gc=False):
    """The parts of a destination URL."""

    format_name: str
    authorities: frozenset[str] = frozenset()
    """The host and port, with and without the default port."""
    path: str = ""
    """The path name of the queue; empty if the URL has none."""
    known_as: str = ""
    """The path name in lower case, or the multicast address."""
    name: str = ""
    """The URL as its sender writes it, with port and query.

    Each spelling has an outgoing queue at the sender.
    """
    group: str = ""
    """The multicast address `ip:port`; empty for a URL."""


def route(state: State, to: str) -> MessageTarget:
    """Return the route of a message to this destination."""
    destination = _read(to)
    if destination.group:
        if destination.group not in state.listening:
            raise SrmpFault("to", f"no queue listens to {destination.group}", spec=_SECTION)  # SR-184
        return MessageTarget(destination.format_name, destination.name, destination.name, multicast=True)
    # DEPARTS from 3.1.5.1.3 (SR-187): redirections are looked up before the host is judged, because
    # they lead from the public name of a gateway, which is no name of this computer, and all that
    # comes to it would be refused.
    redirections = state.settings.inbound_redirections
    target = redirected(redirections, to) if redirections else None
    onward = "" if target is None else _other_protocol(target)
    if onward:
        return MessageTarget(onward, destination.name, onward, crosses=True)
    place = destination if target is None else _read(target)
    if not state.address.authorities.isdisjoint(place.authorities):
        if not place.path:
            raise SrmpFault("to", f"{target or to} names no queue", spec=_SECTION)  # SR-189
        return MessageTarget(place.path, destination.name, place.known_as)
    if place.group:
        raise SrmpFault("to", f"it is redirected to {target}, which is no queue's URL", spec=_SECTION)
    if target is None and not state.settings.store_and_forward:
        why = f"{min(place.authorities)} is not this manager, which passes nothing on"
        raise SrmpFault("to", why, spec=_SECTION)  # SR-185
    return MessageTarget(place.format_name)  # SR-186, SR-188


def is_multicast(to: str) -> bool:
    """Return whether this destination is a multicast address, for which there are no receipts."""
    return bool(_read(to).group)


def check_url(element: str, url: str) -> None:
    """Refuse a URL to which no message could be sent."""
    if _read(url, element).group:
        raise SrmpFault(element, f"{url} is no URL of HTTP", spec=_SECTION)


@lru_cache(maxsize=64)
def _other_protocol(target: str) -> str:
    """Return the format name of another protocol in a redirection; empty for a URL of HTTP."""
    if not leads_elsewhere(target):
        return ""
    try:
        name = onward_name(target)
    except UsageError as why:
        raise SrmpFault("to", f"it is redirected to {target}: {why}", spec=_SECTION) from None
    return "" if name.scheme in (HTTP, HTTPS) else str(name)


@lru_cache(maxsize=1024)
def _read(url: str, element: str = "to") -> _UrlParts:
    """Return the parts of a URL; the results are cached, because senders repeat few URLs."""
    try:
        name = parse_single(format_name(url))
    except UsageError as why:
        raise SrmpFault(element, str(why), spec=_SECTION) from None
    if isinstance(name, MulticastName):
        return _UrlParts(str(name), name=str(name), group=f"{name.address}:{name.port}")
    if not isinstance(name, DirectName) or name.scheme not in (HTTP, HTTPS):
        raise SrmpFault(element, f"{url} is not to be reached by HTTP", spec=_SECTION)
    return _UrlParts(
        str(name),
        frozenset({name.authority, name.address.casefold()}),
        f".\\{name.queue_path}" if name.queue_path else "",
        queue_of(name),
        f"{name.scheme.word}://{name.address}{name.path}".casefold(),
    )
