"""Reserves batches for carriers: a batch stays locked in its queue until the carrier reports the outcome.

    available --ReservationWanted--> locked, and the reservation is stored on disk
        ^                            |   |
        |                            |   '--ReservationsEnded: DELIVERED or REFUSED--> removed, as after
        '--ReservationsEnded: TRY_LATER-'                                              a transfer or a receive

A reservation keeps a batch whose outcome is not known yet.  It is kept when the process ends: recovery
locks its messages again before the first request can read them.  Express messages may be reserved too; a
crash removes them from their queue and from the reservation.  A reserved message that is purged or expires
is removed when the reservation ends with TRY_LATER, like every locked message.
"""

from __future__ import annotations

from itertools import accumulate, takewhile

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.noting import note_reported
from reliquary.queueing.model import facts
from reliquary.queueing.model.history.notes import API, Initiator
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import reservation_key
from reliquary.queueing.model.travel.link import SILENT
from reliquary.queueing.model.travel.transfer import (
    MessagesReserved,
    Outcome,
    QueuesWatched,
    ReservationRefusal,
    ReservationsEnded,
    ReservationWanted,
)
from reliquary.queueing.rules import destinations, outgoing
from reliquary.queueing.rules.era import of_older_era
from reliquary.queueing.rules.expiry import is_over, release_all
from reliquary.queueing.rules.leave import leave
from reliquary.queueing.rules.permission import Act, lacks
from reliquary.queueing.rules.poison import is_poison
from reliquary.queueing.rules.read import journalable, remove_unreadable
from reliquary.queueing.travel import dispatch
from reliquary.queueing.travel.refusals import give_up, refuse_broken
from reliquary.wire.history import HistoryEvent

# -- a reservation begins


def on_reservation_wanted(state: State, signal: ReservationWanted, now: Instant) -> None:
    """Reserve messages of the first queue that has any, and send MessagesReserved in this turn."""
    refusals: list[ReservationRefusal] = []
    looked: list[QueueState] = []
    positions: list[Position] = []
    for name in signal.queues:
        queue = _find(state, name, signal)
        if isinstance(queue, ReservationRefusal):
            refusals.append(queue)
            continue
        looked.append(queue)
        positions = _front(state, queue, signal, now)
        if positions:
            break
    held = False
    if positions:
        held = _hold(state, looked[-1], positions, signal)
    else:
        number = looked[0].number if looked else 0
        refusal = None if looked or not refusals else refusals[0]
        state.draft.signal(MessagesReserved(signal.holder, signal.key, number, refusal=refusal))
    for queue in looked:
        dispatch.looked(state, queue, signal.holder)
    if held:
        dispatch.announce(state, looked[-1], now)


def _find(state: State, name: str | int, signal: ReservationWanted) -> QueueState | ReservationRefusal:
    """Return the queue of a name or number, or the reason why no message of it can be reserved."""
    if state.manager.state is not ManagerState.READY or not state.travel.online:
        return ReservationRefusal.NOT_NOW
    try:
        queue = state.queues.get(name) if isinstance(name, int) else destinations.find(state, name)
    except UsageError:
        queue = None
    if queue is None:
        return ReservationRefusal.NO_QUEUE
    # only the carrier of an outgoing queue knows its number; a name can be guessed
    carried = queue.link is not None and isinstance(name, int)
    if not (carried or signal.by is MANAGER) and lacks(state, signal.by, queue, Act.RECEIVE):
        return ReservationRefusal.NOT_ALLOWED
    if queue.is_closed:
        return ReservationRefusal.NOT_ALLOWED  # DM-094
    silent = queue.link is not None and queue.link.state in SILENT
    if silent or queue.readers.exclusive or queue.record.deleting:
        return ReservationRefusal.NOT_NOW
    return queue


def _front(state: State, queue: QueueState, signal: ReservationWanted, now: Instant) -> list[Position]:
    """Return the positions at the front of a queue that can be reserved.

    Expired and poison messages among them are removed, at most as many as one turn may remove.
    """
    at_once, turned_away = state.sizes.at_once, 0
    limited = queue.record.settings.poison_limit > 0
    while True:
        fit = queue.order.front(min(signal.most, at_once))
        unfit = [
            position
            for position in fit
            if (position.expires and is_over(position, now)) or (limited and is_poison(queue, position))
        ]
        if unfit:
            useless = {position.lookup_id for position in unfit}
            fit = [position for position in fit if position.lookup_id not in useless]
        for position in unfit:
            remove_unreadable(state, queue, position, now)
        gone = len(unfit)
        if queue.record.outgoing is not None and queue.record.outgoing.broken:
            whole = [position for position in fit if not refuse_broken(state, queue, position)]
            gone, fit = gone + len(fit) - len(whole), whole
        turned_away += gone
        if fit or not gone:
            break
        if turned_away >= at_once:
            outgoing.dispatch_soon(state, queue)  # the carrier is notified again, in a later turn
            break
    if queue.record.settings.journal_required:
        fit = journalable(state, queue, fit)
    if fit and state.manager.era is not None:
        fit = _of_one_era(state, fit, signal)
    least = 0 if reservation_key(signal.holder, signal.key) in state.travel.reservations else 1
    return _within_bytes(fit, signal.most_bytes, least)


def _of_one_era(state: State, positions: list[Position], signal: ReservationWanted) -> list[Position]:
    """Return the positions from the front that are all older than the last restore, or all newer.

    A reservation that has messages already continues with their era.
    """
    reservation = state.travel.reservations.get(reservation_key(signal.holder, signal.key))
    first = (
        reservation.lookup_ids[0]
        if reservation is not None and reservation.lookup_ids
        else positions[0].lookup_id
    )
    older = of_older_era(state, first)
    return list(takewhile(lambda each: of_older_era(state, each.lookup_id) is older, positions))


def _within_bytes(positions: list[Position], most_bytes: int, least: int) -> list[Position]:
    """Return positions from the front, with at most `most_bytes` bytes; but at least `least` of them."""
    sizes = [position.size for position in positions]
    if sum(sizes) <= most_bytes:
        return positions
    fits = sum(1 for size in accumulate(sizes) if size <= most_bytes)
    return positions[: max(fits, least)]


def _hold(state: State, queue: QueueState, positions: list[Position], signal: ReservationWanted) -> bool:
    """Reserve these messages and send them to the carrier; return False if the first is too large for it."""
    messages = tuple(state.messages.get_all(positions, whole=False))
    if signal.largest and sum([position.size for position in positions]) > signal.largest:
        fit = _count_until_too_large(messages, signal.largest)
        positions, messages = positions[:fit], messages[:fit]
        if not positions:
            refused = MessagesReserved(
                signal.holder, signal.key, queue.number, refusal=ReservationRefusal.TOO_LARGE
            )
            state.draft.signal(refused)
            return False
    apply(state, facts.ReservationBegun(signal.holder, signal.key, queue.number, tuple(positions)))
    older = state.manager.era is not None and of_older_era(state, positions[0].lookup_id)
    state.draft.signal(
        MessagesReserved(signal.holder, signal.key, queue.number, messages, of_older_era=older)
    )
    return True


def _count_until_too_large(messages: tuple[Message, ...], largest: int) -> int:
    """Return how many messages come before the first whose body has more than `largest` bytes."""
    for place, message in enumerate(messages):
        if message.body_size > largest:
            return place
    return len(messages)


# -- a reservation ends


def on_reservations_ended(state: State, signal: ReservationsEnded, now: Instant) -> None:
    """Remove reserved messages from their queues, or make them available again in their old order."""
    keys: list[tuple[int, int]] = []
    held: dict[int, list[int]] = {}
    for key in dict.fromkeys(signal.keys):
        reservation = state.travel.reservations.get(reservation_key(signal.holder, key))
        if reservation is not None:
            keys.append(key)
            held.setdefault(reservation.queue, []).extend(reservation.lookup_ids)
    if not keys:
        return
    apply(state, facts.ReservationsOver(signal.holder, tuple(keys)))
    for number, lookup_ids in held.items():
        queue = state.queues.get(number)
        if queue is None:  # it was deleted with its messages
            continue
        locked = queue.order.locked
        there = [lookup_id for lookup_id in lookup_ids if lookup_id in locked]
        state.turn.initiator = Initiator(signal.holder)
        if signal.outcome is Outcome.TRY_LATER:
            if signal.rest is not None and queue.link is not None:
                dispatch.rest(state, queue, now, signal.rest)
                dispatch.looked(state, queue, signal.holder)  # it is notified again when the rest is over
            note_reported(state, HistoryEvent.RELEASED, queue, [locked[lookup_id] for lookup_id in there])
            release_all(state, queue, sorted(there), now)
        else:
            _take_out(state, queue, [locked[lookup_id] for lookup_id in there], signal)
        state.turn.initiator = API


def _take_out(state: State, queue: QueueState, positions: list[Position], signal: ReservationsEnded) -> None:
    """Remove messages that were delivered or refused, also those that expired or were purged meanwhile."""
    link = queue.link
    if link is not None:
        link.failures = 0
    if signal.outcome is not Outcome.DELIVERED:
        give_up(state, queue, positions, signal.reason, signal.why, carried=link is not None)
        return
    state.travel.delivered[signal.holder] += len(positions)
    if link is None:
        leave(state, queue, positions, MessageClass.ACK_RECEIVE)
    else:
        link.delivered += len(positions)
        leave(state, queue, positions, MessageClass.ACK_REACH_QUEUE, carried=True)


# -- queues of this manager


def on_watched(state: State, signal: QueuesWatched, now: Instant) -> None:
    """Notify a carrier from now on when messages wait in these queues; at once if messages wait already."""
    before = state.travel.watched.get(signal.carrier, frozenset())
    new = signal.queues - before
    state.travel.watched[signal.carrier] = signal.queues
    for number in new:
        state.travel.unnotified.setdefault(number, set()).add(signal.carrier)
    for number in before - signal.queues:
        _stop_watching(state, number, signal.carrier)
    for number in sorted(new):
        queue = state.queues.get(number)
        if queue is not None:
            dispatch.announce(state, queue, now)


def _stop_watching(state: State, number: int, carrier: str) -> None:
    """Record that a carrier no longer watches a queue, so that it is not notified of new messages."""
    waiting = state.travel.unnotified.get(number)
    if waiting is not None:
        waiting.discard(carrier)
        if not waiting:
            del state.travel.unnotified[number]
