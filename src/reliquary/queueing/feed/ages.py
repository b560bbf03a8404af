"""Compute how old messages of feeds are, from the numbers that feeds had at some moments.

    time      ----10----20----30----40----50--> elapsed      counted only while a manager runs
    number        41    41    58    90    93                 the highest number of any feed then

A message up to number 58 was in its feed at 30, so it is at least 20 old.  Each note of the
numbers raises the marks of the feeds, so that no message becomes visible later under a number that was noted.
Old entries are thinned out: the time between two that stay is at most a sixteenth of their age.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant, seconds
from reliquary.base.turn import SetTimer
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.numbering import raise_mark
from reliquary.queueing.feed.consumers import limit_of
from reliquary.queueing.feed.facts import FeedsLooked
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Moments

LOOK: Final = ("keep", 0)
"""The timer of the next note; it runs while a consumer has a limit by age."""
PARTS: Final = 16
SHORTEST_LOOK: Final = seconds(1)
LONGEST_LOOK: Final = seconds(3600)


def outdated(moments: Moments, age: int) -> int:
    """Return the highest number of a message that has been in its feed for at least this age, or 0."""
    limit = moments.elapsed - age
    return max((mark for at, mark in moments.marks if at <= limit), default=0)


def noted(moments: Moments, step: int, mark: int, longest: int) -> Moments:
    """Return the moments with one more, after a step of time; marks behind the longest age are forgotten."""
    elapsed = moments.elapsed + step
    marks = [*moments.marks, (elapsed, mark)]
    forgotten = sum(at <= elapsed - longest for at, _ in marks) - 1
    kept: list[tuple[int, int]] = []
    recent = marks[max(forgotten, 0) :]
    for (at, number), following in zip(recent, [*recent[1:], None], strict=True):
        close = kept and following and following[0] - kept[-1][0] <= (elapsed - following[0]) // PARTS
        if not close:
            kept.append((at, number))
    return Moments(elapsed, tuple(kept))


def watch(state: State, queue: QueueState) -> None:
    """Set the timer of the next note earlier, if a consumer of this queue needs that."""
    if limits := _ages(state, queue):
        interval = _interval(min(limits))
        if not state.ages.watched or interval < state.ages.watched:
            _set_timer(state, interval)


def look(state: State, now: Instant) -> list[QueueState]:
    """Note the highest number of the feeds, and return the queues whose messages may be too old."""
    step = min(max(now - state.ages.looked, 0), 2 * state.ages.watched) if state.ages.looked else 0
    state.ages.watched = 0
    limited = _limited(state)
    if not limited:
        return []
    mark = min([raise_mark(state, queue) for queue in state.queues.values()])
    state.ages.looked = now
    ages = [age for limits in limited.values() for age in limits]
    apply(state, FeedsLooked(noted(state.ages.moments, step, mark, max(ages))))
    _set_timer(state, _interval(min(ages)))
    return [state.queues[number] for number in limited if state.queues[number].feed.retained]


def begin(state: State) -> None:
    """Set the first timer after a start, if a consumer has a limit by age."""
    state.ages.watched, state.ages.looked = 0, 0
    for number in _limited(state):
        watch(state, state.queues[number])


def _limited(state: State) -> dict[int, list[int]]:
    """Return the limits by age of each queue that has any."""
    found = {number: _ages(state, queue) for number, queue in state.queues.items() if queue.feed.consumers}
    return {number: limits for number, limits in found.items() if limits}


def _ages(state: State, queue: QueueState) -> list[int]:
    """Return the limits by age of the consumers of a queue."""
    limits = [limit_of(state, queue, each).age for each in queue.feed.consumers.values()]
    return [age for age in limits if age]


def _set_timer(state: State, interval: Duration) -> None:
    state.ages.watched = interval
    state.draft.ask(SetTimer(LOOK, interval))


def _interval(age: int) -> Duration:
    return Duration(min(max(age // PARTS, SHORTEST_LOOK), LONGEST_LOOK))
