"""What the transports are asked and what they answer, besides messages.

The fields are those of the JSON API, so these structs are also its records.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from reliquary.client.message import Message
from reliquary.views.queues import Privacy

Access = Literal["receive", "peek", "send", "move"]
Share = Literal["deny-none", "deny-receive"]
Seek = Literal["current", "next", "previous", "first", "last"]
AccessChange = Literal["grant", "deny", "revoke", "owner"]


class Receive(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A receive; without `hold` and `transaction` the messages are gone when it answers."""

    count: int = 1
    timeout: float | None = 0
    hold: float = 0
    acknowledge: str | None = None
    transaction: str | None = None
    handle: str | None = None
    cursor: str | None = None


class Peek(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A look at the first message, or with a cursor at the one under it or the next."""

    timeout: float | None = 0
    handle: str | None = None
    cursor: str | None = None
    next: bool = False


class LookUp(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message by its place; `peek` leaves it there."""

    lookup_id: int
    seek: Seek = "current"
    peek: bool = True
    hold: float = 0
    transaction: str | None = None
    handle: str | None = None


class Move(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message and the queue it is to go to."""

    lookup_id: int
    target: str
    transaction: str | None = None
    handle: str | None = None


class Received(msgspec.Struct, frozen=True):
    """Messages, and the receipt under which they are held, if they are."""

    messages: list[Message]
    receipt: str | None = None


class QueueOptions(TypedDict, total=False):
    """The options for creating or changing a queue; the fields of `views.queues.Settings`."""

    label: str
    journaling: bool
    journal_required: bool
    quota: int | None
    journal_quota: int | None
    transactional: bool
    base_priority: int
    authentication: bool
    privacy: Privacy
    multicast_address: str | None
    type: str
    poison_limit: int
    retry_delay: int
    longest_retry_delay: int
    keep_refused: bool


class ManagerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The manager as it was a moment ago."""

    id: str
    computer_name: str
    queues: int
    messages: int
    bytes: int
    quota_kilobytes: int | None
    transactions_active: int
    transactions_prepared: int
    copies_lost: dict[str, int]
    """The lost copies of all its queues, deleted queues included."""
    poison_overflows: int = 0
    state: str
    online: bool
    """Messages come from and go to other managers."""
    throttled: bool
    """Whether no message is accepted until the store has caught up."""


class AccessEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an access list: what a user or a group may do, or may not."""

    user: str
    """A name; empty for a SID that has none here."""
    sid: str
    allow: bool
    rights: list[str]


class AccessInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An access list; for each right the first entry that names it decides."""

    owner: str
    owner_sid: str
    entries: list[AccessEntry]


class StoreDamage(msgspec.Struct, frozen=True):
    """One place of the store that is not as it was written."""

    table: str
    key: str
    why: str


class HistoryInfo(msgspec.Struct, frozen=True, kw_only=True):
    """State of the history: its folder, its newest event and its files."""

    folder: str
    """The folder is on the server's machine."""
    last: int
    """The number of the last event."""
    exported: int
    """The last event that is in a file."""
    pending: int
    """Events that are in none yet."""
    pending_bytes: int
    files: int
    bytes: int
    oldest: datetime | None = None
    """When the first hour of the files begins."""
    newest: datetime | None = None
    """When the last one begins."""
    stopped: bool = False
    """Too much waits for its export: events are only counted."""
    missing: int = 0
    """The number of missing events."""
    error: str = ""
    """The reason why the export fails; empty when it works."""


class HistoryFileInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the history."""

    path: str
    first: int
    """The number of its first event."""
    last: int
    bytes: int


class TraceLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event of a message, at one manager; the columns of the history have these names too."""

    manager: str
    """The GUID of the manager."""
    manager_name: str
    event_id: int
    """Numbers the events of this manager."""
    time: datetime
    """The time by the calendar of this manager."""
    event: str
    queue: str | None = None
    other_queue: str | None = None
    reason: str | None = None
    protocol: str | None = None
    peer: str | None = None
    batch: str | None = None
    attempt: int | None = None
    transaction: str | None = None


class TracedManager(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A manager that was asked for the events of a message."""

    name: str
    """Its computer's name; for a peer, the name that the settings give it."""
    control: str = ""
    """The address of its control plane; empty for the manager that was asked by the client."""
    lines: int = 0
    why: str = ""
    """Why it gave no lines, such as that it does not answer; empty where it answered."""
    is_partial: bool = False
    """Too many events wait for their export, or there are more lines than are shown."""
    hidden: int = 0
    """Lines about queues at which this user may not look."""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """The way of one message through the managers that were asked, in the order of its events."""

    message: str
    """The message identifier, as GUID, backslash and number."""
    lines: list[TraceLine]
    managers: list[TracedManager]
    """The manager that the client asked, then its peers."""


class ActInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"source": "from"}):
    """An administrative act, as the log of acts has it."""

    time: str
    """The time of the act, as RFC 3339 writes it, in UTC."""
    who: str
    """The name of the user; `anonymous` for a client without one, `the manager` for the server itself."""
    source: str = ""
    """The network address of the client."""
    act: str
    """The name of the act, such as `purge-queue`."""
    object: str = ""
    """What the act worked on, such as the name of a queue."""
    outcome: str
    """`done` or `refused`; `asked` for an act of the data plane that was handed to the manager."""
    detail: str = ""
    why: str = ""
    """Why the act was refused."""
    times: int = 1
    """How many attempts a line stands for; those of one client are counted for a minute."""


class ReloadInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What became of settings that were read anew."""

    applied: list[str] = []
    """Settings that changed, and are in force."""
    restart: list[str] = []
    """Settings that changed, and come into force with the next start."""
    notes: list[str] = []
    """Sentences about what was not done."""


class StoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check of every row of the store."""

    rows: dict[str, int]
    """The number of rows of each table."""
    damaged: int = 0
    damages: list[StoreDamage] = []
    """The first damages that were found; there may be more."""

    @property
    def is_sound(self) -> bool:
        """Return whether everything is as it was written."""
        return self.damaged == 0
