"""Which queues an agent's names mean, 6.2.3: those that messages come into, and are fetched from.

target-uri of ours        #orders, #private$/orders    its Destination is the queue
                          no Destination, or no URI     what the service has for such messages
target-uri of another     DIRECT=HTTPR://...            passed on, where the administrator wants that
anything else             518

PULL at a queue's service     that queue
PULL at the manager's own     outgoing queues to the agent that asks
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from reliquary.protocols.httpr.addresses import (
    Target,
    agent_of,
    format_name,
    own_agent,
    read_target,
)
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Carried, ErrorNumber
from reliquary.protocols.httpr.mapping import message_of
from reliquary.protocols.httpr.settings import HttprSettings, Service
from reliquary.protocols.httpr.state import State
from reliquary.queueing.message import Message
from reliquary.queueing.naming.formats import is_format_name
from reliquary.queueing.naming.schemes import is_bare_url

_SECTION: Final = "6.2.3"


def is_known(settings: HttprSettings, service: str) -> bool:
    """Whether a service is ours; whether its queue exists is the manager's to say."""
    return (
        settings.open_services
        or service == settings.manager_service
        or _listed(settings, service) is not None
    )


def responder_of(state: State, service: str, named: str) -> str:
    """What we are called in answers: as the request calls us, where that is us; else 511 (HR-090)."""
    if not named:
        return own_agent(state.origin, service)
    target = read_target(named)
    if target is None or not _is_ours(state, target) or target.service != service or target.destination:
        why = f"{named} is not {own_agent(state.origin, service)}"
        raise HttprFault(ErrorNumber.RESPONDER_INVALID, why, spec="6.1.4")
    return named


def sink_of(state: State, target: str, otherwise: str) -> str:
    """The queue for a message to this target-uri; `otherwise` is for messages that name none."""
    where = read_target(target) if target else None
    if where is None:
        if target or not otherwise:
            raise _unknown(f"{target or 'no target-uri'} names no queue")
        return otherwise
    if _is_ours(state, where):
        name = where.queue or into(state.settings, where.service)
        # a Destination is a queue of ours: no name by which messages could be sent on through us
        if not name or is_format_name(name) or is_bare_url(name):
            raise _unknown(f"{target} names no queue")
        return name
    name = format_name(target) if state.settings.forward else ""
    if not name:
        raise _unknown(f"{target} is not ours, and nothing is passed on there")
    return name


def placed(
    batch: Iterable[Carried], queue_for: Callable[[str], str]
) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """The queue that each message of a batch is for, by its target-uri, and the messages."""
    names, messages = [], []
    target, name = "", None
    for carried in batch:
        to, message = message_of(carried)
        if name is None or to != target:  # mostly the whole batch goes one way
            target, name = to, queue_for(to)
        names.append(name)
        messages.append(message)
    return tuple(names), tuple(messages)


def into(settings: HttprSettings, service: str) -> str:
    """The queue for messages to a service that name none themselves; empty: they are refused."""
    listed = _listed(settings, service)
    if listed is not None:
        return listed.into
    # a service is a queue of ours: no name by which messages could be sent on through us
    elsewhere = is_format_name(service) or is_bare_url(service)
    return "" if service == settings.manager_service or elsewhere else service


def sources_of(state: State, service: str, requester: str, last: int) -> tuple[str | int, ...]:
    """The queues that a PULL takes from, in their order; of outgoing ones the next after `last` is first."""
    queue = _source(state.settings, service)
    if queue:
        return (queue,)
    agent = agent_of(requester)
    found = sorted(number for number, name in state.waiting.items() if agent_of(name) == agent)
    return (*(each for each in found if each > last), *(each for each in found if each <= last))


def is_fetched_by_agent(settings: HttprSettings, service: str) -> bool:
    """Whether a PULL gets what is addressed to its agent, and not what is in a queue."""
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
    """One of our names, or none at all: it came to us, so it is meant for us."""
    return target.authority in state.authorities or not target.authority


def _unknown(why: str) -> HttprFault:
    return HttprFault(ErrorNumber.SINK_NOT_KNOWN, why, spec=_SECTION)
