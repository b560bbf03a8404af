"""Defines the interface below the client's classes: a manager in process, or a server by its address.

Handles, cursors, receipts and transactions are names that only the transport interprets.  A
refusal is raised as an error of `errors`; each implementation decides how a receive stays safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from reliquary.client.directory import AsyncDirectory
from reliquary.client.message import OutgoingMessage, Sent
from reliquary.client.records import (
    Access,
    AccessChange,
    AccessInfo,
    ActInfo,
    HistoryFileInfo,
    HistoryInfo,
    LookUp,
    ManagerInfo,
    Move,
    Peek,
    QueueOptions,
    Receive,
    Received,
    ReloadInfo,
    Share,
    StoreReport,
    Trace,
)
from reliquary.queueing.model.administration import Key, Noun, R
from reliquary.views.queues import QueueInfo


class Transport(Protocol):
    """The operations of a queue manager."""

    named_queue: str
    """The queue in the address; empty if there is none."""

    # -- messages

    async def send(
        self,
        queue: str,
        messages: Sequence[OutgoingMessage],
        transaction: str | None = None,
        handle: str | None = None,
    ) -> list[Sent]:
        """Send all of them or none."""

    async def receive(self, queue: str, ask: Receive) -> Received:
        """Receive messages; without `hold` and `transaction` they are removed from the queue."""

    async def end_read(
        self,
        receipt: str,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        reject: bool = False,
        unseen: bool = False,
    ) -> None:
        """Acknowledge messages of a receipt, or return them to their queue.

        `reject` makes them dead letters; those returned as `unseen` count as never handed out.
        """

    async def peek(self, queue: str, ask: Peek) -> Received:
        """Return the first matching message without removing it."""

    async def look_up(self, queue: str, ask: LookUp) -> Received:
        """Return the message by LookupIdentifier; as `receive` when it does not only peek."""

    async def browse(self, queue: str, after: int | None, limit: int, handle: str | None = None) -> Received:
        """Return the messages after a position without removing them."""

    async def move(self, queue: str, ask: Move) -> None:
        """Move a message into another queue."""

    # -- handles and cursors

    async def open(self, queue: str, access: Access, share: Share, lease: float) -> str:
        """Open a queue and return the handle."""

    async def close_handle(self, handle: str) -> None:
        """Close an open queue handle."""

    async def open_cursor(self, handle: str) -> str:
        """Open a cursor on an open queue."""

    async def close_cursor(self, cursor: str) -> None:
        """Close a cursor and forget its position."""

    # -- transactions

    async def begin(self, timeout: float, identifier: str | None, owner: str) -> str:  # noqa: ASYNC109 - the manager's clock, not ours
        """Begin a transaction, or an external one by the id of its coordinator."""

    async def prepare(self, transaction: str) -> None:
        """Store all its work on disk; from now on only commit or abort ends it."""

    async def commit(self, transaction: str, *, prepared: bool, by: str = "") -> None:
        """Commit the transaction; `by` is the user who decides in place of the coordinator."""

    async def abort(self, transaction: str, *, by: str = "") -> None:
        """Abort the transaction; its sends and receives are undone."""

    # -- queues

    async def manager(self) -> ManagerInfo:
        """Return name, totals and state of the queue manager."""

    async def create_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Create a queue and return its record."""

    async def change_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Change settings of a queue; the others stay."""

    async def delete_queue(self, name: str) -> int:
        """Delete a queue, and return the number of its messages."""

    async def purge_queue(self, name: str) -> int:
        """Empty a queue, and return how many messages were deleted."""

    # -- access lists

    async def access(self, queue: str) -> AccessInfo:
        """Return the access list of a queue; without a name, that of the manager."""

    async def change_access(
        self, queue: str, change: AccessChange, user: str, rights: Sequence[str]
    ) -> AccessInfo:
        """Change an access list, and return the new one."""

    # -- nouns of administration

    async def list_records(self, noun: Noun[R], **filters: Any) -> list[R]:
        """Return all records of a noun, or those that match the filters."""

    async def show_record(self, noun: Noun[R], key: Key) -> R:
        """Return the record of a noun that has this key."""

    async def act_on(self, noun: Noun[R], key: Key, verb: str, **parameters: Any) -> R:
        """Act on the record that has this key, and return its new state."""

    # -- traffic

    async def set_online(self, *, online: bool) -> ManagerInfo:
        """Take the manager offline, or bring it online."""

    # -- the directory

    @property
    def directory(self) -> AsyncDirectory:
        """The directory of managers, queues and users."""

    # -- the store

    async def history(self) -> HistoryInfo:
        """Return the state of the history."""

    async def trace(self, message: str, here: bool) -> Trace:
        """Return the way of a message through managers; `here` asks only this manager."""

    async def export_history(self, to: str) -> list[HistoryFileInfo]:
        """Write the whole history to files; `to` as in `AsyncManager.export_history`."""

    async def verify(self) -> StoreReport:
        """Read and check every row."""

    async def backup(self, path: str, with_history: bool) -> None:
        """Copy the store as it is now into a folder that does not exist yet, beside the manager's."""

    # -- the server

    async def acts(self, limit: int, who: str, act: str) -> list[ActInfo]:
        """Return the latest administrative acts."""

    async def reload(self) -> ReloadInfo:
        """Let the server read its settings again."""

    async def close(self) -> None:
        """Close the connection, or the folder."""
