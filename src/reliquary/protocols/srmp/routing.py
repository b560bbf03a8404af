r"""Where a message goes that came, [MC-MQSRM] 3.1.5.1.3: into a queue here, on to another host, or nowhere.

    to --> redirected? --> an authority of ours    --> .\private$\orders, and it ends here
       |                '-> somebody else's        --> DIRECT=..., and it goes on
       '-> MSMQ:MULTICAST=ip:port                  --> whoever listens there

What is refused raises `SrmpFault`, and its sender gets 400 (SR-192).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.messages import format_name
from reliquary.protocols.srmp.redirection import redirected
from reliquary.protocols.srmp.state import State
from reliquary.queueing.naming.formats import DirectName, MulticastName, parse_single

_SECTION: Final = "3.1.5.1.3"


class Route(msgspec.Struct, frozen=True, gc=False):
    """Where a message goes."""

    destination: str
    """What the manager is told: a path name, or a format name."""
    name: str = ""
    """Of a message that ends here: what its stream and its identifier are kept under."""
    multicast: bool = False


def route(state: State, to: str) -> Route:
    """Where a message to this destination goes."""
    destination = _read(to)
    if isinstance(destination, MulticastName):
        return _group(state, destination)
    # DEPARTS from 3.1.5.1.3 (SR-187): redirections are looked up before the host is judged, because
    # they lead from the public name of a gateway, which is no name of this computer, and all that
    # comes to it would be refused.
    target = redirected(state.settings.inbound_redirections, to)
    queue = destination if target is None else _read(target)
    if not isinstance(queue, DirectName):
        raise SrmpFault("to", f"it is redirected to {target}, which is no queue's URL", spec=_SECTION)
    if queue.authority in state.authorities or queue.address.casefold() in state.authorities:
        path = queue.queue_path
        if not path:
            raise SrmpFault("to", f"{target or to} names no queue", spec=_SECTION)  # SR-189
        return Route(f".\\{path}", _name(destination))
    if target is None and not state.settings.store_and_forward:
        why = f"{queue.address} is not this manager, which passes nothing on"
        raise SrmpFault("to", why, spec=_SECTION)
    return Route(str(queue))  # SR-186, SR-188


def _group(state: State, group: MulticastName) -> Route:
    if f"{group.address}:{group.port}" not in state.listening:
        raise SrmpFault("to", f"no queue listens to {group.address}:{group.port}", spec=_SECTION)  # SR-184
    return Route(str(group), str(group), multicast=True)


@lru_cache(maxsize=1024)
def _read(url: str) -> DirectName | MulticastName:
    """The queue that a URL names; senders repeat a few of them, so they are kept."""
    try:
        name = parse_single(format_name(url))
    except UsageError as why:
        raise SrmpFault("to", str(why), spec=_SECTION) from None
    if isinstance(name, MulticastName) or (isinstance(name, DirectName) and name.protocol.is_http):
        return name
    raise SrmpFault("to", f"{url} is not to be reached by HTTP", spec=_SECTION)


@lru_cache(maxsize=1024)
def _name(destination: DirectName) -> str:
    """The same for all spellings of a destination, without a query."""
    path = re.split("[?#]", destination.path, maxsplit=1)[0]
    return f"{destination.protocol.value}://{destination.authority}{path}".casefold()
