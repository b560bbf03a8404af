r"""Which queue the messages of an endpoint go into.

/wsrm/orders, /wsrm/private$/orders   the queue of that name, unless the settings name another
the settings name a format name       passed on to that queue, wherever it is; by another protocol, without
                                      what belongs to ours
a format name, DIRECT=OS:...          no endpoint: we relay no messages to queues of others
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
    """Return the path name or format name for messages to an endpoint; empty where there is none."""
    if endpoint.queue:
        return endpoint.queue
    # an endpoint must be a queue of ours, not a name by which messages are sent on through us
    return "" if leads_elsewhere(name) else name


def settings_of(settings: WsrmSettings, row: Inbound) -> EndpointSettings:
    """Return the settings by which a known sequence is served.

    A sequence that our source offered has no endpoint, and one whose endpoint was removed from the settings
    goes on with the defaults.
    """
    found = settings.endpoint(row.endpoint) if row.endpoint else None
    return found or EndpointSettings(name=row.endpoint, queue=row.queue, window=settings.window)


@lru_cache(maxsize=64)
def crosses(queue: str) -> bool:
    """Return whether messages for a queue of the settings go on by another protocol."""
    if not leads_elsewhere(queue):
        return False
    try:
        return not names_endpoint(parse_single(queue if is_format_name(queue) else name_of_url(queue)))
    except UsageError:
        return True  # the queue manager refuses the name


def onward(
    messages: tuple[Message, ...], endpoint: EndpointSettings, queue: str, transaction: UUID
) -> tuple[Message, ...]:
    """Return messages as they go to the queue of an endpoint, which may lie behind another protocol.

    Messages that are delivered in order and once are a transaction, so that the next protocol does that too.
    """
    if not crosses(queue):
        return messages
    assured = endpoint.ordered and endpoint.assurance is Assurance.EXACTLY_ONCE
    return tuple([as_sent_onward(message, transaction if assured else None) for message in messages])
