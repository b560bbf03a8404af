"""Reads messages from a queue: receive, peek, browse and lookup, [MS-MQDMPR] 3.1.7.1.10 to 3.1.7.1.15.

find a position --> none: wait for a message, or answer with the status
     |--> peek: answer with it and leave it
     '--> receive: remove it, or lock it for the transaction, or lock it under a receipt

The functions that find a position are the seeks of 3.1.7.3.  A locked message is removed or unlocked later:
by the outcome of its transaction, or by `end_read` for a receipt (a two-phase read).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reliquary.base.hresult import OK, HResult
from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.queueing.model.cursors import STATUS, Ask, Cursor, Outcome
from reliquary.queueing.model.descriptors import Descriptor
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    Answer,
    BrowseMessages,
    Delivered,
    EndRead,
    LookUpMessage,
    PeekMessage,
    Received,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.model.history.notes import API
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.positions import PositionEvent, step
from reliquary.queueing.model.positions import State as Standing
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LAST_ID, Operation
from reliquary.queueing.model.waiting import Waiter
from reliquary.queueing.rules.destinations import why_refused
from reliquary.queueing.rules.expiry import expire, is_over
from reliquary.queueing.rules.handles import begin_wait, close_if_done, queue_of, stop_wait, use
from reliquary.queueing.rules.leave import leave, may_receive
from reliquary.queueing.rules.poison import give_back, hand_out, is_poison, put_aside

_RECEIVED: Final = MessageClass.ACK_RECEIVE
_RECEIVE: Final = Access.RECEIVE
_DELETED: Final = Standing.DELETED
_AFTER_TAKEN: Final = step(Standing.AVAILABLE, PositionEvent.TAKEN)
_AFTER_RECEIVED: Final = step(Standing.AVAILABLE, PositionEvent.RECEIVED)
ANSWER_BYTES: Final = 16 * 1024 * 1024
"""The number of bytes after which an answer takes no further message; the next request gets the rest."""


# -- receive


def receive(state: State, request: ReceiveMessages, transaction: Transaction | None, now: Instant) -> None:
    """Receive messages, or wait for one (Dequeue Message).

    A receipt in `acknowledge` is settled first: the messages locked under it are removed.
    """
    descriptor = use(state, request.queue, _RECEIVE, now)
    if isinstance(descriptor, HResult):
        state.reply(request.to, Answer(descriptor, why_refused(descriptor, request.queue)))
        return
    if request.acknowledge:
        status = end_read(state, EndRead(request.to, request.acknowledge, delete=True), now)
        if status is not OK:
            state.reply(request.to, Answer(status, "the receipt is not known: its time may have run out"))
            close_if_done(state, descriptor, now)
            return
    queue = queue_of(state, descriptor)
    assert queue is not None
    if request.cursor:
        _receive_at_cursor(state, queue, descriptor, request, transaction, now)
    else:
        taken = _take(state, queue, descriptor, request, transaction, now)  # DM-203
        if taken:
            _answer(state, request, descriptor, taken)  # DM-208
        elif _waits_for_journal(state, queue):
            _refuse_full_journal(state, request)
        else:
            _wait_or_give_up(state, queue, descriptor, request, HResult.IO_TIMEOUT)  # DM-204
    close_if_done(state, descriptor, now)


def _take(
    state: State,
    queue: QueueState,
    descriptor: Descriptor,
    request: ReceiveMessages,
    transaction: Transaction | None,
    now: Instant,
) -> list[Delivered]:
    """Receive messages from the front of the queue, up to the count of the request and to ANSWER_BYTES.

    Expired and poison messages found on the way are removed, and the search starts again.
    """
    counts_tries = queue.record.settings.poison_limit > 0
    while True:
        size = 0
        wanted: list[Position] = []
        unreadable: list[Position] = []
        for position in queue.order.some(-1, request.count):
            over = (position.expires or position.purged) and is_over(position, now)
            if over or (counts_tries and is_poison(queue, position)):
                unreadable.append(position)
            elif size < ANSWER_BYTES:
                wanted.append(position)
                size += position.size
        for position in unreadable:
            remove_unreadable(state, queue, position, now)
        if queue.record.settings.journal_required:
            wanted = journalable(state, queue, wanted)
        if not unreadable:
            return _consume(state, queue, descriptor, request, transaction, wanted)


def remove_unreadable(state: State, queue: QueueState, position: Position, now: Instant) -> None:
    """Remove a message that no reader may receive: expire it, or move it to the poison queue."""
    if is_over(position, now):
        expire(state, queue, position)
    else:
        put_aside(state, queue, position, now)


def _consume(
    state: State,
    queue: QueueState,
    descriptor: Descriptor,
    request: ReceiveMessages | LookUpMessage,
    transaction: Transaction | None,
    positions: Sequence[Position],
) -> list[Delivered]:
    """Deliver positions to a reader, and remove or lock them.

    They are removed, unless the request has a transaction or asks for a receipt: then they are locked.
    """
    if not positions:
        return []
    messages = state.messages.get_all(positions)
    after = _AFTER_TAKEN if request.hold or transaction is not None else _AFTER_RECEIVED
    if after is _DELETED:
        delivered = list(map(Delivered, positions, messages))
        leave(state, queue, positions, _RECEIVED)  # DM-207, DM-221
        return delivered
    positions = hand_out(state, queue, positions)
    delivered = list(map(Delivered, positions, messages))
    if transaction is not None:
        transaction.operations += [Operation("dequeue", queue.number, position) for position in positions]
    else:
        descriptor.locked.update([position.lookup_id for position in positions])
    return delivered


def _answer(
    state: State,
    request: ReceiveMessages | LookUpMessage,
    descriptor: Descriptor,
    taken: list[Delivered],
) -> None:
    """Answer with received messages; a receipt comes with them when they are locked under it."""
    if isinstance(request, ReceiveMessages) and request.acknowledge:
        state.draft.wait()  # the answer also confirms the acknowledged receipt
    receipt = descriptor.handle if request.hold and descriptor.locked else 0  # DM-209
    if receipt and request.hold != FOREVER_WAIT:
        state.draft.ask(SetTimer(("hold", receipt), request.hold))
    _reply_with(state, request.to, taken, receipt)


def _reply_with(state: State, to: int, messages: Sequence[Delivered], receipt: int = 0) -> None:
    """Answer with messages; unless all are express, the answer waits until their arrival is on disk."""
    for delivered in messages:
        if not delivered.position.express:
            state.draft.wait()
            break
    state.reply(to, Received(OK, messages=tuple(messages), receipt=receipt))


def _wait_or_give_up(
    state: State,
    queue: QueueState,
    descriptor: Descriptor,
    request: ReceiveMessages | PeekMessage,
    status: HResult,
) -> None:
    """Begin to wait for a message, or answer with the status when the request has no time to wait."""
    if request.timeout == 0:
        state.reply(request.to, Answer(status, status.sentence))  # DM-299, AN-20
    else:
        begin_wait(state, queue, Waiter(state.numbers.next_handle(), request, descriptor.handle))


def journalable(state: State, queue: QueueState, positions: list[Position]) -> list[Position]:
    """Return the longest beginning of the list whose copies fit into the journal of the queue."""
    size = 0
    for place, position in enumerate(positions):
        size += position.size
        if not may_receive(state, queue, size):
            return positions[:place]
    return positions


def _waits_for_journal(state: State, queue: QueueState) -> bool:
    """Return whether the first message cannot be received because the required journal is full."""
    if not queue.record.settings.journal_required:
        return False
    return any(not may_receive(state, queue, position.size) for position in queue.order.some(-1, 1))


def _refuse_full_journal(state: State, request: ReceiveMessages | LookUpMessage) -> None:
    """Refuse a receive because the journal is full and the queue requires a copy in it."""
    why = "the queue's journal is full, and the queue requires a copy of each message received"
    state.reply(request.to, Answer(HResult.INSUFFICIENT_RESOURCES, why))


# -- with a cursor


def _receive_at_cursor(
    state: State,
    queue: QueueState,
    descriptor: Descriptor,
    request: ReceiveMessages,
    transaction: Transaction | None,
    now: Instant,
) -> None:
    """Receive one message: the one under the cursor, or the next one (DM-201, DM-202)."""
    cursor = state.open.cursors[request.cursor]
    ask = Ask.RECEIVE if request.timeout else Ask.RECEIVE_NOW
    found = _at_cursor(state, queue, cursor, ask, now)
    if found is not None and not may_receive(state, queue, found.size):
        _refuse_full_journal(state, request)
        return
    outcome = cursor.step(ask, found.lookup_id if found else None)
    if outcome is Outcome.SUCCEEDED and found is not None:
        taken = _consume(state, queue, descriptor, request, transaction, (found,))
        _answer(state, request, descriptor, taken)
    elif outcome is Outcome.WAITING:
        _wait_or_give_up(state, queue, descriptor, request, HResult.IO_TIMEOUT)
    else:
        state.reply(request.to, Answer(STATUS[outcome], STATUS[outcome].sentence))


def _at_cursor(state: State, queue: QueueState, cursor: Cursor, ask: Ask, now: Instant) -> Position | None:
    """Return the position that a cursor request reads: the one under the cursor, or the next one."""
    peek = ask in (Ask.PEEK, Ask.PEEK_NEXT)
    if cursor.stays(ask):
        position = queue.order.get(cursor.place)
        there = position is not None and cursor.place not in queue.order.locked and not is_over(position, now)
        if there and position is not None and not peek and is_poison(queue, position):
            put_aside(state, queue, position, now)
            there = False
        return position if there else None
    return _ahead(state, queue, cursor.place, now, peek=peek)


def _ahead(state: State, queue: QueueState, place: int, now: Instant, *, peek: bool) -> Position | None:
    """Return the next position that may be read: Seek Available Message Position, 3.1.7.3.2 (DM-303, DM-305).

    Expired messages on the way are removed; for a receive, poison messages too.
    """
    seek = queue.order.visible_after if peek else queue.order.after
    while (position := seek(place)) is not None and (
        _is_hidden(queue, position, now) or (not peek and is_poison(queue, position))
    ):
        if position.lookup_id in queue.order.locked:
            place = position.lookup_id
        else:
            remove_unreadable(state, queue, position, now)
    return position


# -- peek


def peek(state: State, request: PeekMessage, now: Instant) -> None:
    """Answer with one message that stays in the queue: Peek Message, with a cursor also Peek Next Message."""
    descriptor = use(state, request.queue, Access.PEEK, now)
    if isinstance(descriptor, HResult):
        state.reply(request.to, Answer(descriptor, why_refused(descriptor, request.queue)))
        return
    queue = queue_of(state, descriptor)
    assert queue is not None
    position, status = _peek_position(state, queue, request, now)
    if position is not None:
        show(state, request.to, [position])
    elif status is HResult.IO_TIMEOUT:
        _wait_or_give_up(state, queue, descriptor, request, status)  # DM-225, DM-228, DM-230
        if request.cursor and request.timeout == 0:
            state.open.cursors[request.cursor].timed_out()
    else:
        state.reply(request.to, Answer(status, status.sentence))
    close_if_done(state, descriptor, now)


def _peek_position(
    state: State, queue: QueueState, request: PeekMessage, now: Instant
) -> tuple[Position | None, HResult]:
    """Return the position to peek at; if there is none, the status says why."""
    if not request.cursor:
        # DEPARTS from 3.1.7.1.15 (AN-01): the seek begins before the first position, because a
        # seek from the head would pass over it.
        return _ahead(state, queue, -1, now, peek=True), HResult.IO_TIMEOUT  # DM-229
    cursor = state.open.cursors[request.cursor]
    ask = Ask.PEEK_NEXT if request.next else Ask.PEEK  # DM-224, DM-227
    found = _at_cursor(state, queue, cursor, ask, now)
    outcome = cursor.step(ask, found.lookup_id if found else None)
    return found if outcome is Outcome.SUCCEEDED else None, STATUS[outcome]


def show(state: State, to: int, positions: list[Position]) -> None:
    """Answer with messages that stay in their queue."""
    _reply_with(state, to, list(map(Delivered, positions, state.messages.get_all(positions))))


def browse(state: State, request: BrowseMessages, now: Instant) -> None:
    """Answer with messages after a LookupIdentifier, without expired ones; all stay in the queue."""
    descriptor = use(state, request.queue, Access.PEEK, now)
    if isinstance(descriptor, HResult):
        state.reply(request.to, Answer(descriptor, why_refused(descriptor, request.queue)))
        return
    queue = queue_of(state, descriptor)
    assert queue is not None
    found: list[Position] = []
    size, place = 0, request.after
    while len(found) < request.limit and size < ANSWER_BYTES:
        position = _ahead(state, queue, place, now, peek=True)
        if position is None:
            break
        found.append(position)
        size += position.size
        place = position.lookup_id
    show(state, request.to, found)
    close_if_done(state, descriptor, now)


# -- by LookupIdentifier


def look_up(state: State, request: LookUpMessage, transaction: Transaction | None, now: Instant) -> None:
    """Receive or peek at one message (Read Message By Lookup Identifier); it never waits (DM-222)."""
    descriptor = use(state, request.queue, Access.PEEK if request.peek else Access.RECEIVE, now)
    if isinstance(descriptor, HResult):
        state.reply(request.to, Answer(descriptor, why_refused(descriptor, request.queue)))
        return
    queue = queue_of(state, descriptor)
    assert queue is not None
    position, status = seek_with_id(queue, request.lookup_id, request.seek, now, peek=request.peek)
    while position is not None and not request.peek and is_poison(queue, position):
        put_aside(state, queue, position, now)
        position, status = seek_with_id(queue, request.lookup_id, request.seek, now, peek=False)
    if position is None:
        state.reply(request.to, Answer(status, status.sentence))  # DM-218
    elif request.peek:
        show(state, request.to, [position])
    elif not may_receive(state, queue, position.size):
        _refuse_full_journal(state, request)
    else:
        taken = _consume(state, queue, descriptor, request, transaction, (position,))
        _answer(state, request, descriptor, taken)
    close_if_done(state, descriptor, now)


def seek_with_id(
    queue: QueueState, lookup_id: int, seek: Seek, now: Instant, *, peek: bool
) -> tuple[Position | None, HResult]:
    """Return the position at, before or after an identifier; if there is none, the status says why.

    This is Seek Available Message Position With Id, 3.1.7.3.3.
    """
    if seek is Seek.CURRENT:
        return _current(queue, lookup_id, now, peek=peek)
    # DEPARTS from 3.1.7.3.3 (AN-25, AN-34): only SeekCurrent needs a message with this very id,
    # because a reader may go on from the place of a message that was removed meanwhile.
    after = queue.order.visible_after if peek else queue.order.after
    before = queue.order.visible_before if peek else queue.order.before
    step, place = {
        Seek.FIRST: (after, -1),  # DM-308
        Seek.NEXT: (after, lookup_id),  # DM-309
        Seek.LAST: (before, LAST_ID + 1),  # DM-308
        Seek.PREVIOUS: (before, lookup_id),  # DM-309
    }[seek]
    position = step(place)
    while position is not None and _is_hidden(queue, position, now):
        position = step(position.lookup_id)
    return position, HResult.MESSAGE_NOT_FOUND  # AN-26


def _is_hidden(queue: QueueState, position: Position, now: Instant) -> bool:
    """Return whether a message is expired or purged; a locked message is not hidden by a purge (AN-27)."""
    waits = position.purged and position.lookup_id in queue.order.locked
    return is_over(position, now) and not waits


def _current(
    queue: QueueState, lookup_id: int, now: Instant, *, peek: bool
) -> tuple[Position | None, HResult]:
    """Return the position with this identifier (SeekCurrent), or the status that says why it is not read."""
    position = queue.order.get(lookup_id)
    # DEPARTS from 3.1.7.3.3 (DM-312): a removed message is not found, and the status does not say whether it
    # ever existed, because every message would have to be remembered for that.
    if position is None or _is_hidden(queue, position, now):
        return None, HResult.MESSAGE_NOT_FOUND  # DM-307
    if lookup_id not in queue.order.locked:
        return position, HResult.OK  # DM-310
    if not peek:
        return None, HResult.MESSAGE_NOT_FOUND  # DM-313
    if position.peekable:
        return position, HResult.OK  # DM-311
    return None, HResult.TRANSACTION_USAGE  # DM-311, AN-27


# -- the second half of a two-phase read


def end_read(state: State, request: EndRead, now: Instant) -> HResult:
    """End a two-phase read (Dequeue Message End): remove the messages locked under a receipt, or unlock them.

    Without identifiers in the request, all messages of the receipt are meant.
    """
    descriptor = state.open.handles.get(request.receipt)
    if descriptor is None or (descriptor.one_request and not descriptor.locked):
        return HResult.INVALID_HANDLE
    queue = queue_of(state, descriptor)
    if queue is None:
        return HResult.QUEUE_NOT_AVAILABLE  # DM-210
    lookup_ids = tuple(dict.fromkeys(request.lookup_ids)) or tuple(sorted(descriptor.locked))
    if not descriptor.locked.issuperset(lookup_ids):
        return HResult.TRANSACTION_SEQUENCE  # DM-211
    descriptor.locked.difference_update(lookup_ids)
    locked = queue.order.locked
    done = [each for each in lookup_ids if request.delete and not locked[each].purged]
    reason = MessageClass.NACK_RECEIVE_REJECTED if request.reject else _RECEIVED
    leave(state, queue, [locked[each] for each in done], reason)  # DM-213
    if len(done) < len(lookup_ids):
        rest = [lookup_id for lookup_id in lookup_ids if lookup_id in locked]
        give_back(state, queue, rest, now, unseen=request.unseen)
    if not descriptor.locked:
        state.draft.ask(CancelTimer(("hold", descriptor.handle)))
    close_if_done(state, descriptor, now)
    return OK  # DM-215


def on_hold_end(state: State, receipt: int, now: Instant) -> None:
    """Unlock all messages of a receipt whose time has run out."""
    end_read(state, EndRead(0, receipt, delete=False), now)


# -- readers that wait


def serve(state: State, now: Instant) -> None:
    """Give the messages that this turn made available to waiting readers.

    This is Message Position Available, 3.1.7.2.2.  It runs at the end of the turn, so that one reader can
    get all messages that one request sent.
    """
    while state.turn.woken:
        _, queue = state.turn.woken.popitem()
        woken, queue.readers.woken = queue.readers.woken, []
        # DEPARTS from 3.1.7.2.2 (DM-289): readers are served in the order of their requests, across all open
        # handles, because otherwise the reader of an old handle would get all messages.
        for waiter in list(queue.readers.waiting.values()):  # DM-317
            if not len(queue.order):  # all is taken: the other readers wait on
                break
            if waiter.number in queue.readers.waiting:
                state.turn.initiator = state.open.askers.get(waiter.request.to, API)
                _serve_one(state, queue, waiter, woken, now)
    state.turn.initiator = API


def _serve_one(state: State, queue: QueueState, waiter: Waiter, woken: list[int], now: Instant) -> None:
    """Answer one waiting reader; the reader waits on if there is no message for it."""
    descriptor = state.open.handles[waiter.descriptor]
    request = waiter.request
    if isinstance(request, PeekMessage) or request.cursor:
        position = _newly_available(state, queue, woken, now, peek=isinstance(request, PeekMessage))
        if position is None:
            return
        stop_wait(state, queue, waiter)
        if request.cursor:
            state.open.cursors[request.cursor].arrived(position.lookup_id)  # DM-330
        if isinstance(request, PeekMessage):
            show(state, request.to, [position])  # DM-291, AN-21: a peek takes nothing from the next reader
        elif not may_receive(state, queue, position.size):
            _refuse_full_journal(state, request)
        else:
            transaction = state.transactions.open.get(request.transaction) if request.transaction else None
            taken = _consume(state, queue, descriptor, request, transaction, (position,))
            _answer(state, request, descriptor, taken)
    else:
        transaction = state.transactions.open.get(request.transaction) if request.transaction else None
        taken_all = _take(state, queue, descriptor, request, transaction, now)  # DM-290
        if not taken_all and not _waits_for_journal(state, queue):
            return
        stop_wait(state, queue, waiter)
        if taken_all:
            _answer(state, request, descriptor, taken_all)  # DM-316
        else:
            _refuse_full_journal(state, request)
    close_if_done(state, descriptor, now)


def _newly_available(
    state: State, queue: QueueState, woken: list[int], now: Instant, *, peek: bool
) -> Position | None:
    """Return the first position made available in this turn that a reader may still get."""
    for lookup_id in woken:
        position = queue.order.get(lookup_id)
        if position is None or lookup_id in queue.order.locked or is_over(position, now):
            continue
        if peek or not is_poison(queue, position):
            return position
        put_aside(state, queue, position, now)
    return None
