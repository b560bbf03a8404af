"""What the plain model is made of: entries in lists, and who has locked or opened what.

Nothing here is taken from the manager but the status codes, the enumerations and a message's size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import Access, Share

KILOBYTE = 1024
NO_LIMIT = 0xFFFFFFFF

Key = tuple[int, int]
"""The lane, then the order of arrival: entries of a queue are sorted by it."""
START: Key = (-1, 0)
END: Key = (1 << 60, 0)

PlainAnswer = tuple[HResult, tuple[bytes, ...]]
"""A status, and the bodies that came with it."""


@dataclass(eq=False)
class Entry:
    """One message at one place."""

    body: bytes
    size: int
    key: Key
    express: bool
    expires: int = 0
    """Microseconds since 1970; 0 is never."""
    peekable: bool = False
    negative_journaling: bool = False
    positive_journaling: bool = False
    application_deadletter: str = ""
    transactional: bool = False
    """It was sent in a transaction."""
    owner: object = None
    """The transaction or the handle that has locked it."""
    purged: bool = False
    """PurgePending: the queue was purged while it was locked."""


@dataclass(eq=False)
class PlainQueue:
    """A queue, a subqueue, a journal or a system queue."""

    path: str
    number: int
    transactional: bool = False
    journaling: bool = False
    quota: int = NO_LIMIT
    journal_quota: int = NO_LIMIT
    journal: PlainQueue | None = None
    deleted: bool = False
    """Its name is free; it stays while a prepared transaction has something of it."""
    gone: bool = False
    entries: list[Entry] = field(default_factory=list)
    opens: list[Open] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    news: list[Entry] = field(default_factory=list)
    """What became available in this turn."""

    @property
    def is_system(self) -> bool:
        return self.path.startswith("system$")

    @property
    def is_journal(self) -> bool:
        return self.path.endswith(";journal") and not self.is_system

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)

    def put(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.entries.sort(key=lambda each: each.key)
        self.news.append(entry)

    def available(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.owner is None]

    def visible(self, now: int) -> list[Entry]:
        """Return what a peek sees: what is available, and what is locked, not hidden, and allows it."""
        return [
            entry
            for entry in self.entries
            if entry.owner is None or (entry.peekable and not is_hidden(entry, now))
        ]

    def at(self, key: Key) -> Entry | None:
        return next((entry for entry in self.entries if entry.key == key), None)


def is_over(entry: Entry, now: int) -> bool:
    """Return whether its time to be received has run out, or its queue was purged while it was locked."""
    return 0 < entry.expires <= now or entry.purged


def is_hidden(entry: Entry, now: int) -> bool:
    """Return whether its time is over; an entry that waits for its purge still has an owner (AN-27)."""
    return is_over(entry, now) and not (entry.purged and entry.owner is not None)


def fits(quota: int, size: int) -> bool:
    """Return whether this many bytes are within a quota in kilobytes."""
    return quota == NO_LIMIT or size <= quota * KILOBYTE


@dataclass(eq=False)
class Open:
    """An open queue: by a handle, or for the time of one request."""

    queue: PlainQueue | None
    access: Access
    share: Share
    passing: bool = False
    held: list[Entry] = field(default_factory=list)
    hold_ends: int = 0
    cursors: list[PlainCursor] = field(default_factory=list)
    closed: bool = False


class Standing(Enum):
    """The states of a cursor, 3.2."""

    UNREAD = "unread"
    READ = "read"
    WAITING = "waiting"


@dataclass(eq=False)
class PlainCursor:
    """A place in a queue."""

    open: Open
    place: Key = START
    standing: Standing = Standing.UNREAD


@dataclass(eq=False)
class Wait:
    """A read that found nothing."""

    caller: int
    queue: PlainQueue
    open: Open
    ends: int
    peek: bool
    count: int = 1
    hold: int = 0
    transaction: PlainTransaction | None = None
    cursor: PlainCursor | None = None


@dataclass(eq=False)
class Operation:
    """One operation of a transaction: send, receive or move."""

    kind: str
    queue: PlainQueue
    entry: Entry
    target: PlainQueue | None = None


@dataclass(eq=False)
class PlainTransaction:
    """A transaction that has not ended."""

    operations: list[Operation] = field(default_factory=list)
    prepared: bool = False
    single_phase: bool = True
    undone: bool = False
    """A queue that it used was deleted: it can only be aborted."""


def excludes(existing: Open, access: Access, share: Share) -> bool:
    """Return whether two modes exclude each other by the sharing matrix; admin receive is receive (AN-48)."""
    reads, peeks = (Access.RECEIVE, Access.RECEIVE_ADMIN), (Access.PEEK, Access.PEEK_ADMIN)
    alone = existing.share is Share.DENY_RECEIVE
    if alone and existing.access in reads:
        return access in reads or share is Share.DENY_RECEIVE
    if alone and existing.access in peeks:
        return access in reads
    return existing.access in reads and share is Share.DENY_RECEIVE


USES = {
    Access.RECEIVE: {Access.RECEIVE, Access.PEEK},
    Access.RECEIVE_ADMIN: {Access.RECEIVE, Access.PEEK},
    Access.PEEK: {Access.PEEK},
    Access.PEEK_ADMIN: {Access.PEEK},
    Access.SEND: {Access.SEND},
    Access.MOVE: {Access.MOVE, Access.RECEIVE, Access.PEEK},
}
"""What an open queue may be used for."""
