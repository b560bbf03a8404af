"""The directory as the queue manager uses it, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25.

Each function is one event of the specification: it sends the change notification, asks the
registry unless the directory is not connected, and draws the consequences when it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, Final, ParamSpec
from uuid import UUID

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import MINUTE, Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.queueing.directory import registry
from reliquary.queueing.directory.publishing import (
    manager_object,
    queue_object,
)
from reliquary.queueing.directory.queries import (
    AttributeMissing,
    Filter,
    Operator,
    SortOrder,
    check_attributes,
    in_order,
    matcher,
    project,
)
from reliquary.queueing.directory.results import DirectoryAnswer, DirectoryResult, answer_of
from reliquary.queueing.model.directory.connection import ONLINE_CHECK, TRANSITIONS, Happening, Then
from reliquary.queueing.model.directory.holdings import Query
from reliquary.queueing.model.directory.objects import (
    DirectoryObject,
    Kind,
    ManagerObject,
    QueueObject,
    kind_of,
)
from reliquary.queueing.model.facts import ChangeNotified, ChangeOperation
from reliquary.queueing.model.state import State

ONLINE_TIMER: Final = ("directory online", 0)
QUERY_TIMER: Final = "directory query"
QUERY_LEASE: Final = Duration(5 * MINUTE)
"""How long a query stays open without being used."""
QUERY_LIMIT: Final = 100
"""Queries that are open at once."""

Parameters = ParamSpec("Parameters")
Operation = Callable[Concatenate[State, Parameters], DirectoryAnswer]


def _attributes_known(operation: Operation[Parameters]) -> Operation[Parameters]:
    """An attribute that there is not is a result of the specification, not an error."""

    @wraps(operation)
    def run(state: State, /, *given: Parameters.args, **named: Parameters.kwargs) -> DirectoryAnswer:
        try:
            return operation(state, *given, **named)
        except AttributeMissing as why:
            return answer_of(DirectoryResult.ATTRIBUTE_NOT_FOUND, str(why))

    return run


# -- whether it is there


def is_connected(state: State) -> bool:
    """Whether the directory itself would answer."""
    return not state.identity().directory_detached


def happened(state: State, happening: Happening) -> Then:
    """Draw the consequences of what was learned about the connection."""
    directory = state.directory
    directory.connection, then = TRANSITIONS[directory.connection, happening]
    if then is Then.WATCH and not directory.watching:
        directory.watching = True
        state.draft.ask(SetTimer(ONLINE_TIMER, ONLINE_CHECK))
    elif then is Then.REFRESH and directory.watching:
        directory.watching = False
        state.draft.ask(CancelTimer(ONLINE_TIMER))
    return then


def not_connected(state: State) -> DirectoryAnswer:
    """DirectoryNotConnected, and what follows from it (DM-240)."""
    happened(state, Happening.NOT_CONNECTED)
    return answer_of(DirectoryResult.NOT_CONNECTED)


# -- create, delete, write


@_attributes_known
def create(
    state: State, subject: DirectoryObject, now: Instant, attributes: Sequence[str] | None = None
) -> DirectoryAnswer:
    """Create Directory Object."""
    check_attributes(kind_of(subject), attributes)
    _notify(state, ChangeOperation.QUEUE_CREATION, subject)  # DM-238
    if not is_connected(state):
        return not_connected(state)
    return registry.create(state, project(subject, attributes), now)  # DM-239


def delete(state: State, kind: Kind, identifier: UUID) -> DirectoryAnswer:
    """Delete Directory Object."""
    found = state.directory.objects[kind].get(identifier)
    if found is not None:
        _notify(state, ChangeOperation.QUEUE_DELETION, found)  # DM-241
    if not is_connected(state):
        return not_connected(state)  # DM-242
    return registry.delete(state, kind, identifier)


@_attributes_known
def write(
    state: State, subject: DirectoryObject, now: Instant, attributes: Sequence[str] | None = None
) -> DirectoryAnswer:
    """Write Directory."""
    check_attributes(kind_of(subject), attributes)
    if not is_connected(state):
        return not_connected(state)  # DM-253
    answer = registry.write(state, subject, attributes, now)
    if answer.subject is not None:
        notify_update(state, answer.subject)  # DM-254
    return answer


def notify_update(state: State, subject: DirectoryObject) -> None:
    """Send Change Notification for what was written (DM-254)."""
    if isinstance(subject, ManagerObject):
        _tell(state, ChangeOperation.QUEUE_MANAGER_UPDATE, subject)
    else:
        _notify(state, ChangeOperation.QUEUE_UPDATE, subject)


def _notify(state: State, operation: ChangeOperation, subject: DirectoryObject) -> None:
    """Every queue of a directory is a public one."""
    if isinstance(subject, QueueObject):
        _tell(state, operation, subject)


def _tell(state: State, operation: ChangeOperation, subject: DirectoryObject) -> None:
    if ChangeNotified in state.heard:
        state.draft.tell(ChangeNotified(operation, subject))


# -- read


def by_identifier(identifier: UUID) -> tuple[Filter, ...]:
    """The filter that most reads of the specification have."""
    return (Filter("identifier", Operator.EQUALS, identifier),)


@_attributes_known
def read(
    state: State,
    kind: Kind,
    filters: Sequence[Filter] = (),
    attributes: Sequence[str] | None = None,
    *,
    forced: bool = False,
) -> DirectoryAnswer:
    """Read Directory: the first object that every filter lets through."""
    matches = matcher(kind, filters)
    check_attributes(kind, attributes)
    if state.directory.offline and not forced:
        return _read_offline(state, kind, matches, attributes)
    if not is_connected(state):
        # DM-248: a forced read only looks, it does not change what the manager believes.
        return answer_of(DirectoryResult.NOT_CONNECTED) if forced else not_connected(state)
    found = next((each for _, each in sorted(state.directory.objects[kind].items()) if matches(each)), None)
    if found is None:
        return answer_of(DirectoryResult.OBJECT_NOT_FOUND)
    return answer_of(DirectoryResult.SUCCESS, subject=project(found, attributes))


def _read_offline(
    state: State,
    kind: Kind,
    matches: Callable[[DirectoryObject], bool],
    attributes: Sequence[str] | None,
) -> DirectoryAnswer:
    """What the manager knows without a directory."""
    identity = state.identity()
    if kind is Kind.QUEUE:  # DM-245
        own = (
            queue_object(each.record, identity.identifier)
            for each in state.queues.values()
            if not each.record.deleting and not each.record.is_journal and each.record.outgoing is None
        )
        found = next((each for each in own if matches(each)), None)
        if found is None:
            return answer_of(DirectoryResult.OBJECT_NOT_FOUND)
        return answer_of(DirectoryResult.SUCCESS, subject=project(found, attributes))
    if kind is Kind.QUEUE_MANAGER and matches(manager_object(identity)):  # DM-246
        return answer_of(DirectoryResult.SUCCESS, subject=project(manager_object(identity), attributes))
    return answer_of(DirectoryResult.NOT_CONNECTED)  # DM-247


@_attributes_known
def read_begin(
    state: State,
    kind: Kind,
    filters: Sequence[Filter] = (),
    attributes: tuple[str, ...] | None = None,
    order: Sequence[SortOrder] = (),
) -> DirectoryAnswer:
    """Read Directory Begin: all the objects that every filter lets through (DM-249)."""
    matches = matcher(kind, filters)
    check_attributes(kind, attributes)
    if not is_connected(state):
        return answer_of(DirectoryResult.NOT_CONNECTED)
    if len(state.directory.queries) >= QUERY_LIMIT:
        return answer_of(DirectoryResult.GENERIC_ERROR, f"{QUERY_LIMIT} queries are open already")
    some = [each for each in state.directory.objects[kind].values() if matches(each)]
    handle = state.next_handle()
    state.directory.queries[handle] = Query(in_order(some, kind, attributes, order), attributes)
    state.draft.ask(SetTimer((QUERY_TIMER, handle), QUERY_LEASE))
    return answer_of(DirectoryResult.SUCCESS, handle=handle)


@_attributes_known
def read_next(state: State, handle: int) -> DirectoryAnswer:
    """Read Directory Next: in the order of Begin, until there is no more (DM-251)."""
    query = state.directory.queries.get(handle)
    if query is None:
        return _no_query(handle)
    if not is_connected(state):
        return answer_of(DirectoryResult.NOT_CONNECTED)
    state.draft.ask(SetTimer((QUERY_TIMER, handle), QUERY_LEASE))
    if query.place == len(query.found):
        return answer_of(DirectoryResult.END_OF_DATA, "there is no more")
    query.place += 1
    return answer_of(DirectoryResult.SUCCESS, subject=project(query.found[query.place - 1], query.attributes))


def read_end(state: State, handle: int) -> DirectoryAnswer:
    """Read Directory End (DM-252)."""
    if state.directory.queries.pop(handle, None) is None:
        return _no_query(handle)
    state.draft.ask(CancelTimer((QUERY_TIMER, handle)))
    return answer_of(DirectoryResult.SUCCESS)


def _no_query(handle: int) -> DirectoryAnswer:
    why = f"the query {handle} has ended or never was"
    return msgspec.structs.replace(
        answer_of(DirectoryResult.GENERIC_ERROR, why), status=HResult.INVALID_HANDLE
    )


def on_query_timer(state: State, handle: int) -> None:
    """Nobody used the query for a while."""
    state.directory.queries.pop(handle, None)
