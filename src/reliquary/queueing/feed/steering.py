"""Set limits of consumers, pause them and move their cursors, as an administrator asks."""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.ruled import Rule
from reliquary.base.time import Instant
from reliquary.base.turn import Event
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.numbering import arrival_of, raise_mark
from reliquary.queueing.feed import ages, events, reading, trimming
from reliquary.queueing.feed.facts import ConsumerPlaced, QueueKept
from reliquary.queueing.feed.rules import READ_LIMIT, check_number, find_feed
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Consumer


def set_consumer(state: State, request: events.SetConsumer, now: Instant) -> None:
    """Set the limit of a consumer or of its queue, or pause the consumer; a limit holds at once."""
    queue = find_feed(state, request.queue)
    if isinstance(queue, Answer):
        state.reply(request.to, queue)
        return
    if not request.name:
        if request.paused is not None:
            raise UsageError("a queue cannot be paused for all of its consumers: name one of them")
        keep = None if request.inherit else request.keep or queue.feed.keep
        apply(state, QueueKept(queue.number, keep))
    else:
        record = queue.feed.consumers.get(request.name)
        if record is None:
            state.reply(request.to, _missing(request))
            return
        keep = None if request.inherit else request.keep or record.keep
        paused = record.paused if request.paused is None else request.paused
        changed = msgspec.structs.replace(record, keep=keep, paused=paused)
        apply(state, ConsumerPlaced(queue.number, request.name, changed))
    trimming.trim(state, queue, now)
    ages.watch(state, queue)
    state.reply(request.to, Answer(HResult.OK))


def reset_consumer(state: State, request: events.ResetConsumer, now: Instant) -> None:
    """Move a cursor forward or back, and answer what the consumer passes over or can read again."""
    queue = find_feed(state, request.queue)
    if isinstance(queue, Answer):
        state.reply(request.to, queue)
        return
    record = queue.feed.consumers.get(request.name)
    if record is None:
        state.reply(request.to, _missing(request))
        return
    mark = raise_mark(state, queue)
    cursor = mark if request.at is None else request.at
    check_number(cursor, mark)
    answer = _reset_answer(state, queue, record, cursor)
    if not request.dry_run and cursor != record.cursor:
        moved = msgspec.structs.replace(record, cursor=cursor, moved=now, loss=None)
        apply(state, ConsumerPlaced(queue.number, request.name, moved))
        trimming.trim(state, queue, now)
    state.reply(request.to, answer)


def _reset_answer(state: State, queue: QueueState, record: Consumer, cursor: int) -> events.ConsumerReset:
    """Return the effect of a new cursor; at most as many messages are counted as one read returns."""
    low, high = sorted((record.cursor, cursor))
    page = reading.read(state, queue, low, high, READ_LIMIT, whole=True)
    return events.ConsumerReset(
        HResult.OK,
        before=record.cursor,
        cursor=cursor,
        messages=len(page.positions),
        bytes=sum(each.size for each in page.positions),
        more=page.reached < high,
    )


def find_arrival_number(state: State, request: events.FindArrivalNumber, now: Instant) -> None:
    """Answer with the arrival number before the first message since a moment, or with the mark."""
    del now
    queue = find_feed(state, request.queue, request.incarnation)
    if isinstance(queue, Answer):
        state.reply(request.to, queue)
        return
    mark = raise_mark(state, queue)
    page = reading.read(state, queue, request.after, mark, READ_LIMIT, whole=True)
    later = next((arrival_of(each) for each in page.positions if each.arrived >= request.moment), None)
    place = page.reached if later is None else later - 1
    more = later is None and page.reached < mark
    state.draft.wait()
    state.reply(request.to, events.ArrivalNumberFound(HResult.OK, place=place, more=more))


def _missing(request: events.SetConsumer | events.ResetConsumer) -> Answer:
    return Answer(HResult.OBJECT_NOT_FOUND, f"{request.queue} has no consumer {request.name!r}")


RULES: Final[dict[type[Event], Rule[State]]] = {
    events.SetConsumer: set_consumer,
    events.ResetConsumer: reset_consumer,
    events.FindArrivalNumber: find_arrival_number,
}
