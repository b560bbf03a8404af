"""Provides a queue manager, in process or by its address: its queues and its transactions."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Unpack

from reliquary.client.administration import AsyncAdministration
from reliquary.client.directory import AsyncDirectory
from reliquary.client.errors import BadRequest, QueueExists
from reliquary.client.exactly_once import AsyncExactlyOnce
from reliquary.client.message import Body, Message, OutgoingMessage, SendOptions, Sent
from reliquary.client.queue import AsyncQueue
from reliquary.client.records import (
    AccessInfo,
    ActInfo,
    HistoryFileInfo,
    HistoryInfo,
    ManagerInfo,
    QueueOptions,
    ReloadInfo,
    StoreReport,
    Trace,
)
from reliquary.client.transaction import AsyncTransaction
from reliquary.views.queues import QUEUE, QueueInfo
from reliquary.views.transactions import TRANSACTION, TransactionInfo


class AsyncManager(AsyncAdministration):
    """A queue manager; made by `connect_async`."""

    def queue(self, name: str | None = None, *, transaction: AsyncTransaction | None = None) -> AsyncQueue:
        """Return a queue by its name, without a request. With a transaction, all its operations are part of
        it.

        Without a name it is the queue that the address names: `mqqp://far/private$/orders`.
        """
        if name is None and not self.transport.named_queue:
            raise BadRequest("INVALID_PARAMETER", "the address names no queue, so its name is needed here")
        return AsyncQueue(self, self.transport.named_queue if name is None else name, transaction)

    async def create_queue(
        self, name: str, *, exist_ok: bool = False, **options: Unpack[QueueOptions]
    ) -> AsyncQueue:
        """Create a queue.  With `exist_ok` an existing one is not changed."""
        try:
            await self.transport.create_queue(name, options)
        except QueueExists:
            if not exist_ok:
                raise
        return self.queue(name)

    async def queues(self) -> list[QueueInfo]:
        """Return all queues of this manager, by name; those to other managers are in `outgoing`."""
        return await self.list_records(QUEUE)

    async def delete_queue(self, name: str) -> int:
        """Delete a queue, and return the number of its messages."""
        return await self.transport.delete_queue(name)

    async def reply(
        self, message: Message, body: Body | OutgoingMessage, **options: Unpack[SendOptions]
    ) -> Sent:
        """Send an answer to the response queue of a message, with its id as the correlation."""
        if not message.response_queue:
            raise BadRequest("INVALID_PARAMETER", f"message {message.id} names no response queue")
        options.setdefault("correlation", message.id)
        return await self.queue(message.response_queue).send(body, **options)

    def transaction(
        self,
        timeout: float = 60,
        *,
        id: str | None = None,  # noqa: A002 - the word of the API
        owner: str = "",
    ) -> AsyncTransaction:
        """Return a block that takes effect as a whole; it is aborted when unused for `timeout` seconds.

        With the `id` of another coordinator the transaction is external: once prepared, it waits for that
        coordinator's outcome through every restart.  `owner` names the application that will query it.
        """
        return AsyncTransaction(self, timeout, id, owner)

    def exactly_once(self, connection: Any, owner: str, timeout: float = 60) -> AsyncExactlyOnce:
        """Steps that receive, write to a database and send exactly once; see `exactly_once`.

        `connection` is the database's, with `await` or without; `owner` names this application and
        that database for ever.
        """
        return AsyncExactlyOnce(self, connection, owner, timeout)

    async def transactions(self, owner: str | None = None, *, ended: bool = False) -> list[TransactionInfo]:
        """Return transactions that have not ended, of one owner or of all; with `ended` also ended ones."""
        return await self.list_records(TRANSACTION, owner=owner, ended=ended)

    async def transaction_info(self, transaction: str) -> TransactionInfo:
        """Return one transaction that has not ended, or whose outcome is stored."""
        return await self.show_record(TRANSACTION, transaction)

    async def commit(self, transaction: str, *, by: str = "") -> None:
        """Commit a transaction by its id, such as one that was prepared before a crash.

        `by` is stored with the outcome: the user who decides in place of the coordinator.
        """
        await self.transport.commit(transaction, prepared=False, by=by)

    async def abort(self, transaction: str, *, by: str = "") -> None:
        """Abort a transaction by its id."""
        await self.transport.abort(transaction, by=by)

    async def info(self) -> ManagerInfo:
        """Return name, totals and state of the queue manager."""
        return await self.transport.manager()

    async def take_offline(self) -> ManagerInfo:
        """Stop sending to other managers and receiving from them, until the next start."""
        return await self.transport.set_online(online=False)

    async def bring_online(self) -> ManagerInfo:
        """Connect the manager to the network, so that outgoing messages leave again."""
        return await self.transport.set_online(online=True)

    @property
    def directory(self) -> AsyncDirectory:
        """The directory of managers, queues and users; no request is made."""
        return self.transport.directory

    async def access(self, queue: str = "") -> AccessInfo:
        """Return the access rights of a queue; without a name, those of the manager itself."""
        return await self.transport.access(queue)

    async def grant(self, user: str, *rights: str, queue: str = "") -> AccessInfo:
        """Grant rights to a user or a group, such as "send", "receive", "peek" or "all"."""
        return await self.transport.change_access(queue, "grant", user, rights)

    async def deny(self, user: str, *rights: str, queue: str = "") -> AccessInfo:
        """Deny rights to a user or a group, even if another entry grants them."""
        return await self.transport.change_access(queue, "deny", user, rights)

    async def revoke(self, user: str, *rights: str, queue: str = "") -> AccessInfo:
        """Remove the entries of a user or group for these rights; without rights, all its entries."""
        return await self.transport.change_access(queue, "revoke", user, rights)

    async def set_owner(self, user: str, *, queue: str = "") -> AccessInfo:
        """Set the owner, who may always read and change the list."""
        return await self.transport.change_access(queue, "owner", user, ())

    async def history(self) -> HistoryInfo:
        """Return the state of the history."""
        return await self.transport.history()

    async def trace(self, message: str, *, here: bool = False) -> Trace:
        """Return the way of a message, by its `id`: the events here and at the peers of the server.

        With `here` no peer is asked.  A peer that does not answer is in `managers`, with the reason.
        """
        return await self.transport.trace(message, here)

    async def export_history(self, to: str = "") -> list[HistoryFileInfo]:
        """Write the whole history to files, and return those that were written.

        With `to`, a folder on the machine where the manager runs, missing files are copied there and
        returned.
        """
        return await self.transport.export_history(to)

    async def verify(self) -> StoreReport:
        """Read and check every row of the store."""
        return await self.transport.verify()

    async def backup(self, path: str, *, with_history: bool = False) -> None:
        """Copy the store in its current state into a new folder, on the machine of the manager.

        With its history, the exported files are in the folder `history` of the copy.
        """
        await self.transport.backup(path, with_history)

    async def acts(self, *, limit: int = 100, who: str = "", act: str = "") -> list[ActInfo]:
        """Return the latest administrative acts, the latest first; `who` and `act` leave out others."""
        return await self.transport.acts(limit, who, act)

    async def reload(self) -> ReloadInfo:
        """Let a server read its settings again; the answer has the changes, and those that need a restart."""
        return await self.transport.reload()

    async def __aenter__(self) -> AsyncManager:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
