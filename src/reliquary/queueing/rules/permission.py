"""Decides whether a user may do something: the right that each act needs, and the list that grants it.

    an act (`Act`) on a queue (`QueueKind`) --> NEEDED: the right --> the access list (DM-013, DM-024)
    what is used (handle, receipt, transaction) --> the user who opened or began it

A subqueue and a journal have no list: the list of their queue counts.  The system queues and the outgoing
queues belong to the manager.  Features ask these functions in their permits (`model.feature`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any, Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.names.expand import elements_of
from reliquary.queueing.model.names.formats import is_format_name
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.parts.name_index import RemoteTarget
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.anonymous import AnonymousAct, denied
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight, granted, names_of
from reliquary.queueing.model.state import State
from reliquary.queueing.rules import acknowledge, destinations

Right = QueueRight | ManagerRight


class Act(IntEnum):
    """The acts on a queue for which rights are checked."""

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


class QueueKind(IntEnum):
    """The kind of the queue, which decides what rights apply."""

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
ON_THE_MANAGER: Final[Mapping[Act, ManagerRight]] = {
    Act.SHOW: ManagerRight.GET_MACHINE_PROPERTIES,
    Act.CHANGE: ManagerRight.SET_MACHINE_PROPERTIES,
    Act.DELETE: ManagerRight.SET_MACHINE_PROPERTIES,
    Act.SHOW_ACCESS: ManagerRight.GET_MACHINE_PERMISSIONS,
    Act.CHANGE_ACCESS: ManagerRight.CHANGE_MACHINE_PERMISSIONS,
    Act.OWN: ManagerRight.TAKE_MACHINE_OWNERSHIP,
}
NEEDED: Final[Mapping[QueueKind, Mapping[Act, Right]]] = {
    QueueKind.QUEUE: {
        **_ON_ITSELF,
        Act.SEND: QueueRight.WRITE_MESSAGE,
        Act.PEEK: QueueRight.PEEK_MESSAGE,
        Act.RECEIVE: QueueRight.RECEIVE_MESSAGE,
        Act.PURGE: QueueRight.DELETE_MESSAGE,
    },
    QueueKind.JOURNAL: {
        **_ON_ITSELF,
        Act.SEND: QueueRight.WRITE_MESSAGE,
        Act.PEEK: QueueRight.PEEK_MESSAGE,
        Act.RECEIVE: QueueRight.RECEIVE_JOURNAL_MESSAGE,
        Act.PURGE: QueueRight.DELETE_JOURNAL_MESSAGE,
    },
    QueueKind.DEAD_LETTERS: {
        **ON_THE_MANAGER,
        Act.SEND: ManagerRight.SET_MACHINE_PROPERTIES,
        Act.PEEK: ManagerRight.PEEK_DEADLETTER_MESSAGE,
        Act.RECEIVE: ManagerRight.RECEIVE_DEADLETTER_MESSAGE,
        Act.PURGE: ManagerRight.DELETE_DEADLETTER_MESSAGE,
    },
    QueueKind.SYSTEM_JOURNAL: {
        **ON_THE_MANAGER,
        Act.SEND: ManagerRight.SET_MACHINE_PROPERTIES,
        Act.PEEK: ManagerRight.PEEK_JOURNAL_QUEUE_MESSAGE,
        Act.RECEIVE: ManagerRight.RECEIVE_JOURNAL_QUEUE_MESSAGE,
        Act.PURGE: ManagerRight.DELETE_JOURNAL_QUEUE_MESSAGE,
    },
    # A message that waits in an outgoing queue may become a dead letter, so the rights on dead letters count.
    # A send to another manager is decided by the access list there; for anonymous clients see `anonymous`.
    QueueKind.OUTGOING: {
        **ON_THE_MANAGER,
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


_SYSTEM: Final = QueueType.SYSTEM
_QUEUE: Final = QueueKind.QUEUE
_OUTGOING: Final = QueueKind.OUTGOING


# -- one list, one right


def place_of(queue: QueueState) -> QueueKind:
    """Return the kind of a queue, which decides what rights apply."""
    record = queue.record
    if record.outgoing is not None:
        return QueueKind.OUTGOING
    if record.kind is _SYSTEM:
        return QueueKind.SYSTEM_JOURNAL if record.pathname.endswith("journal") else QueueKind.DEAD_LETTERS
    return QueueKind.JOURNAL if record.is_journal else _QUEUE


def list_of(state: State, queue: QueueState) -> bytes:
    """Return the access list that applies to a queue."""
    record = queue.record
    if record.outgoing is not None or record.kind is _SYSTEM:
        return manager_list(state)
    if record.parent is not None:
        record = state.queues[record.parent].record
    return record.settings.security


def manager_list(state: State) -> bytes:
    """Return the access list of the manager, or the one that it was started with."""
    return state.identity().security or state.access.first_list


def lacks(state: State, by: Principal, queue: QueueState, act: Act) -> str:
    """Return a sentence on the rights that a user needs for this act and does not have, or nothing."""
    place = place_of(queue)
    if place is _OUTGOING and act is Act.SEND:
        return denied(state.access.anonymous_may, by, AnonymousAct.SEND_ELSEWHERE)
    needed = NEEDED[place][act]
    by_role = by.on_queues if isinstance(needed, QueueRight) else by.on_manager
    missing = needed._value_ & ~granted(list_of(state, queue), by, by_role)
    return _sentence(by, type(needed)(missing), _title(state, queue)) if missing else ""


def lacks_on_manager(state: State, by: Principal, needed: ManagerRight) -> str:
    """Return a sentence on the rights on the manager that a user needs and does not have."""
    missing = needed.value & ~granted(manager_list(state), by, by.on_manager)
    return _sentence(by, ManagerRight(missing), state.identity().computer_name) if missing else ""


def _title(state: State, queue: QueueState) -> str:
    record = queue.record
    return record.pathname if record.outgoing is not None else str(state.parse(record.pathname))


def _sentence(by: Principal, missing: Right, where: str) -> str:
    names = names_of(missing)
    return f"{by} lacks the right{'s' * (len(names) > 1)} {', '.join(names)} on {where}"


# -- what belongs to a user


def may_use(state: State, by: Principal, transaction: Transaction) -> bool:
    """Return whether a user may use a transaction: the user began it, or may change the manager."""
    return is_own(state, by, transaction.user)


def is_own(state: State, by: Principal, user: str) -> bool:
    """Return whether a user may use what `user` began; an empty `user` stands for the manager."""
    return (
        by is MANAGER
        or user == str(by.user)
        or not lacks_on_manager(state, by, ManagerRight.SET_MACHINE_PROPERTIES)
    )


def foreign_handle(state: State, request: events.Request, handle: int, what: str = "handle") -> str:
    """Return a sentence when the handle, cursor or receipt of a request belongs to another user."""
    descriptor = state.open.handles.get(handle)
    if descriptor is None or descriptor.by.user == request.by.user:
        return ""
    return f"the {what} is another user's, and {request.by} may not use it"


def foreign_transaction(state: State, request: Any) -> str:
    """Return a sentence when the transaction of a request belongs to another user."""
    return "" if request.transaction is None else foreign_transaction_id(state, request, request.transaction)


def foreign_transaction_id(state: State, request: events.Request, identifier: UUID) -> str:
    """Return a sentence when the transaction with this identifier belongs to another user."""
    transaction = state.transactions.open.get(identifier)
    if transaction is None or may_use(state, request.by, transaction):
        return ""
    return f"transaction {identifier} is another user's, and {request.by} may not use it"


def lacks_on(state: State, request: events.Request, target: int | str, act: Act) -> str:
    """Return what a user lacks to do this with every queue that a name or a handle stands for."""
    asked = (target, request.by, int(act))
    if asked in state.access.permitted:
        return ""
    if isinstance(target, str):
        queues: Sequence[QueueState | RemoteTarget] = _named(
            state, target, Access.SEND if act is Act.SEND else Access.PEEK
        )
    else:
        if why := foreign_handle(state, request, target):
            return why
        queues = _behind(state, target)
    for queue in queues:
        if why := _lacks_at(state, request.by, queue, act):
            return why
    if isinstance(target, str) and len(queues) == 1 and not is_format_name(target):
        state.access.permitted.add(asked)
    return ""


def _lacks_at(state: State, by: Principal, to: QueueState | RemoteTarget, act: Act) -> str:
    """Return what is lacking to do this with a queue, or to send to where no message was sent before."""
    if isinstance(to, QueueState):
        return lacks(state, by, to, act)
    return denied(state.access.anonymous_may, by, AnonymousAct.SEND_ELSEWHERE)


def _named(state: State, text: str, access: Access) -> list[QueueState | RemoteTarget]:
    """Return the destinations of a name, without queues that do not exist: the rule refuses those."""
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
    descriptor = state.open.handles.get(handle)
    if descriptor is None:
        return []
    numbers = [state.open.handles[child].queue for child in descriptor.children] or [descriptor.queue]
    return [state.queues[number] for number in numbers if number is not None]


def lacks_to_acknowledge(state: State, by: Principal, messages: tuple[Message, ...]) -> str:
    """Return why acknowledgements of these messages may not go where they are wanted.

    A negative acknowledgement holds the whole message, so it would be a relay for clients that may not send
    elsewhere.
    """
    if not denied(state.access.anonymous_may, by, AnonymousAct.SEND_ELSEWHERE):
        return ""
    names = dict.fromkeys(name for message in messages for name in acknowledge.names(message))
    return next(filter(None, (_lacks_for_name(state, by, name) for name in names)), "")


def _lacks_for_name(state: State, by: Principal, name: str) -> str:
    with suppress(UsageError):  # a name that is not valid has no destination
        ways = destinations.ways(state, name)
        for way in () if isinstance(ways, HResult) else ways:
            if not isinstance(way.to, QueueState) or way.to.record.outgoing is not None:
                return _lacks_at(state, by, way.to, Act.SEND)
    return ""


# -- rights on the manager


def lacks_to_look(state: State, request: events.Request) -> str:
    """Return what a user lacks to see the properties of the manager."""
    return lacks_on_manager(state, request.by, ManagerRight.GET_MACHINE_PROPERTIES)


def lacks_to_administer(state: State, request: events.Request) -> str:
    """Return what a user lacks to change the manager."""
    return lacks_on_manager(state, request.by, ManagerRight.SET_MACHINE_PROPERTIES)
