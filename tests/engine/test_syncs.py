"""Tests that the open batch is written and synced in time, inline or in the thread; `test_loop` shows a whole
engine."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reliquary.base.faults import StoreFailure
from reliquary.base.turn import Effect, Event, Reply
from reliquary.engine.core import Core
from reliquary.engine.syncs import INLINE_BYTES, INLINE_TURNS, Syncs
from reliquary.store.staging import StagedRows
from tests.engine.machines import NOON, Look, NotesMachine, SlowDisk, Write


class Notes:
    """An owner of syncs that records its calls."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self.performed: list[Effect] = []
        self.watched = 0
        self.events: deque[Event] = deque()
        self.disk = SlowDisk()
        self.threads: list[threading.Thread] = []
        self.disk.on_begin = lambda: self.threads.append(threading.current_thread())
        rows = StagedRows(self.disk)
        self.core = Core(self.disk, rows)
        self.core.add(NotesMachine(rows))
        self.syncs = Syncs(self, self.core, self.disk, self.events)

    def write(self, text: str, turns: int = 1) -> None:
        """Run turns that write notes, and let the syncs proceed."""
        for number in range(turns):
            self.core.turn(Write(1, f"{text}{number or ''}"), NOON)
        self.syncs.turns += turns
        self.syncs.proceed()

    def look(self) -> None:
        """Run a turn that changes nothing and whose answer may show what others changed."""
        self.core.turn(Look(1), NOON)
        self.syncs.turns += 1
        self.syncs.proceed()

    def perform(self, effects: list[Effect]) -> None:
        self.performed += effects

    def enqueue(self, event: Event) -> None:
        self.events.append(event)

    def fail(self, failure: BaseException) -> None:
        self.failure = failure

    def watch_pressure(self) -> None:
        self.watched += 1

    def notify_idle(self) -> None:
        """Do nothing, because the tests wait for the results that they need."""

    @property
    def answers(self) -> list[object]:
        return [each.answer for each in self.performed if isinstance(each, Reply)]

    async def until(self, true: Callable[[], bool]) -> None:
        while not true():
            await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(int))])


def run(story: Callable[[Notes], Coroutine[Any, Any, None]]) -> None:
    async def begin() -> None:
        notes = Notes()
        notes.syncs.start(asyncio.get_running_loop())
        await story(notes)
        notes.disk.let_go(10)
        if notes.failure is None:
            notes.syncs.close()

    asyncio.run(asyncio.wait_for(begin(), timeout=30))


def test_effects_of_a_batch_without_changes_need_no_sync() -> None:
    async def story(notes: Notes) -> None:
        notes.look()
        await notes.until(lambda: notes.answers == [[]])
        assert notes.syncs.count == 0

    run(story)


def test_a_small_batch_is_synced_inline() -> None:
    async def story(notes: Notes) -> None:
        notes.disk.let_go()
        notes.write("a")
        await notes.until(lambda: notes.answers == ["a"])
        assert (notes.syncs.count, notes.syncs.unsynced) == (1, False)
        assert notes.threads == [threading.current_thread()]

    run(story)


def test_each_sync_is_measured_with_the_turns_that_it_covers() -> None:
    async def story(notes: Notes) -> None:
        notes.look()  # it needs no sync, and is counted with none
        await notes.until(lambda: notes.answers == [[]])
        notes.disk.let_go(2)
        notes.write("a", 3)
        await notes.until(lambda: len(notes.answers) == 4)
        notes.write("b", INLINE_TURNS + 1)
        await notes.until(lambda: notes.syncs.count == 2)
        syncs = notes.syncs
        assert (syncs.sizes.count, syncs.sizes.sum) == (2, 3 + INLINE_TURNS + 1)
        assert syncs.durations.count == 2
        assert 0 < syncs.began <= syncs.ended
        assert syncs.durations.sum > 0

    run(story)


@pytest.mark.parametrize(
    ("text", "turns"), [("a", INLINE_TURNS + 1), ("a" * INLINE_BYTES, 2)], ids=["turns", "bytes"]
)
def test_a_large_batch_is_synced_by_the_thread_and_what_comes_meanwhile_waits(text: str, turns: int) -> None:
    async def story(notes: Notes) -> None:
        notes.write(text, turns)
        await notes.until(lambda: notes.syncs.is_syncing)
        notes.look()  # it may show what is not synced yet
        assert (notes.answers, notes.syncs.turns) == ([], turns + 1)
        notes.disk.let_go()
        await notes.until(lambda: len(notes.answers) == turns + 1)
        assert notes.watched == 1
        assert notes.threads[0] is not threading.current_thread()

    run(story)


def test_the_thread_syncs_a_small_batch_beside_work_that_is_expected() -> None:
    async def story(notes: Notes) -> None:
        notes.syncs.beside.append(Look(1))
        notes.write("a")
        assert (notes.syncs.is_syncing, list(notes.events)) == (True, [Look(1)])
        notes.syncs.beside.append(Look(2))
        notes.write("b")
        assert list(notes.events) == [Look(1)]  # one sync at a time
        notes.disk.let_go()
        await notes.until(lambda: notes.answers == ["a"])
        assert (notes.syncs.is_syncing, list(notes.events)) == (True, [Look(1), Look(2)])
        notes.disk.let_go()
        await notes.until(lambda: notes.answers == ["a", "b"])
        assert threading.current_thread() not in notes.threads

    run(story)


def test_a_batch_is_not_closed_while_events_wait_for_their_turns() -> None:
    async def story(notes: Notes) -> None:
        notes.disk.let_go()
        notes.events.append(Look(1))
        notes.write("a")
        for _ in range(2):
            await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(int))])
        assert (notes.answers, notes.disk.applies) == ([], 0)
        notes.events.clear()
        notes.write("b")
        await notes.until(lambda: notes.answers == ["a", "b"])
        assert (notes.disk.applies, notes.disk.begins) == (1, 1)

    run(story)


def test_a_full_batch_is_synced_though_more_events_wait() -> None:
    """Otherwise clients that send without waiting for answers would hold back all answers."""

    async def story(notes: Notes) -> None:
        notes.events.append(Look(1))
        notes.write("a", INLINE_TURNS)
        notes.disk.let_go()
        await notes.until(lambda: len(notes.answers) == INLINE_TURNS)

    run(story)


def test_effects_of_dropped_batches_are_never_performed() -> None:
    async def story(notes: Notes) -> None:
        notes.write("a", INLINE_TURNS + 1)
        await notes.until(lambda: notes.syncs.is_syncing)
        notes.write("b")
        notes.failure = StoreFailure("io", "the disk is broken")
        notes.syncs.drop()
        notes.disk.let_go(2)
        await notes.until(lambda: not notes.syncs.is_syncing)
        assert notes.answers == []
        notes.disk.failure = notes.failure
        with pytest.raises(StoreFailure):
            notes.syncs.close()

    run(story)
