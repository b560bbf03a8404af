"""Decides when the open batch is written and synced, and runs the thread that syncs large batches.

    turns --> the open batch --close: applied--> a sync begins --> it ends: effects are performed
                    ^                                  |
                    '---- turns go on into the next ---'

A batch stays open as long as nothing is gained by closing it, so that one write, one row of counters and one
sync serve as many turns as possible:

    a sync runs in the store's thread   until it ends; a batch that gets too large is written before
    no effect waits to leave            until one does, or for a short while: the next sync covers it
    nothing was changed                 not at all: answers that show only what is safe leave at once
    it has many bytes                   not at all: the thread syncs them while the next turns run
    a turn expects work beside the sync not at all: the thread syncs, and the work goes on meanwhile
    otherwise                           until the loop has looked at its sockets once more and found nothing,
                                        or the batch is full

Clients that were answered together ask again within microseconds of each other; the last look lets them share
one sync.  A small batch is synced inline: to hand it to the thread, and to share the interpreter lock with
the thread, costs more than the loop loses by waiting.  Effects leave in the order of the batches, after the
first sync that began when their batch was applied.
"""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections import deque
from queue import SimpleQueue
from time import perf_counter
from typing import Final, Protocol

from reliquary.base.turn import Effect, Event
from reliquary.engine.core import Batch, Core
from reliquary.engine.histogram import Histogram
from reliquary.store.disk import Disk

OPEN_TURNS: Final = 512
"""The number of turns after which a batch is written, even while a sync runs."""
OPEN_BYTES: Final = 2 * 1024 * 1024
"""The bytes of large rows after which a batch is written, even while a sync runs."""
INLINE_TURNS: Final = 64
INLINE_BYTES: Final = 64 * 1024
"""A batch with at most this number of turns and of bytes is synced inline."""
SYNC_BYTES: Final = 256 * 1024
"""The bytes of large rows for which a sync begins at once; the turns of further requests run beside it."""
UNASKED_SYNC_SECONDS: Final = 0.05
"""The longest time that a change stays without a sync if no caller waits for it."""
SECONDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Bounds of the histogram of the time that syncs take."""
TURNS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
"""Bounds of the histogram of the turns that a sync covers."""


class Owner(Protocol):
    """The functions of the engine that `Syncs` calls."""

    failure: BaseException | None
    """The reason why all work ended; None while the engine works."""

    def perform(self, effects: list[Effect]) -> None:
        """Perform effects that may leave the process."""

    def enqueue(self, event: Event) -> None:
        """Take an event; its turn comes with the next batch."""

    def fail(self, failure: BaseException) -> None:
        """End all work: no effect leaves after a failed write or sync."""

    def watch_pressure(self) -> None:
        """Let the sources pause or go on, by the number of events under way."""

    def notify_idle(self) -> None:
        """Wake the task that waits until nothing is under way."""


class Syncs:
    """The batches of an engine between their turns and their effects; one sync at a time."""

    def __init__(self, owner: Owner, core: Core, disk: Disk, events: deque[Event]) -> None:
        self.waiting: list[Batch] = []
        """Batches that were written because they were large; their effects wait for the next sync."""
        self.syncing: list[Batch] = []
        """Batches whose effects wait for the sync of the store's thread."""
        self.beside: list[Event] = []
        """Events that are handed back when a sync has begun (`ContinueBesideSync`)."""
        self.is_syncing = False
        self.unsynced = False
        """A batch was applied after the last sync began."""
        self.count = 0
        """The number of syncs that succeeded."""
        self.durations = Histogram(SECONDS)
        self.sizes = Histogram(TURNS)
        self.began = self.ended = 0.0
        """The beginning and the end of the last sync that ended, as `perf_counter` counts."""
        self._covered = 0
        """The number of turns that were applied since the last sync began."""
        self.turns = 0
        """The number of turns whose effects wait; the engine adds those that it runs."""
        self._is_looking = False
        """The loop looks at its sockets before the batch is closed."""
        self._owner = owner
        self._core = core
        self._disk = disk
        self._events = events
        """The events that wait for their turns; the engine writes this list."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._later: asyncio.TimerHandle | None = None
        """Begins the sync of changes that no caller waits for."""
        self._jobs: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._sync_forever, name="store-sync", daemon=True)

    # -- what the engine calls

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the store's thread; its syncs end in this loop."""
        self._loop = loop
        self._thread.start()

    def proceed(self) -> None:
        """Keep the batch open, write it, or begin a sync; called when turns were added to it."""
        core = self._core
        if core.batch.turns >= OPEN_TURNS or core.rows.size >= OPEN_BYTES:
            self._write()
        if self.is_syncing:
            return
        if self.beside:
            self._begin_beside()
        elif self._is_looking:
            return
        elif not (core.batch.after_sync or self.waiting):
            self._sync_some_time()
        elif core.rows.size >= SYNC_BYTES or (not self.unsynced and core.rows.is_empty):
            # it has many bytes, or only reads, and all that they show is on disk
            self._sync()
        else:
            self._is_looking = True
            assert self._loop is not None
            self._loop.call_soon(self._look)

    @property
    def is_due(self) -> bool:
        """Return whether the bytes of the open batch reach SYNC_BYTES, so that its sync begins at once."""
        core = self._core
        has_effects = bool(core.batch.after_sync or self.waiting)
        return core.rows.size >= SYNC_BYTES and has_effects and not self.is_syncing

    @property
    def is_idle(self) -> bool:
        """Return whether no effect waits for a sync."""
        return not (self._core.batch.after_sync or self.waiting or self.is_syncing)

    def drop(self) -> None:
        """Forget the batches that wait: their effects are never performed."""
        self.waiting.clear()
        self.syncing.clear()
        self.beside.clear()

    def close(self) -> None:
        """Write the changes that are left, end the store's thread, and close the disk."""
        if self._later is not None:
            self._later.cancel()
        if self._owner.failure is None:
            self._core.close()
        self._jobs.put(False)
        self._thread.join()
        self._disk.close()

    # -- when a sync begins

    def _look(self) -> None:
        """Sync, unless the loop found requests since the last turns and the batch has room for them."""
        self._is_looking = False
        if self._owner.failure is not None or self.is_syncing or (self._events and not self._is_full):
            return
        try:
            self._sync()
        except BaseException as failure:  # noqa: BLE001 - after any failure no effect may leave
            self._owner.fail(failure)

    @property
    def _is_full(self) -> bool:
        """Return whether no more requests are looked for: a stream of them must not hold back all answers."""
        core = self._core
        return bool(self.waiting) or core.batch.turns >= INLINE_TURNS or core.rows.size >= SYNC_BYTES

    def _sync_some_time(self) -> None:
        """Plan a sync after a short while for what was changed, in case no other sync covers it."""
        if self._later is None and (self.unsynced or self._core.batch.turns):
            assert self._loop is not None
            self._later = self._loop.call_later(UNASKED_SYNC_SECONDS, self._sync_unasked)

    def _sync_unasked(self) -> None:
        self._later = None
        if self.is_syncing or self._owner.failure is not None:
            return
        try:
            self._write()
            if self.unsynced:
                self._begin()
        except BaseException as failure:  # noqa: BLE001 - after any failure no effect may leave
            self._owner.fail(failure)

    # -- one sync

    def _write(self) -> None:
        """Close the open batch: its changes are applied, and its effects wait."""
        batch = self._core.close()
        self.unsynced = self.unsynced or batch.applied
        self._covered += batch.turns
        if batch.after_sync:
            self.waiting.append(batch)
        else:
            self.turns -= batch.turns

    def _sync(self) -> None:
        """Close the open batch, sync it and perform its effects; a large batch is synced in the thread."""
        self._write()
        turns = size = 0
        for batch in self.waiting:
            turns += batch.turns
            size += batch.size
        if not self.unsynced:
            self._covered = 0
            self._release(self._take_waiting())
        elif turns <= INLINE_TURNS and size <= INLINE_BYTES:
            batches = self._take_waiting()
            self.unsynced = False
            began = perf_counter()
            self._disk.sync()
            # Measured in place: this runs for each message of a client that waits for every answer.
            self.began, self.ended = began, perf_counter()
            self.durations.counts[bisect_left(SECONDS, self.ended - began)] += 1
            self.durations.sum += self.ended - began
            self.sizes.counts[bisect_left(TURNS, self._covered)] += 1
            self.sizes.sum += self._covered
            self._covered = 0
            self.count += 1
            self._release(batches)
        else:
            self._begin()

    def _take_waiting(self) -> list[Batch]:
        batches, self.waiting = self.waiting, []
        return batches

    def _begin(self) -> None:
        """Begin a sync in the store's thread, for all that was applied."""
        self.syncing = self._take_waiting()
        self.unsynced = False
        self.is_syncing = True
        self.sizes.counts[bisect_left(TURNS, self._covered)] += 1
        self.sizes.sum += self._covered
        self._covered = 0
        self._jobs.put(True)

    def _begin_beside(self) -> None:
        """Write the open batch, sync it in the store's thread, and enqueue the events that run beside it."""
        self._write()
        self._begin()
        events, self.beside = self.beside, []
        for event in events:
            self._owner.enqueue(event)

    def _sync_forever(self) -> None:
        """Run in the store's thread: one sync at a time, each for all that was applied before it began."""
        while self._jobs.get():
            failure: BaseException | None = None
            began = perf_counter()
            try:
                self._disk.sync()
            except BaseException as error:  # noqa: BLE001 - the loop decides what follows
                failure = error
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._synced, failure, began, perf_counter())
            if failure is not None:
                return

    def _synced(self, failure: BaseException | None, began: float, ended: float) -> None:
        """Perform the effects of the sync that the store's thread ended, and begin the next."""
        if failure is not None:
            self._owner.fail(failure)
            return
        self.began, self.ended = began, ended
        self.durations.counts[bisect_left(SECONDS, ended - began)] += 1
        self.durations.sum += ended - began
        self.count += 1
        self.is_syncing = False
        done, self.syncing = self.syncing, []
        if self._owner.failure is not None:
            return
        try:
            if self.beside or self._core.rows.size > INLINE_BYTES or self.waiting:
                self._begin_beside()
            self._release(done)
            self.proceed()
        except BaseException as error:  # noqa: BLE001 - after any failure no effect may leave
            self._owner.fail(error)
            return
        self._owner.watch_pressure()

    def _release(self, batches: list[Batch]) -> None:
        """Perform the effects of batches that are synced."""
        for batch in batches:
            self.turns -= batch.turns
            self._owner.perform(batch.after_sync)
        self._owner.notify_idle()
