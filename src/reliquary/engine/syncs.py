"""Batches that wait for a sync of the store, and the thread that syncs.

    settle(batch) --> waiting --> a sync begins: syncing --> it ends: the owner performs the effects
                         |                                                        |
                         '-- linger: sources that were answered ask again first <-'

What leaves the process does so in the order of the batches, after the first sync that began when they were
applied.  A sync runs inline when nothing else is under way, because to hand it to a thread costs more than it
saves; otherwise the store's thread does it, and the loop goes on.  A batch whose effects stay inside (an
acknowledgement whose sender now waits for more) begins no sync: the next one covers it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Final, Protocol

from reliquary.base.turn import Effect, Event
from reliquary.engine.clock import Clock
from reliquary.engine.core import Batch
from reliquary.store.disk import Disk

INLINE_TURNS: Final = 2
"""A batch with at most this number of turns is synced inline, because its senders wait for the answer."""
LINGER: Final = 300
"""Microseconds that a sync waits for the sources that were answered by the last one."""
UNASKED_SYNC_SECONDS: Final = 0.05
"""How long a change may stay unsynced if no caller waits for it."""


class Owner(Protocol):
    """The engine, as the syncs see it."""

    failure: BaseException | None
    """Why all work ended; None while it goes on."""

    def perform(self, effects: list[Effect]) -> None:
        """Perform effects that may leave the process."""

    def fail(self, failure: BaseException) -> None:
        """End all work: no effect leaves after a failed write or sync."""

    def watch_pressure(self) -> None:
        """Let the sources pause or go on, by the number of events under way."""

    def notify_idle(self) -> None:
        """Wake the task that waits until nothing is under way."""


@dataclass(slots=True)
class Linger:
    """Which sources a sync waits for, and until when.

    The engine adds a source when it is answered and removes it when it asks again; `Syncs` writes the rest.
    """

    expected: set[int] = field(default_factory=set)
    """Sources that were answered since the last sync began and have not asked again yet."""
    expected_before: set[int] = field(default_factory=set)
    """Sources that were answered since the sync before; one that is silent for longer is not expected."""
    is_waiting: bool = False
    until: int = 0


class Syncs:
    """The batches of an engine between their write and their effects; one sync at a time."""

    def __init__(self, owner: Owner, disk: Disk, clock: Clock, events: deque[Event]) -> None:
        self.linger = Linger()
        self.waiting: list[Batch] = []
        """Batches whose effects wait for a sync that has not begun."""
        self.syncing: list[Batch] = []
        """Batches whose effects wait for the sync of the store's thread."""
        self.is_syncing = False
        self.unsynced = False
        """Something was applied after the last sync began."""
        self.count = 0
        """The number of syncs that succeeded."""
        self._owner = owner
        self._disk = disk
        self._clock = clock
        self._events = events
        """Events that wait for their turns; written by the engine."""
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

    def settle(self, batch: Batch) -> None:
        """Perform the effects of a batch after a sync that covers it, or now if all is synced."""
        self.unsynced = self.unsynced or batch.applied
        if not batch.after_sync:
            self._sync_some_time()
        elif not self.unsynced and not self.is_syncing:
            self._owner.perform(batch.after_sync)
        else:
            self.waiting.append(batch)
            if not self.is_syncing:
                self._sync_waiting()
        self._owner.notify_idle()

    def drop(self) -> None:
        """Forget the batches that wait: their effects are never performed."""
        self.waiting.clear()
        self.syncing.clear()

    def close(self) -> None:
        """End the store's thread, and close the disk."""
        if self._later is not None:
            self._later.cancel()
        self._jobs.put(False)
        self._thread.join()
        self._disk.close()

    # -- when a sync begins

    def _sync_waiting(self) -> None:
        """Begin a sync for the batches that wait; without any, plan one for what no caller waits for."""
        if not self.waiting:
            self._sync_some_time()
        elif not self.linger.is_waiting:
            self.linger.until = self._clock.monotonic() + LINGER
            self._sync_soon()

    def _sync_soon(self) -> None:
        """Sync, but not before sources that were just answered had a moment to ask again.

        A producer and a consumer that are answered together ask again together; the first one waits a tick
        for the other, and one sync serves both.
        """
        linger = self.linger
        linger.is_waiting = False
        if self._owner.failure is not None or self.is_syncing:
            return
        silent = linger.expected or linger.expected_before
        if (self._events or silent) and self._clock.monotonic() < linger.until:
            linger.is_waiting = True
            assert self._loop is not None
            self._loop.call_soon(self._sync_soon)
        else:
            turns = sum(batch.turns for batch in self.waiting)
            self._sync_now(inline=turns <= INLINE_TURNS and not self._events)

    def _sync_some_time(self) -> None:
        """Plan a sync after a short while for what was applied, in case no other sync covers it."""
        if self.unsynced and self._later is None:
            assert self._loop is not None
            self._later = self._loop.call_later(UNASKED_SYNC_SECONDS, self._sync_unasked)

    def _sync_unasked(self) -> None:
        self._later = None
        if self.unsynced and not self.is_syncing and self._owner.failure is None:
            self._sync_now(inline=False)

    # -- one sync

    def _sync_now(self, *, inline: bool) -> None:
        """Begin a sync for all that was applied; one at a time."""
        linger = self.linger
        self.unsynced = False
        linger.expected_before, linger.expected = linger.expected, set()
        batches, self.waiting = self.waiting, []
        if inline:
            try:
                self._disk.sync()
            except BaseException as failure:  # noqa: BLE001 - whatever it is, nothing may leave after it
                self._owner.fail(failure)
                return
            self.count += 1
            self._release(batches)
        else:
            self.syncing = batches
            self.is_syncing = True
            self._jobs.put(True)

    def _sync_forever(self) -> None:
        """Run in the store's thread: one sync at a time, each for all that was applied before it began."""
        while self._jobs.get():
            failure: BaseException | None = None
            try:
                self._disk.sync()
            except BaseException as error:  # noqa: BLE001 - it is the loop that decides
                failure = error
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._synced, failure)
            if failure is not None:
                return

    def _synced(self, failure: BaseException | None) -> None:
        """Release the batches of the sync that the store's thread ended, and begin the next."""
        if failure is not None:
            self._owner.fail(failure)
            return
        self.count += 1
        self.is_syncing = False
        done, self.syncing = self.syncing, []
        if sum(batch.turns for batch in self.waiting) > INLINE_TURNS:
            self._sync_now(inline=False)
        self._release(done)
        if not self.is_syncing:
            self._sync_waiting()
        self._owner.watch_pressure()

    def _release(self, batches: list[Batch]) -> None:
        """Perform the effects of batches that are synced."""
        try:
            for batch in batches:
                self._owner.perform(batch.after_sync)
        except BaseException as failure:  # noqa: BLE001 - whatever it is, nothing may leave after it
            self._owner.fail(failure)
        self._owner.notify_idle()
