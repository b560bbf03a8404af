"""The directory operations of the queue manager, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25.

Each function is one event of the specification.  It sends the change notification.  If the directory is
connected, it calls the registry; if not, it notes that the directory is offline and says so in its answer.

Modules of this folder:

    feature      what the directory registers
    rules        events: each one becomes an operation;  permits: who may ask
    operations   create, delete, read, write, each with its DirectoryOperationResult
    registry     objects written, removed, found;  apply: what their facts change
    publishing   this manager and its queues as objects;  membership: queues that enter and leave
    published    what names ask the directory
    queries      filters, attribute lists, the order of results
    upkeep       what is looked at again from time to time
    exchange     all of it as text
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
from reliquary.queueing.model.directory.connection import (
    ONLINE_CHECK,
    TRANSITIONS,
    DirectoryEvent,
    DirectoryReaction,
)
from reliquary.queueing.model.directory.holdings import Query
from reliquary.queueing.model.directory.objects import (
    DirectoryObject,
    ManagerObject,
    ObjectKind,
    QueueObject,
    kind_of,
)
from reliquary.queueing.model.facts import ChangeNotified, ChangeOperation
from reliquary.queueing.model.state import State

ONLINE_TIMER: Final = ("directory online", 0)
QUERY_TIMER: Final = "directory query"
QUERY_LEASE: Final = Duration(5 * MINUTE)
"""The time after which an unused query is closed."""
QUERY_LIMIT: Final = 100
"""The largest number of queries that are open at once."""

Parameters = ParamSpec("Parameters")
Operation = Callable[Concatenate[State, Parameters], DirectoryAnswer]


def _attributes_known(operation: Operation[Parameters]) -> Operation[Parameters]:
    """Make an operation answer AttributeNotFound where it raises AttributeMissing."""

    @wraps(operation)
    def run(state: State, /, *given: Parameters.args, **named: Parameters.kwargs) -> DirectoryAnswer:
        try:
            return operation(state, *given, **named)
        except AttributeMissing as why:
            return answer_of(DirectoryResult.ATTRIBUTE_NOT_FOUND, str(why))

    return run


# -- the connection to the directory


def is_connected(state: State) -> bool:
    """Return whether the directory is attached, so that it answers requests."""
    return not state.identity().directory_detached


def happened(state: State, event: DirectoryEvent) -> DirectoryReaction:
    """Change the connection's state after this event, set or cancel the check, and return what follows."""
    directory = state.directory
    directory.connection, then = TRANSITIONS[directory.connection, event]
    if then is DirectoryReaction.WATCH and not directory.watching:
        directory.watching = True
        state.draft.ask(SetTimer(ONLINE_TIMER, ONLINE_CHECK))
    elif then is DirectoryReaction.REFRESH and directory.watching:
        directory.watching = False
        state.draft.ask(CancelTimer(ONLINE_TIMER))
    return then


def not_connected(state: State) -> DirectoryAnswer:
    """Note that the directory is offline and return DirectoryNotConnected (DM-240)."""
    happened(state, DirectoryEvent.NOT_CONNECTED)
    return answer_of(DirectoryResult.NOT_CONNECTED)


# -- create, delete, write


@_attributes_known
def create(
    state: State, subject: DirectoryObject, now: Instant, attributes: Sequence[str] | None = None
) -> DirectoryAnswer:
    """Create Directory Object: add an object to the directory, 3.1.7.1.18."""
    check_attributes(kind_of(subject), attributes)
    _notify_queue(state, ChangeOperation.QUEUE_CREATION, subject)  # DM-238
    if not is_connected(state):
        return not_connected(state)
    return registry.create(state, project(subject, attributes), now)  # DM-239


def delete(state: State, kind: ObjectKind, identifier: UUID) -> DirectoryAnswer:
    """Delete Directory Object: remove an object from the directory, 3.1.7.1.19."""
    found = state.directory.objects[kind].get(identifier)
    if found is not None:
        _notify_queue(state, ChangeOperation.QUEUE_DELETION, found)  # DM-241
    if not is_connected(state):
        return not_connected(state)  # DM-242
    return registry.delete(state, kind, identifier)


@_attributes_known
def write(
    state: State, subject: DirectoryObject, now: Instant, attributes: Sequence[str] | None = None
) -> DirectoryAnswer:
    """Write Directory: change the named attributes of an object, or all of them, 3.1.7.1.24."""
    check_attributes(kind_of(subject), attributes)
    if not is_connected(state):
        return not_connected(state)  # DM-253
    answer = registry.write(state, subject, attributes, now)
    if answer.subject is not None:
        notify_update(state, answer.subject)  # DM-254
    return answer


def notify_update(state: State, subject: DirectoryObject) -> None:
    """Send Change Notification for an object that was written (DM-254)."""
    if isinstance(subject, ManagerObject):
        _send_notification(state, ChangeOperation.QUEUE_MANAGER_UPDATE, subject)
    else:
        _notify_queue(state, ChangeOperation.QUEUE_UPDATE, subject)


def _notify_queue(state: State, operation: ChangeOperation, subject: DirectoryObject) -> None:
    """Send Change Notification if the object is a queue; every queue of a directory is public."""
    if isinstance(subject, QueueObject):
        _send_notification(state, operation, subject)


def _send_notification(state: State, operation: ChangeOperation, subject: DirectoryObject) -> None:
    if ChangeNotified in state.subscribed:
        state.draft.signal(ChangeNotified(operation, subject))


# -- read


def by_identifier(identifier: UUID) -> tuple[Filter, ...]:
    """Return the filter that finds the object with this Identifier."""
    return (Filter("identifier", Operator.EQUALS, identifier),)


@_attributes_known
def read(
    state: State,
    kind: ObjectKind,
    filters: Sequence[Filter] = (),
    attributes: Sequence[str] | None = None,
    *,
    forced: bool = False,
) -> DirectoryAnswer:
    """Read Directory: return the first object that passes every filter, 3.1.7.1.20.

    `forced` asks the directory even while it is taken for offline.
    """
    matches = matcher(kind, filters)
    check_attributes(kind, attributes)
    if state.directory.offline and not forced:
        return _read_offline(state, kind, matches, attributes)
    if not is_connected(state):
        # DM-248: a forced read does not change the state of the connection.
        return answer_of(DirectoryResult.NOT_CONNECTED) if forced else not_connected(state)
    found = next((each for _, each in sorted(state.directory.objects[kind].items()) if matches(each)), None)
    if found is None:
        return answer_of(DirectoryResult.OBJECT_NOT_FOUND)
    return answer_of(DirectoryResult.SUCCESS, subject=project(found, attributes))


def _read_offline(
    state: State,
    kind: ObjectKind,
    matches: Callable[[DirectoryObject], bool],
    attributes: Sequence[str] | None,
) -> DirectoryAnswer:
    """Return a local queue or the manager itself, which are known without a directory."""
    identity = state.identity()
    if kind is ObjectKind.QUEUE:  # DM-245
        own = (
            queue_object(each.record, identity.identifier)
            for each in state.queues.values()
            if not each.record.deleting and not each.record.is_journal and each.record.outgoing is None
        )
        found = next((each for each in own if matches(each)), None)
        if found is None:
            return answer_of(DirectoryResult.OBJECT_NOT_FOUND)
        return answer_of(DirectoryResult.SUCCESS, subject=project(found, attributes))
    if kind is ObjectKind.QUEUE_MANAGER and matches(manager_object(identity)):  # DM-246
        return answer_of(DirectoryResult.SUCCESS, subject=project(manager_object(identity), attributes))
    return answer_of(DirectoryResult.NOT_CONNECTED)  # DM-247


@_attributes_known
def read_begin(
    state: State,
    kind: ObjectKind,
    filters: Sequence[Filter] = (),
    attributes: tuple[str, ...] | None = None,
    order: Sequence[SortOrder] = (),
) -> DirectoryAnswer:
    """Read Directory Begin: open a query for all objects that pass every filter (DM-249), 3.1.7.1.21."""
    matches = matcher(kind, filters)
    check_attributes(kind, attributes)
    if not is_connected(state):
        return answer_of(DirectoryResult.NOT_CONNECTED)
    if len(state.directory.queries) >= QUERY_LIMIT:
        return answer_of(DirectoryResult.GENERIC_ERROR, f"{QUERY_LIMIT} queries are open already")
    found = [each for each in state.directory.objects[kind].values() if matches(each)]
    handle = state.numbers.next_handle()
    state.directory.queries[handle] = Query(in_order(found, kind, attributes, order), attributes)
    state.draft.ask(SetTimer((QUERY_TIMER, handle), QUERY_LEASE))
    return answer_of(DirectoryResult.SUCCESS, handle=handle)


@_attributes_known
def read_next(state: State, handle: int) -> DirectoryAnswer:
    """Read Directory Next: return the next object of a query, or EndOfData (DM-251), 3.1.7.1.22."""
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
    """Read Directory End: close a query (DM-252), 3.1.7.1.23."""
    if state.directory.queries.pop(handle, None) is None:
        return _no_query(handle)
    state.draft.ask(CancelTimer((QUERY_TIMER, handle)))
    return answer_of(DirectoryResult.SUCCESS)


def _no_query(handle: int) -> DirectoryAnswer:
    why = f"the query {handle} is not known: it has ended, or was never begun"
    return msgspec.structs.replace(
        answer_of(DirectoryResult.GENERIC_ERROR, why), status=HResult.INVALID_HANDLE
    )


def on_query_timer(state: State, handle: int) -> None:
    """Close a query that was not used during its lease."""
    state.directory.queries.pop(handle, None)
