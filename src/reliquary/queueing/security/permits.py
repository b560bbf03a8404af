"""Check who may make each request of the manager's own rules, before the rule runs (DM-013, DM-024).

    request --> PERMITS --> what it does to which queue, or what it uses --> `rules.permission`

The permits of requests that features add are in the folders of the features.
"""

from __future__ import annotations

from typing import Any, Final

from reliquary.queueing.model import events
from reliquary.queueing.model.events import Request
from reliquary.queueing.model.feature import Permit
from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct, denied
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight, check_descriptor
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.permission import (
    ON_THE_MANAGER,
    OPENED_FOR,
    Act,
    foreign_handle,
    foreign_transaction,
    foreign_transaction_id,
    lacks,
    lacks_on,
    lacks_on_manager,
    lacks_to_acknowledge,
    lacks_to_administer,
)

_SEND: Final = Act.SEND
_RECEIVE: Final = Act.RECEIVE


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
    return next(filter(None, (lacks_on(state, request, request.path, act) for act in acts)), "")


def _change_access(state: State, request: events.ChangeAccess) -> str:
    act = Act.OWN if request.change is events.AccessChange.OWNER else Act.CHANGE_ACCESS
    if not request.path:
        return lacks_on_manager(state, request.by, ON_THE_MANAGER[act])
    return lacks_on(state, request, request.path, act)


def _path(act: Act) -> Permit:
    return lambda state, request: lacks_on(state, request, request.path, act)


def _open(state: State, request: events.OpenQueue) -> str:
    return lacks_on(state, request, request.path, OPENED_FOR[request.access])


def _message(state: State, request: Any, act: Act) -> str:
    if request.transaction is not None and (
        why := foreign_transaction_id(state, request, request.transaction)
    ):
        return why
    return lacks_on(state, request, request.queue, act)


def _send(state: State, request: events.SendMessages) -> str:
    if request.transaction is None:
        why = lacks_on(state, request, request.queue, _SEND)
    else:
        why = _message(state, request, _SEND)
    if why or state.access.anonymous_may is EVERY_ACT:
        return why
    return lacks_to_acknowledge(state, request.by, request.messages)


def _receive(state: State, request: events.ReceiveMessages) -> str:
    if request.acknowledge and (why := foreign_handle(state, request, request.acknowledge, "receipt")):
        return why
    return _message(state, request, _RECEIVE)


def _look_up(state: State, request: events.LookUpMessage) -> str:
    return _message(state, request, Act.PEEK if request.peek else Act.RECEIVE)


def _move(state: State, request: events.MoveMessage) -> str:
    return _message(state, request, Act.RECEIVE) or lacks_on(state, request, request.target, Act.SEND)


def _peek(state: State, request: events.PeekMessage | events.BrowseMessages) -> str:
    return lacks_on(state, request, request.queue, Act.PEEK)


def _cancel(state: State, request: events.CancelRead) -> str:
    return foreign_handle(state, request, request.queue) if isinstance(request.queue, int) else ""


def _handle(state: State, request: events.CloseQueue | events.OpenCursor) -> str:
    return foreign_handle(state, request, request.handle)


def _cursor(state: State, request: events.CloseCursor) -> str:
    cursor = state.open.cursors.get(request.cursor)
    return "" if cursor is None else foreign_handle(state, request, cursor.descriptor, "cursor")


def _receipt(state: State, request: events.EndRead) -> str:
    return foreign_handle(state, request, request.receipt, "receipt")


def _begin(state: State, request: events.BeginTransaction) -> str:
    if why := denied(state.access.anonymous_may, request.by, AnonymousAct.BEGIN_TRANSACTIONS):
        return why
    return "" if request.identifier is None else foreign_transaction_id(state, request, request.identifier)


def _nothing(state: State, request: events.Request) -> str:
    del state, request
    return ""


PERMITS: Final[dict[type[Request], Permit]] = {
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
    events.PrepareTransaction: foreign_transaction,
    events.CommitTransaction: foreign_transaction,
    events.AbortTransaction: foreign_transaction,
    events.DtcPrepare: foreign_transaction,
    events.DtcCommit: foreign_transaction,
    events.DtcAbort: foreign_transaction,
    events.DtcReenlistmentCommit: foreign_transaction,
    events.DtcReenlistmentAbort: foreign_transaction,
    events.TakeOffline: lacks_to_administer,
    events.BringOnline: lacks_to_administer,
    events.PauseQueue: lacks_to_administer,
    events.ResumeQueue: lacks_to_administer,
}
