r"""Finds the queue for the messages of an endpoint.

/wsrm/orders, /wsrm/private$/orders   the queue of that name, unless the settings name another
the settings name a format name       forwarded to that queue, also a remote one; by another protocol, without
                                      the headers of WS-RM
a format name, DIRECT=OS:...          no endpoint: messages are not relayed
"""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.protocols.wsrm.destination.tables import Inbound
from reliquary.protocols.wsrm.schemes import names_endpoint
from reliquary.protocols.wsrm.settings import Assurance, EndpointSettings, WsrmSettings
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.names.formats import is_format_name, name_of_url, parse_single
from reliquary.queueing.travel.crossing import as_sent_onward, leads_elsewhere


def queue_of(endpoint: EndpointSettings, name: str) -> str:
    """Return the path name or format name for messages to an endpoint; empty if there is none."""
    if endpoint.queue:
        return endpoint.queue
    # an endpoint must be a local queue, not a name by which messages are forwarded
    return "" if leads_elsewhere(name) else name


def settings_of(settings: WsrmSettings, row: Inbound) -> EndpointSettings:
    """Return the settings of a known sequence.

    A sequence that our source offered has no endpoint, and one whose endpoint was removed from the
    settings continues with the defaults.
    """
    found = settings.endpoint(row.endpoint) if row.endpoint else None
    return found or EndpointSettings(name=row.endpoint, queue=row.queue, window=settings.window)


@lru_cache(maxsize=64)
def crosses(queue: str) -> bool:
    """Return whether messages for a queue of the settings are forwarded by another protocol."""
    if not leads_elsewhere(queue):
        return False
    try:
        return not names_endpoint(parse_single(queue if is_format_name(queue) else name_of_url(queue)))
    except UsageError:
        return True  # the queue manager refuses the name


def onward(
    messages: tuple[Message, ...], endpoint: EndpointSettings, queue: str, transaction: UUID
) -> tuple[Message, ...]:
    """Return messages in the form for the queue of an endpoint, which another protocol may have to reach.

    Messages that are delivered in order and once are a transaction, so that the next protocol does that too.
    """
    if not crosses(queue):
        return messages
    assured = endpoint.ordered and endpoint.assurance is Assurance.EXACTLY_ONCE
    return tuple([as_sent_onward(message, transaction if assured else None) for message in messages])
