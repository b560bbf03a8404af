"""Handles each request: checks it, calls the processing rule, and sends the answer.

    request --> checks --> rule --> Answer to the caller, now or later

The rules are in the modules of `rules` that have their names; `manager` calls one of these
functions for each event.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing import lifecycle, startup
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access, Answer
from reliquary.queueing.model.feature import Feature
from reliquary.queueing.model.message import check, size_of
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.queue import Queue, QueueType
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Operation
from reliquary.queueing.model.waiting import WaitingReadEvent
from reliquary.queueing.rules import (
    coordinator,
    destinations,
    enqueue,
    expiry,
    handles,
    outgoing,
    paths,
    read,
    readiness,
    sending,
    spool,
    transactions,
)
from reliquary.queueing.rules.checks import (
    COUNT_LIMIT,
    check_lookup_id,
    check_receive,
    check_request,
    check_time,
)
from reliquary.queueing.rules.transactions import TransactionEvent
from reliquary.queueing.security import permissions

OWNER_LIMIT: Final = 128
"""The largest number of characters in the name of the owner of a transaction."""


def send(state: State, request: events.SendMessages, now: Instant) -> None:
    """Enqueue Message To An Open Queue: check the messages, send them, and answer."""
    messages, in_pieces = request.messages, False
    if not 1 <= len(messages) <= COUNT_LIMIT:
        raise UsageError(f"one request sends 1 to {COUNT_LIMIT} messages, not {len(messages)}")
    for message in messages:
        check(message)
        if message.more is not None:
            in_pieces |= message.more.stored_body is not None
            sending.check_destinations(message)
            sending.check_signing(state, message)
    if in_pieces:
        spool.check_bodies(state, messages)
    transaction = None
    if request.transaction is not None:
        transaction = _transaction(state, request.to, request.transaction)
        if transaction is None:
            return
        if in_pieces:
            raise UsageError("a message whose body is stored in pieces is not sent in a transaction")
        enqueue.check_transaction(transaction, sum(map(size_of, messages)))
    state.reply(request.to, sending.send(state, request.queue, messages, transaction, now))


def _transaction(state: State, to: int, identifier: UUID) -> Transaction | None:
    """Return the transaction of a request; if it cannot be used, answer the caller and return None."""
    transaction = transactions.find(state, identifier, TransactionEvent.USE)
    if transaction is None:
        state.reply(to, transactions.refusal(state, identifier))
    return transaction


def receive(state: State, request: events.ReceiveMessages, now: Instant) -> None:
    """Dequeue Message and Dequeue Message Begin: receive messages, or wait for them."""
    check_receive(request)
    if request.cursor:
        _check_cursor(state, request.cursor, request.queue)
    transaction = None
    if request.transaction is not None:
        transaction = _transaction(state, request.to, request.transaction)
        if transaction is None:
            return
    read.receive(state, request, transaction, now)


def peek(state: State, request: events.PeekMessage, now: Instant) -> None:
    """Peek Message and Peek Next Message: read a message that stays in its queue."""
    check_request(request)
    if request.cursor:
        _check_cursor(state, request.cursor, request.queue)
    read.peek(state, request, now)


def _check_cursor(state: State, cursor: int, queue: int | str) -> None:
    """Raise UsageError if a cursor is not open on the handle of the request."""
    if cursor not in state.open.cursors or state.open.cursors[cursor].descriptor != queue:
        raise UsageError(f"cursor {cursor} is not open on this handle")


def browse(state: State, request: events.BrowseMessages, now: Instant) -> None:
    """Answer with the messages of a queue after a LookupIdentifier."""
    check_request(request)
    read.browse(state, request, now)


def look_up(state: State, request: events.LookUpMessage, now: Instant) -> None:
    """Read Message By Lookup Identifier: receive or peek one message."""
    check_request(request)
    transaction = None
    if request.transaction is not None:
        transaction = _transaction(state, request.to, request.transaction)
        if transaction is None:
            return
    read.look_up(state, request, transaction, now)


def end_read(state: State, request: events.EndRead, now: Instant) -> None:
    """Dequeue Message End: remove or release the messages of a receipt."""
    check_request(request)
    status = read.end_read(state, request, now)
    state.reply(request.to, Answer(status, status.sentence))


def move(state: State, request: events.MoveMessage, now: Instant) -> None:
    """Move Message, 3.1.7.1.16: move a message to another queue, at once or in a transaction."""
    check_lookup_id(request.lookup_id)
    transaction = None
    if request.transaction is not None:
        transaction = _transaction(state, request.to, request.transaction)
        if transaction is None:
            return
    target = destinations.find(state, request.target)
    descriptor = handles.use(state, request.queue, Access.MOVE, now)
    if isinstance(descriptor, HResult):
        state.reply(request.to, Answer(descriptor, destinations.why_refused(descriptor, request.queue)))
        return
    queue = handles.queue_of(state, descriptor)
    assert queue is not None
    status = _move_status(queue, target, request.lookup_id, transaction)
    if status is HResult.OK and target is not None:
        if transaction is None:
            transactions.move(state, queue, target, request.lookup_id)  # DM-232, DM-233, DM-235
        else:
            position = queue.order.lock(request.lookup_id)  # DM-234
            transaction.operations.append(Operation("move", queue.number, position, target.number))
    why = destinations.why_refused(status, request.target) if target is None else status.sentence
    state.reply(request.to, Answer(status, why))
    handles.close_if_done(state, descriptor, now)


def _move_status(
    queue: QueueState, target: QueueState | None, lookup_id: int, transaction: Transaction | None
) -> HResult:
    """Return OK if a message can be moved, else the reason why it cannot."""
    if target is None or target is queue:
        return HResult.QUEUE_NOT_FOUND
    if target.record.kind is QueueType.SYSTEM:
        return (
            HResult.TRANSACTION_USAGE if transaction else HResult.UNSUPPORTED_FORMATNAME_OPERATION
        )  # DM-231
    if target.record.outgoing is not None:  # the message would be sent with the address of its first queue
        return HResult.UNSUPPORTED_FORMATNAME_OPERATION
    if queue.order.get(lookup_id) is None or lookup_id in queue.order.locked:
        return HResult.MESSAGE_NOT_FOUND
    return HResult.OK


def cancel(state: State, request: events.CancelRead, now: Instant) -> None:
    """Cancel Waiting Message Read Request, 3.1.7.1.17 (DM-236, DM-237)."""
    del now
    if isinstance(request.queue, str):
        queue = destinations.find(state, request.queue)
    else:
        descriptor = state.open.handles.get(request.queue)
        queue = handles.queue_of(state, descriptor) if descriptor else None
    status = HResult.STATUS_NOT_FOUND
    waiting = list(queue.readers.waiting.values()) if queue else []
    own = [each for each in waiting if request.by in (MANAGER, each.request.by)]
    found = next((waiter for waiter in own if request.tag and waiter.tag == request.tag), None)
    if queue is not None and found is not None:
        handles.end_wait(state, queue, found, WaitingReadEvent.CANCELLED)
        status = HResult.OK
    state.reply(request.to, Answer(status, status.sentence))


def caller_gone(state: State, event: events.CallerGone, now: Instant) -> None:
    """End the wait of a caller that disconnected."""
    del now
    place = state.open.callers.get(event.caller)
    if place is not None:
        queue = state.queues[place[0]]
        handles.end_wait(state, queue, queue.readers.waiting[place[1]], WaitingReadEvent.CANCELLED)


def create_queue(state: State, request: events.CreateQueue, now: Instant) -> None:
    """Create Queue, and answer with its record."""
    parent = request.path.partition(";")[0]  # a subqueue is refused where its queue is missing
    _answer_queue(state, request.to, lifecycle.create(state, request, now), parent)


def change_queue(state: State, request: events.ChangeQueue, now: Instant) -> None:
    """Change the settings of a queue, and answer with its record."""
    _answer_queue(state, request.to, lifecycle.change(state, request, now), request.path)


def _answer_queue(state: State, to: int, outcome: Queue | HResult, wanted: str) -> None:
    """Answer a caller with the record of a queue, or with an error about the queue that was wanted."""
    if isinstance(outcome, HResult):
        state.reply(to, events.QueueAnswer(outcome, destinations.why_refused(outcome, wanted)))
    else:
        state.reply(to, events.QueueAnswer(HResult.OK, queue=outcome))


def change_access(state: State, request: events.ChangeAccess, now: Instant) -> None:
    """Change the owner or the permissions of a queue or of the manager."""
    status = permissions.change(state, request, now)
    state.reply(request.to, Answer(status, destinations.why_refused(status, request.path)))


def delete_queue(state: State, request: events.DeleteQueue, now: Instant) -> None:
    """Delete Queue; the caller gets the answer when the last message is deleted."""
    status = lifecycle.delete(state, request.to, request.path, now, skip_directory=request.skip_directory)
    if status is HResult.ACCESS_DENIED:
        why = f"{request.path} is a journal or a queue of the manager itself: it cannot be deleted alone"
        state.reply(request.to, Answer(status, why))
    elif status is not HResult.OK:
        state.reply(request.to, Answer(status, destinations.why_refused(status, request.path)))


def purge_queue(state: State, request: events.PurgeQueue, now: Instant) -> None:
    """Purge Queue; the caller gets the answer when the last message is deleted."""
    status = lifecycle.purge(state, request.to, request.path, now)
    if status is not HResult.OK:
        state.reply(request.to, Answer(status, destinations.why_refused(status, request.path)))


def open_queue(state: State, request: events.OpenQueue, now: Instant) -> None:
    """Open Queue, and answer with the number of the handle."""
    check_request(request)
    opened = handles.open_queue(state, request.path, request.access, request.share, now, lease=request.lease)
    if isinstance(opened, HResult):
        state.reply(request.to, events.Opened(opened, destinations.why_refused(opened, request.path)))
    else:
        state.reply(request.to, events.Opened(HResult.OK, handle=opened.handle))


def close_queue(state: State, request: events.CloseQueue, now: Instant) -> None:
    """Close Queue: the handle is not valid any more."""
    descriptor = state.open.handles.get(request.handle)
    status = HResult.INVALID_HANDLE
    if descriptor is not None and not descriptor.one_request:
        handles.close_queue(state, descriptor, now)
        status = HResult.OK
    state.reply(request.to, Answer(status, status.sentence))


def get_queue_path(state: State, request: events.GetQueuePath, now: Instant) -> None:
    """Get Queue Path: answer with the path name of a format name."""
    del now
    state.reply(request.to, paths.get_queue_path(state, request.format_name))


def open_cursor(state: State, request: events.OpenCursor, now: Instant) -> None:
    """Open Cursor, and answer with the number of the cursor."""
    descriptor = handles.use(state, request.handle, Access.PEEK, now)
    if isinstance(descriptor, HResult):
        state.reply(
            request.to, events.Opened(descriptor, destinations.why_refused(descriptor, request.handle))
        )  # DM-131
    else:
        state.reply(
            request.to, events.Opened(HResult.OK, handle=handles.open_cursor(state, descriptor).handle)
        )


def close_cursor(state: State, request: events.CloseCursor, now: Instant) -> None:
    """Close Cursor: the cursor is not valid any more."""
    del now
    cursor = state.open.cursors.get(request.cursor)
    if cursor is not None:
        handles.close_cursor(state, cursor)
    status = HResult.OK if cursor else HResult.INVALID_HANDLE
    state.reply(request.to, Answer(status, status.sentence))


def begin(state: State, request: events.BeginTransaction, now: Instant) -> None:
    """Create Transaction, and answer with its identifier."""
    check_time("a transaction's time-out", request.timeout, least=1)
    if len(request.owner) > OWNER_LIMIT or not request.owner.isprintable():
        raise UsageError(f"an owner is a name of at most {OWNER_LIMIT} printable characters")
    state.reply(request.to, coordinator.begin(state, request, now))


def prepare(state: State, request: events.PrepareTransaction, now: Instant) -> None:
    """Transaction Prepare: store the operations of a transaction, so that it can commit after a restart."""
    answer = coordinator.prepare(state, request.transaction, now, single_phase=request.single_phase)
    state.reply(request.to, answer)


def commit(state: State, request: events.CommitTransaction, now: Instant) -> None:
    """Transaction Commit: the operations of a transaction take effect."""
    _check_decider(request.decided_by)
    answer = coordinator.decide(state, request.transaction, TransactionEvent.COMMIT, now, request.decided_by)
    state.reply(request.to, answer)


def abort(state: State, request: events.AbortTransaction, now: Instant) -> None:
    """Transaction Abort: the operations of a transaction are undone."""
    _check_decider(request.decided_by)
    answer = coordinator.decide(state, request.transaction, TransactionEvent.ABORT, now, request.decided_by)
    state.reply(request.to, answer)


def _check_decider(by: str) -> None:
    """Raise UsageError if the name of the user who decides a transaction is not valid."""
    if len(by) > OWNER_LIMIT or not by.isprintable():
        raise UsageError(
            f"the name of the user who decides has up to {OWNER_LIMIT} printable characters, not {by[:40]!r}"
        )


def await_disk(state: State, event: events.AwaitDisk, now: Instant) -> None:
    """Answer OK: like every answer, it is sent when all earlier changes are on disk."""
    del now
    state.reply(event.to, Answer(HResult.OK))


def flow_control(state: State, event: events.FlowControl, now: Instant) -> None:
    """Begin or end the refusal of new messages, with its reason (DM-294, DM-295)."""
    del now
    state.manager.throttled = event.throttled
    state.manager.throttled_why = event.why


def renew_access(state: State, event: events.RenewAccess, now: Instant) -> None:
    """Apply other users and another list of the manager, and check all rights again."""
    del now
    permissions.renew(state, event)
    state.reply(event.to, Answer(HResult.OK))


def start(state: State, event: events.StartManager, now: Instant) -> None:
    """Queue Manager Started: make the manager ready."""
    startup.start(state, event, now)


def stop(state: State, event: events.StopManager, now: Instant) -> None:
    """Queue Manager Stopped: end waits and stop the manager."""
    del event, now
    startup.stop(state)


def empty(state: State, event: events.EmptyQueue, now: Instant) -> None:
    """Continue a purge or a delete with the next messages of the queue."""
    del now
    lifecycle.empty(state, event)


def _wait_over(state: State, number: int, now: Instant) -> None:
    """Waiting Message Read Timer Expired: end the wait with this number (DM-130)."""
    del now
    for queue in state.queues.values():
        if number in queue.readers.waiting:
            handles.end_wait(state, queue, queue.readers.waiting[number], WaitingReadEvent.TIMED_OUT)
            return


CORE: Final = Feature(
    name="core",
    rules={
        events.StartManager: start,
        events.StopManager: stop,
        events.PrepareTransaction: prepare,
        events.CommitTransaction: commit,
        events.AbortTransaction: abort,
        events.DtcPrepare: coordinator.on_prepare,
        events.DtcCommit: coordinator.on_commit,
        events.DtcAbort: coordinator.on_abort,
        events.DtcReenlistmentCommit: coordinator.on_reenlistment_commit,
        events.DtcReenlistmentAbort: coordinator.on_reenlistment_abort,
        events.DtcReenlistmentTimeout: coordinator.on_reenlistment_timeout,
        events.OpenCursor: open_cursor,
        events.CloseCursor: close_cursor,
        events.CreateQueue: create_queue,
        events.ChangeQueue: change_queue,
        events.ChangeAccess: change_access,
        events.DeleteQueue: delete_queue,
        events.OpenQueue: open_queue,
        events.CloseQueue: close_queue,
        events.PurgeQueue: purge_queue,
        events.BeginTransaction: begin,
        events.SendMessages: send,
        events.ReceiveMessages: receive,
        events.EndRead: end_read,
        events.LookUpMessage: look_up,
        events.PeekMessage: peek,
        events.BrowseMessages: browse,
        events.MoveMessage: move,
        events.CancelRead: cancel,
        events.CallerGone: caller_gone,
        events.GetQueuePath: get_queue_path,
        events.StorePiece: spool.store_piece,
        events.DropSpool: spool.drop_spool,
        events.FlowControl: flow_control,
        events.RenewAccess: renew_access,
        events.AwaitDisk: await_disk,
        events.EmptyQueue: empty,
    },
    timers={
        "expiry": expiry.on_timer,
        "wait": _wait_over,
        "hold": read.on_hold_end,
        "lease": handles.on_lease_end,
        "transaction": transactions.on_timer,
        "idle": lambda state, _, __: outgoing.on_look(state),
        "in doubt": lambda state, _, __: readiness.stay_in_doubt(state),
    },
    at_any_time=frozenset(
        {
            events.StartManager,
            events.StopManager,
            events.EmptyQueue,
            events.FlowControl,
            events.RenewAccess,
            events.CallerGone,
            events.AwaitDisk,
            events.DropSpool,
            events.CommitTransaction,
            events.AbortTransaction,
            events.DtcCommit,
            events.DtcAbort,
            events.DtcReenlistmentCommit,
            events.DtcReenlistmentAbort,
            events.DtcReenlistmentTimeout,
        }
    ),
)
"""The requests, events and timers that need no feature."""
