"""Small machines and disks for the tests of the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from reliquary.base.faults import StoreFailure
from reliquary.base.rows import Rows, Table
from reliquary.base.time import Instant
from reliquary.base.turn import Effect, Event, Fact, Reply, Signal, Turn
from reliquary.store.disk import Changes
from reliquary.store.memory import MemoryDisk

NOON = Instant(1_700_000_000_000_000)


class Note(msgspec.Struct, frozen=True):
    """A row with a text."""

    text: str


NOTES = Table("notes", Note)


class Noted(Fact, frozen=True):
    text: str


class VolatileNoted(Fact, frozen=True):
    """A fact that a crash may lose."""

    text: str

    @property
    def volatile(self) -> bool:
        return True


class NoteSignal(Signal, frozen=True):
    text: str


class Write(Event, frozen=True):
    """Keep a note, and answer when it is durable."""

    to: int
    text: str


class AnswerUnstored(Event, frozen=True):
    """Answer about something that is not stored."""

    to: int
    text: str


class Look(Event, frozen=True):
    """Answer with the present rows, and change nothing."""

    to: int


class Do(Event, frozen=True):
    """Return the turn that the test wants."""

    turn: Turn


class NotesMachine:
    """Keeps notes, and sends a signal about each."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.settled = 0
        self.seen: list[Event] = []

    def handle(self, event: Event, now: Instant) -> Turn:
        self.seen.append(event)
        match event:
            case Write(to, text):
                self._rows.put(NOTES, text.encode(), Note(text), size=len(text))
                return Turn((Noted(text),), (NoteSignal(text),), (Reply(to, text),))
            case AnswerUnstored(to, text):
                return Turn((VolatileNoted(text),), (), (Reply(to, text),))
            case Look(to):
                found = self._rows.range(NOTES, b"", b"\xff", limit=100)
                return Turn(effects=(Reply(to, [note.text for _, note in found]),))
            case Do(turn):
                return turn
            case _:
                return Turn()

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        return Turn()

    def settle(self) -> None:
        self.settled += 1


class RelayingMachine:
    """Handles signals about notes and keeps notes of its own; up to three times it tells them on."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def handle(self, event: Event, now: Instant) -> Turn:
        return Turn(effects=(Reply(getattr(event, "to", 0), "relaying"),))

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        assert isinstance(signal, NoteSignal)
        text = f"{signal.text}!"
        self._rows.put(NOTES, text.encode(), Note(text))
        again = (NoteSignal(text),) if text.count("!") < 3 else ()
        effects: tuple[Effect, ...] = (Reply(99, text),)
        return Turn((Noted(text),), again, effects)

    def settle(self) -> None:
        pass


class SlowDisk(MemoryDisk):
    """A disk whose syncs wait until the test lets them end."""

    def __init__(self) -> None:
        super().__init__(["notes"])
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Semaphore(0)
        self.begins = 0
        self.applies = 0
        self.failure: StoreFailure | None = None
        self.on_begin: Callable[[], None] = lambda: None

    def apply(self, changes: Changes) -> None:
        self.applies += 1
        super().apply(changes)

    def sync(self) -> None:
        covered = self.unsynced
        self.begins += 1
        self.on_begin()
        self.begun.release()
        self.may_end.acquire()
        if self.failure is not None:
            raise self.failure
        self._end_sync(covered)

    def let_go(self, syncs: int = 1) -> None:
        """Let this number of syncs end, now or when they begin."""
        self.may_end.release(syncs)
