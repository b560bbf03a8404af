"""Dispatches outgoing messages, [MS-MQDMPR] 3.1.7.1.28, .29, .34 and 3.1.7.3.9.

    available --> sending --> delivered: removed; copied to the system journal if the message asks for it
        ^           |  |----> refused: removed; kept in a dead-letter queue (`refusals`)
        '-- failed -'  '----> accepted: the peer reports the outcome later
        ^                         |  '--> reached: it is in its destination queue; a final receipt comes later
        '-------- resend ---------'
                              (failed: the queue rests, longer each time, then tries again)

The DispatchCollection is not stored as a list: the available messages of an outgoing queue are in it, in
the order of the queue (Add), and a message that leaves the queue leaves it too (Remove).  So a million
waiting messages take no more memory than the window that the order of the queue has loaded.  Only a message
that is being sent has a DispatchEntry; its position is locked until the transfer ends.

Some carriers take whole batches themselves (`reservations`), from outgoing queues and from queues of this
manager. Dispatch sends nothing to them; it notifies them that messages wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from reliquary.base.time import SECOND, Duration, Instant, in_whole_seconds, later
from reliquary.base.turn import CancelTimer, Continue, SetTimer
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.noting import note_reported
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import DispatchMessages
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import SEQUENCE_MASK
from reliquary.queueing.model.travel.link import (
    SILENT,
    UNCONNECTED,
    ConnectionRecord,
    ConnectionStatus,
    DispatchEntry,
    Link,
    OutgoingEvent,
    OutgoingState,
)
from reliquary.queueing.model.travel.transfer import (
    ConnectionChanged,
    ConnectionWanted,
    DestinationReached,
    MessagesWaiting,
    Outcome,
    ResendWanted,
    SendUserMessage,
    TransferAccepted,
    TransferEnded,
    TransferProgressed,
)
from reliquary.queueing.rules import era
from reliquary.queueing.rules.expiry import expire, is_over, release
from reliquary.queueing.rules.leave import leave
from reliquary.queueing.rules.outgoing import destination_of, dispatch_soon, link_of
from reliquary.queueing.travel.refusals import give_up, refuse_broken
from reliquary.wire.history import HistoryEvent

RESTS: Final = tuple(Duration(count * SECOND) for count in (1, 2, 5, 10, 30, 60))
"""The time that a queue rests after 1, 2, 3 ... failures in a row; after more failures, the last value."""
ORDINARY: Final = 3
"""The default priority of a message."""
ENDS: Final = frozenset({OutgoingEvent.FAILED, OutgoingEvent.SESSION_CLEANED_UP, OutgoingEvent.DISCONNECTED})
"""The events after which a queue has no connection."""
ANSWERS: Final = frozenset({OutgoingEvent.CONNECTED, OutgoingEvent.VALIDATION_NEEDED})
"""The other events that answer the wish for a connection.

A queue that needs validation is asked for again when it is resumed, and not before.
"""


# -- which messages are sent next


def run(state: State, now: Instant) -> None:
    """Dispatch Send Message, for every queue that `dispatch_soon` has marked.

    A carrier may end the transfer of a message inside this turn; the next message is then sent in a
    later turn, so that nothing recurses and no turn takes long (AN-37).
    """
    if state.manager.state is not ManagerState.READY:
        return
    waiting, state.travel.to_dispatch = state.travel.to_dispatch, {}
    if not state.travel.online:
        return
    # DEPARTS from 3.1.7.3.9 (DM-322): sends are in progress for each outgoing queue, as many as its
    # carrier allows, not one for the whole manager, because a destination that does not answer would
    # stop all the others.
    found = [each for queue in waiting.values() for each in _next(state, queue, now)]
    found.sort(key=_by_priority)  # DM-323: equal priorities go first in, first out
    for entry, message in found:
        _send(state, entry, message)


def _by_priority(each: tuple[DispatchEntry, Message]) -> tuple[int, int]:
    """Return the sort key of a message among those that are sent in one turn (DM-323)."""
    return -each[0].priority, each[0].lookup_id & SEQUENCE_MASK


def ask_for_dispatch(state: State) -> None:
    """Ask for a new turn, which ends with `run`; a manager that is not ready runs it when it is ready."""
    if not state.travel.dispatch_asked and state.manager.state is ManagerState.READY:
        state.travel.dispatch_asked = True
        state.draft.ask(Continue(DispatchMessages()))


def go_on(state: State, event: DispatchMessages, now: Instant) -> None:
    """Begin the turn that `ask_for_dispatch` asked for; `run` follows every event."""
    del event, now
    state.travel.dispatch_asked = False


def announce(state: State, queue: QueueState, now: Instant) -> None:
    """Notify the carriers that take batches from this queue that messages wait; once, until they reserve
    some."""
    link, number = queue.link, queue.number
    connected = link is not None and link.state is OutgoingState.CONNECTED
    notified = number not in state.travel.unnotified if link is None else link.notified and connected
    if (
        notified
        or _is_silent(queue)
        or not state.travel.online
        or state.manager.state is not ManagerState.READY
    ):
        return
    if _head(state, queue, now) is None:
        return
    if link is None:
        for carrier in sorted(state.travel.unnotified.pop(number)):
            state.draft.signal(MessagesWaiting(carrier, number, ""))
    elif link.state in UNCONNECTED:
        _want_connection(state, queue, now)
    elif connected and link.carrier is not None:
        link.notified = True
        state.draft.signal(MessagesWaiting(link.carrier.name, number, str(destination_of(queue))))


def looked(state: State, queue: QueueState, carrier: str) -> None:
    """Record that a carrier has searched a queue: it is notified of the next message again."""
    if queue.link is not None:
        queue.link.notified = False
    elif queue.number in state.travel.watched.get(carrier, ()):
        state.travel.unnotified.setdefault(queue.number, set()).add(carrier)


def _is_silent(queue: QueueState) -> bool:
    """Return whether no message may leave the queue now."""
    link = queue.link
    return queue.record.deleting or (link is not None and (link.state in SILENT or link.resting))


def _next(state: State, queue: QueueState, now: Instant) -> list[tuple[DispatchEntry, Message]]:
    """Return the messages that this queue sends now, each with its entry (DM-323), and lock them.

    A queue without a connection asks its carrier for one first (AN-41).
    """
    found: list[tuple[DispatchEntry, Message]] = []
    link = queue.link
    if link is None or (link.carrier is not None and link.carrier.takes_batches):
        announce(state, queue, now)
        return found
    if _is_silent(queue):
        return found
    broken = queue.record.outgoing is not None and queue.record.outgoing.broken
    while link.bytes_left() > 0 and len(link.sending) < link.at_once:
        position = _head(state, queue, now)
        if position is None:
            break
        if link.state in UNCONNECTED:
            _want_connection(state, queue, now)
        if link.state is not OutgoingState.CONNECTED:
            break
        if broken and refuse_broken(state, queue, position):
            continue
        found += _begin(state, queue, link, now, single=bool(broken))
    return found


def _begin(
    state: State, queue: QueueState, link: Link, now: Instant, *, single: bool
) -> list[tuple[DispatchEntry, Message]]:
    """Lock the messages at the head of a queue that its carrier may get now, and return them.

    The first one is ready; those behind it are taken up to the first one that has expired, or to the limits
    of the link.  With `single` the first one is taken alone.
    """
    positions: list[Position] = []
    left = link.bytes_left()
    for position in queue.order.front(1 if single else link.at_once - len(link.sending)):
        if left <= 0 or is_over(position, now):
            break
        positions.append(position)
        left -= position.size if link.most_bytes else 0
    queue.order.lock_all(positions)
    messages, base = state.messages.get_all(positions), queue.record.settings.base_priority
    found = []
    for place, position in enumerate(positions):
        message = messages[place]
        # All messages of a stream have one priority, because they are sent in their order (DM-266).
        priority = base + (ORDINARY if message.is_transactional else message.priority)
        entry = DispatchEntry(queue.number, position.lookup_id, priority, position.size)
        link.begin(entry)  # SendInProgress
        found.append((entry, message))
    return found


def _head(state: State, queue: QueueState, now: Instant) -> Position | None:
    """Return the first message of a queue that has not expired; expired messages before it are removed."""
    for _ in range(state.sizes.at_once):
        position = queue.order.first()
        if position is None or not is_over(position, now):
            return position
        expire(state, queue, position)
    state.travel.to_dispatch[queue.number] = queue
    ask_for_dispatch(state)
    return None


def _want_connection(state: State, queue: QueueState, now: Instant) -> None:
    """Ask the carrier of a queue for a connection, unless it was asked already."""
    link = link_of(queue)
    link.happen(OutgoingEvent.CONNECT_BEGUN)
    if link.asked or not state.travel.carriers.any:
        return
    link.asked = True
    link.history.append(ConnectionRecord(ConnectionStatus.IN_PROCESS, in_whole_seconds(now)))
    if link.carrier is not None:  # else the queue waits until a protocol claims its destination
        manager = state.manager.lineage
        destination = str(destination_of(queue))
        state.draft.signal(ConnectionWanted(link.carrier.name, queue.number, destination, manager))


def _send(state: State, entry: DispatchEntry, message: Message) -> None:
    """Hand one message to the carrier of its queue."""
    queue = state.queues[entry.queue]
    carrier = link_of(queue).carrier
    assert carrier is not None, f"{queue.record.pathname} is connected, and has no carrier"
    outgoing = queue.record.outgoing
    assert outgoing is not None, f"{queue.record.pathname} is no outgoing queue"
    older = state.manager.era is not None and era.of_older_era(state, entry.lookup_id)
    state.draft.signal(
        SendUserMessage(carrier.name, queue.number, entry.lookup_id, outgoing.destination, message, older)
    )


# -- how transfers end


def on_transfer_ended(state: State, signal: TransferEnded, now: Instant) -> None:
    """Remove Message From Dispatch Collection (DM-267), then remove or release the messages."""
    queue = _outgoing(state, signal.queue)
    if queue is None:
        return
    link = link_of(queue)
    if signal.outcome is Outcome.TRY_LATER:
        if any(each in link.sending for each in signal.lookup_ids):
            rest(state, queue, now, signal.rest)
            remove_by_queue(state, queue, now)
        return
    ended = link.end(signal.lookup_ids)
    if ended:
        link.failures = 0
    locked = queue.order.locked  # a delete of the queue may have removed some of them
    positions = [locked[lookup_id] for lookup_id in ended if lookup_id in locked]
    if signal.by_receipt:
        positions += _not_under_way(queue, signal.lookup_ids, ended)
    if positions:
        delivered = signal.outcome is Outcome.DELIVERED
        if signal.by_receipt:
            note_reported(state, HistoryEvent.ACKNOWLEDGED, queue, positions, signal.reason)
        if delivered:
            link.delivered += len(positions)
            if link.carrier is not None:
                state.travel.delivered[link.carrier.name] += len(positions)
            leave(state, queue, positions, MessageClass.ACK_REACH_QUEUE, carried=True)
        else:
            acknowledged = _is_acknowledged(queue, signal.reason)
            give_up(state, queue, positions, signal.reason, signal.why, acknowledged=acknowledged)
    dispatch_soon(state, queue)


def _note(
    state: State,
    happened: HistoryEvent,
    queue: QueueState,
    lookup_ids: Sequence[int],
    reason: MessageClass = MessageClass.NORMAL,
) -> None:
    """Record in the history what a carrier reports about messages that are being sent."""
    if state.history is not None:
        locked = queue.order.locked
        note_reported(state, happened, queue, [locked[each] for each in lookup_ids if each in locked], reason)


def _not_under_way(queue: QueueState, lookup_ids: tuple[int, ...], ended: list[int]) -> list[Position]:
    """Return the positions of `lookup_ids` that wait in the queue: a receipt confirms them too.

    They were released after a failure, or have not been sent since a restart.
    """
    if len(ended) == len(lookup_ids):
        return []
    order, under_way = queue.order, frozenset(ended)
    others = [each for each in lookup_ids if each not in under_way and each not in order.locked]
    return [position for each in others if (position := order.get(each)) is not None]


def _is_acknowledged(queue: QueueState, reason: MessageClass) -> bool:
    """Return whether the peer has sent the negative acknowledgement for a refusal with this reason."""
    if not reason.is_failure:
        return False
    carrier = link_of(queue).carrier
    never_arrived = reason < MessageClass.NACK_QUEUE_DELETED
    return not (never_arrived and carrier is not None and not carrier.reports_refusals)


def on_transfer_accepted(state: State, signal: TransferAccepted, now: Instant) -> None:
    """Record that the peer accepted messages: their outcomes come later, and others may be sent."""
    del now
    queue = _outgoing(state, signal.queue)
    if queue is None:
        return
    link = link_of(queue)
    accepted = link.accept(signal.lookup_ids)
    if accepted:
        link.failures = 0
        _note(state, HistoryEvent.SENT, queue, accepted)
        dispatch_soon(state, queue)


def on_destination_reached(state: State, signal: DestinationReached, now: Instant) -> None:
    """Record that messages are in their destination queues: they do not expire here, also after a restart."""
    del now
    queue = _outgoing(state, signal.queue)
    if queue is None:
        return
    # the receipt for a message may come before the answer to the request that sent it
    reached, timed = link_of(queue).reach(signal.lookup_ids), []
    for lookup_id in reached:
        position = queue.order.locked.get(lookup_id)
        if position is not None and position.expires:
            timed.append(msgspec.structs.replace(position, expires=0))
    _note(state, HistoryEvent.ACKNOWLEDGED, queue, reached, MessageClass.ACK_REACH_QUEUE)
    if timed:
        apply(state, facts.PositionsMarked(queue.number, tuple(timed)))
    dispatch_soon(state, queue)


def on_resend_wanted(state: State, signal: ResendWanted, now: Instant) -> None:
    """Send all messages of a queue again, in their order, because the peer reported no outcome in time."""
    queue = _outgoing(state, signal.queue)
    if queue is not None:
        remove_by_queue(state, queue, now, accepted=True)


def remove_by_queue(state: State, queue: QueueState, now: Instant, *, accepted: bool = False) -> None:
    """Remove Messages From Dispatch Collection By Queue (DM-268): messages in transfer wait again.

    Messages that the peer accepted wait again only if `accepted` is True.
    """
    for lookup_id in link_of(queue).take_back(accepted=accepted):
        if lookup_id in queue.order.locked:
            release(state, queue, lookup_id, now)
    dispatch_soon(state, queue)  # AN-37


def on_connection_changed(state: State, signal: ConnectionChanged, now: Instant) -> None:
    """Record the new state of the connection of a queue, as its carrier reports it."""
    queue = _outgoing(state, signal.queue)
    if queue is None:
        return
    link = link_of(queue)
    link.history.append(
        ConnectionRecord(signal.status, in_whole_seconds(now), signal.error, signal.addresses)
    )
    link.next_hops = signal.addresses or link.next_hops
    link.at_once, link.most_bytes = signal.at_once, signal.most_bytes
    link.notified = False
    link.happen(signal.event)
    if signal.event in ANSWERS or signal.event in ENDS:
        link.asked = False
    if signal.event is OutgoingEvent.FAILED:
        rest(state, queue, now, signal.rest)
    if signal.event in ENDS:
        link.transactional = None  # the destination may be another queue at the next connection
        remove_by_queue(state, queue, now)
    dispatch_soon(state, queue)


def on_progress(state: State, signal: TransferProgressed, now: Instant) -> None:
    """Store OutgoingTransferInfo, as the protocol reports it (DM-071)."""
    del now
    queue = _outgoing(state, signal.queue)
    if queue is not None:
        link_of(queue).transfer = signal.transfer


def _outgoing(state: State, number: int) -> QueueState | None:
    """Return the outgoing queue that a carrier names by its number; None if it was deleted meanwhile."""
    queue = state.queues.get(number)
    return queue if queue is not None and queue.link is not None else None


# -- rest after a failure


def rest(state: State, queue: QueueState, now: Instant, span: Duration | None = None) -> None:
    """Stop a queue from sending for a time after a failure.

    The time is `span` if its carrier gives one, else it grows with each failure.
    """
    link = link_of(queue)
    if not link.resting:
        span = RESTS[min(link.failures, len(RESTS) - 1)] if span is None else span
        state.draft.ask(SetTimer(("retry", queue.number), span))
        link.failures += 1
        link.next_attempt = later(now, span)


def on_rest_over(state: State, number: int) -> None:
    """End the rest of a queue when its timer fires: the queue sends again."""
    queue = _outgoing(state, number)
    if queue is not None:
        link_of(queue).next_attempt = None
        dispatch_soon(state, queue)


def end_rest(state: State, queue: QueueState) -> None:
    """End the rest of a queue before its time, because an administrator asks for it."""
    link = link_of(queue)
    if link.resting:
        state.draft.ask(CancelTimer(("retry", queue.number)))
    link.next_attempt, link.failures = None, 0
    dispatch_soon(state, queue)
