"""A queue manager as plain as can be: lists of entries, and the rules of the specification one by one.

What outlives the process is a copy that `flush` takes of the whole; a crash goes back to it.  Time is
an attribute: `advance` goes from one moment at which something is due to the next.

    an event --> its rule --> what became available goes to those who wait --> what is over expires
"""

from __future__ import annotations

from copy import deepcopy
from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import Access, Share
from reliquary.queueing.model.message import Message, size_of
from tests.queueing.plain_model.plain_queue import (
    NO_LIMIT,
    Entry,
    Key,
    Open,
    Operation,
    PlainQueue,
    PlainTransaction,
    Wait,
    fits,
)
from tests.queueing.plain_model.plain_reads import PlainReads
from tests.queueing.plain_model.plain_store import OK

SECOND = 1_000_000
SYSTEM = ("deadletter", "deadxact", "journal", "order-ack", "notification")


class PlainManager(PlainReads):
    """The model.  A method is an event; it returns the answer to the caller."""

    def __init__(self, now: int) -> None:
        super().__init__(now)
        self._numbers = 0
        self.outcomes: dict[UUID, bool] = {}
        """How prepared transactions ended: committed or not."""
        for name in SYSTEM:
            self._new_queue(f"system$;{name}")
        self.flushed = self._durable()

    # -- the process

    def flush(self) -> None:
        self.flushed = self._durable()

    def restart(self, *, crash: bool) -> PlainManager:
        """Return the manager of the next process: what was flushed, and nothing from memory."""
        if not crash:
            self.flush()
        again = deepcopy(self.flushed)
        again.now, again.sequence, again.flushed = self.now, self.sequence, self.flushed
        again.answers = self.answers
        for identifier in [name for name, each in again.transactions.items() if each.single_phase]:
            again.abort(identifier)  # DM-097
        for queue in list(again.leaving):
            again._empty(queue)
        again.settle()
        return again

    def _durable(self) -> PlainManager:
        """Return a copy of all that a restart keeps: no express message, and no lock of a handle."""
        kept = deepcopy(self, {id(getattr(self, "flushed", None)): None, id(self.answers): {}})
        kept.transactions = {name: each for name, each in kept.transactions.items() if each.prepared}
        for transaction in kept.transactions.values():
            transaction.operations = [each for each in transaction.operations if not each.entry.express]
        for queue in kept.every_queue():
            queue.entries = [entry for entry in queue.entries if not entry.express]
            queue.opens, queue.waits, queue.news = [], [], []
            for entry in queue.entries:
                if entry.owner not in kept.transactions.values():
                    entry.owner = None
        return kept

    def stop(self) -> None:
        for queue in self.every_queue():
            for wait in list(queue.waits):
                self._end_wait(wait, HResult.OPERATION_CANCELLED)

    # -- queues

    def _new_queue(self, path: str, *, journal: bool = False, **settings: int | bool) -> PlainQueue:
        """Create a queue, with a journal of its own unless it is a subqueue (DM-137)."""
        kept = None
        if journal:
            self._numbers += 1
            kept = PlainQueue(f"{path};journal", self._numbers)
        self._numbers += 1
        queue = PlainQueue(path, self._numbers, journal=kept, **settings)  # type: ignore[arg-type]
        self.queues[path] = queue
        return queue

    def create(self, path: str, **settings: int | bool) -> HResult:
        parent, _, subqueue = path.partition(";")
        if subqueue and parent not in self.queues:
            return HResult.QUEUE_NOT_FOUND
        if path in self.queues:
            return HResult.QUEUE_EXISTS
        self._new_queue(path, journal=not subqueue, **settings)
        return OK

    def change(self, path: str, *, journaling: bool, quota: int) -> HResult:
        queue = self.find(path)
        if queue is None:
            return HResult.QUEUE_NOT_FOUND
        queue.journaling, queue.quota = journaling, quota
        return OK

    def purge(self, path: str) -> tuple[HResult, int]:
        """Delete available messages now, and locked ones when they are returned (DM-184, DM-185)."""
        queue = self.find(path)
        if queue is None:
            return HResult.QUEUE_NOT_FOUND, 0
        going = queue.available()
        for entry in queue.entries:
            entry.purged = entry.owner is not None
        for entry in going:
            self._leave(queue, entry, received=False)
        self.settle()
        return OK, len(going)

    def delete(self, path: str) -> HResult:
        """Delete a queue with its journal and subqueues (DM-154 to DM-156, AN-23)."""
        queue = self.find(path)
        if queue is None:
            return HResult.QUEUE_NOT_FOUND
        if queue.is_system or queue.is_journal:
            return HResult.ACCESS_DENIED
        family = [each for name, each in self.queues.items() if name == path or name.startswith(f"{path};")]
        family += [each.journal for each in family if each.journal]
        self._undo_users(family)
        for member in family:
            self.queues.pop(member.path, None)
            member.deleted = True
        for member in family:
            for wait in list(member.waits):
                self._end_wait(wait, HResult.QUEUE_NOT_AVAILABLE)
            for each in member.opens:
                each.queue, each.held, each.closed = None, [], each.passing
            member.opens = []
            self.leaving.append(member)
        self.settle()  # what was undone is seen before the first queue is emptied, in a turn of its own
        for member in family:
            self._empty(member)
            self.settle()
        return OK

    def _undo_users(self, queues: list[PlainQueue]) -> None:
        """An active transaction that used a queue which goes can only be aborted."""
        for transaction in self.transactions.values():
            used = any(each.queue in queues or each.target in queues for each in transaction.operations)
            if used and not transaction.prepared:
                self._end_waits_in(transaction)
                self._undo(transaction)
                transaction.operations, transaction.undone = [], True

    def _empty(self, queue: PlainQueue) -> None:
        """Remove the messages of a deleted queue that no prepared transaction has; locked ones go first."""
        prepared = [each for each in self.transactions.values() if each.prepared]
        going = [each for each in queue.entries if each.owner not in prepared]
        for entry in sorted(going, key=lambda each: each.owner is None):
            self._leave(queue, entry, received=False)
        if not queue.entries:
            queue.gone = True
            self.leaving.remove(queue)

    # -- send and move

    def send(self, where: str | Open, messages: list[Message], transaction: UUID | None = None) -> HResult:
        """Send all messages or none of them (DM-187 to DM-197)."""
        inside = self.usable(transaction) if transaction else None
        if transaction and not inside:
            return HResult.TRANSACTION_SEQUENCE
        queue = self._to_send_to(where)
        if isinstance(queue, HResult):
            return queue
        reserved = sum(
            operation.entry.size
            for each in self.transactions.values()
            for operation in each.operations
            if operation.kind == "send" and operation.queue is queue
        )
        if not fits(queue.quota, queue.size + reserved + sum(map(size_of, messages))):
            return HResult.INSUFFICIENT_RESOURCES
        entries = [self._entry(queue, message, inside=inside is not None) for message in messages]
        if inside is not None:
            inside.operations += [Operation("send", queue, entry) for entry in entries]
        else:
            self._arrive(queue, entries)
        self.settle()
        return OK

    def _to_send_to(self, where: str | Open) -> PlainQueue | HResult:
        """Return the queue, or a refusal; a sender by name excludes no other, and no other excludes it."""
        used = (
            self.open(where, Access.SEND, Share.DENY_NONE)
            if isinstance(where, str)
            else self._use(where, Access.SEND)
        )
        if isinstance(used, HResult):
            return used
        assert used.queue is not None
        if isinstance(where, str):
            used.queue.opens.remove(used)
        return used.queue

    def _entry(self, queue: PlainQueue, message: Message, *, inside: bool) -> Entry:
        self.sequence += 1
        lane = 0 if queue.transactional else 7 - message.priority  # DM-028, AN-03
        limit = message.time_to_be_received
        return Entry(
            message.body,
            size_of(message),
            (lane, self.sequence),
            express=message.is_express and not inside,
            expires=0 if limit == NO_LIMIT else self.now + limit * SECOND,
            peekable=message.allow_peek_when_locked,
            negative_journaling=message.negative_journaling,
            positive_journaling=message.positive_journaling,
            application_deadletter=message.application_deadletter_queue,
            transactional=inside,
        )

    def move(self, where: str | Open, key: Key, target: str, transaction: UUID | None = None) -> HResult:
        """Move a message to another queue (DM-231 to DM-234)."""
        inside = self.usable(transaction) if transaction else None
        if transaction and not inside:
            return HResult.TRANSACTION_SEQUENCE
        opened = self._use(where, Access.MOVE)
        if isinstance(opened, HResult):
            return opened
        queue, goal = opened.queue, self.find(target)
        assert queue is not None
        status, entry = OK, queue.at(key)
        if goal is None or goal is queue:
            status = HResult.QUEUE_NOT_FOUND
        elif entry is None or entry.owner is not None:
            status = HResult.MESSAGE_NOT_FOUND
        elif inside is not None:
            entry.owner = inside
            inside.operations.append(Operation("move", queue, entry, goal))
        else:
            self._shift(queue, entry, goal)
        self._done(opened)
        self.settle()
        return status

    @staticmethod
    def _shift(queue: PlainQueue, entry: Entry, target: PlainQueue) -> None:
        queue.entries.remove(entry)
        entry.owner, entry.purged = None, False
        target.put(entry)

    # -- transactions

    def begin(self, identifier: UUID) -> None:
        self.transactions[identifier] = PlainTransaction()

    def prepare(self, identifier: UUID, *, single_phase: bool) -> HResult:
        """Prepare a transaction; a repeat changes nothing (DM-101 to DM-105)."""
        transaction = self.transactions.get(identifier)
        if transaction is None or transaction.undone:
            return HResult.TRANSACTION_SEQUENCE
        if transaction.prepared and transaction.single_phase and not single_phase:
            return HResult.TRANSACTION_SEQUENCE  # it would not outlive a restart
        if not transaction.prepared:
            transaction.prepared, transaction.single_phase = True, single_phase
            self._end_waits_in(transaction)
        return OK

    def commit(self, identifier: UUID) -> HResult:
        """Commit a transaction; a repeat after a prepare has the first answer (DM-106 to DM-111)."""
        transaction = self.transactions.get(identifier)
        if transaction is None or transaction.undone:
            return OK if self.outcomes.get(identifier) is True else HResult.TRANSACTION_SEQUENCE
        self._detach(identifier, committed=True)
        for operation in transaction.operations:
            queue, entry, target = operation.queue, operation.entry, operation.target
            if operation.kind == "send":
                self._commit_send(operation)
            elif queue.gone:
                continue
            elif operation.kind == "receive":
                self._leave(queue, entry, received=True)
            elif target is not None and not target.deleted:
                self._shift(queue, entry, target)
            else:
                self._release(queue, entry)
        self._let_deletes_end(transaction)
        self.settle()
        return OK

    def _commit_send(self, operation: Operation) -> None:
        queue, entry = operation.queue, operation.entry
        if not queue.gone:
            self._arrive(queue, [entry])
            if queue.deleted:
                self._leave(queue, entry, received=False)
        elif copy_queue := self._deadletter_queue(entry):
            self._keep(copy_queue, entry)

    def abort(self, identifier: UUID) -> HResult:
        """Abort a transaction; a repeat after a prepare has the first answer (DM-112 to DM-116)."""
        transaction = self.transactions.get(identifier)
        if transaction is None:
            return OK if self.outcomes.get(identifier) is False else HResult.TRANSACTION_SEQUENCE
        self._detach(identifier, committed=False)
        self._undo(transaction)
        self._let_deletes_end(transaction)
        self.settle()
        return OK

    def _undo(self, transaction: PlainTransaction) -> None:
        for operation in transaction.operations:
            if operation.kind != "send" and not operation.queue.gone:
                self._release(operation.queue, operation.entry)

    def _detach(self, identifier: UUID, *, committed: bool) -> None:
        transaction = self.transactions.pop(identifier)
        if transaction.prepared:
            self.outcomes[identifier] = committed
        self._end_waits_in(transaction)

    def _let_deletes_end(self, transaction: PlainTransaction) -> None:
        for queue in {id(each.queue): each.queue for each in transaction.operations}.values():
            if queue.deleted and not queue.gone:
                self._empty(queue)

    def _end_waits_in(self, transaction: PlainTransaction) -> None:
        for queue in self.every_queue():
            for wait in [each for each in queue.waits if each.transaction is transaction]:
                self._end_wait(wait, HResult.TRANSACTION_SEQUENCE)

    # -- time

    def advance(self, span: int) -> None:
        """Go from one moment at which something is due to the next: expiries, then holds, then waits."""
        end = self.now + span
        while due := [each for each in self._due() if each[0] <= end]:
            self.now, kind, what = min(due, key=lambda each: each[:2])
            if kind == 1:
                assert isinstance(what, Open)
                self.end_read(what, delete=False, keys=[])
            elif kind == 2:
                assert isinstance(what, Wait)
                self._end_wait(what, HResult.IO_TIMEOUT)
            self.settle()
        self.now = end

    def _due(self) -> list[tuple[int, int, object]]:
        due: list[tuple[int, int, object]] = []
        for queue in self.every_queue():
            due += [(each.expires, 0, each) for each in queue.available() if each.expires]
            due += [(each.hold_ends, 1, each) for each in queue.opens if each.held]
            due += [(each.ends, 2, each) for each in queue.waits]
        return due
