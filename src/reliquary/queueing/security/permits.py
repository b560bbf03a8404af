"""Who may ask what: each request is held against the lists before its rule is run (digest D.8, E.3).

    request --> DEMANDS --> what it does to which queue --> NEEDED: the right --> the list
                        '-> what it uses (handle, receipt, transaction) --> its user

A subqueue and a journal have no list of their own: the queue's counts.  The system queues and the
outgoing queues are the manager's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any, Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.queueing.directory import events as directory
from reliquary.queueing.feed import events as feed
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.names.expand import elements_of
from reliquary.queueing.model.names.formats import is_format_name
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct, denied
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.security.rights import (
    ManagerRight,
    QueueRight,
    check_descriptor,
    granted,
    names_of,
)
from reliquary.queueing.model.state import Elsewhere, QueueState, State, Transaction
from reliquary.queueing.rules import acknowledge, destinations
from reliquary.queueing.staging import events as staging

Right = QueueRight | ManagerRight


class Act(IntEnum):
    """What is done with a queue."""

    SEND = 0
    PEEK = 1
    RECEIVE = 2
    PURGE = 3
    SHOW = 4
    CHANGE = 5
    DELETE = 6
    SHOW_ACCESS = 7
    CHANGE_ACCESS = 8
    OWN = 9


class Place(IntEnum):
    """What kind of queue it is done with."""

    QUEUE = 0
    JOURNAL = 1
    DEAD_LETTERS = 2
    SYSTEM_JOURNAL = 3
    OUTGOING = 4


_ON_ITSELF: Final[Mapping[Act, Right]] = {
    Act.SHOW: QueueRight.GET_QUEUE_PROPERTIES,
    Act.CHANGE: QueueRight.SET_QUEUE_PROPERTIES,
    Act.DELETE: QueueRight.DELETE_QUEUE,
    Act.SHOW_ACCESS: QueueRight.GET_QUEUE_PERMISSIONS,
    Act.CHANGE_ACCESS: QueueRight.CHANGE_QUEUE_PERMISSIONS,
    Act.OWN: QueueRight.TAKE_QUEUE_OWNERSHIP,
}
_ON_THE_MANAGER: Final[Mapping[Act, ManagerRight]] = {
    Act.SHOW: ManagerRight.GET_MACHINE_PROPERTIES,
    Act.CHANGE: ManagerRight.SET_MACHINE_PROPERTIES,
    Act.DELETE: ManagerRight.SET_MACHINE_PROPERTIES,
    Act.SHOW_ACCESS: ManagerRight.GET_MACHINE_PERMISSIONS,
    Act.CHANGE_ACCESS: ManagerRight.CHANGE_MACHINE_PERMISSIONS,
    Act.OWN: ManagerRight.TAKE_MACHINE_OWNERSHIP,
}
NEEDED: Final[Mapping[Place, Mapping[Act, Right]]] = {
    Place.QUEUE: {
        **_ON_ITSELF,
        Act.SEND: QueueRight.WRITE_MESSAGE,
        Act.PEEK: QueueRight.PEEK_MESSAGE,
        Act.RECEIVE: QueueRight.RECEIVE_MESSAGE,
        Act.PURGE: QueueRight.DELETE_MESSAGE,
    },
    Place.JOURNAL: {
        **_ON_ITSELF,
        Act.SEND: QueueRight.WRITE_MESSAGE,
        Act.PEEK: QueueRight.PEEK_MESSAGE,
        Act.RECEIVE: QueueRight.RECEIVE_JOURNAL_MESSAGE,
        Act.PURGE: QueueRight.DELETE_JOURNAL_MESSAGE,
    },
    Place.DEAD_LETTERS: {
        **_ON_THE_MANAGER,
        Act.SEND: ManagerRight.SET_MACHINE_PROPERTIES,
        Act.PEEK: ManagerRight.PEEK_DEADLETTER_MESSAGE,
        Act.RECEIVE: ManagerRight.RECEIVE_DEADLETTER_MESSAGE,
        Act.PURGE: ManagerRight.DELETE_DEADLETTER_MESSAGE,
    },
    Place.SYSTEM_JOURNAL: {
        **_ON_THE_MANAGER,
        Act.SEND: ManagerRight.SET_MACHINE_PROPERTIES,
        Act.PEEK: ManagerRight.PEEK_JOURNAL_QUEUE_MESSAGE,
        Act.RECEIVE: ManagerRight.RECEIVE_JOURNAL_QUEUE_MESSAGE,
        Act.PURGE: ManagerRight.DELETE_JOURNAL_QUEUE_MESSAGE,
    },
    # What waits to leave may become a dead letter: who may read those may read these.  No list of ours
    # says who may send elsewhere: the list that counts is there; of anonymous clients see `anonymous`.
    Place.OUTGOING: {
        **_ON_THE_MANAGER,
        Act.SEND: ManagerRight(0),
        Act.PEEK: ManagerRight.PEEK_DEADLETTER_MESSAGE,
        Act.RECEIVE: ManagerRight.RECEIVE_DEADLETTER_MESSAGE,
        Act.PURGE: ManagerRight.DELETE_DEADLETTER_MESSAGE,
    },
}

OPENED_FOR: Final[Mapping[Access, Act]] = {
    Access.SEND: Act.SEND,
    Access.PEEK: Act.PEEK,
    Access.PEEK_ADMIN: Act.PEEK,
    Access.RECEIVE: Act.RECEIVE,
    Access.RECEIVE_ADMIN: Act.RECEIVE,
    Access.MOVE: Act.RECEIVE,
}


# -- one list, one right


def place_of(queue: QueueState) -> Place:
    """Which rights count for it."""
    record = queue.record
    if record.outgoing is not None:
        return Place.OUTGOING
    if record.kind is QueueType.SYSTEM:
        return Place.SYSTEM_JOURNAL if record.pathname.endswith("journal") else Place.DEAD_LETTERS
    return Place.JOURNAL if record.is_journal else Place.QUEUE


def list_of(state: State, queue: QueueState) -> bytes:
    """The descriptor that counts for it."""
    record = queue.record
    if record.outgoing is not None or record.kind is QueueType.SYSTEM:
        return manager_list(state)
    if record.parent is not None:
        record = state.queues[record.parent].record
    return record.settings.security


def manager_list(state: State) -> bytes:
    """The manager's descriptor, or the one it was started with."""
    return state.identity().security or state.first_list


def lacks(state: State, by: Principal, queue: QueueState, act: Act) -> str:
    """A sentence on the right that somebody needs for this and does not have, or nothing."""
    place = place_of(queue)
    if place is Place.OUTGOING and act is Act.SEND:
        return denied(state.anonymous_may, by, AnonymousAct.SEND_ELSEWHERE)
    needed = NEEDED[place][act]
    missing = needed.value & ~granted(list_of(state, queue), by)
    return _sentence(by, type(needed)(missing), _title(state, queue)) if missing else ""


def lacks_on_manager(state: State, by: Principal, needed: ManagerRight) -> str:
    """The same for a right of the manager itself."""
    missing = needed.value & ~granted(manager_list(state), by)
    return _sentence(by, ManagerRight(missing), state.identity().computer_name) if missing else ""


def _title(state: State, queue: QueueState) -> str:
    record = queue.record
    return record.pathname if record.outgoing is not None else str(state.parse(record.pathname))


def _sentence(by: Principal, missing: Right, where: str) -> str:
    names = names_of(missing)
    return f"{by} lacks the right{'s' * (len(names) > 1)} {', '.join(names)} on {where}"


# -- what belongs to somebody


def may_use(state: State, by: Principal, transaction: Transaction) -> bool:
    """Whether a transaction is somebody's own; who may change the manager may decide any."""
    return is_own(state, by, transaction.user)


def is_own(state: State, by: Principal, user: str) -> bool:
    """Whether what a user began is somebody's own; empty is the manager's."""
    return (
        by is MANAGER
        or user == str(by.user)
        or not lacks_on_manager(state, by, ManagerRight.SET_MACHINE_PROPERTIES)
    )


def _foreign(state: State, request: events.Request, handle: int, what: str = "handle") -> str:
    descriptor = state.handles.get(handle)
    if descriptor is None or descriptor.by.user == request.by.user:
        return ""
    return f"the {what} is another user's, and {request.by} may not use it"


def _foreign_transaction(state: State, request: Any) -> str:
    return "" if request.transaction is None else _foreign_id(state, request, request.transaction)


def _foreign_id(state: State, request: events.Request, identifier: UUID) -> str:
    transaction = state.transactions.get(identifier)
    if transaction is None or may_use(state, request.by, transaction):
        return ""
    return f"transaction {identifier} is another user's, and {request.by} may not use it"


# -- what each request needs


def refusal(state: State, request: events.Request) -> str:
    """A sentence on why this request is refused, or nothing when it may go on to its rule."""
    return DEMANDS[type(request)](state, request)


def _on(state: State, request: events.Request, target: int | str, act: Act) -> str:
    """What is lacking to do this with all the queues that a name or a handle means."""
    asked = (target, request.by, int(act))
    if asked in state.permitted:
        return ""
    if isinstance(target, str):
        queues: Sequence[QueueState | Elsewhere] = _named(
            state, target, Access.SEND if act is Act.SEND else Access.PEEK
        )
    else:
        if foreign := _foreign(state, request, target):
            return foreign
        queues = _behind(state, target)
    for queue in queues:
        if why := _lacks_at(state, request.by, queue, act):
            return why
    if isinstance(target, str) and len(queues) == 1 and not is_format_name(target):
        state.permitted.add(asked)
    return ""


def _lacks_at(state: State, by: Principal, to: QueueState | Elsewhere, act: Act) -> str:
    """Return what is lacking to do this with a queue, or to send to where no message was sent before."""
    if isinstance(to, QueueState):
        return lacks(state, by, to, act)
    return denied(state.anonymous_may, by, AnonymousAct.SEND_ELSEWHERE)


def _named(state: State, text: str, access: Access) -> list[QueueState | Elsewhere]:
    """Where a name leads; what is not there, its rule will miss."""
    if access is Access.SEND:
        ways = destinations.ways(state, text)
        if not isinstance(ways, HResult):
            return [way.to for way in ways]
    name = destinations.expanded(state, text, access)
    if isinstance(name, Pathname):
        queue = state.find(name)
        return [] if queue is None else [queue]
    elements = () if name is None else elements_of(name)
    found = (destinations.find_named(state, element) for element in elements)
    return [queue for queue in found if queue is not None]


def _behind(state: State, handle: int) -> list[QueueState]:
    descriptor = state.handles.get(handle)
    if descriptor is None:
        return []
    numbers = [state.handles[child].queue for child in descriptor.children] or [descriptor.queue]
    return [state.queues[number] for number in numbers if number is not None]


def _create(state: State, request: events.CreateQueue) -> str:
    path = state.parse(request.path)
    queue = state.find(path.queue) if path.subqueue else None
    if queue is not None:
        return lacks(state, request.by, queue, Act.CHANGE)
    security = request.settings.security
    owner = check_descriptor(security, QueueRight).owner if security else None
    needed = ManagerRight.CREATE_QUEUE
    if owner is not None and owner not in request.by.sids:
        needed |= ManagerRight.TAKE_MACHINE_OWNERSHIP
    return lacks_on_manager(state, request.by, needed)


def _change(state: State, request: events.ChangeQueue) -> str:
    security = {"security"} & set(request.changes)
    acts = [Act.CHANGE] if set(request.changes) - security or not security else []
    acts += [Act.CHANGE_ACCESS, Act.OWN] if security else []
    return next(filter(None, (_on(state, request, request.path, act) for act in acts)), "")


def _change_access(state: State, request: events.ChangeAccess) -> str:
    act = Act.OWN if request.change is events.AccessChange.OWNER else Act.CHANGE_ACCESS
    if not request.path:
        return lacks_on_manager(state, request.by, _ON_THE_MANAGER[act])
    return _on(state, request, request.path, act)


def _path(act: Act) -> Demand:
    return lambda state, request: _on(state, request, request.path, act)


def _open(state: State, request: events.OpenQueue) -> str:
    return _on(state, request, request.path, OPENED_FOR[request.access])


def _message(act: Act) -> Demand:
    def demand(state: State, request: Any) -> str:
        return _foreign_transaction(state, request) or _on(state, request, request.queue, act)

    return demand


def _send(state: State, request: events.SendMessages) -> str:
    if request.transaction is not None and (why := _foreign_id(state, request, request.transaction)):
        return why
    why = _on(state, request, request.queue, Act.SEND)
    if why or state.anonymous_may is EVERY_ACT:
        return why
    return _acknowledge(state, request.by, request.messages)


def _acknowledge(state: State, by: Principal, messages: tuple[Message, ...]) -> str:
    """Return why acknowledgements of these messages may not go where they are wanted.

    A negative acknowledgement holds the whole message, so it would be a relay for clients that may not send
    elsewhere.
    """
    if not denied(state.anonymous_may, by, AnonymousAct.SEND_ELSEWHERE):
        return ""
    names = dict.fromkeys(name for message in messages for name in acknowledge.names(message))
    return next(filter(None, (_lacks_to_acknowledge(state, by, name) for name in names)), "")


def _lacks_to_acknowledge(state: State, by: Principal, name: str) -> str:
    with suppress(UsageError):  # a name that cannot be read leads nowhere
        ways = destinations.ways(state, name)
        for way in () if isinstance(ways, HResult) else ways:
            if not isinstance(way.to, QueueState) or way.to.record.outgoing is not None:
                return _lacks_at(state, by, way.to, Act.SEND)
    return ""


def _receive(state: State, request: events.ReceiveMessages) -> str:
    receipt = _foreign(state, request, request.acknowledge, "receipt")
    return receipt or _message(Act.RECEIVE)(state, request)


def _look_up(state: State, request: events.LookUpMessage) -> str:
    return _message(Act.PEEK if request.peek else Act.RECEIVE)(state, request)


def _move(state: State, request: events.MoveMessage) -> str:
    return _message(Act.RECEIVE)(state, request) or _on(state, request, request.target, Act.SEND)


def _peek(state: State, request: events.PeekMessage | events.BrowseMessages) -> str:
    return _on(state, request, request.queue, Act.PEEK)


def _cancel(state: State, request: events.CancelRead) -> str:
    return _foreign(state, request, request.queue) if isinstance(request.queue, int) else ""


def _handle(state: State, request: events.CloseQueue | events.OpenCursor) -> str:
    return _foreign(state, request, request.handle)


def _cursor(state: State, request: events.CloseCursor) -> str:
    cursor = state.cursors.get(request.cursor)
    return "" if cursor is None else _foreign(state, request, cursor.descriptor, "cursor")


def _receipt(state: State, request: events.EndRead) -> str:
    return _foreign(state, request, request.receipt, "receipt")


def _consult(state: State, request: events.Request) -> str:
    return lacks_on_manager(state, request.by, ManagerRight.GET_MACHINE_PROPERTIES)


def _administer(state: State, request: events.Request) -> str:
    return lacks_on_manager(state, request.by, ManagerRight.SET_MACHINE_PROPERTIES)


def _begin(state: State, request: events.BeginTransaction) -> str:
    if why := denied(state.anonymous_may, request.by, AnonymousAct.BEGIN_TRANSACTIONS):
        return why
    return "" if request.identifier is None else _foreign_id(state, request, request.identifier)


def _look_at_feeds(state: State, request: feed.LookAtFeeds) -> str:
    """Those that are named; what a pattern finds, its rule looks at one by one."""
    named = [name for name in request.queues if "*" not in name]
    return next(filter(None, (_on(state, request, name, Act.PEEK) for name in named)), "")


def _read_feed(state: State, request: feed.ReadFeed) -> str:
    return _on(state, request, request.queue, Act.PEEK)


def _consume(state: State, request: feed.OpenConsumer | feed.MoveConsumer | feed.DropConsumer) -> str:
    return _on(state, request, request.queue, Act.RECEIVE)


def _foreign_stages(state: State, request: events.Request, *numbers: int | None) -> str:
    for number in numbers:
        stage = state.staging.stages.get(number or 0)
        if stage is not None and not is_own(state, request.by, stage.user):
            return f"stage {number} is another user's, and {request.by} may not use it"
    return ""


def _foreign_query(state: State, request: events.Request, query: str) -> str:
    """Whoever published for another's query would let its later batches pass for published."""
    known = state.staging.ledger.get(query)
    if known is None or is_own(state, request.by, known.user):
        return ""
    return f"the query {query} is another user's, and {request.by} may not publish for it"


def _begin_stage(state: State, request: staging.BeginStage) -> str:
    place = (request.query, request.batch, request.part, request.attempt)
    earlier = state.staging.places.get(place)
    return _foreign_query(state, request, request.query) or _foreign_stages(state, request, earlier)


def _stage(state: State, request: staging.StageMessages | staging.CompleteStage) -> str:
    return _foreign_stages(state, request, request.stage)


def _stage_messages(state: State, request: staging.StageMessages) -> str:
    return (
        _stage(state, request)
        or _on(state, request, request.queue, Act.SEND)
        or _acknowledge(state, request.by, request.messages)
    )


def _drop_stages(state: State, request: staging.DropStages) -> str:
    return _foreign_stages(state, request, *request.stages)


def _publish(state: State, request: staging.PublishBatch) -> str:
    """The parts are his own, and he still may send to where they go."""
    owner = state.staging.writers.get(request.writer, "") if request.take_over else ""
    foreign = (
        _foreign_query(state, request, request.query)
        or _foreign_query(state, request, owner)
        or _foreign_stages(state, request, *request.stages)
    )
    if foreign:
        return foreign
    stages = filter(None, map(state.staging.find, request.stages))
    numbers = dict.fromkeys(number for stage in stages for number in stage.queues if number in state.queues)
    lacking = (lacks(state, request.by, state.queues[number], Act.SEND) for number in numbers)
    return next(filter(None, lacking), "")


def _nothing(state: State, request: events.Request) -> str:
    del state, request
    return ""


Demand = Callable[[State, Any], str]

DEMANDS: Final[Mapping[type[events.Request], Demand]] = {
    events.CreateQueue: _create,
    events.ChangeQueue: _change,
    events.DeleteQueue: _path(Act.DELETE),
    events.PurgeQueue: _path(Act.PURGE),
    events.ChangeAccess: _change_access,
    events.OpenQueue: _open,
    events.CloseQueue: _handle,
    events.GetQueuePath: _nothing,
    events.OpenCursor: _handle,
    events.CloseCursor: _cursor,
    events.SendMessages: _send,
    events.ReceiveMessages: _receive,
    events.EndRead: _receipt,
    events.PeekMessage: _peek,
    events.LookUpMessage: _look_up,
    events.BrowseMessages: _peek,
    events.MoveMessage: _move,
    events.CancelRead: _cancel,
    events.BeginTransaction: _begin,
    events.PrepareTransaction: _foreign_transaction,
    events.CommitTransaction: _foreign_transaction,
    events.AbortTransaction: _foreign_transaction,
    events.DtcPrepare: _foreign_transaction,
    events.DtcCommit: _foreign_transaction,
    events.DtcAbort: _foreign_transaction,
    events.DtcReenlistmentCommit: _foreign_transaction,
    events.DtcReenlistmentAbort: _foreign_transaction,
    events.TakeOffline: _administer,
    events.BringOnline: _administer,
    events.PauseQueue: _administer,
    events.ResumeQueue: _administer,
    directory.ReadDirectory: _consult,
    directory.ReadDirectoryBegin: _consult,
    directory.ReadDirectoryNext: _consult,
    directory.ReadDirectoryEnd: _consult,
    directory.CheckDirectoryOnline: _consult,
    directory.CreateDirectoryObject: _administer,
    directory.DeleteDirectoryObject: _administer,
    directory.WriteDirectory: _administer,
    directory.SwitchDirectory: _administer,
    directory.ImportDirectory: _administer,
    feed.LookAtFeeds: _look_at_feeds,
    feed.ReadFeed: _read_feed,
    feed.OpenConsumer: _consume,
    feed.MoveConsumer: _consume,
    feed.DropConsumer: _consume,
    staging.BeginStage: _begin_stage,
    staging.StageMessages: _stage_messages,
    staging.CompleteStage: _stage,
    staging.PublishBatch: _publish,
    staging.DropStages: _drop_stages,
    staging.ForgetWriter: _administer,
}
