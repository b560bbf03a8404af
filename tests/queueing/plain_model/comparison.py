"""A manager on its bench and the plain model side by side: each event goes to both, and they agree.

Handles, cursors, receipts and transactions of the two are kept as pairs.  After each event everything
that can be seen is compared: what each queue shows, in which order, what it counts, who still waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model import events
from reliquary.queueing.model.cursors import CursorState
from reliquary.queueing.model.events import Access, Seek, Share
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.state import Sizes
from tests.queueing.manager_harness import Bench
from tests.queueing.plain_model.plain_manager import SYSTEM, PlainManager
from tests.queueing.plain_model.plain_queue import START, Key, Open, PlainAnswer, PlainCursor, Standing
from tests.queueing.state_checks import check

STANDING = {
    CursorState.UNREAD: Standing.UNREAD,
    CursorState.READ: Standing.READ,
    CursorState.WAIT_PEEK: Standing.WAITING,
    CursorState.WAIT_RECEIVE: Standing.WAITING,
}


@dataclass(frozen=True)
class Handle:
    """An open queue, or the receipt of a read by name: the manager's and the model's."""

    number: int
    open: Open


@dataclass(frozen=True)
class CursorPair:
    """A cursor: the manager's and the model's."""

    number: int
    handle: Handle
    plain: PlainCursor


class Comparison:
    """Two managers that must not differ."""

    def __init__(self, sizes: Sizes) -> None:
        self.bench = Bench("first", sizes=sizes)
        self.bench.ask(events.DeleteQueue(0, "first"))
        self.plain = PlainManager(self.bench.now)
        self.handles: list[Handle] = []
        self.receipts: list[Handle] = []
        self.cursors: list[CursorPair] = []
        self.transactions: list[UUID] = []
        """The transactions, also some that have ended."""
        self.waiting: set[int] = set()
        self.lookup_ids: dict[Key, int] = {START: 0}
        """The LookupIdentifier of each entry, which never changes; nothing lies at 0."""
        self._bodies = 0
        self.flush()

    # -- what differs

    def _same(self, what: str, found: object, expected: object) -> None:
        assert found == expected, f"{what}: the manager says {found}, the model {expected}"

    def compare(self) -> None:
        """Compare everything that can be seen of the manager and the model."""
        self.bench.advance(0)
        self._compare_waits()
        for queue in self.plain.every_queue():
            if queue.path.removeprefix("system$;") not in SYSTEM[3:] and not queue.deleted:
                self._compare_queue(queue.path)
        state = self.bench.state
        self._same(
            "the bytes of all", state.totals.bytes, sum(each.size for each in self.plain.every_queue())
        )
        self._same("transactions", set(state.transactions.open), set(self.plain.transactions))
        for cursor in self.cursors:
            if cursor.number in state.open.cursors:
                standing = STANDING[state.open.cursors[cursor.number].state]
                self._same("a cursor", standing, cursor.plain.standing)

    def _compare_waits(self) -> None:
        for caller in [each for each in self.waiting if self.bench.answer_to(each) is not None]:
            self.waiting.remove(caller)
            self._same(f"the wait {caller}", reply(self.bench.answer_to(caller)), self.plain.answers[caller])
        still = {wait.caller for queue in self.plain.every_queue() for wait in queue.waits}
        self._same("who waits", self.waiting, still)

    def _compare_queue(self, path: str) -> None:
        plain, queue = self.plain.find(path), self.bench.queue(path)
        assert plain is not None
        visible = plain.visible(self.plain.now)
        shown: tuple[events.Delivered, ...] = ()
        if visible or len(queue.order) or queue.order.locked:
            shown = self.bench.ask(events.BrowseMessages(0, path, limit=1000)).messages
        bodies = [each.message.body for each in shown]
        self._same(f"the order of {path}", bodies, [each.body for each in visible])
        found = [each.position.lookup_id for each in shown]
        assert found == sorted(set(found)), f"LookupIdentifiers do not grow along {path}"
        for entry, lookup_id in zip(visible, found, strict=True):
            known = self.lookup_ids.setdefault(entry.key, lookup_id)
            assert known == lookup_id, f"{entry.body!r} has another LookupIdentifier than before"
        pending = sum(position.purged > 0 for position in queue.order.locked.values())
        counts = (len(queue.order), pending, queue.total_bytes, len(queue.readers.descriptors))
        expected = (
            len(plain.available()),
            sum(entry.purged for entry in plain.entries),
            plain.size,
            len(plain.opens),
        )
        self._same(f"available, purge-pending, bytes, open of {path}", counts, expected)

    # -- queues

    def create(self, path: str, **settings: Any) -> None:
        self._same("create", self.bench.create(path, **settings).status, self.plain.create(path, **settings))

    def change(self, path: str, *, journaling: bool, quota: int) -> None:
        changes: dict[str, object] = {"journaling": journaling, "quota": quota}
        answer = self.bench.ask(events.ChangeQueue(0, path, changes))
        self._same("change", answer.status, self.plain.change(path, journaling=journaling, quota=quota))

    def purge(self, path: str) -> None:
        answer = self.bench.ask(events.PurgeQueue(0, path))
        self._same("purge", (answer.status, getattr(answer, "count", 0)), self.plain.purge(path))

    def delete(self, path: str) -> None:
        self._same("delete", self.bench.ask(events.DeleteQueue(0, path)).status, self.plain.delete(path))

    def open(self, path: str, access: Access, share: Share) -> None:
        answer, opened = self.bench.ask(events.OpenQueue(0, path, access, share)), None
        opened = self.plain.open(path, access, share)
        self._same("open", answer.status, HResult.OK if isinstance(opened, Open) else opened)
        if isinstance(opened, Open):
            self.handles.append(Handle(answer.handle, opened))

    def close(self, handle: Handle) -> None:
        answer = self.bench.ask(events.CloseQueue(0, handle.number))
        self._same("close", answer.status, self.plain.close(handle.open))

    def open_cursor(self, handle: Handle) -> None:
        answer = self.bench.ask(events.OpenCursor(0, handle.number))
        cursor = self.plain.open_cursor(handle.open)
        self._same("open cursor", answer.status, cursor if isinstance(cursor, HResult) else HResult.OK)
        if isinstance(cursor, PlainCursor):
            self.cursors.append(CursorPair(answer.handle, handle, cursor))

    def close_cursor(self, cursor: CursorPair) -> None:
        answer = self.bench.ask(events.CloseCursor(0, cursor.number))
        self._same("close cursor", answer.status, self.plain.close_cursor(cursor.plain))
        self.cursors.remove(cursor)

    def is_usable(self, cursor: CursorPair) -> bool:
        """Return whether the cursor is open; what is closed is a mistake of the caller, shown elsewhere."""
        return cursor.number in self.bench.state.open.cursors

    # -- messages

    def send(
        self, where: str | Handle, attributes: list[dict[str, Any]], transaction: UUID | None = None
    ) -> None:
        messages = [Message.of(body=self._body(), **each) for each in attributes]
        real = events.SendMessages(0, _real(where), tuple(messages), transaction)
        self._same("send", self.bench.ask(real).status, self.plain.send(_plain(where), messages, transaction))

    def _body(self) -> bytes:
        self._bodies += 1
        return b"%d" % self._bodies

    def receive(
        self,
        where: str | Handle,
        *,
        count: int = 1,
        timeout: int = 0,
        hold: int = 0,
        transaction: UUID | None = None,
        cursor: CursorPair | None = None,
    ) -> None:
        caller = self.bench.new_caller()
        answer = self.bench.ask(
            events.ReceiveMessages(
                caller,
                _real(where),
                count,
                seconds(timeout),
                transaction,
                seconds(hold),
                cursor=cursor.number if cursor else 0,
                tag=caller,
            )
        )
        expected = self.plain.receive(
            _plain(where),
            caller=caller,
            count=count,
            timeout=seconds(timeout),
            hold=seconds(hold),
            transaction=transaction,
            cursor=cursor.plain if cursor else None,
        )
        self._hear("receive", caller, answer, expected)

    def peek(
        self,
        where: str | Handle,
        *,
        timeout: int = 0,
        cursor: CursorPair | None = None,
        following: bool = False,
    ) -> None:
        caller, wait = self.bench.new_caller(), seconds(timeout)
        number, plain = (cursor.number, cursor.plain) if cursor else (0, None)
        answer = self.bench.ask(events.PeekMessage(caller, _real(where), wait, number, following))
        expected = self.plain.peek(
            _plain(where), caller=caller, timeout=wait, cursor=plain, following=following
        )
        self._hear("peek", caller, answer, expected)

    def _hear(self, what: str, caller: int, answer: Any, expected: PlainAnswer | None) -> None:
        self._same(what, reply(answer), expected)
        if answer is None:
            self.waiting.add(caller)

    def look_up(
        self, where: str | Handle, key: Key, seek: Seek, *, peek: bool, hold: int, transaction: UUID | None
    ) -> None:
        span, lookup_id = seconds(0 if peek else hold), self.lookup_ids[key]
        inside = None if peek or hold else transaction
        answer = self.bench.ask(events.LookUpMessage(0, _real(where), lookup_id, seek, peek, inside, span))
        expected = self.plain.look_up(_plain(where), key, seek, peek=peek, hold=span, transaction=inside)
        self._same("look up", reply(answer), expected)

    def end_read(self, handle: Handle, *, delete: bool, keys: list[Key]) -> None:
        lookup_ids = tuple(self.lookup_ids[key] for key in keys)
        answer = self.bench.ask(events.EndRead(0, handle.number, delete, lookup_ids))
        expected = self.plain.end_read(handle.open, delete=delete, keys=keys)
        self._same("end read", answer.status, expected)

    def move(self, where: str | Handle, key: Key, target: str, transaction: UUID | None) -> None:
        lookup_id = self.lookup_ids[key]
        answer = self.bench.ask(events.MoveMessage(0, _real(where), lookup_id, target, transaction))
        self._same("move", answer.status, self.plain.move(_plain(where), key, target, transaction))

    def cancel(self, path: str, caller: int) -> None:
        answer = self.bench.ask(events.CancelRead(0, path, caller))
        if answer.status is HResult.OK:
            self.plain.cancel(caller)

    def held(self) -> list[Handle]:
        """Return everything under which messages are held: handles, and reads by name."""
        known = {id(handle.open): handle for handle in self.handles}
        state = self.bench.state
        return [
            known.get(id(opened)) or Handle(number, opened)
            for queue in self.plain.every_queue()
            if not queue.deleted
            for number, opened in zip(
                [
                    each
                    for each in self.bench.queue(queue.path).readers.descriptors
                    if state.open.handles[each].locked
                ],
                [each for each in queue.opens if each.held],
                strict=True,
            )
        ]

    # -- transactions

    def begin(self) -> None:
        identifier = self.bench.begin()
        self.plain.begin(identifier)
        self.transactions.append(identifier)

    def prepare(self, identifier: UUID, *, single_phase: bool) -> None:
        answer = self.bench.ask(events.PrepareTransaction(0, identifier, single_phase))
        self._same("prepare", answer.status, self.plain.prepare(identifier, single_phase=single_phase))

    def commit(self, identifier: UUID) -> None:
        answer = self.bench.ask(events.CommitTransaction(0, identifier))
        self._same("commit", answer.status, self.plain.commit(identifier))

    def abort(self, identifier: UUID) -> None:
        answer = self.bench.ask(events.AbortTransaction(0, identifier))
        self._same("abort", answer.status, self.plain.abort(identifier))

    # -- time and the process

    def advance(self, span: int) -> None:
        self.bench.advance(span)
        self.plain.advance(seconds(span))

    def flush(self) -> None:
        self.bench.flush()
        self.plain.flush()

    def restart(self, *, crash: bool, stop: bool) -> None:
        if stop:
            self.bench.stop()
            self.plain.stop()
            self._compare_waits()
        self.bench.restart(crash=crash)
        self.plain = self.plain.restart(crash=crash)
        self.handles, self.cursors = [], []
        self.waiting.clear()
        check(self.bench.state)


def reply(answer: Any) -> PlainAnswer | None:
    """Return the status of an answer and the bodies in it."""
    if answer is None:
        return None
    bodies = tuple(each.message.body for each in getattr(answer, "messages", ()))
    return answer.status, bodies


def _real(where: str | Handle) -> str | int:
    return where if isinstance(where, str) else where.number


def _plain(where: str | Handle) -> str | Open:
    return where if isinstance(where, str) else where.open
