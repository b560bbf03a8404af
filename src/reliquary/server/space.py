"""Watches the space on the disk: new messages are refused before it is full, so that readers can still work.

                    room: >= enough ---------------.
                        v                          |
    messages are taken --- room: < low --> refused: "too little space"    reading and removing go on
         |                                         |                      the store compacts its files
         reserve is made                           '--- room: < scarce --> the reserve is deleted

Room is the free space less the size of the store's logs, because the content of a log is written to a
sorted file before the log is deleted.  Between `low` and `enough` nothing changes, so that a disk near its
limit does not switch all the time.  The reserve, a file that only takes space, is also deleted before the
store is opened on a full disk; see `store/reserve.py`.

The time between two checks depends on the room: it is so short that a disk which takes FASTEST bytes a second
cannot become full between them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from reliquary.base.turn import Event, Warn
from reliquary.queueing.model.events import FlowControl
from reliquary.store.logs import bytes_of_logs
from reliquary.store.reserve import Reserve

MEGABYTE: Final = 1024 * 1024
LOW: Final = 128 * MEGABYTE
"""The default of `low_space`; on a small disk it is a tenth of it."""
RESERVE: Final = 160 * MEGABYTE
"""The default of `reserve`: all logs of a store become files of their size.  On a small disk, a twentieth."""
FASTEST: Final = 1024 * MEGABYTE
"""The bytes that a disk can take in a second."""
OFTENEST, SELDOMEST = 0.05, 5.0
"""The shortest and the longest time between two checks, in seconds."""
WHILE_REFUSING: Final = 2.0
"""The seconds between two checks while messages are refused; each lets the store release space."""


class Space(NamedTuple):
    """The sizes of a disk, in bytes."""

    free: int
    total: int
    logs: int = 0
    """The bytes of the store's logs, which need this space again as sorted files."""

    @property
    def room(self) -> int:
        """The bytes that remain after the logs have become files."""
        return self.free - self.logs


class Thresholds(NamedTuple):
    """The thresholds in bytes of room for each decision; `low` 0 switches all of them off."""

    low: int
    reserve: int

    @property
    def enough(self) -> int:
        """The room from which on messages are accepted again."""
        return self.low + self.low // 2

    @property
    def scarce(self) -> int:
        """The room below which the reserve is deleted."""
        return self.low // 4


class SpaceDecisions(NamedTuple):
    """The decisions that are in force now."""

    refusing: bool = False
    reserved: bool = False
    """Whether the reserve is to exist."""


def thresholds(total: int, low_space: int | None, reserve: int | None) -> Thresholds:
    """Return the thresholds for a disk of this size; settings are megabytes, None takes the default."""
    return Thresholds(
        min(LOW, total // 10) if low_space is None else low_space * MEGABYTE,
        min(RESERVE, total // 20) if reserve is None else reserve * MEGABYTE,
    )


def judge(at: Thresholds, room: int, held: int, before: SpaceDecisions) -> SpaceDecisions:
    """Return the decisions for this room and a reserve of `held` bytes; nothing is changed."""
    refusing = at.low > 0 and room < (at.enough if before.refusing else at.low)
    if not at.reserve:
        reserved = False
    elif held:
        reserved = room >= at.scarce
    else:
        reserved = not refusing and room >= at.enough + at.reserve
    return SpaceDecisions(refusing, reserved)


def space_of(folder: Path) -> Space:
    """Return the space on the disk of a folder, or of the nearest folder above it that can be read."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return space_of(folder.parent)
    return Space(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize, bytes_of_logs(folder))


def pause_before_next_look(at: Thresholds, room: int) -> float:
    """Return the seconds until the next check, so few that the room cannot fall below `low` in between."""
    return WHILE_REFUSING if room < at.low else min(max((room - at.low) / FASTEST, OFTENEST), SELDOMEST)


class Callbacks(NamedTuple):
    """The callbacks for the results of the watch."""

    submit: Callable[[Event], None]
    warn: Callable[[Warn], None]
    reclaim: Callable[[], None]
    """Called in a thread as long as there is too little room."""


class SpaceWatch:
    """Checks the disk of a store at intervals, and notifies the manager when to refuse messages."""

    def __init__(
        self,
        folder: Path,
        low_space: int | None,
        reserve: int | None,
        look_at: Callable[[Path], Space] = space_of,
    ) -> None:
        self._folder = folder.absolute()
        self._look_at = look_at
        self.space = look_at(self._folder)
        self._at = thresholds(self.space.total, low_space, reserve)
        self._reserve = Reserve(self._folder, self._at.reserve)
        self._standing = SpaceDecisions()
        self._next: asyncio.TimerHandle | None = None

    def make_room(self) -> None:
        """Delete the reserve if there is little room; the server calls this before it opens the store."""
        if not judge(self._at, self.space.room, self._reserve.held, self._standing).reserved:
            self.give_back()

    def give_back(self) -> int:
        """Delete the reserve, and return its size in bytes."""
        return self._reserve.release()

    def start(self, callbacks: Callbacks) -> None:
        """Check the disk at once, and repeatedly from now on."""
        self._look(callbacks)
        loop = asyncio.get_running_loop()
        if self._standing.refusing:
            loop.run_in_executor(None, callbacks.reclaim)
        self._next = loop.call_later(pause_before_next_look(self._at, self.space.room), self.start, callbacks)

    def stop(self) -> None:
        """Stop checking the disk."""
        if self._next is not None:
            self._next.cancel()

    def _look(self, callbacks: Callbacks) -> None:
        self.space = self._look_at(self._folder)
        before = self._standing
        self._standing = judge(self._at, self.space.room, self._reserve.held, before)
        if self._standing.refusing != before.refusing:
            why = self._why() if self._standing.refusing else ""
            callbacks.submit(FlowControl(self._standing.refusing, why))
            if why:
                callbacks.warn(Warn("the disk", "has too little space for new messages", why))
        if self._standing.reserved:
            self._reserve.make()
        elif self._reserve.held:
            callbacks.warn(Warn("the disk", "is nearly full, and the reserve file was deleted", self._why()))
            self.give_back()

    def _why(self) -> str:
        room, low = max(self.space.room, 0) // MEGABYTE, self._at.low // MEGABYTE
        return (
            f"the disk of {self._folder} has {room} megabytes free beside its logs, and below {low}"
            " no messages are taken: receive messages, or make room"
        )
