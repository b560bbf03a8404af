"""Provides a queue manager without `await`, and the function that connects to one."""

from __future__ import annotations

from pathlib import Path
from ssl import SSLContext
from typing import Any, Unpack

from reliquary.client.address import DEFAULT
from reliquary.client.administration import Administration
from reliquary.client.connect import Target
from reliquary.client.manager import AsyncManager
from reliquary.client.message import Body, Message, OutgoingMessage, SendOptions, Sent
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
from reliquary.client.sync.directory import Directory
from reliquary.client.sync.exactly_once import ExactlyOnce
from reliquary.client.sync.portal import Portal
from reliquary.client.sync.queue import Queue
from reliquary.client.sync.transaction import Transaction
from reliquary.views.queues import QUEUE, QueueInfo
from reliquary.views.transactions import TRANSACTION, TransactionInfo


class Manager(Administration[AsyncManager]):
    """Does the work of AsyncManager without `await`; made by `connect`. Threads may share it."""

    def queue(self, name: str | None = None) -> Queue:
        """Return a queue by its name, or the one that the address names; no request is made."""
        return Queue(self._portal, self._inner.queue(name))

    def create_queue(self, name: str, *, exist_ok: bool = False, **options: Unpack[QueueOptions]) -> Queue:
        """Create a queue.  With `exist_ok` an existing one is not changed."""
        made = self._portal.call(self._inner.create_queue(name, exist_ok=exist_ok, **options))
        return Queue(self._portal, made)

    def queues(self) -> list[QueueInfo]:
        """Return all queues of this manager, by name; those to other managers are in `outgoing`."""
        return self.list_records(QUEUE)

    def delete_queue(self, name: str) -> int:
        """Delete a queue, and return the number of its messages."""
        return self._portal.call(self._inner.delete_queue(name))

    def reply(self, message: Message, body: Body | OutgoingMessage, **options: Unpack[SendOptions]) -> Sent:
        """Send an answer to the response queue of a message, with its id as the correlation."""
        return self._portal.call(self._inner.reply(message, body, **options))

    def transaction(
        self,
        timeout: float = 60,
        *,
        id: str | None = None,  # noqa: A002 - the word of the API
        owner: str = "",
    ) -> Transaction:
        """Return a block that takes effect as a whole; it is aborted when unused for `timeout` seconds.

        With the `id` of another coordinator the transaction is external: once prepared, it waits for that
        coordinator's outcome through every restart.  `owner` names the application that will query it.
        """
        return Transaction(self._portal, self._inner.transaction(timeout, id=id, owner=owner))

    def exactly_once(self, connection: Any, owner: str, timeout: float = 60) -> ExactlyOnce:
        """Steps that receive, write to a database and send exactly once.

        `connection` is the database's; `owner` names this application and that database for ever.
        """
        return ExactlyOnce(self._portal, self._inner, connection, owner, timeout)

    def transactions(self, owner: str | None = None, *, ended: bool = False) -> list[TransactionInfo]:
        """Return transactions that have not ended, of one owner or of all; with `ended` also ended ones."""
        return self.list_records(TRANSACTION, owner=owner, ended=ended)

    def transaction_info(self, transaction: str) -> TransactionInfo:
        """Return one transaction that has not ended, or whose outcome is stored."""
        return self.show_record(TRANSACTION, transaction)

    def commit(self, transaction: str, *, by: str = "") -> None:
        """Commit a transaction by its id, such as one that was prepared before a crash.

        `by` is stored with the outcome: the user who decides in place of the coordinator.
        """
        self._portal.call(self._inner.commit(transaction, by=by))

    def abort(self, transaction: str, *, by: str = "") -> None:
        """Abort a transaction by its id."""
        self._portal.call(self._inner.abort(transaction, by=by))

    def info(self) -> ManagerInfo:
        """Return name, totals and state of the queue manager."""
        return self._portal.call(self._inner.info())

    def take_offline(self) -> ManagerInfo:
        """Stop sending to other managers and receiving from them, until the next start."""
        return self._portal.call(self._inner.take_offline())

    def bring_online(self) -> ManagerInfo:
        """Connect the manager to the network, so that outgoing messages leave again."""
        return self._portal.call(self._inner.bring_online())

    @property
    def directory(self) -> Directory:
        """The directory of managers, queues and users; no request is made."""
        return Directory(self._portal, self._inner.directory)

    def access(self, queue: str = "") -> AccessInfo:
        """Return the access rights of a queue; without a name, those of the manager itself."""
        return self._portal.call(self._inner.access(queue))

    def grant(self, user: str, *rights: str, queue: str = "") -> AccessInfo:
        """Grant rights to a user or a group, such as "send", "receive", "peek" or "all"."""
        return self._portal.call(self._inner.grant(user, *rights, queue=queue))

    def deny(self, user: str, *rights: str, queue: str = "") -> AccessInfo:
        """Deny rights to a user or a group, even if another entry grants them."""
        return self._portal.call(self._inner.deny(user, *rights, queue=queue))

    def revoke(self, user: str, *rights: str, queue: str = "") -> AccessInfo:
        """Remove the entries of a user or group for these rights; without rights, all its entries."""
        return self._portal.call(self._inner.revoke(user, *rights, queue=queue))

    def set_owner(self, user: str, *, queue: str = "") -> AccessInfo:
        """Set the owner, who may always read and change the list."""
        return self._portal.call(self._inner.set_owner(user, queue=queue))

    def history(self) -> HistoryInfo:
        """Return the state of the history."""
        return self._portal.call(self._inner.history())

    def trace(self, message: str, *, here: bool = False) -> Trace:
        """Return the way of a message, by its `id`: the events here and at the peers of the server.

        With `here` no peer is asked.  A peer that does not answer is in `managers`, with the reason.
        """
        return self._portal.call(self._inner.trace(message, here=here))

    def export_history(self, to: str = "") -> list[HistoryFileInfo]:
        """Write the whole history to files, and return those that were written; `to` gets copies."""
        return self._portal.call(self._inner.export_history(to))

    def verify(self) -> StoreReport:
        """Read and check every row of the store."""
        return self._portal.call(self._inner.verify())

    def backup(self, path: str, *, with_history: bool = False) -> None:
        """Copy the store, and its history, into a new folder, on the machine of the manager."""
        self._portal.call(self._inner.backup(path, with_history=with_history))

    def acts(self, *, limit: int = 100, who: str = "", act: str = "") -> list[ActInfo]:
        """Return the latest administrative acts, the latest first; `who` and `act` leave out others."""
        return self._portal.call(self._inner.acts(limit=limit, who=who, act=act))

    def reload(self) -> ReloadInfo:
        """Let a server read its settings again; the answer has the changes, and those that need a restart."""
        return self._portal.call(self._inner.reload())


def connect(
    target: str | Path = DEFAULT,
    *,
    control: str | None = None,
    tls: SSLContext | None = None,
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
) -> Manager:
    """Return a queue manager: a server such as `http://127.0.0.1:8480`, or a folder to run one in process.

        with connect() as qm:
            qm.queue("orders").send("hello")

    `control` is the control plane's address, by default the next port; `tls` is for https, by default
    what the system trusts; `token`, or `user` with `password`, authenticates, by default the token of
    RELIQUARY_TOKEN; without any the user is anonymous.  The connection to a server is opened with the
    first request; a folder is opened and locked now.

    With `mqqp://host[:port]/private$/orders` queues of another manager, ours or MSMQ, are read:

        with connect("mqqp://far/private$/orders", user="me", password="...") as qm:
            message = qm.queue().receive(timeout=5)

    `qm.queue()` is the queue of the address, and `qm.queue("private$/other")` another one of that
    manager.  `user` and `password` are for NTLM and may stand in the address; without them the reader
    is anonymous.  Receiving, peeking, browsing, cursors and purging work as with a local queue;
    sending and administration are refused.  Nothing is written to disk here.
    """
    wanted = Target(target, control, tls, token, user, password)
    portal = Portal()
    try:
        return Manager(portal, AsyncManager(portal.call(wanted.transport())))
    except BaseException:
        portal.close()
        raise
