"""Defines the requests and the answers of the transports, besides messages.

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
    """A receive; without `hold` and `transaction` the messages are removed before it answers."""

    count: int = 1
    timeout: float | None = 0
    hold: float = 0
    acknowledge: str | None = None
    transaction: str | None = None
    handle: str | None = None
    cursor: str | None = None


class Peek(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request for the first message, or with a cursor for the one under it or the next."""

    timeout: float | None = 0
    handle: str | None = None
    cursor: str | None = None
    next: bool = False


class LookUp(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request for a message by its position; `peek` does not remove it."""

    lookup_id: int
    seek: Seek = "current"
    peek: bool = True
    hold: float = 0
    transaction: str | None = None
    handle: str | None = None


class Move(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message and its destination queue."""

    lookup_id: int
    target: str
    transaction: str | None = None
    handle: str | None = None


class Received(msgspec.Struct, frozen=True):
    """Messages, with the receipt under which they are locked, if they are."""

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
    """The manager at the time of the request."""

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
    """Whether messages come from other managers and are sent to them."""
    throttled: bool
    """Whether no message is accepted until the store has caught up."""


class AccessEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of an access list: the rights that a user or a group has, or does not have."""

    user: str
    """The name; empty for a SID without a name here."""
    sid: str
    allow: bool
    rights: list[str]


class AccessInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An access list; for each right the first entry that names it decides."""

    owner: str
    owner_sid: str
    entries: list[AccessEntry]


class StoreDamage(msgspec.Struct, frozen=True):
    """A position in the store that differs from the written data."""

    table: str
    key: str
    why: str


class HistoryInfo(msgspec.Struct, frozen=True, kw_only=True):
    """State of the history: its folder, its newest event and its files."""

    folder: str
    """The folder on the server's machine."""
    last: int
    """The number of the last event."""
    exported: int
    """The last event that is in a file."""
    pending: int
    """The events that are in no file yet."""
    pending_bytes: int
    files: int
    bytes: int
    oldest: datetime | None = None
    """The beginning of the first hour in the files."""
    newest: datetime | None = None
    """The beginning of the last hour in the files."""
    stopped: bool = False
    """Whether too many events wait for their export, so that events are only counted."""
    missing: int = 0
    """The number of missing events."""
    error: str = ""
    """The reason why the export fails; empty if it works."""


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
    """The number of the event at this manager."""
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
    """The reason why it gave no lines, such as that it does not answer; empty if it answered."""
    is_partial: bool = False
    """Whether too many events wait for their export, or more lines exist than are shown."""
    hidden: int = 0
    """The lines about queues that this user may not read."""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """The way of one message through the managers that were asked, in the order of its events."""

    message: str
    """The message identifier, as GUID, backslash and number."""
    lines: list[TraceLine]
    managers: list[TracedManager]
    """The manager that the client asked, then its peers."""


class ActInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"source": "from"}):
    """An administrative act in the log of acts."""

    time: str
    """The time of the act, as RFC 3339 writes it, in UTC."""
    who: str
    """The name of the user; `anonymous` for a client without one, `the manager` for the server itself."""
    source: str = ""
    """The network address of the client."""
    act: str
    """The name of the act, such as `purge-queue`."""
    object: str = ""
    """The object of the act, such as the name of a queue."""
    outcome: str
    """`done` or `refused`; `asked` for an act of the data plane that was handed to the manager."""
    detail: str = ""
    why: str = ""
    """The reason why the act was refused."""
    times: int = 1
    """The number of attempts of this line; those of one client are counted for a minute."""


class ReloadInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading the settings again."""

    applied: list[str] = []
    """The settings that changed and are in force."""
    restart: list[str] = []
    """The settings that changed and take effect with the next start."""
    notes: list[str] = []
    """Sentences about changes that were not made."""


class StoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check of every row of the store."""

    rows: dict[str, int]
    """The number of rows of each table."""
    damaged: int = 0
    damages: list[StoreDamage] = []
    """The first damages that were found; there may be more."""

    @property
    def is_sound(self) -> bool:
        """Whether everything is as it was written."""
        return self.damaged == 0
