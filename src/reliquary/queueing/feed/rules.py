"""The rules of feeds: look at marks, open, move and drop consumers, read a range."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.ruled import Rule
from reliquary.base.time import Instant, as_text
from reliquary.base.turn import Event
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.numbering import known_until, raise_mark
from reliquary.queueing.feed import ages, events, reading, trimming
from reliquary.queueing.feed.consumers import check_consumer
from reliquary.queueing.feed.facts import ConsumerDropped, ConsumerPlaced
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Consumer
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.permission import Act, lacks

READ_LIMIT: Final = 10_000
"""The largest number of positions in one answer."""
ERA: Final = "@"
"""The character between the identifier of a queue and the era of its manager."""


# -- which feeds


def look(state: State, request: events.LookAtFeeds, now: Instant) -> None:
    """Answer with the marks of feeds, which are set in this turn; the answer waits for the sync."""
    del now
    found: dict[int, QueueState] = {}
    for name in request.queues:
        if "*" in name:
            found |= {queue.number: queue for queue in _matching(state, name)}
            continue
        queue = find_feed(state, name)
        if isinstance(queue, Answer):
            state.reply(request.to, queue)
            return
        found[queue.number] = queue
    feeds = tuple(_view(state, queue, request.consumer) for queue in found.values())
    state.reply(request.to, events.FeedViews(HResult.OK, feeds=feeds))


def find_feed(state: State, name: str, incarnation: str = "") -> QueueState | Answer:
    """Return the queue with this name, or the answer that says why it has no feed."""
    queue = destinations.find(state, name)
    if queue is None:
        return Answer(HResult.QUEUE_NOT_FOUND, f"there is no queue {name}")
    if queue.link is not None:
        why = "messages that wait for another manager have no feed: name a queue of this manager"
        raise UsageError(f"{name} is a queue of another manager: {why}")
    if queue.is_closed:
        return Answer(HResult.ACCESS_DENIED, destinations.why_refused(HResult.ACCESS_DENIED, name))  # DM-094
    if incarnation and not (state.manager.era is None and incarnation == str(queue.record.identifier)):
        now = incarnation_of(state, queue)
        if incarnation != now:
            return _other(name, incarnation, now)
    return queue


def _other(name: str, then: str, now: str) -> Answer:
    """Return the answer about an incarnation of a queue that does not exist any more."""
    replaced = then.partition(ERA)[0] != now.partition(ERA)[0]
    what = f"{name} was deleted and created anew" if replaced else "the store was restored from a backup"
    return Answer(HResult.OTHER_QUEUE, f"{what}: {then} is gone, now it is {now}")


def incarnation_of(state: State, queue: QueueState) -> str:
    """Return a text that changes if a queue of this name is created again, or the store is restored.

    A reader with a stored offset compares it, to detect that messages after the backup may be missing.
    """
    era = state.manager.era
    return f"{queue.record.identifier}{ERA}{era.began}" if era is not None else str(queue.record.identifier)


def _matching(state: State, pattern: str) -> list[QueueState]:
    """Return the queues of applications that match a pattern and may be read; `*` matches no subqueue."""
    fits = _expression(pattern).fullmatch
    found = [
        queue
        for queue in state.queues.values()
        if not (queue.link or queue.record.is_journal or queue.record.deleting)
        and queue.record.kind is not QueueType.SYSTEM
        and fits(short_path(queue.record.pathname))
        and (state.turn.by is MANAGER or not lacks(state, state.turn.by, queue, Act.PEEK))
    ]
    return sorted(found, key=lambda queue: queue.record.pathname.casefold())


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    """Return a test for names; each piece of the pattern is searched once, however many stars it has."""
    begin, *middle, end = map(re.escape, pattern.split("*"))
    pieces = "".join(f"(?>[^;]*?{piece})" for piece in middle)
    return re.compile(f"{begin}{pieces}[^;]*{end}", re.IGNORECASE)


def _view(state: State, queue: QueueState, consumer: str) -> events.FeedView:
    known = queue.feed.consumers.get(consumer)
    state.draft.wait()
    return events.FeedView(
        HResult.OK,
        queue=short_path(queue.record.pathname),
        incarnation=incarnation_of(state, queue),
        mark=raise_mark(state, queue),
        cursor=None if known is None else known.cursor,
        paused=known is not None and known.paused,
        loss=None if known is None else known.loss,
        messages=queue.counts.stored + queue.counts.delayed + queue.feed.retained,
        bytes=queue.counts.stored_size + queue.feed.retained_size,
    )


# -- consumers


def open_consumer(state: State, request: events.OpenConsumer, now: Instant) -> None:
    """Open a consumer: from now on, messages that it has not read are kept."""
    queue = find_feed(state, request.queue)
    if isinstance(queue, Answer):
        state.reply(request.to, queue)
        return
    if request.name not in queue.feed.consumers:
        check_consumer(queue, request.name)
        latest = known_until(queue, state.numbers.sequence)
        at = latest if request.at is None else request.at
        check_number(at, latest)
        apply(state, ConsumerPlaced(queue.number, request.name, Consumer(at, now, now)))
        ages.watch(state, queue)
    state.reply(request.to, _view(state, queue, request.name))


def move_consumer(state: State, request: events.MoveConsumer, now: Instant) -> None:
    """Move the cursor of a consumer; messages that every consumer has read are deleted."""
    found = find_feed(state, request.queue, request.incarnation)
    if isinstance(found, Answer):
        state.reply(request.to, found)
        return
    record = found.feed.consumers.get(request.name)
    if record is None:
        state.reply(request.to, unknown(request.queue, request.name))
        return
    check_number(request.cursor, known_until(found, found.feed.mark))
    if request.cursor > record.cursor:
        moved = msgspec.structs.replace(record, cursor=request.cursor, moved=now)
        apply(state, ConsumerPlaced(found.number, request.name, moved))
        trimming.trim(state, found, now)
    state.reply(request.to, Answer(HResult.OK))


def drop_consumer(state: State, request: events.DropConsumer, now: Instant) -> None:
    """Drop a consumer that is not needed any more."""
    queue = find_feed(state, request.queue)
    if isinstance(queue, Answer):
        state.reply(request.to, queue)
        return
    if request.name not in queue.feed.consumers:
        why = f"{request.queue} has no consumer {request.name!r}"
        state.reply(request.to, Answer(HResult.OBJECT_NOT_FOUND, why))
        return
    apply(state, ConsumerDropped(queue.number, request.name))
    trimming.trim(state, queue, now)
    state.reply(request.to, Answer(HResult.OK))


def check_number(number: int, highest: int) -> None:
    """Return why a cursor may not be set here: numbers beyond the mark may still be assigned."""
    if not 0 <= number <= highest:
        raise UsageError(
            f"a place in this feed is 0 to {highest} by now, not {number}: look at the feed first; if it is"
            " an older number, it is of another manager, or of this one before a backup was restored"
        )


def unknown(queue: str, name: str) -> Answer:
    """Return the answer about a consumer for which nothing was kept."""
    why = (
        f"{queue} has no consumer {name!r}, so nothing was kept for it: open it anew, and see what was lost"
        " meanwhile"
    )
    return Answer(HResult.DATA_LOST, why)


# -- reading


def read(state: State, request: events.ReadFeed, now: Instant) -> None:
    """Answer with the positions of a range, in the order of arrival."""
    del now
    queue = find_feed(state, request.queue, request.incarnation)
    if isinstance(queue, Answer):
        state.reply(request.to, queue)
        return
    if not 1 <= request.limit <= READ_LIMIT:
        raise UsageError(f"one read gives 1 to {READ_LIMIT} messages, not {request.limit}")
    mark = queue.feed.mark if request.consumer in queue.feed.consumers else state.numbers.sequence
    for number in (request.after, request.until):
        check_number(number, known_until(queue, mark))
    if request.consumer:
        refused = _lost(queue, request)
        if refused is not None:
            state.reply(request.to, refused)
            return
    messages: dict[int, msgspec.Raw] | None = {} if request.with_messages else None
    page = reading.read(
        state,
        queue,
        request.after,
        request.until,
        request.limit,
        whole=bool(request.consumer),
        messages=messages,
    )
    more = page.reached < request.until
    state.draft.wait()
    answer = events.FeedRead(HResult.OK, "", queue.number, page.positions, more, page.reached, messages or {})
    state.reply(request.to, answer)


def _lost(queue: QueueState, request: events.ReadFeed) -> Answer | None:
    """Return why a consumer cannot read this range, or None."""
    record = queue.feed.consumers.get(request.consumer)
    if record is None:
        return unknown(request.queue, request.consumer)
    if request.after >= record.cursor:
        return None
    lost = record.loss
    if lost is not None and request.after < lost.until:
        why = (
            f"{request.consumer!r} lost {lost.messages} messages of {request.queue} ({lost.bytes} bytes)"
            f" after {lost.after} up to {lost.until}: its limit was passed at {as_text(lost.moment)}"
        )
    else:
        why = (
            f"{request.consumer!r} has read {request.queue} up to {record.cursor}, and what came before is"
            " not kept"
        )
    why += f": begin after {record.cursor}, not after {request.after}"
    return Answer(HResult.DATA_LOST, why)


RULES: Final[dict[type[Event], Rule[State]]] = {
    events.LookAtFeeds: look,
    events.OpenConsumer: open_consumer,
    events.MoveConsumer: move_consumer,
    events.DropConsumer: drop_consumer,
    events.ReadFeed: read,
    events.TrimFeed: trimming.go_on,
}
