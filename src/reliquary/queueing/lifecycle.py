"""Creates, changes, purges and deletes queues: [MS-MQDMPR] 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.7."""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.base.turn import Continue
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.directory import membership
from reliquary.queueing.feed import trimming
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import ChangeQueue, CreateQueue, EmptyQueue, Purged
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.names.multicast import normalized
from reliquary.queueing.model.queue import Queue, QueueSettings, QueueType, check_settings
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import SEQUENCE_MASK
from reliquary.queueing.model.waiting import WaitingReadEvent
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.creation import create_at
from reliquary.queueing.rules.expiry import end_delay, some_delayed
from reliquary.queueing.rules.handles import end_wait
from reliquary.queueing.rules.leave import leave
from reliquary.queueing.rules.queue_life import QueueEvent, QueueLifeState, after
from reliquary.queueing.rules.transactions import promised, uncommitted, undo_users
from reliquary.queueing.security.permissions import check_own_list, end_forbidden_waits, with_list
from reliquary.queueing.staging import turns

FIXED: Final = frozenset({"transactional"})
"""Settings that cannot change after a queue was created, because messages may be on their way."""


# -- create and change


def create(state: State, request: CreateQueue, now: Instant) -> Queue | HResult:
    """Create Queue: private, public or a subqueue, with a journal of its own."""
    path = state.parse(request.path)
    if path.subqueue and request.settings.security:
        raise UsageError("a subqueue has no access list: the one of its queue counts")
    settings = _spelled(request.settings)
    settings = settings if path.subqueue else with_list(state, settings)
    check_settings(settings)
    if path.kind is QueueType.SYSTEM or path.journal:
        return HResult.ILLEGAL_QUEUE_PATHNAME
    if path.subqueue and state.find(path.queue) is None:
        return HResult.QUEUE_NOT_FOUND
    verdict = after(state.find(path), QueueEvent.CREATE)
    if isinstance(verdict, HResult):
        return verdict
    entry = None if request.skip_directory else membership.enter(state, path, settings, now)
    if isinstance(entry, HResult):
        return entry
    return create_at(state, path, settings, now, entry)


def change(state: State, request: ChangeQueue, now: Instant) -> Queue | HResult:
    """Change settings of a queue, and return its new record."""
    queue = destinations.find(state, request.path)
    verdict = after(queue, QueueEvent.CHANGE)
    if isinstance(verdict, HResult):
        return verdict
    assert queue is not None
    unknown = set(request.changes) - set(QueueSettings.__struct_fields__)
    if unknown:
        raise UsageError(f"a queue has no setting {', '.join(sorted(unknown))}")
    if FIXED & set(request.changes):
        raise UsageError(f"{', '.join(sorted(FIXED))} is fixed when a queue is created")
    fields = msgspec.to_builtins(queue.record.settings) | request.changes
    try:
        settings = _spelled(msgspec.convert(fields, QueueSettings))
    except msgspec.ValidationError as why:
        raise UsageError(str(why)) from why
    if "security" in request.changes:
        check_own_list(queue)
        settings = with_list(state, settings)
    check_settings(settings)
    record = msgspec.structs.replace(queue.record, settings=settings, modify_time=in_whole_seconds(now))
    status = membership.change(state, record, now)
    if status is not HResult.OK:
        return status
    apply(state, facts.QueueChanged(record))
    end_forbidden_waits(state, queue)
    return record


def _spelled(settings: QueueSettings) -> QueueSettings:
    """Return settings with the normal spelling of the multicast address; an empty address becomes None."""
    if settings.multicast_address is None:
        return settings
    address = normalized(settings.multicast_address) if settings.multicast_address else None
    return msgspec.structs.replace(settings, multicast_address=address)


# -- purge and delete


def purge(state: State, to: int, path: str, now: Instant) -> HResult:
    """Purge Queue: remove available messages; a locked one is removed when it is unlocked (DM-184)."""
    queue = destinations.find(state, path)
    verdict = after(queue, QueueEvent.PURGE)
    if isinstance(verdict, HResult):
        return verdict
    assert queue is not None
    _purge_locked(state, queue, now)
    empty_later(state, to, queue, MessageClass.NACK_QUEUE_PURGED)
    return HResult.OK


def _purge_locked(state: State, queue: QueueState, now: Instant) -> None:
    """Mark locked messages as purged, on disk, so that the timer removes them even after a crash (DM-040)."""
    sent = uncommitted(state, queue)  # AN-11
    marked = tuple(
        msgspec.structs.replace(position, purged=now)
        for lookup_id, position in sorted(queue.order.locked.items())
        if lookup_id not in sent and not position.purged
    )
    if marked:
        apply(state, facts.PositionsMarked(queue.number, marked))
        state.watch_clock(now, now)


def delete(state: State, to: int, path: str, now: Instant, *, skip_directory: bool = False) -> HResult:
    """Delete Queue: its name is free at once, its messages are removed turn by turn.

    Messages that a prepared transaction received stay until it ends, and so does the queue.
    """
    queue = destinations.find(state, path)
    verdict = after(queue, QueueEvent.DELETE)
    if isinstance(verdict, HResult):
        return verdict
    assert queue is not None
    # DEPARTS from 3.1.7.1.4 (AN-23): waits end, and journal and subqueues are deleted too,
    # because no client could ever reach them again.
    turns.finish_for(state, _family(queue), now)
    undo_users(state, _family(queue), now, f"the queue {path} was deleted")
    family = _family(queue)  # again: a returned message may have created the subqueue for poison messages
    for number in family:
        member = state.queues[number]
        _let_go(state, member)
        trimming.end_feed(state, member)
        apply(state, facts.QueueChanged(msgspec.structs.replace(member.record, deleting=True)))
    outcome = HResult.OK if skip_directory else membership.leave(state, queue.record)  # DM-157
    for number in family:
        asked = (to, outcome) if number == queue.number else (0, HResult.OK)
        empty_later(state, asked[0], state.queues[number], MessageClass.NACK_QUEUE_DELETED, asked[1])
    return HResult.OK


def _family(queue: QueueState) -> list[int]:
    """Return the numbers of a queue, its subqueues and its journal."""
    return [queue.number, *sorted(queue.subqueues), *filter(None, [queue.record.journal])]


def _let_go(state: State, queue: QueueState) -> None:
    """End the waits and the descriptors of a queue that is deleted (DM-155)."""
    for waiter in list(queue.readers.waiting.values()):
        end_wait(state, queue, waiter, WaitingReadEvent.QUEUE_DELETED)
    for descriptor in queue.readers.descriptors.values():
        descriptor.queue = None
        descriptor.locked.clear()
        if descriptor.one_request:
            del state.open.handles[descriptor.handle]
    queue.readers.descriptors.clear()
    queue.readers.exclusive = 0


def empty_later(
    state: State, to: int, queue: QueueState, reason: MessageClass, outcome: HResult = HResult.OK
) -> None:
    """Take the messages of a queue out in later turns; `to` gets the answer when the last one is gone."""
    going = EmptyQueue(to, queue.number, reason, state.numbers.sequence, outcome=outcome)
    state.draft.ask(Continue(going))


def empty(state: State, request: EmptyQueue) -> None:
    """Remove as many messages as one turn may, for a purge (DM-185) or a delete (DM-154)."""
    queue = state.queues.get(request.number)
    if queue is None:
        _emptied(state, request, request.count)
        return
    deleting = request.reason is MessageClass.NACK_QUEUE_DELETED
    kept = promised(state, queue) if deleting else set()
    if deleting:
        locked = sorted(queue.order.locked.keys() - uncommitted(state, queue) - kept)
        leave(state, queue, [queue.order.locked[lookup_id] for lookup_id in locked], request.reason)
    at_once = state.sizes.at_once
    found = queue.order.some(request.place, at_once)
    room = at_once - len(found)
    delayed = some_delayed(state, queue, request.delayed_place, room) if room else []
    going = [each for each in found if _goes(request, each)]
    later = end_delay(state, queue, [each for each in delayed if _goes(request, each)])
    leave(state, queue, [*going, *later], request.reason)
    count = request.count + len(going) + len(later)
    if len(found) + len(delayed) == at_once:
        place = request.place if len(going) == len(found) else found[-1].lookup_id
        delayed_place = request.delayed_place if len(later) == len(delayed) else delayed[-1].lookup_id
        more = msgspec.structs.replace(request, place=place, delayed_place=delayed_place, count=count)
        state.draft.ask(Continue(more))
        return
    if deleting and queue.feed.retained:
        trimming.trim_some(state, queue)
        state.draft.ask(Continue(msgspec.structs.replace(request, count=count)))
        return
    # the delete removes the messages that came after the purge
    if (
        deleting
        and after(queue, QueueEvent.EMPTIED) is QueueLifeState.ABSENT
        and not kept & queue.order.locked.keys()
    ):
        apply(state, facts.QueueDeleted(queue.number))  # DM-156
    if request.to:
        _emptied(state, request, count)


def _emptied(state: State, request: EmptyQueue, count: int) -> None:
    why = ""
    if request.outcome is not HResult.OK:
        why = f"the queue is deleted here, and the directory still has it: {request.outcome.sentence}"
    state.reply(request.to, Purged(request.outcome, why, count))  # DM-158


def _goes(request: EmptyQueue, position: Position) -> bool:
    """Return whether a message is removed: by a delete always, by a purge if it came before the purge."""
    deleting = request.reason is MessageClass.NACK_QUEUE_DELETED
    return deleting or position.lookup_id & SEQUENCE_MASK <= request.until
