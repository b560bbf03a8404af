"""Refreshes the copies of directory objects by timers: the manager itself, its sites and their gates.

The timers are those of [MS-MQDMPR] 3.1.6.1 and 3.1.6.2, and the check whether the directory is online.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar
from uuid import UUID

from reliquary.base.time import HOUR, Duration, Instant
from reliquary.base.turn import SetTimer, TimerName
from reliquary.queueing.directory.operations import (
    ONLINE_TIMER,
    by_identifier,
    create,
    happened,
    read,
    write,
)
from reliquary.queueing.directory.publishing import (
    is_published,
    manager_object,
    take_manager,
    take_queue,
)
from reliquary.queueing.directory.results import DirectoryAnswer, DirectoryResult
from reliquary.queueing.model.directory.connection import DirectoryEvent, DirectoryReaction
from reliquary.queueing.model.directory.objects import (
    KINDS,
    ConnectedNetwork,
    DirectoryObject,
    Enterprise,
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
    Site,
)
from reliquary.queueing.model.facts import DirectoryServersWanted
from reliquary.queueing.model.state import State

Wanted = TypeVar("Wanted", bound=DirectoryObject)

SITES_TIMER: Final = ("directory sites", 0)
GATES_TIMER: Final = ("directory site gates", 0)
SERVERS_TIMER: Final = ("directory servers", 0)
PERIODS: Final[dict[TimerName, Duration]] = {
    SITES_TIMER: Duration(12 * HOUR),  # DM-074
    GATES_TIMER: Duration(HOUR),  # DM-075
    SERVERS_TIMER: Duration(24 * HOUR),  # DM-087; [MS-MQSO] 6.4.1.2 leaves the time open
}

TIMERS: Final = frozenset(kind for kind, _ in (*PERIODS, ONLINE_TIMER))


def set_timer(state: State, name: TimerName) -> None:
    """Set a timer to its period (DM-081)."""
    state.draft.ask(SetTimer(name, PERIODS[name]))


# -- the manager's own object


def read_own(state: State, *, forced: bool = False) -> DirectoryAnswer:
    """Read the directory object of this manager."""
    return read(state, ObjectKind.QUEUE_MANAGER, by_identifier(state.identity().identifier), forced=forced)


def take_own(state: State) -> None:
    """Copy the attributes of this manager from its directory object, if there is one (DM-090)."""
    found = read_own(state).subject
    if isinstance(found, ManagerObject) and not state.directory.offline:
        take_manager(state, found)


def publish_own(state: State, now: Instant) -> None:
    """Create this manager's directory object, or write the attributes that its settings changed."""
    # DEPARTS from 3.1.3 (DM-090): a manager that the directory does not know enters itself, because no setup
    # program does it here, and Check Directory Online could never succeed.
    if state.directory.offline:
        return
    own, found = manager_object(state.identity()), read_own(state)
    if found.result is DirectoryResult.OBJECT_NOT_FOUND:
        made = create(state, own, now).subject
        if isinstance(made, ManagerObject):
            take_manager(state, made)
    elif found.subject != own:
        write(state, own, now)


def check_online(state: State, now: Instant) -> DirectoryAnswer:
    """Check Directory Online: read this manager's own object, and refresh all after a success (DM-255)."""
    own = read_own(state, forced=True)
    if own.result is DirectoryResult.OBJECT_NOT_FOUND and state.identity().directory_integrated:
        create(state, manager_object(state.identity()), now)  # as at the start
        own = read_own(state, forced=True)
    succeeded = isinstance(own.subject, ManagerObject)
    then = happened(state, DirectoryEvent.CHECK_SUCCEEDED if succeeded else DirectoryEvent.CHECK_FAILED)
    if then is DirectoryReaction.REFRESH and isinstance(own.subject, ManagerObject):
        take_manager(state, own.subject)
        _take_queues(state)
        read_surroundings(state)
    return own


def _take_queues(state: State) -> None:
    """Copy the attributes of each public queue from its directory object, if there is one (DM-256)."""
    for queue in list(state.queues.values()):
        if is_published(queue.record):
            found = _read(state, QueueObject, queue.record.identifier)
            if found is not None:
                take_queue(state, queue, found)


# -- sites, routing servers, networks and the enterprise


def read_surroundings(state: State) -> None:
    """Read the objects that LocalQueueManager refers to: sites, routing servers, networks, the enterprise."""
    identity, around = state.identity(), state.directory.around
    around.sites = _found(state, Site, identity.site_identifiers)  # DM-090
    around.site_gates = {identifier: _gates(state, identifier) for identifier in around.sites}
    around.out_routing_servers = _found(state, ManagerObject, identity.out_routing_servers)
    around.in_routing_servers = _found(state, ManagerObject, identity.in_routing_servers)
    networks = _found(state, ConnectedNetwork, identity.connected_network_identifiers)
    around.connected_networks = {  # each entry of the list has a member, known or not (DM-016)
        identifier: networks.get(identifier, ConnectedNetwork(identifier=identifier))
        for identifier in identity.connected_network_identifiers
    }
    around.enterprise = _enterprise(state)


def _found(state: State, wanted: type[Wanted], identifiers: Iterable[UUID]) -> dict[UUID, Wanted]:
    """Read these objects and return those that the directory has."""
    answers = {identifier: _read(state, wanted, identifier) for identifier in identifiers}
    return {identifier: each for identifier, each in answers.items() if each is not None}


def _read(state: State, wanted: type[Wanted], identifier: UUID) -> Wanted | None:
    found = read(state, KINDS[wanted], by_identifier(identifier)).subject
    return found if isinstance(found, wanted) else None


def _gates(state: State, site: UUID) -> dict[UUID, ManagerObject]:
    """Return SiteGateCollection of a site: the gates of its routing links that belong to the site."""
    links = [link for link in state.directory.every(RoutingLink) if site in (link.site1, link.site2)]
    named = sorted({gate for link in links for gate in link.site_gates})
    found = _found(state, ManagerObject, named)
    return {identifier: each for identifier, each in found.items() if site in each.site_identifiers}


def _enterprise(state: State) -> Enterprise | None:
    """Return EnterpriseReference (DM-091); while the directory is offline, the one that was read last."""
    answer = read(state, ObjectKind.ENTERPRISE, attributes=("non_ldap_notification",))
    if isinstance(answer.subject, Enterprise):
        return answer.subject
    # DEPARTS from 3.1.3 (DM-091): a directory without an enterprise counts as one with an enterprise without
    # this attribute, because the text has no rule for it and a new registry has none.
    if answer.result in (DirectoryResult.ATTRIBUTE_NOT_FOUND, DirectoryResult.OBJECT_NOT_FOUND):
        return Enterprise(non_ldap_notification=True)
    return state.directory.around.enterprise


def update_sites(state: State) -> None:
    """Directory Sites Update: read the sites again; a site that cannot be read is kept unchanged (DM-128)."""
    around = state.directory.around
    around.sites |= _found(state, Site, list(around.sites))
    set_timer(state, SITES_TIMER)


def update_gates(state: State) -> None:
    """Directory Site Gates Update: read the gates of all sites again (DM-129)."""
    for gates in state.directory.around.site_gates.values():
        gates.update(_found(state, ManagerObject, list(gates)))
    set_timer(state, GATES_TIMER)


def request_servers(state: State) -> None:
    """Directory Server List Update: ask the name resolver for the list of directory servers (DM-087)."""
    if DirectoryServersWanted in state.subscribed:
        state.draft.signal(DirectoryServersWanted())
    set_timer(state, SERVERS_TIMER)


def on_timer(state: State, kind: str, now: Instant) -> None:
    """Do the work of the directory timer that fired."""
    match kind:
        case "directory online":  # DM-078
            state.directory.watching = False
            check_online(state, now)
        case "directory sites":
            update_sites(state)
        case "directory site gates":
            update_gates(state)
        case _:
            request_servers(state)
