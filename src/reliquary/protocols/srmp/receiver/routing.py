r"""Where a message goes that came, [MC-MQSRM] 3.1.5.1.3: into a queue here, on to another host, or nowhere.

    to --> redirected? --> an authority of ours    --> .\private$\orders, and it ends here
       |                '-> somebody else's        --> DIRECT=..., and it goes on
       '-> MSMQ:MULTICAST=ip:port                  --> whoever listens there

What is refused raises `SrmpFault`, and its sender gets 400 (SR-192).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.messages import format_name
from reliquary.protocols.srmp.redirection import redirected
from reliquary.protocols.srmp.state import State
from reliquary.queueing.naming.formats import DirectName, MulticastName, parse_single
from reliquary.queueing.naming.schemes import HTTP, HTTPS

_SECTION: Final = "3.1.5.1.3"


class Route(msgspec.Struct, frozen=True, gc=False):
    """Where a message goes."""

    destination: str
    """What the manager is told: a path name, or a format name."""
    name: str = ""
    """Of a message that ends here: what its stream and its identifier are kept under."""
    multicast: bool = False


class _Place(msgspec.Struct, frozen=True, gc=False):
    """What a URL says."""

    format_name: str
    authorities: frozenset[str] = frozenset()
    """Its host and port, in the spellings that mean the same."""
    path: str = ""
    """The path name of the queue there; empty where the URL has none."""
    name: str = ""
    """The URL as its sender writes it, port and query too; for him another one is another outgoing queue."""
    group: str = ""
    """Of a multicast address: `ip:port`."""


def route(state: State, to: str) -> Route:
    """Where a message to this destination goes."""
    destination = _read(to)
    if destination.group:
        if destination.group not in state.listening:
            raise SrmpFault("to", f"no queue listens to {destination.group}", spec=_SECTION)  # SR-184
        return Route(destination.format_name, destination.name, multicast=True)
    # DEPARTS from 3.1.5.1.3 (SR-187): redirections are looked up before the host is judged, because
    # they lead from the public name of a gateway, which is no name of this computer, and all that
    # comes to it would be refused.
    redirections = state.settings.inbound_redirections
    target = redirected(redirections, to) if redirections else None
    place = destination if target is None else _read(target)
    if not state.authorities.isdisjoint(place.authorities):
        if not place.path:
            raise SrmpFault("to", f"{target or to} names no queue", spec=_SECTION)  # SR-189
        return Route(place.path, destination.name)
    if place.group:
        raise SrmpFault("to", f"it is redirected to {target}, which is no queue's URL", spec=_SECTION)
    if target is None and not state.settings.store_and_forward:
        why = f"{min(place.authorities)} is not this manager, which passes nothing on"
        raise SrmpFault("to", why, spec=_SECTION)  # SR-185
    return Route(place.format_name)  # SR-186, SR-188


def is_multicast(to: str) -> bool:
    """Whether this destination is whoever listens: nobody gets receipts from them."""
    return bool(_read(to).group)


def check_url(element: str, url: str) -> None:
    """Refuse what is no URL that a message could be sent to."""
    if _read(url, element).group:
        raise SrmpFault(element, f"{url} is no URL of HTTP", spec=_SECTION)


@lru_cache(maxsize=1024)
def _read(url: str, element: str = "to") -> _Place:
    """Take a URL apart; senders repeat a few of them, so they are kept."""
    try:
        name = parse_single(format_name(url))
    except UsageError as why:
        raise SrmpFault(element, str(why), spec=_SECTION) from None
    if isinstance(name, MulticastName):
        return _Place(str(name), name=str(name), group=f"{name.address}:{name.port}")
    if not isinstance(name, DirectName) or name.scheme not in (HTTP, HTTPS):
        raise SrmpFault(element, f"{url} is not to be reached by HTTP", spec=_SECTION)
    return _Place(
        str(name),
        frozenset({name.authority, name.address.casefold()}),
        f".\\{name.queue_path}" if name.queue_path else "",
        f"{name.scheme.word}://{name.address}{name.path}".casefold(),
    )
