"""The ground of the plain model: queues, who has them open, how messages come and go, who waits.

There are no rows, no windows, no counters and no timers: every question is answered by going through
all there is.
"""

from __future__ import annotations

from copy import deepcopy
from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import Access, Share
from tests.queueing.plain_model.plain_queue import (
    END,
    USES,
    Entry,
    Open,
    Operation,
    PlainAnswer,
    PlainCursor,
    PlainQueue,
    PlainTransaction,
    Standing,
    Wait,
    excludes,
    fits,
    is_over,
)

OK = HResult.OK


class PlainStore:
    """The queues, handles and waits that all rules of the model change."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.queues: dict[str, PlainQueue] = {}
        self.leaving: list[PlainQueue] = []
        """Deleted queues of which a prepared transaction still has something."""
        self.transactions: dict[UUID, PlainTransaction] = {}
        self.answers: dict[int, PlainAnswer] = {}
        """The answers to the callers that had to wait."""
        self.sequence = 0

    def every_queue(self) -> list[PlainQueue]:
        journals = [queue.journal for queue in self.queues.values() if queue.journal]
        return [*self.queues.values(), *journals, *self.leaving]

    def find(self, path: str) -> PlainQueue | None:
        if path.endswith(";journal") and not path.startswith("system$"):
            owner = self.queues.get(path.removesuffix(";journal"))
            return owner.journal if owner else None
        return self.queues.get(path)

    # -- open and close

    def open(self, path: str, access: Access, share: Share, *, passing: bool = False) -> Open | HResult:
        """Open a queue, unless another handle excludes it (DM-175 to DM-178)."""
        queue = self.find(path)
        if queue is None:
            return HResult.QUEUE_NOT_FOUND
        if access is Access.SEND and (queue.is_system or queue.is_journal):
            return HResult.UNSUPPORTED_FORMATNAME_OPERATION
        if any(excludes(each, access, share) for each in queue.opens):
            return HResult.SHARING_VIOLATION
        opened = Open(queue, access, share, passing=passing)
        queue.opens.append(opened)
        return opened

    def _use(self, where: str | Open, access: Access) -> Open | HResult:
        if isinstance(where, str):
            return self.open(where, access, Share.DENY_NONE, passing=True)
        if where.closed:
            return HResult.INVALID_HANDLE
        if access not in USES[where.access]:
            return HResult.ACCESS_DENIED
        return where if where.queue else HResult.QUEUE_NOT_AVAILABLE

    def close(self, opened: Open) -> HResult:
        """Close a queue and return the messages that it had locked (DM-181 to DM-183)."""
        if opened.closed:
            return HResult.INVALID_HANDLE
        opened.closed = True
        if opened.queue is not None:
            for wait in [each for each in opened.queue.waits if each.open is opened]:
                self._end_wait(wait, HResult.OPERATION_CANCELLED)
            for entry in sorted(opened.held, key=lambda each: each.key):
                self._release(opened.queue, entry)
            opened.queue.opens.remove(opened)
        opened.held = []
        self.settle()
        return OK

    def _done(self, opened: Open) -> None:
        """Close a queue that was opened for one request, when nothing is locked or waited for."""
        queue = opened.queue
        if queue is None or opened.closed or not opened.passing:
            return
        if not opened.held and not any(each.open is opened for each in queue.waits):
            opened.closed = True
            queue.opens.remove(opened)

    def open_cursor(self, opened: Open) -> PlainCursor | HResult:
        """Open a cursor on a handle that may peek (DM-131, DM-132)."""
        used = self._use(opened, Access.PEEK)
        if isinstance(used, HResult):
            return used
        cursor = PlainCursor(used)
        used.cursors.append(cursor)
        return cursor

    def close_cursor(self, cursor: PlainCursor) -> HResult:
        """Close a cursor and end its waits (DM-133, DM-134)."""
        if cursor not in cursor.open.cursors or cursor.open.closed:
            return HResult.INVALID_HANDLE
        if cursor.open.queue is not None:
            for wait in [each for each in cursor.open.queue.waits if each.cursor is cursor]:
                self._end_wait(wait, HResult.OPERATION_CANCELLED)
        cursor.open.cursors.remove(cursor)
        return OK

    # -- how a message comes and goes

    def _arrive(self, queue: PlainQueue, entries: list[Entry]) -> None:
        """Store new messages and serve the reads that wait for them (DM-049, DM-196)."""
        for entry in entries:
            queue.put(entry)
        for entry in entries:
            if entry.positive_journaling:
                self.sequence += 1
                kept = deepcopy(entry)
                kept.key, kept.expires, kept.negative_journaling = (entry.key[0], self.sequence), 0, False
                self.queues["system$;journal"].put(kept)

    def _leave(self, queue: PlainQueue, entry: Entry, *, received: bool) -> None:
        """Remove a message; journal it if it was received, else keep a dead letter (DM-286, DM-287)."""
        copy_queue = self._journal(queue, entry) if received else self._deadletter_queue(entry, queue)
        queue.entries.remove(entry)
        if copy_queue is not None:
            self._keep(copy_queue, entry)

    def _keep(self, copy_queue: PlainQueue, entry: Entry) -> None:
        entry.expires, entry.negative_journaling, entry.owner, entry.purged = 0, False, None, False
        copy_queue.put(entry)

    @staticmethod
    def _journal(queue: PlainQueue, entry: Entry) -> PlainQueue | None:
        """Return the journal that gets a copy of a received message, if it fits (AN-42)."""
        if not queue.journaling or queue.journal is None or queue.journal.gone:
            return None
        return queue.journal if fits(queue.journal_quota, queue.journal.size + entry.size) else None

    def _deadletter_queue(self, entry: Entry, queue: PlainQueue | None = None) -> PlainQueue | None:
        """Return the dead-letter queue of a message: its own or that of the manager (DM-050, DM-051).

        The queue that the message leaves, and one without room, are replaced by that of the manager.
        """
        if not entry.negative_journaling:
            return None
        own = self.find(entry.application_deadletter) if entry.application_deadletter else None
        if (
            own is not None
            and own is not queue
            and not own.is_system
            and own.transactional == entry.transactional
            and fits(own.quota, own.size + entry.size)
        ):
            return own
        target = self.queues["system$;deadxact" if entry.transactional else "system$;deadletter"]
        return target if fits(target.quota, target.size + entry.size) else None

    def _release(self, queue: PlainQueue, entry: Entry) -> None:
        """End a lock without a receive (DM-113, DM-114, DM-213, DM-214, AN-09)."""
        if is_over(entry, self.now):
            self._leave(queue, entry, received=False)
        else:
            entry.owner = None
            queue.news.append(entry)

    def _take(self, wait: Wait, entries: list[Entry]) -> tuple[bytes, ...]:
        """Lock or remove the messages that a read gets, and return their bodies (DM-205 to DM-207)."""
        bodies = tuple(entry.body for entry in entries)
        for entry in entries:
            if wait.transaction is not None:
                entry.owner = wait.transaction
                wait.transaction.operations.append(Operation("receive", wait.queue, entry))
            elif wait.hold:
                entry.owner = wait.open
                wait.open.held.append(entry)
                wait.open.hold_ends = self.now + wait.hold
            else:
                self._leave(wait.queue, entry, received=True)
        return bodies

    def usable(self, identifier: UUID) -> PlainTransaction | None:
        """Return a transaction that can still do something."""
        transaction = self.transactions.get(identifier)
        if transaction is None or transaction.prepared or transaction.undone:
            return None
        return transaction

    # -- those who wait

    def cancel(self, caller: int) -> None:
        for queue in self.every_queue():
            for wait in [each for each in queue.waits if each.caller == caller]:
                self._end_wait(wait, HResult.OPERATION_CANCELLED)

    def _end_wait(self, wait: Wait, status: HResult) -> None:
        """End a wait with a status and set its cursor (DM-331)."""
        wait.queue.waits.remove(wait)
        self.answers[wait.caller] = status, ()
        if wait.cursor is not None:
            wait.cursor.standing = Standing.UNREAD
            if not wait.peek:
                wait.cursor.place = END
        self._done(wait.open)

    def settle(self) -> None:
        """The end of a turn: those who wait are served in the order they came, then what is over goes."""
        while any(queue.news and queue.waits for queue in self.every_queue()):
            for queue in self.every_queue():
                news, queue.news = queue.news, []
                for wait in list(queue.waits) if news else []:
                    self._serve(wait, news)
        for queue in self.every_queue():
            queue.news = []
        self._expire()

    def _serve(self, wait: Wait, news: list[Entry]) -> None:
        """Answer a wait: a peek and a cursor get the new message, a receive the first (DM-289 to DM-291)."""
        queue = wait.queue
        live = [each for each in queue.available() if not is_over(each, self.now)]
        new = [each for each in news if each in live]
        found = new[:1] if wait.peek or wait.cursor is not None else live[: wait.count]
        if not found:
            return
        queue.waits.remove(wait)
        if wait.cursor is not None:  # DM-330, AN-50
            wait.cursor.place = found[0].key
            wait.cursor.standing = Standing.READ if wait.peek else Standing.UNREAD
        bodies = tuple(each.body for each in found) if wait.peek else self._take(wait, found)
        self.answers[wait.caller] = OK, bodies
        self._done(wait.open)

    # -- time

    def _expire(self) -> None:
        """Remove expired messages that are not locked, the earliest first (DM-297)."""
        over = [
            (entry.express, entry.expires, queue.number, entry.key, queue, entry)
            for queue in self.every_queue()
            for entry in queue.available()
            if is_over(entry, self.now)
        ]
        for *_, queue, entry in sorted(over, key=lambda each: each[:4]):
            self._leave(queue, entry, received=False)
        if over:
            self.settle()
