"""Implements `Transport` for a server: each request is one of the JSON API, with one exception.

A plain receive is two requests, so that a lost answer loses no message:

    receive, held for HOLD seconds    lost: the messages come back by themselves
    acknowledge                       lost: asked again; a receipt that is no longer known then
                                      means that it was done or that the hold ran out, which
                                      cannot be distinguished: OutcomeUnknown, with the messages in it
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache, lru_cache
from ssl import SSLContext
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.client.errors import (
    BadRequest,
    NotFound,
    NotOpen,
    OutcomeUnknown,
    ServerUnreachable,
    TransactionEnded,
)
from reliquary.client.message import Message, OutgoingMessage, Sent, lookup_ids
from reliquary.client.patience import to_the_end
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
from reliquary.client.remote_directory import RemoteDirectory
from reliquary.client.wire import Answers, Wire
from reliquary.net.api.errors import PATH_NOT_FOUND
from reliquary.net.api.numbers import wait_of
from reliquary.net.http.trace_fields import trace_fields
from reliquary.queueing.model.administration import Key, Noun, Plane, R
from reliquary.views.queues import QueueInfo
from reliquary.wire.trace_context import joined

HOLD: Final = 30.0
"""The seconds in which a plain receive must have been acknowledged."""
ATTEMPTS: Final = 3
"""How often an acknowledgement or a commit is requested if no answer comes."""
PIECE: Final = 60.0
"""The longest wait of one request; a longer one is divided, so that a lost connection is detected."""


class _SentAnswer(msgspec.Struct):
    messages: list[Sent]


class _Names(msgspec.Struct):
    handle: str = ""
    cursor: str = ""
    transaction: str = ""


class _Count(msgspec.Struct):
    messages: int


class _Acts(msgspec.Struct):
    """A page of the log of acts."""

    acts: list[ActInfo]


class _HistoryFiles(msgspec.Struct):
    files: list[HistoryFileInfo]


_sent = Answers(_SentAnswer)
_received = Answers(Received)
_names = msgspec.json.Decoder(_Names)
_count = msgspec.json.Decoder(_Count)
_queue = msgspec.json.Decoder(QueueInfo)
_manager = msgspec.json.Decoder(ManagerInfo)
_access = msgspec.json.Decoder(AccessInfo)
_history = msgspec.json.Decoder(HistoryInfo)
_history_files = msgspec.json.Decoder(_HistoryFiles)
_report = msgspec.json.Decoder(StoreReport)
_acts = msgspec.json.Decoder(_Acts)
_trace = msgspec.json.Decoder(Trace)
_reload = msgspec.json.Decoder(ReloadInfo)


def trace_of(messages: Sequence[OutgoingMessage]) -> tuple[tuple[bytes, bytes], ...]:
    """Return the trace that all messages share, as header fields; none if they have several."""
    parent, state = messages[0].traceparent, messages[0].tracestate
    if not parent or any(each.traceparent != parent or each.tracestate != state for each in messages):
        return ()
    context = joined(parent, state)
    return trace_fields(context) if context == f"{parent} {state}".rstrip() else ()


class RemoteTransport:
    """The two planes of one server."""

    named_queue = ""

    def __init__(
        self, data: str, control: str, tls: SSLContext | None = None, authorization: str | None = None
    ) -> None:
        self._data = Wire(data, tls, authorization)
        self._control = Wire(control, tls, authorization)
        self.directory = RemoteDirectory(self._control)

    async def close(self) -> None:
        """Close all connections to the server."""
        await self._data.close()
        await self._control.close()

    # -- messages

    async def send(
        self,
        queue: str,
        messages: Sequence[OutgoingMessage],
        transaction: str | None = None,
        handle: str | None = None,
    ) -> list[Sent]:
        """Send all of them or none, in one request."""
        path = _path(queue, "messages")
        if transaction is not None or handle is not None:
            path = _with_query(path, transaction=transaction, handle=handle)
        trace = trace_of(messages)
        if trace:  # in header fields, because servers of older versions ignore them
            messages = [replace(each, traceparent="", tracestate="") for each in messages]
        body = messages[0] if len(messages) == 1 else messages
        answer = await self._data.exchange("POST", path, _sent, body, 0, harmless=False, more=trace)
        return answer.messages

    async def receive(self, queue: str, ask: Receive) -> Received:
        """Receive messages: with one request if they are locked or in a transaction, otherwise with two."""
        if ask.hold or ask.transaction:
            return await self._receive(queue, ask)
        held = replace(ask, hold=HOLD)
        while True:
            received = await self._receive(queue, held)
            if await self._keep(received):
                return Received(received.messages)

    async def _receive(self, queue: str, ask: Receive) -> Received:
        """Receive without a retry in a transaction or with a cursor: the first answer would be lost."""
        harmless = not (ask.transaction or ask.cursor)
        return await self._wait(_path(queue, "receive"), ask, harmless=harmless)

    async def _keep(self, received: Received) -> bool:
        """Acknowledge locked messages.

        Return False if that came too late, so that they are available again.
        """
        if not received.messages:
            return True
        assert received.receipt is not None, "held messages have a receipt"
        return await to_the_end(self._acknowledge(received.receipt, received.messages))

    async def _acknowledge(self, receipt: str, messages: list[Message]) -> bool:
        lost: ServerUnreachable | OutcomeUnknown | None = None
        doubt = False
        for _ in range(ATTEMPTS):
            try:
                await self.end_read(receipt, lookup_ids(messages), delete=True)
            except (NotOpen, TransactionEnded):
                if not doubt:
                    return False
                break
            except (ServerUnreachable, OutcomeUnknown) as why:
                lost, doubt = why, doubt or isinstance(why, OutcomeUnknown)
            else:
                return True
        assert lost is not None
        if not doubt:
            raise lost
        raise OutcomeUnknown(sentence=_doubt(messages, lost), messages=messages) from lost

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
        places = [str(lookup_id) for lookup_id in lookup_ids]
        body = {"delete": delete, "reject": reject, "unseen": unseen, "lookup_ids": places}
        if self._data.packed:
            try:
                await self._data.do("POST", "/receipts", {"receipt": receipt, **body})
            except NotFound as why:
                if why.code != PATH_NOT_FOUND:
                    raise
            else:
                return
        await self._data.do("POST", _named("receipts", receipt), body)

    async def peek(self, queue: str, ask: Peek) -> Received:
        """Return the first matching message without removing it."""
        return await self._wait(_path(queue, "peek"), ask, harmless=not ask.cursor)

    async def _wait(self, path: str, ask: Receive | Peek, *, harmless: bool) -> Received:
        """Send a request that may wait for a message.

        A long wait is divided; the wait of a cursor has its own end and is not divided.
        """
        try:
            wait_of(ask.timeout)
        except UsageError as why:
            raise BadRequest("INVALID_PARAMETER", str(why)) from why
        ask_for = self._data.exchange
        if ask.cursor or (ask.timeout is not None and ask.timeout <= PIECE):
            return await ask_for("POST", path, _received, ask, ask.timeout, harmless=harmless)
        now = asyncio.get_running_loop().time
        end = None if ask.timeout is None else now() + ask.timeout
        while True:
            left = PIECE if end is None else min(max(end - now(), 0), PIECE)
            ask = replace(ask, timeout=left)
            received = await ask_for("POST", path, _received, ask, left, harmless=harmless)
            if received.messages or left == 0:
                return received
            if isinstance(ask, Receive):
                ask = replace(ask, acknowledge=None)

    async def look_up(self, queue: str, ask: LookUp) -> Received:
        """Return the message by LookupIdentifier; a plain receive is two requests here too."""
        plain = not (ask.peek or ask.hold or ask.transaction)
        if plain:
            ask = replace(ask, hold=HOLD)
        body = _by_place(ask)
        path, harmless = _path(queue, "lookup"), not ask.transaction
        while True:
            received = await self._data.exchange("POST", path, _received, body, 0, harmless=harmless)
            if not plain:
                return received
            if await self._keep(received):
                return Received(received.messages)

    async def browse(self, queue: str, after: int | None, limit: int, handle: str | None = None) -> Received:
        """Return the messages after a position without removing them."""
        path = _with_query(_path(queue, "messages"), after=after, limit=limit, handle=handle)
        return await self._data.exchange("GET", path, _received, None, 0, harmless=True)

    async def move(self, queue: str, ask: Move) -> None:
        """Move a message into another queue."""
        await self._data.do("POST", _path(queue, "move"), _by_place(ask))

    # -- handles and cursors

    async def open(self, queue: str, access: Access, share: Share, lease: float) -> str:
        """Open a queue and return the handle."""
        body = {"access": access, "share": share, "lease": lease}
        return (await self._data.change("POST", _path(queue, "open"), _names, body)).handle

    async def close_handle(self, handle: str) -> None:
        """Close an open queue handle."""
        await self._data.do("DELETE", _named("handles", handle))

    async def open_cursor(self, handle: str) -> str:
        """Open a cursor on an open queue."""
        path = _named("handles", handle, "cursors")
        return (await self._data.change("POST", path, _names)).cursor

    async def close_cursor(self, cursor: str) -> None:
        """Close a cursor and forget its position."""
        await self._data.do("DELETE", _named("cursors", cursor))

    # -- transactions

    async def begin(self, timeout: float, identifier: str | None, owner: str) -> str:  # noqa: ASYNC109 - the manager's clock, not ours
        """Begin a transaction; one whose answer is lost ends by its time-out."""
        body = {"timeout": timeout, "id": identifier, "owner": owner}
        return (await self._data.read("POST", "/transactions", _names, body)).transaction

    async def prepare(self, transaction: str) -> None:
        """Store all its work on disk; a repeated request has no further effect."""
        await self._insist(_named("transactions", transaction, "prepare"), {"single_phase": False})

    async def commit(self, transaction: str, *, prepared: bool, by: str = "") -> None:
        """Commit the transaction; a prepared one that has ended was committed by an earlier request."""
        try:
            await self._insist(_named("transactions", transaction, "commit"), {"by": by})
        except OutcomeUnknown as why:
            if not (prepared and isinstance(why.__cause__, TransactionEnded)):
                raise

    async def abort(self, transaction: str, *, by: str = "") -> None:
        """Abort the transaction; its sends and receives are undone."""
        await self._data.do("POST", _named("transactions", transaction, "abort"), {"by": by})

    async def _insist(self, path: str, body: object = None) -> None:
        """Repeat a request while no answer comes.

        If the transaction has ended then, its outcome is unknown.
        """
        lost: ServerUnreachable | OutcomeUnknown | None = None
        for _ in range(ATTEMPTS):
            try:
                return await self._data.do("POST", path, body)
            except (ServerUnreachable, OutcomeUnknown) as why:
                if lost is None or isinstance(why, OutcomeUnknown):
                    lost = why
            except TransactionEnded as ended:
                if not isinstance(lost, OutcomeUnknown):
                    raise
                raise OutcomeUnknown(sentence=lost.sentence) from ended
        assert lost is not None
        raise lost

    # -- queues, on the control plane

    async def manager(self) -> ManagerInfo:
        """Return name, totals and state of the queue manager."""
        return await self._control.read("GET", "/manager", _manager)

    async def create_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Create a queue and return its record."""
        return await self._control.change("POST", "/queues", _queue, {"name": name, **settings})

    async def change_queue(self, name: str, settings: QueueOptions) -> QueueInfo:
        """Change settings of a queue; a repeated request has no further effect."""
        return await self._control.read("PATCH", _path(name), _queue, settings)

    async def delete_queue(self, name: str) -> int:
        """Delete a queue, and return the number of its messages."""
        return (await self._control.change("DELETE", _path(name), _count)).messages

    async def purge_queue(self, name: str) -> int:
        """Delete all messages of a queue; return how many there were."""
        return (await self._control.change("POST", _path(name, "purge"), _count)).messages

    # -- nouns of administration

    async def list_records(self, noun: Noun[R], **filters: Any) -> list[R]:
        """Return all records of a noun, or those that match the filters, page after page."""
        path = _path(filters.pop("queue"), noun.plural) if noun.of_a_queue else f"/{noun.plural}"
        records: list[R] = []
        after: str | None = None
        while after != "":
            query = _with_query(path, **filters, after=after)
            page: Any = await self._plane(noun).read("GET", query, _list_decoder(noun))
            records += getattr(page, noun.plural)
            after = page.next
        return records

    async def show_record(self, noun: Noun[R], key: Key) -> R:
        """Return the record of a noun that has this key."""
        return await self._plane(noun).read("GET", _named(noun.plural, str(key)), _decoder(noun.record))

    async def act_on(self, noun: Noun[R], key: Key, verb: str, **parameters: Any) -> R:
        """Act on the record that has this key, and return its new state."""
        act = noun.act(verb)
        ask = self._control.read if act.repeatable else self._control.change
        path = _named(noun.plural, str(key), verb)
        return await ask("POST", path, _decoder(noun.record), parameters or None, act.wait)

    def _plane(self, noun: Noun[Any]) -> Wire:
        return self._data if noun.plane is Plane.DATA else self._control

    # -- traffic; a repeated request changes nothing more

    async def set_online(self, *, online: bool) -> ManagerInfo:
        """Take the manager offline, or bring it online."""
        path = "/manager/online" if online else "/manager/offline"
        return await self._control.read("POST", path, _manager)

    # -- access lists

    async def access(self, queue: str) -> AccessInfo:
        """Return the access list of a queue; without a name, that of the manager."""
        return await self._control.read("GET", _access_path(queue), _access)

    async def change_access(
        self, queue: str, change: AccessChange, user: str, rights: Sequence[str]
    ) -> AccessInfo:
        """Change an access list, and return the new one; a repeated request has no further effect."""
        body = {"change": change, "user": user, "rights": list(rights)}
        return await self._control.read("POST", _access_path(queue), _access, body)

    # -- the history

    async def history(self) -> HistoryInfo:
        """Return the state of the server's history."""
        return await self._control.read("GET", "/history", _history)

    async def trace(self, message: str, here: bool) -> Trace:
        """Return the way of a message through managers."""
        path = _with_query("/history/trace", message=message, here=here)
        return await self._control.read("GET", path, _trace)

    async def export_history(self, to: str) -> list[HistoryFileInfo]:
        """Write the history to files; a long history takes a long time."""
        body = {"to": to} if to else {}
        return (await self._control.read("POST", "/history/export", _history_files, body, wait=None)).files

    # -- the store

    async def verify(self) -> StoreReport:
        """Read and check every row; a large store takes a long time."""
        return await self._control.read("POST", "/store/verify", _report, wait=None)

    async def backup(self, path: str, with_history: bool) -> None:
        """Copy the store into a new folder on the server's machine."""
        body = {"path": path} | ({"with_history": True} if with_history else {})
        await self._control.do("POST", "/store/backup", body, wait=None)

    # -- the server

    async def acts(self, limit: int, who: str, act: str) -> list[ActInfo]:
        """Return the latest administrative acts, the latest first."""
        chosen = {name: each for name, each in (("who", who), ("act", act)) if each}
        query = urlencode({"limit": str(limit)} | chosen)
        return (await self._control.read("GET", f"/acts?{query}", _acts)).acts

    async def reload(self) -> ReloadInfo:
        """Let the server read its settings again; a repeated request has no further effect."""
        return await self._control.read("POST", "/config/reload", _reload)


@cache
def _decoder(record: type[R]) -> msgspec.json.Decoder[R]:
    return msgspec.json.Decoder(record)


@cache
def _list_decoder(noun: Noun[Any]) -> msgspec.json.Decoder[msgspec.Struct]:
    """Return the decoder of an object that has a page of the records of a noun under its plural."""
    record: Any = noun.record
    page = msgspec.defstruct("Records", [(noun.plural, list[record]), ("next", str, "")])
    return msgspec.json.Decoder(page)


def _named(noun: str, name: str, *more: str) -> str:
    return "/".join(("", noun, quote(name, safe=""), *more))


@lru_cache(maxsize=1024)
def _path(queue: str, *more: str) -> str:
    """Return the path of a queue; an application names few queues, so paths are cached."""
    return _named("queues", queue, *more)


def _with_query(path: str, **query: object) -> str:
    given = {
        name: "true" if value is True else value
        for name, value in query.items()
        if value is not None and value is not False
    }
    return f"{path}?{urlencode(given)}" if given else path


def _access_path(queue: str) -> str:
    return _path(queue, "access") if queue else "/access"


def _by_place(ask: LookUp | Move) -> dict[str, Any]:
    """Return the JSON of a request with a position; the number is text, because JavaScript would round it."""
    return {**msgspec.to_builtins(ask), "lookup_id": str(ask.lookup_id)}


def _doubt(messages: list[Message], lost: Exception) -> str:
    which = messages[0].id if len(messages) == 1 else f"{messages[0].id} and {len(messages) - 1} more"
    return f"message {which} may be received or may come back to its queue: {lost}"
