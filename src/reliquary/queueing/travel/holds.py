"""Holds: a carrier takes a batch of messages that stay in their queue until it says what became of them.

    available --HoldWanted--> locked, and noted on disk
        ^                        |  '--HoldsEnded, delivered or refused--> gone, as after a transfer
        '--HoldsEnded, later-----'                                          or a receive

A hold is for a batch in doubt: it outlives the process, and recovery locks its messages again before
anybody can ask for them.  Express messages may be held too; a crash that takes them takes their part
of the hold along.  What is purged or expires meanwhile goes when it comes back, as all that is locked.
"""

from __future__ import annotations

from itertools import accumulate, takewhile

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.noting import noted
from reliquary.queueing.model import facts
from reliquary.queueing.model.history.notes import API, Bringer
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.tables import hold_key
from reliquary.queueing.model.travel.link import SILENT
from reliquary.queueing.model.travel.transfer import (
    HoldRefusal,
    HoldsEnded,
    HoldWanted,
    MessagesHeld,
    Outcome,
    QueuesWatched,
)
from reliquary.queueing.rules import destinations, outgoing
from reliquary.queueing.rules.era import of_older_era
from reliquary.queueing.rules.expiry import is_over, release_all
from reliquary.queueing.rules.leave import leave
from reliquary.queueing.rules.permission import Act, lacks
from reliquary.queueing.rules.poison import is_poison
from reliquary.queueing.rules.read import journalable, turn_away
from reliquary.queueing.travel import dispatch
from reliquary.queueing.travel.refusals import give_up, refuse_broken
from reliquary.wire.history import Happening

# -- a hold begins


def on_hold_wanted(state: State, signal: HoldWanted, now: Instant) -> None:
    """Hold messages of the first queue that has any; the carrier is told in this turn."""
    refusals: list[HoldRefusal] = []
    looked: list[QueueState] = []
    positions: list[Position] = []
    for name in signal.queues:
        queue = _find(state, name, signal)
        if isinstance(queue, HoldRefusal):
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
        state.draft.tell(MessagesHeld(signal.holder, signal.key, number, refusal=refusal))
    for queue in looked:
        dispatch.looked(state, queue, signal.holder)
    if held:
        dispatch.announce(state, looked[-1], now)


def _find(state: State, name: str | int, signal: HoldWanted) -> QueueState | HoldRefusal:
    """The queue of this name or number, or why nothing of it can be held."""
    if state.manager_state is not ManagerState.READY or not state.online:
        return HoldRefusal.NOT_NOW
    try:
        queue = state.queues.get(name) if isinstance(name, int) else destinations.find(state, name)
    except UsageError:
        queue = None
    if queue is None:
        return HoldRefusal.NO_QUEUE
    # a carrier that knows the number of an outgoing queue was told it; a name anybody may guess
    carried = queue.link is not None and isinstance(name, int)
    if not (carried or signal.by is MANAGER) and lacks(state, signal.by, queue, Act.RECEIVE):
        return HoldRefusal.NOT_ALLOWED
    if queue.is_closed:
        return HoldRefusal.NOT_ALLOWED  # DM-094
    silent = queue.link is not None and queue.link.state in SILENT
    if silent or queue.exclusive or queue.record.deleting:
        return HoldRefusal.NOT_NOW
    return queue


def _front(state: State, queue: QueueState, signal: HoldWanted, now: Instant) -> list[Position]:
    """What can be held, from the front on; what nobody gets any more is turned away, a turn's worth."""
    at_once, turned_away = state.sizes.at_once, 0
    watched = queue.record.settings.poison_limit > 0
    while True:
        fit = queue.order.front(min(signal.most, at_once))
        unfit = [
            position
            for position in fit
            if (position.expires and is_over(position, now)) or (watched and is_poison(queue, position))
        ]
        if unfit:
            useless = {position.lookup_id for position in unfit}
            fit = [position for position in fit if position.lookup_id not in useless]
        for position in unfit:
            turn_away(state, queue, position, now)
        gone = len(unfit)
        if queue.record.outgoing is not None and queue.record.outgoing.broken:
            whole = [position for position in fit if not refuse_broken(state, queue, position)]
            gone, fit = gone + len(fit) - len(whole), whole
        turned_away += gone
        if fit or not gone:
            break
        if turned_away >= at_once:
            outgoing.dispatch_soon(state, queue)  # the carrier is told again, in a later turn
            break
    if queue.record.settings.journal_required:
        fit = journalable(state, queue, fit)
    if fit and state.era is not None:
        fit = _of_one_era(state, fit, signal)
    least = 0 if hold_key(signal.holder, signal.key) in state.holds else 1
    return _as_many(fit, signal.most_bytes, least)


def _of_one_era(state: State, positions: list[Position], signal: HoldWanted) -> list[Position]:
    """As many of them, from the front, as are all of an era before a restore, or all of this one."""
    hold = state.holds.get(hold_key(signal.holder, signal.key))
    first = hold.lookup_ids[0] if hold is not None and hold.lookup_ids else positions[0].lookup_id
    older = of_older_era(state, first)
    return list(takewhile(lambda each: of_older_era(state, each.lookup_id) is older, positions))


def _as_many(positions: list[Position], most_bytes: int, least: int) -> list[Position]:
    """As many of them, from the front, as have no more bytes than this."""
    sizes = [position.size for position in positions]
    if sum(sizes) <= most_bytes:
        return positions
    fits = sum(1 for size in accumulate(sizes) if size <= most_bytes)
    return positions[: max(fits, least)]


def _hold(state: State, queue: QueueState, positions: list[Position], signal: HoldWanted) -> bool:
    """Whether any is held; not where the first is too large for its carrier."""
    messages = tuple(state.shelf.get_all(positions, whole=False))
    if signal.largest and sum([position.size for position in positions]) > signal.largest:
        fit = _count_until_too_large(messages, signal.largest)
        positions, messages = positions[:fit], messages[:fit]
        if not positions:
            refused = MessagesHeld(signal.holder, signal.key, queue.number, refusal=HoldRefusal.TOO_LARGE)
            state.draft.tell(refused)
            return False
    apply(state, facts.HoldBegun(signal.holder, signal.key, queue.number, tuple(positions)))
    older = state.era is not None and of_older_era(state, positions[0].lookup_id)
    state.draft.tell(MessagesHeld(signal.holder, signal.key, queue.number, messages, of_older_era=older))
    return True


def _count_until_too_large(messages: tuple[Message, ...], largest: int) -> int:
    for place, message in enumerate(messages):
        if message.body_size > largest:
            return place
    return len(messages)


# -- and ends


def on_holds_ended(state: State, signal: HoldsEnded, now: Instant) -> None:
    """Take held messages out for good, or give them back to their old places."""
    keys: list[tuple[int, int]] = []
    held: dict[int, list[int]] = {}
    for key in dict.fromkeys(signal.keys):
        hold = state.holds.get(hold_key(signal.holder, key))
        if hold is not None:
            keys.append(key)
            held.setdefault(hold.queue, []).extend(hold.lookup_ids)
    if not keys:
        return
    apply(state, facts.HoldsOver(signal.holder, tuple(keys)))
    for number, lookup_ids in held.items():
        queue = state.queues.get(number)
        if queue is None:  # it was deleted, and took them along
            continue
        locked = queue.order.locked
        there = [lookup_id for lookup_id in lookup_ids if lookup_id in locked]
        state.bringer = Bringer(signal.holder)
        if signal.outcome is Outcome.TRY_LATER:
            if signal.rest is not None and queue.link is not None:
                dispatch.rest(state, queue, signal.rest)
                dispatch.looked(state, queue, signal.holder)  # it hears of this queue when the rest is over
            noted(state, Happening.RELEASED, queue, [locked[lookup_id] for lookup_id in there])
            release_all(state, queue, sorted(there), now)
        else:
            _take_out(state, queue, [locked[lookup_id] for lookup_id in there], signal)
        state.bringer = API


def _take_out(state: State, queue: QueueState, positions: list[Position], signal: HoldsEnded) -> None:
    """They are with somebody else, or never will be; also those that were to expire or be purged."""
    link = queue.link
    if link is not None:
        link.failures = 0
    if signal.outcome is not Outcome.DELIVERED:
        give_up(state, queue, positions, signal.reason, signal.why, carried=link is not None)
    elif link is None:
        leave(state, queue, positions, MessageClass.ACK_RECEIVE)
    else:
        link.delivered += len(positions)
        leave(state, queue, positions, MessageClass.ACK_REACH_QUEUE, carried=True)


# -- queues of our own


def on_watched(state: State, signal: QueuesWatched, now: Instant) -> None:
    """Tell a carrier when messages wait in these queues; at once where some do already."""
    before = state.watched.get(signal.carrier, frozenset())
    new = signal.queues - before
    state.watched[signal.carrier] = signal.queues
    for number in new:
        state.unnotified.setdefault(number, set()).add(signal.carrier)
    for number in before - signal.queues:
        _forget(state, number, signal.carrier)
    for number in sorted(new):
        queue = state.queues.get(number)
        if queue is not None:
            dispatch.announce(state, queue, now)


def _forget(state: State, number: int, carrier: str) -> None:
    """A carrier watches a queue no more: it is not notified of what comes."""
    waiting = state.unnotified.get(number)
    if waiting is not None:
        waiting.discard(carrier)
        if not waiting:
            del state.unnotified[number]
