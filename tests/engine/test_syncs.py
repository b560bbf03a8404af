"""Batches wait for a sync that began after they were applied; `test_loop` shows it in a whole engine."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from reliquary.base.time import Instant
from reliquary.base.turn import Effect, Event, Reply, TimerFired
from reliquary.engine.core import Batch
from reliquary.engine.syncs import INLINE_TURNS, Syncs
from reliquary.store.memory import MemoryDisk


class StillClock:
    """A clock that stands still, so that a sync waits for its sources without end."""

    jumps = 0

    def now(self) -> Instant:
        return Instant(0)

    def monotonic(self) -> int:
        return 0


class Notes:
    """An owner of syncs that notes what it is asked to do."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self.performed: list[Effect] = []
        self.watched = 0
        self.events: deque[Event] = deque()
        self.syncs = Syncs(self, MemoryDisk([]), StillClock(), self.events)

    def perform(self, effects: list[Effect]) -> None:
        self.performed += effects

    def fail(self, failure: BaseException) -> None:
        self.failure = failure

    def watch_pressure(self) -> None:
        self.watched += 1

    def notify_idle(self) -> None:
        """The tests wait for what they want to see."""


def run(story: Callable[[Notes], Coroutine[Any, Any, None]]) -> None:
    async def begin() -> None:
        notes = Notes()
        notes.syncs.start(asyncio.get_running_loop())
        await story(notes)
        notes.syncs.close()

    asyncio.run(asyncio.wait_for(begin(), timeout=30))


def batch(text: str, *, applied: bool, turns: int = 1) -> Batch:
    return Batch(after_sync=[Reply(1, text)], applied=applied, turns=turns)


def answers(notes: Notes) -> list[object]:
    return [each.answer for each in notes.performed if isinstance(each, Reply)]


def test_effects_of_a_batch_without_changes_need_no_sync() -> None:
    async def story(notes: Notes) -> None:
        notes.syncs.settle(batch("a", applied=False))
        assert (answers(notes), notes.syncs.count) == (["a"], 0)

    run(story)


def test_a_small_batch_is_synced_inline() -> None:
    async def story(notes: Notes) -> None:
        notes.syncs.settle(batch("a", applied=True))
        assert (answers(notes), notes.syncs.count, notes.syncs.unsynced) == (["a"], 1, False)

    run(story)


def test_a_large_batch_is_synced_by_the_thread() -> None:
    async def story(notes: Notes) -> None:
        notes.syncs.settle(batch("a", applied=True, turns=INLINE_TURNS + 1))
        assert notes.syncs.is_syncing
        notes.syncs.settle(batch("b", applied=False))  # it may show what is not synced yet
        assert answers(notes) == []
        while len(answers(notes)) < 2:
            await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(int))])
        assert (answers(notes), notes.watched) == (["a", "b"], 1)

    run(story)


def test_a_sync_waits_for_sources_that_were_just_answered() -> None:
    async def story(notes: Notes) -> None:
        notes.syncs.linger.expected.add(7)
        notes.syncs.settle(batch("a", applied=True))
        assert (answers(notes), notes.syncs.linger.is_waiting) == ([], True)
        notes.syncs.linger.expected.discard(7)
        notes.syncs._sync_soon()
        assert answers(notes) == ["a"]

    run(story)


def test_effects_of_dropped_batches_are_never_performed() -> None:
    async def story(notes: Notes) -> None:
        notes.events.append(TimerFired(("a", 0)))  # a sync waits for its turn
        notes.syncs.settle(batch("a", applied=True))
        notes.syncs.drop()
        notes.events.clear()
        notes.syncs._sync_soon()
        assert answers(notes) == []

    run(story)
