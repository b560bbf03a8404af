"""Finds the queues that the names of an agent mean, 6.2.3, for messages that come and for PULL.

target-uri of this manager     #orders, #private$/orders    its Destination is the queue
                               no Destination, or no URI    the service's queue for these messages; `into`
                                                            may also name a remote queue, DIRECT=HTTP://...
target-uri of another agent    DIRECT=HTTPR://...           passed on, if the settings have `forward`
anything else                  518

PULL at a queue's service      that queue
PULL at the manager's service  outgoing queues to the agent that sends the PULL
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final
from uuid import UUID

from reliquary.protocols.httpr.addresses import (
    Target,
    agent_of,
    format_name,
    own_agent,
    read_target,
)
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Carried, ErrorNumber
from reliquary.protocols.httpr.fields import fields_of
from reliquary.protocols.httpr.message_decode import decode_message
from reliquary.protocols.httpr.settings import HttprSettings, Service
from reliquary.protocols.httpr.state import State
from reliquary.queueing.model.message import Message
from reliquary.queueing.travel.crossing import as_sent_onward, leads_elsewhere

_SECTION: Final = "6.2.3"


def is_known(settings: HttprSettings, service: str) -> bool:
    """Return whether this manager offers a service; the queue manager knows whether its queue exists."""
    return (
        settings.open_services
        or service == settings.manager_service
        or _listed(settings, service) is not None
    )


def responder_of(state: State, service: str, named: str) -> str:
    """Return our name in answers: the name in the request if it is one of ours.

    Else HttprFault 511 (HR-090).
    """
    if not named:
        return own_agent(state.origin, service)
    target = read_target(named)
    if target is None or not _is_ours(state, target) or target.service != service or target.destination:
        why = f"{named} is not {own_agent(state.origin, service)}"
        raise HttprFault(ErrorNumber.RESPONDER_INVALID, why, spec="6.1.4")
    return named


def sink_of(state: State, target: str, otherwise: str) -> str:
    """Return the queue for a message to this target-uri; `otherwise` is the queue for a name without one."""
    where = read_target(target) if target else None
    if where is None:
        if target or not otherwise:
            raise _unknown(f"{target} names no queue" if target else "the message has no target-uri")
        return otherwise
    if _is_ours(state, where):
        # a Destination must be a queue of this manager, not a name by which messages are forwarded
        queue = where.queue
        name = "" if leads_elsewhere(queue) else queue or into(state.settings, where.service)
        if not name:
            raise _unknown(f"{target} names no queue")
        return name
    name = format_name(target) if state.settings.forward else ""
    if not name:
        raise _unknown(f"{target} is no queue of this manager, and httpr.forward does not pass it on")
    return name


def placed(
    batch: Iterable[Carried], queue_for: Callable[[str], str], transaction: UUID
) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """Return the queue for each message of a batch, by its target-uri, and the messages.

    Messages that the settings forward stay in the `transaction` of the batch.
    """
    names, messages = [], []
    target, name, goes_on = "", None, False
    for carried in batch:
        to, message = decode_message(carried)
        if name is None or to != target:  # mostly a whole batch has a single target
            target, name = to, queue_for(to)
            goes_on = leads_elsewhere(name) and name != format_name(to)
        names.append(name)
        messages.append(sent_on(message, transaction) if goes_on else message)
    return tuple(names), tuple(messages)


def sent_on(message: Message, transaction: UUID) -> Message:
    """Return a message in the form in which it is forwarded: without the header that it came with.

    Of the classes of service only `assured` is once and in order (6.2.4), so only that one is a transaction.
    """
    assured = fields_of(message).get("class-of-service", "").lower() == "assured"
    return as_sent_onward(message, transaction if assured else None)


def into(settings: HttprSettings, service: str) -> str:
    """Return the queue for messages to a service without a Destination; empty if they are refused."""
    listed = _listed(settings, service)
    if listed is not None:
        return listed.into
    # a service must be a queue of this manager, not a name by which messages are forwarded
    return "" if service == settings.manager_service or leads_elsewhere(service) else service


def sources_of(state: State, service: str, requester: str, last: int) -> tuple[str | int, ...]:
    """Return the queues that a PULL takes from, in their order; outgoing queues begin after `last`."""
    queue = _source(state.settings, service)
    if queue:
        return (queue,)
    agent = agent_of(requester)
    found = sorted(number for number, name in state.waiting.items() if agent_of(name) == agent)
    return (*(each for each in found if each > last), *(each for each in found if each <= last))


def is_fetched_by_agent(settings: HttprSettings, service: str) -> bool:
    """Return whether a PULL gets the messages addressed to its agent, and not those of a local queue."""
    return not _source(settings, service)


def _source(settings: HttprSettings, service: str) -> str:
    listed = _listed(settings, service)
    if listed is not None:
        return listed.source
    return "" if service == settings.manager_service else service


@lru_cache(maxsize=64)
def _services(listed: tuple[Service, ...]) -> dict[str, Service]:
    return {each.name: each for each in listed}


def _listed(settings: HttprSettings, service: str) -> Service | None:
    return _services(settings.services).get(service)


def _is_ours(state: State, target: Target) -> bool:
    """Return whether a target has one of our names, or no host.

    Then it means this server, which received it.
    """
    return target.authority in state.authorities or not target.authority


def _unknown(why: str) -> HttprFault:
    return HttprFault(ErrorNumber.SINK_NOT_KNOWN, why, spec=_SECTION)
