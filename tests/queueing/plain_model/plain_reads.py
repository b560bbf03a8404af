"""Receive, peek, look up, end a read: the plain model of 3.1.7.1.10 to 3.1.7.1.15 and of cursors."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import Access, Seek
from tests.queueing.plain_model.plain_queue import (
    Entry,
    Key,
    Open,
    PlainAnswer,
    PlainCursor,
    PlainQueue,
    Standing,
    Wait,
    is_hidden,
    is_over,
)
from tests.queueing.plain_model.plain_store import OK, PlainStore


class PlainReads(PlainStore):
    """The reads.  A method is an event; it returns the answer, or None while the caller waits."""

    def receive(
        self,
        where: str | Open,
        *,
        caller: int,
        count: int = 1,
        timeout: int = 0,
        hold: int = 0,
        transaction: UUID | None = None,
        cursor: PlainCursor | None = None,
    ) -> PlainAnswer | None:
        """Receive messages, or wait for them (DM-198 to DM-209)."""
        inside = self.usable(transaction) if transaction else None
        if transaction and not inside:
            return HResult.TRANSACTION_SEQUENCE, ()
        opened = self._use(where, Access.RECEIVE)
        if isinstance(opened, HResult):
            return opened, ()
        queue = opened.queue
        assert queue is not None
        wait = Wait(
            caller, queue, opened, self.now + timeout, False, count, hold, inside, cursor
        )  # fmt: skip
        reply: PlainAnswer | None
        if cursor is not None:
            reply = self._receive_at(wait, cursor, now_or_never=timeout == 0)
        elif live := [each for each in queue.available() if not is_over(each, self.now)]:
            reply = OK, self._take(wait, live[:count])
        else:
            reply = None if timeout else (HResult.IO_TIMEOUT, ())
        return self._answer_or_wait(wait, reply)

    def _receive_at(self, wait: Wait, cursor: PlainCursor, *, now_or_never: bool) -> PlainAnswer | None:
        """Receive the message at a cursor, or wait there (DM-328, DM-329)."""
        queue = wait.queue
        if cursor.standing is Standing.WAITING:
            return HResult.ILLEGAL_CURSOR_ACTION, ()  # AN-33
        if cursor.standing is Standing.READ:
            here = queue.at(cursor.place)
            if here is None or here.owner is not None:
                return HResult.MESSAGE_ALREADY_RECEIVED, ()
            cursor.standing = Standing.UNREAD
            return OK, self._take(wait, [here])
        ahead = [each for each in queue.available() if each.key > cursor.place]
        if ahead:
            cursor.place = ahead[0].key
            return OK, self._take(wait, ahead[:1])
        if now_or_never:
            return HResult.MESSAGE_NOT_FOUND, ()
        cursor.standing = Standing.WAITING
        return None

    def _answer_or_wait(self, wait: Wait, reply: PlainAnswer | None) -> PlainAnswer | None:
        if reply is None:
            wait.queue.waits.append(wait)
        else:
            self._done(wait.open)
        self.settle()
        return reply

    def peek(
        self,
        where: str | Open,
        *,
        caller: int,
        timeout: int = 0,
        cursor: PlainCursor | None = None,
        following: bool = False,
    ) -> PlainAnswer | None:
        """Peek at a message, or wait for one (DM-223 to DM-230)."""
        opened = self._use(where, Access.PEEK)
        if isinstance(opened, HResult):
            return opened, ()
        queue = opened.queue
        assert queue is not None
        wait = Wait(caller, queue, opened, self.now + timeout, True, cursor=cursor)
        reply: PlainAnswer | None
        if cursor is not None:
            reply = self._peek_at(queue, cursor, following=following)
        else:
            visible = queue.visible(self.now)
            reply = (OK, (visible[0].body,)) if visible else None
        if reply is None and timeout == 0:
            reply = HResult.IO_TIMEOUT, ()
            if cursor is not None:
                cursor.standing = Standing.UNREAD
        return self._answer_or_wait(wait, reply)

    def _peek_at(self, queue: PlainQueue, cursor: PlainCursor, *, following: bool) -> PlainAnswer | None:
        """Peek at the message of a cursor, or at the next one (DM-326, DM-327)."""
        if cursor.standing is Standing.WAITING or (following and cursor.standing is Standing.UNREAD):
            return HResult.ILLEGAL_CURSOR_ACTION, ()
        if cursor.standing is Standing.READ and not following:
            here = queue.at(cursor.place)
            gone = here is None or here.owner is not None
            return (HResult.MESSAGE_ALREADY_RECEIVED, ()) if gone or here is None else (OK, (here.body,))
        ahead = [each for each in queue.visible(self.now) if each.key > cursor.place]
        if not ahead:
            cursor.standing = Standing.WAITING
            return None
        cursor.place, cursor.standing = ahead[0].key, Standing.READ
        return OK, (ahead[0].body,)

    def look_up(
        self,
        where: str | Open,
        key: Key,
        seek: Seek,
        *,
        peek: bool,
        hold: int = 0,
        transaction: UUID | None = None,
    ) -> PlainAnswer:
        """Peek or receive a message by its LookupIdentifier (DM-216 to DM-222, DM-307 to DM-313)."""
        inside = self.usable(transaction) if transaction else None
        if transaction and not inside:
            return HResult.TRANSACTION_SEQUENCE, ()
        opened = self._use(where, Access.PEEK if peek else Access.RECEIVE)
        if isinstance(opened, HResult):
            return opened, ()
        queue = opened.queue
        assert queue is not None
        entry, status = self._seek(queue, key, seek, peek=peek)
        reply: PlainAnswer = status, ()
        if entry is not None and peek:
            reply = OK, (entry.body,)
        elif entry is not None:
            wait = Wait(0, queue, opened, 0, False, hold=hold, transaction=inside)
            reply = OK, self._take(wait, [entry])
        self._done(opened)
        self.settle()
        return reply

    def _seek(self, queue: PlainQueue, key: Key, seek: Seek, *, peek: bool) -> tuple[Entry | None, HResult]:
        if seek is Seek.CURRENT:
            return self._current(queue, key, peek=peek)
        seen = queue.visible(self.now) if peek else queue.available()
        if seek in (Seek.FIRST, Seek.NEXT):
            found = [each for each in seen if seek is Seek.FIRST or each.key > key][:1]
        else:
            found = [each for each in seen if seek is Seek.LAST or each.key < key][-1:]
        return (found[0], OK) if found else (None, HResult.MESSAGE_NOT_FOUND)

    def _current(self, queue: PlainQueue, key: Key, *, peek: bool) -> tuple[Entry | None, HResult]:
        """Return the current message; what a prepared transaction has sent is locked and invisible."""
        entry = queue.at(key)
        if entry is None:
            sent = any(
                operation.kind == "send" and operation.queue is queue and operation.entry.key == key
                for each in self.transactions.values()
                if each.prepared
                for operation in each.operations
                if not is_over(operation.entry, self.now)
            )
            return None, HResult.TRANSACTION_USAGE if sent and peek else HResult.MESSAGE_NOT_FOUND
        if entry.owner is None:
            return entry, OK
        if not peek or is_hidden(entry, self.now):
            return None, HResult.MESSAGE_NOT_FOUND
        return (entry, OK) if entry.peekable else (None, HResult.TRANSACTION_USAGE)

    def end_read(self, opened: Open, *, delete: bool, keys: list[Key]) -> HResult:
        """End a read; without keys, for all messages of the receipt (DM-210 to DM-215)."""
        if opened.closed:
            return HResult.INVALID_HANDLE
        queue = opened.queue
        if queue is None:
            return HResult.QUEUE_NOT_AVAILABLE
        if not {entry.key for entry in opened.held}.issuperset(keys):
            return HResult.TRANSACTION_SEQUENCE
        ending = [each for each in opened.held if not keys or each.key in keys]
        opened.held = [each for each in opened.held if each not in ending]
        for entry in sorted(ending, key=lambda each: each.key):
            if delete and not entry.purged:
                self._leave(queue, entry, received=True)
            else:
                self._release(queue, entry)
        self._done(opened)
        self.settle()
        return OK
