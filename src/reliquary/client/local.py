"""A manager in process, on a folder: each request of `Transport` is one event for the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from reliquary.base.faults import StartFailed, StoreDamage, StoreFailure, UsageError
from reliquary.base.hresult import HResult
from reliquary.client import records, translate
from reliquary.client.errors import BadRequest, StoreUnusable, error_of
from reliquary.client.inbox import Inbox
from reliquary.client.local_directory import LocalDirectory
from reliquary.client.message import OutgoingMessage, Sent
from reliquary.client.queue_noun import QUEUE
from reliquary.client.records import (
    Access,
    AccessChange,
    AccessInfo,
    HistoryFileInfo,
    HistoryInfo,
    LookUp,
    ManagerInfo,
    Move,
    Peek,
    QueueInfo,
    QueueOptions,
    Receive,
    Received,
    Share,
    StoreReport,
)
from reliquary.client.translate import number_of
from reliquary.engine import views
from reliquary.engine.administration import Administrator, NotDone
from reliquary.engine.open import OpenedEngine, open_engine
from reliquary.net.api.errors import NOT_DONE
from reliquary.net.api.numbers import LONGEST_WAIT, hold_of, span_of, wait_of
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.host import own_name
from reliquary.net.identity.users import Users
from reliquary.protocols.standard import standard
from reliquary.queueing import events
from reliquary.queueing.administration import Key, Noun, R, Refusal
from reliquary.queueing.message import FOREVER
from reliquary.queueing.naming import destinations
from reliquary.queueing.queue import QueueSettings
from reliquary.queueing.security import permissions
from reliquary.queueing.security.rights import ManagerRight, QueueRight
from reliquary.queueing.transactions import transaction_of
from reliquary.store import backup, verify


class LocalTransport:
    """A queue manager of this process."""

    def __init__(self, opened: OpenedEngine) -> None:
        self.opened = opened
        self._state = opened.state
        self._inbox = Inbox(opened.engine)
        self._administrator = Administrator(opened, self._inbox.hear)
        self._users = Users(opened.state.identity().identifier)
        self.directory = LocalDirectory(self._inbox, self._state, self._settled)

    async def close(self) -> None:
        """Finish what was asked and let go of the folder."""
        with told():
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
        with told():
            given = tuple(map(translate.message_of, messages))
        source, inside = _source(queue, handle), _transaction(transaction)
        sent = await self._inbox.ask(lambda to: events.SendMessages(to, source, given, inside), events.Sent)
        return [
            Sent(str(identifier), lookup_id)
            for identifier, lookup_id in zip(sent.identifiers(), sent.lookup_ids, strict=True)
        ]

    async def receive(self, queue: str, ask: Receive) -> Received:
        """Receive; what this returns has been synced."""
        with told():
            make = partial(
                events.ReceiveMessages,
                queue=_source(queue, ask.handle),
                count=ask.count,
                timeout=wait_of(ask.timeout),
                transaction=_transaction(ask.transaction),
                hold=hold_of(ask.hold),
                acknowledge=number_of(ask.acknowledge, "receipt"),
                cursor=number_of(ask.cursor, "cursor"),
            )
        return _shown(await self._inbox.read(make))

    async def end_read(
        self,
        receipt: str,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        reject: bool = False,
        unseen: bool = False,
    ) -> None:
        """Be done with held messages, or give them back.

        `reject` makes them dead letters; those given back `unseen` count as never handed out.
        """
        number, places = number_of(receipt, "receipt"), tuple(lookup_ids)
        await self._inbox.do(lambda to: events.EndRead(to, number, delete, places, reject, unseen))

    async def peek(self, queue: str, ask: Peek) -> Received:
        """Look, and leave it there."""
        with told():
            make = partial(
                events.PeekMessage,
                queue=_source(queue, ask.handle),
                timeout=wait_of(ask.timeout),
                cursor=number_of(ask.cursor, "cursor"),
                next=ask.next,
            )
        return _shown(await self._inbox.read(make))

    async def look_up(self, queue: str, ask: LookUp) -> Received:
        """By LookupIdentifier."""
        with told():
            make = partial(
                events.LookUpMessage,
                queue=_source(queue, ask.handle),
                lookup_id=ask.lookup_id,
                seek=events.Seek(ask.seek),
                peek=ask.peek,
                transaction=_transaction(ask.transaction),
                hold=hold_of(ask.hold),
            )
        return _shown(await self._inbox.read(make, empty=()))

    async def browse(self, queue: str, after: int | None, limit: int, handle: str | None = None) -> Received:
        """Look at what lies behind a place."""
        source, place = _source(queue, handle), -1 if after is None else after
        return _shown(await self._inbox.read(lambda to: events.BrowseMessages(to, source, place, limit)))

    async def move(self, queue: str, ask: Move) -> None:
        """Put a message into another queue."""
        source, inside = _source(queue, ask.handle), _transaction(ask.transaction)
        await self._inbox.do(lambda to: events.MoveMessage(to, source, ask.lookup_id, ask.target, inside))

    # -- handles and cursors

    async def open(self, queue: str, access: Access, share: Share, lease: float) -> str:
        """Open a queue and return the handle."""
        with told():
            make = partial(
                events.OpenQueue,
                path=queue,
                access=events.Access(access),
                share=events.Share(share),
                lease=span_of("lease", lease, LONGEST_WAIT),
            )
        return str((await self._inbox.ask(make, events.Opened)).handle)

    async def close_handle(self, handle: str) -> None:
        """Close a queue."""
        number = number_of(handle, "handle")
        await self._inbox.do(lambda to: events.CloseQueue(to, number))

    async def open_cursor(self, handle: str) -> str:
        """Open a cursor on an open queue."""
        number = number_of(handle, "handle")
        opened = await self._inbox.ask(lambda to: events.OpenCursor(to, number), events.Opened)
        return str(opened.handle)

    async def close_cursor(self, cursor: str) -> None:
        """Close a cursor."""
        number = number_of(cursor, "cursor")
        await self._inbox.do(lambda to: events.CloseCursor(to, number))

    # -- transactions

    async def begin(self, timeout: float, identifier: str | None, owner: str) -> str:  # noqa: ASYNC109 - the manager's clock, not ours
        """Begin a transaction."""
        with told():
            span = span_of("timeout", timeout, LONGEST_WAIT)
        known = _transaction(identifier)
        begun = await self._inbox.ask(
            lambda to: events.BeginTransaction(to, span, known, owner), events.Begun
        )
        return str(begun.transaction)

    async def prepare(self, transaction: str) -> None:
        """Put all it did on disk; from now on only a decision ends it."""
        known = _named(transaction)
        await self._inbox.do(lambda to: events.PrepareTransaction(to, known, single_phase=False))

    async def commit(self, transaction: str, *, prepared: bool, by: str = "") -> None:
        """Let it take effect."""
        del prepared
        known = _named(transaction)
        await self._inbox.do(lambda to: events.CommitTransaction(to, known, by))

    async def abort(self, transaction: str, *, by: str = "") -> None:
        """Undo it."""
        known = _named(transaction)
        await self._inbox.do(lambda to: events.AbortTransaction(to, known, by))

    # -- queues

    async def manager(self) -> ManagerInfo:
        """The manager itself."""
        seen = translate.manager_info(views.manager(self._state))
        await self._settled()
        return seen

    async def create_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Make a queue."""
        with told():
            chosen = QueueSettings(**translate.changes_of(settings))
        await self._inbox.do(lambda to: events.CreateQueue(to, name, chosen))
        return await self.show_record(QUEUE, name)

    async def change_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Give a queue other settings; what is not named stays."""
        with told():
            changes = msgspec.to_builtins(translate.changes_of(settings))
        await self._inbox.do(lambda to: events.ChangeQueue(to, name, changes))
        return await self.show_record(QUEUE, name)

    async def delete_queue(self, name: str) -> int:
        """Delete a queue; how many messages went with it."""
        return (await self._inbox.ask(lambda to: events.DeleteQueue(to, name), events.Purged)).count

    async def purge_queue(self, name: str) -> int:
        """Empty a queue; how many messages went."""
        return (await self._inbox.ask(lambda to: events.PurgeQueue(to, name), events.Purged)).count

    async def _settled(self) -> None:
        """What was seen may not be on disk yet."""
        await self._inbox.do(events.AwaitDisk)

    # -- nouns of administration

    async def list_records(self, noun: Noun[R], **filters: Any) -> list[R]:
        """All records of a noun, or those that the filters let through."""
        with told():
            return await self._administrator.list_records(noun, **filters)

    async def show_record(self, noun: Noun[R], key: Key) -> R:
        """The record of a noun that has this key."""
        with told():
            return await self._administrator.show_record(noun, key)

    async def act_on(self, noun: Noun[R], key: Key, verb: str, **parameters: Any) -> R:
        """Act on the record that has this key, and return it as it is then."""
        with told():
            return await self._administrator.act_on(noun, key, verb, parameters)

    # -- traffic

    async def set_online(self, *, online: bool) -> ManagerInfo:
        """Take the manager offline, or bring it online."""
        await self._inbox.do(lambda to: events.BringOnline(to) if online else events.TakeOffline(to))
        return await self.manager()

    # -- access lists

    async def access(self, queue: str) -> AccessInfo:
        """The list of a queue; without a name, the manager's own."""
        security, kind = self._list(queue)
        await self._settled()
        return translate.access_info(security, kind, self._users.name_of)

    async def change_access(
        self, queue: str, change: AccessChange, user: str, rights: Sequence[str]
    ) -> AccessInfo:
        """Change it, and show it as it is then."""
        kind = self._list(queue)[1]
        with told():
            sid = self._users.sid_of(user)
            mask = translate.rights_of(kind, change, rights)
        wanted = events.AccessChange(change)
        await self._inbox.do(lambda to: events.ChangeAccess(to, queue, wanted, sid, mask))
        return await self.access(queue)

    def _list(self, queue: str) -> tuple[bytes, type[QueueRight | ManagerRight]]:
        with told():
            if queue and destinations.find(self._state, queue) is None:
                raise error_of(HResult.QUEUE_NOT_FOUND.name, HResult.QUEUE_NOT_FOUND.sentence)
            return permissions.list_named(self._state, queue)

    # -- the history, which a manager in process does not keep

    async def history(self) -> HistoryInfo:
        """There is none."""
        raise error_of(NOT_DONE, NO_HISTORY)

    async def export_history(self, to: str) -> list[HistoryFileInfo]:
        """There is none."""
        raise error_of(NOT_DONE, NO_HISTORY)

    # -- the store

    async def verify(self) -> StoreReport:
        """Read every row and check it, beside all other work."""
        disk = self.opened.disk
        with told():
            report = await asyncio.to_thread(verify, disk, disk.tables)
        damages = [records.StoreDamage(each.table, each.key, each.why) for each in report.damages]
        return StoreReport(rows=report.rows, damaged=report.damaged, damages=damages)

    async def backup(self, path: str) -> None:
        """Copy the store as it is now into a folder that does not exist yet."""
        with told():
            await asyncio.to_thread(backup, self.opened.disk, path)


NO_HISTORY = "a manager in process keeps no history; a server does"


async def open_local(folder: str | Path, *settings: object) -> LocalTransport:
    """Open a folder, or make it a store; `settings` are those of protocols, for a caller with a network."""
    with told():
        opened = await open_engine(
            folder,
            clock=RealClock(),
            chance=SystemChance(),
            computer_name=own_name(),
            quota=FOREVER,
            protocols=standard(*settings),
        )
    return LocalTransport(opened)


def _shown(answer: events.Received) -> Received:
    messages = list(map(translate.shown, answer.messages))
    return Received(messages, str(answer.receipt) if answer.receipt else None)


def _source(queue: str, handle: str | None) -> int | str:
    return queue if handle is None else number_of(handle, "handle")


def _transaction(name: str | None) -> UUID | None:
    return None if name is None else _named(name)


def _named(transaction: str) -> UUID:
    with told():
        return transaction_of(transaction)


@contextmanager
def told() -> Iterator[None]:
    """Who is wrong, in the words of the client."""
    try:
        yield
    except (UsageError, TypeError, ValueError) as why:
        raise BadRequest("INVALID_PARAMETER", str(why)) from why
    except Refusal as why:
        raise error_of(why.status.name, str(why)) from why
    except NotDone as why:
        raise error_of(NOT_DONE, str(why)) from why
    except StoreFailure as why:
        raise StoreUnusable(f"STORE_{why.kind.upper()}", str(why)) from why
    except StoreDamage as why:
        raise StoreUnusable("STORE_DAMAGED", str(why)) from why
    except StartFailed as why:
        raise StoreUnusable("START_FAILED", str(why)) from why
