"""Implements `Transport` for a manager in process: each request is one event for the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from reliquary.base.hresult import HResult
from reliquary.client import records, translate
from reliquary.client.errors import error_of
from reliquary.client.faults import translate_errors
from reliquary.client.local_directory import LocalDirectory
from reliquary.client.local_reading import (
    LocalReading,
    optional_transaction,
    source_of,
    transaction_named,
)
from reliquary.client.message import OutgoingMessage, Sent
from reliquary.client.records import (
    AccessChange,
    AccessInfo,
    ActInfo,
    HistoryFileInfo,
    HistoryInfo,
    ManagerInfo,
    Move,
    QueueOptions,
    ReloadInfo,
    StoreReport,
    Trace,
)
from reliquary.engine.open import OpenedEngine, open_engine
from reliquary.net.api.errors import NOT_DONE
from reliquary.net.api.numbers import LONGEST_WAIT, span_of
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.host import own_name
from reliquary.net.identity.users import Users
from reliquary.protocols.standard import standard
from reliquary.queueing.model import events
from reliquary.queueing.model.administration import Key, Noun, R
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight
from reliquary.queueing.rules import destinations
from reliquary.queueing.security import permissions
from reliquary.store import backup, verify
from reliquary.views.administration import Administrator
from reliquary.views.manager import manager_view
from reliquary.views.queues import QUEUE, QueueInfo


class LocalTransport(LocalReading):
    """A queue manager of this process."""

    def __init__(self, opened: OpenedEngine) -> None:
        super().__init__(opened.engine)
        self.opened = opened
        self._state = opened.state
        self._administrator = Administrator(opened, self._inbox.hear)
        self._users = Users(opened.state.identity().identifier)
        self.directory = LocalDirectory(self._inbox, self._state, self._settled)

    async def close(self) -> None:
        """Finish all requests, and close the folder."""
        with translate_errors():
            await self.opened.close()

    # -- messages

    async def send(
        self,
        queue: str,
        messages: Sequence[OutgoingMessage],
        transaction: str | None = None,
        handle: str | None = None,
    ) -> list[Sent]:
        """Send all of them or none."""
        with translate_errors():
            given = tuple(map(translate.message_of, messages))
        source, inside = source_of(queue, handle), optional_transaction(transaction)
        sent = await self._inbox.ask(lambda to: events.SendMessages(to, source, given, inside), events.Sent)
        return [
            Sent(str(identifier), lookup_id)
            for identifier, lookup_id in zip(sent.identifiers(), sent.lookup_ids, strict=True)
        ]

    async def move(self, queue: str, ask: Move) -> None:
        """Move a message into another queue."""
        source, inside = source_of(queue, ask.handle), optional_transaction(ask.transaction)
        await self._inbox.do(lambda to: events.MoveMessage(to, source, ask.lookup_id, ask.target, inside))

    # -- transactions

    async def begin(self, timeout: float, identifier: str | None, owner: str) -> str:  # noqa: ASYNC109 - the manager's clock, not ours
        """Begin a transaction and return its identifier."""
        with translate_errors():
            span = span_of("timeout", timeout, LONGEST_WAIT)
        known = optional_transaction(identifier)
        begun = await self._inbox.ask(
            lambda to: events.BeginTransaction(to, span, known, owner), events.Begun
        )
        return str(begun.transaction)

    async def prepare(self, transaction: str) -> None:
        """Prepare the transaction: its work is on disk, and only a commit or an abort ends it."""
        known = transaction_named(transaction)
        await self._inbox.do(lambda to: events.PrepareTransaction(to, known, single_phase=False))

    async def commit(self, transaction: str, *, prepared: bool, by: str = "") -> None:
        """Commit the transaction; its sends and receives take effect."""
        del prepared
        known = transaction_named(transaction)
        await self._inbox.do(lambda to: events.CommitTransaction(to, known, by))

    async def abort(self, transaction: str, *, by: str = "") -> None:
        """Abort the transaction; its sends and receives are undone."""
        known = transaction_named(transaction)
        await self._inbox.do(lambda to: events.AbortTransaction(to, known, by))

    # -- queues

    async def manager(self) -> ManagerInfo:
        """Return name, totals and state of the queue manager."""
        seen = translate.manager_info(manager_view(self._state))
        await self._settled()
        return seen

    async def create_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Create a queue and return its record."""
        with translate_errors():
            chosen = QueueSettings(**translate.changes_of(settings))
        await self._inbox.do(lambda to: events.CreateQueue(to, name, chosen))
        return await self.show_record(QUEUE, name)

    async def change_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Change the settings of a queue that are named; all others stay."""
        with translate_errors():
            changes = msgspec.to_builtins(translate.changes_of(settings))
        await self._inbox.do(lambda to: events.ChangeQueue(to, name, changes))
        return await self.show_record(QUEUE, name)

    async def delete_queue(self, name: str) -> int:
        """Delete a queue; return the number of messages that were deleted with it."""
        return (await self._inbox.ask(lambda to: events.DeleteQueue(to, name), events.Purged)).count

    async def _settled(self) -> None:
        """Wait until the state that was read is on disk."""
        await self._inbox.do(events.AwaitDisk)

    # -- nouns of administration

    async def list_records(self, noun: Noun[R], **filters: Any) -> list[R]:
        """Return the records of a noun that match all filters."""
        with translate_errors():
            return await self._administrator.list_records(noun, **filters)

    async def show_record(self, noun: Noun[R], key: Key) -> R:
        """Return the record of a noun that has this key."""
        with translate_errors():
            return await self._administrator.show_record(noun, key)

    async def act_on(self, noun: Noun[R], key: Key, verb: str, **parameters: Any) -> R:
        """Act on the record that has this key, and return its new state."""
        with translate_errors():
            return await self._administrator.act_on(noun, key, verb, parameters)

    # -- traffic

    async def set_online(self, *, online: bool) -> ManagerInfo:
        """Take the manager offline, or bring it online."""
        await self._inbox.do(lambda to: events.BringOnline(to) if online else events.TakeOffline(to))
        return await self.manager()

    # -- access lists

    async def access(self, queue: str) -> AccessInfo:
        """Return the access list of a queue; without a name, that of the manager."""
        security, kind = self._list(queue)
        await self._settled()
        return translate.access_info(security, kind, self._users.name_of)

    async def change_access(
        self, queue: str, change: AccessChange, user: str, rights: Sequence[str]
    ) -> AccessInfo:
        """Change an access list, and return the new one."""
        kind = self._list(queue)[1]
        with translate_errors():
            sid = self._users.sid_of(user)
            mask = translate.rights_of(kind, change, rights)
        wanted = events.AccessChange(change)
        await self._inbox.do(lambda to: events.ChangeAccess(to, queue, wanted, sid, mask))
        return await self.access(queue)

    def _list(self, queue: str) -> tuple[bytes, type[QueueRight | ManagerRight]]:
        with translate_errors():
            if queue and destinations.find(self._state, queue) is None:
                raise error_of(HResult.QUEUE_NOT_FOUND.name, f"there is no queue {queue}")
            return permissions.list_named(self._state, queue)

    # -- the history, which a manager in process does not keep

    async def history(self) -> HistoryInfo:
        """Raise an error: a manager inside this process keeps no history."""
        raise error_of(NOT_DONE, NO_HISTORY)

    async def trace(self, message: str, here: bool) -> Trace:
        """Raise an error: a manager inside this process keeps no history."""
        raise error_of(NOT_DONE, NO_HISTORY)

    async def export_history(self, to: str) -> list[HistoryFileInfo]:
        """Raise an error: a manager inside this process keeps no history."""
        raise error_of(NOT_DONE, NO_HISTORY)

    # -- the store

    async def verify(self) -> StoreReport:
        """Read every row and check it, while other requests go on."""
        disk = self.opened.disk
        with translate_errors():
            report = await asyncio.to_thread(verify, disk, disk.tables)
        damages = [records.StoreDamage(each.table, each.key, each.why) for each in report.damages]
        return StoreReport(rows=report.rows, damaged=report.damaged, damages=damages)

    async def backup(self, path: str, with_history: bool) -> None:
        """Copy the present content of the store into a folder that must not exist yet."""
        if with_history:
            raise error_of(NOT_DONE, NO_HISTORY)
        with translate_errors():
            await asyncio.to_thread(backup, self.opened.disk, path)

    # -- the server

    async def acts(self, limit: int, who: str, act: str) -> list[ActInfo]:
        """Refuse the request: a local manager keeps no log of acts."""
        raise error_of(NOT_DONE, NO_SERVER)

    async def reload(self) -> ReloadInfo:
        """Refuse the request: a local manager has no settings to read."""
        raise error_of(NOT_DONE, NO_SERVER)


NO_HISTORY = "a manager in process keeps no history; a server does"
NO_SERVER = "a manager in process has no settings and no log of acts; a server has both"


async def open_local(folder: str | Path, *settings: object) -> LocalTransport:
    """Open the store in a folder, or create it there; `settings` are those of protocols."""
    with translate_errors():
        opened = await open_engine(
            folder,
            clock=RealClock(),
            chance=SystemChance(),
            computer_name=own_name(),
            quota=FOREVER,
            protocols=standard(*settings),
        )
    return LocalTransport(opened)
