"""Simulates applications that read messages: they receive at once or on trial, with cursors and
LookupIdentifiers.

A message that is received on trial stays in its queue, locked, until the application acknowledges it.
"""

from __future__ import annotations

from collections.abc import Sequence

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.queueing.model.events import (
    Access,
    BrowseMessages,
    CloseQueue,
    Delivered,
    EndRead,
    LookUpMessage,
    OpenCursor,
    OpenQueue,
    PeekMessage,
    ReceiveMessages,
    Seek,
)
from reliquary.sim.applications import (
    Application,
    ApplicationContext,
    Call,
    Part,
    Script,
    answer_of,
    succeeded,
)
from reliquary.sim.history import named
from reliquary.sim.network import Outcome

SYSTEM = ("system$;deadletter", "system$;deadxact", "system$;journal")


def poison_of(queue: str) -> str:
    """Return the subqueue for poison messages of a queue."""
    return f"{queue.partition(';')[0]};poison"


class Reader(Application):
    """Base class of applications that read messages."""

    def a_source(self) -> str:
        """Return a queue to read from; sometimes a journal, a dead-letter queue or a poison queue."""
        if self.chance.happens(0.1):
            return self.chance.pick(SYSTEM)
        if self.chance.happens(0.05):
            return f"{self.context.queues[0]};journal"
        if self.chance.happens(0.05):
            return poison_of(self.a_queue())
        return self.a_queue()

    def a_wait(self) -> Duration:
        """Return the time to wait for a message; in four of ten cases the read does not wait."""
        return Duration(0) if self.chance.happens(0.4) else self.a_while()

    def keep(self, outcome: Outcome) -> None:
        """Record messages that were received outside a transaction as consumed."""
        if succeeded(outcome):
            self.history.consume(self.own(answer_of(outcome).messages), outcome.turn)

    def acknowledge(self, receipt: int, chosen: Sequence[Delivered], lookup_ids: tuple[int, ...]) -> Script:
        """Acknowledge messages of a receipt by their LookupIdentifiers; without any, acknowledge all."""
        self.history.intend(named(each.message) for each in chosen)
        outcome = yield Call(lambda to: EndRead(to, receipt, delete=True, lookup_ids=lookup_ids))
        self.note(outcome)
        if succeeded(outcome):
            self.history.consume(self.own(chosen), outcome.turn)


class PlainReceiver(Reader):
    """Receives messages, which leave their queue at once."""

    def act(self) -> Script:
        """Receive a few messages from a random queue."""
        source, count, wait = self.a_source(), self.chance.pick((1, 1, 1, 2, 5)), self.a_wait()
        outcome = yield Call(lambda to: ReceiveMessages(to, source, count, wait))
        self.note(outcome)
        self.keep(outcome)


class Drainer(Reader):
    """Receives all messages of one queue, and then ends."""

    def __init__(self, name: str, context: ApplicationContext, source: str) -> None:
        super().__init__(name, context)
        self._source = source

    def script(self) -> Script:
        """Receive from the queue until it is empty."""
        while True:
            outcome = yield Call(lambda to: ReceiveMessages(to, self._source, 4))
            self.note(outcome)
            self.keep(outcome)
            if not succeeded(outcome):
                return


class TrialReceiver(Reader):
    """Receives on trial, then acknowledges the messages, returns them, or does neither."""

    def act(self) -> Script:
        """Receive once, or send requests that acknowledge one batch and receive the next."""
        source, count, hold = self.a_source(), self.chance.between(1, 4), self.a_while(1500)
        wait = self.a_wait()
        outcome = yield Call(lambda to: ReceiveMessages(to, source, count, wait, hold=hold))
        self.note(outcome)
        while succeeded(outcome):
            answer = answer_of(outcome)
            yield from self.rest()
            what = self.chance.pick(
                ("acknowledge", "acknowledge", "part", "back", "forget", "next", "nonsense")
            )
            if what != "next":
                yield from self._end(what, answer.receipt, answer.messages)
                return
            outcome = yield from self._acknowledge_with_next(source, answer.receipt, answer.messages)

    def _end(self, what: str, receipt: int, messages: Sequence[Delivered]) -> Script:
        chosen = messages
        if what == "part":
            chosen = messages[: self.chance.between(1, len(messages))]
        if what == "nonsense":
            yield from self._acknowledge_nonsense(receipt)
            what = "back"
        if what in ("acknowledge", "part"):
            lookup_ids = tuple(each.position.lookup_id for each in chosen) if what == "part" else ()
            yield from self.acknowledge(receipt, chosen, lookup_ids)
        elif what == "back":
            self.note((yield Call(lambda to: EndRead(to, receipt, delete=False))))

    def _acknowledge_with_next(
        self, source: str, receipt: int, messages: Sequence[Delivered]
    ) -> Part[Outcome]:
        """Send one request that acknowledges the last messages and receives the next ones."""
        self.history.intend(named(each.message) for each in messages)
        hold, wait = self.a_while(1500), self.a_wait()
        outcome = yield Call(lambda to: ReceiveMessages(to, source, 2, wait, hold=hold, acknowledge=receipt))
        self.note(outcome)
        if outcome.answer is not None and outcome.answer.status in (HResult.OK, HResult.IO_TIMEOUT):
            self.history.consume(self.own(messages), outcome.turn)
        return outcome

    def _acknowledge_nonsense(self, receipt: int) -> Script:
        """Send a request that is refused as a whole and acknowledges nothing."""
        bad = self.chance.pick(("a\\b\\c\\d", "", "x;;", "elsewhere\\private$\\orders"))
        outcome = yield Call(lambda to: ReceiveMessages(to, bad, acknowledge=receipt))
        self.note(outcome)
        assert not succeeded(outcome), f"{bad!r} was taken for a queue"


class Browser(Reader):
    """Reads messages without removing them, and receives some from the middle of a queue."""

    def act(self) -> Script:
        """List messages, look one up by its LookupIdentifier, or walk along the queue with a cursor."""
        yield from self.chance.pick((self._browse, self._look_up, self._walk))()

    def _browse(self) -> Script:
        source, limit = self.a_source(), self.chance.between(1, 8)
        self.note((yield Call(lambda to: BrowseMessages(to, source, limit=limit))))

    def _look_up(self) -> Script:
        source = self.a_source()
        outcome = yield Call(lambda to: BrowseMessages(to, source, limit=6))
        self.note(outcome)
        if not succeeded(outcome) or not answer_of(outcome).messages:
            return
        chosen = self.chance.pick(answer_of(outcome).messages).position.lookup_id
        seek, peek = self.chance.pick(tuple(Seek)), self.chance.happens(0.4)
        outcome = yield Call(lambda to: LookUpMessage(to, source, chosen, seek, peek))
        self.note(outcome)
        if not peek:
            self.keep(outcome)

    def _walk(self) -> Script:
        source, wait = self.a_queue(), self.a_wait()
        opened = yield Call(lambda to: OpenQueue(to, source, Access.RECEIVE, lease=self.a_while(2000)))
        self.note(opened)
        if not succeeded(opened):
            return
        handle = answer_of(opened).handle
        outcome = yield Call(lambda to: OpenCursor(to, handle))
        cursor = answer_of(outcome).handle if succeeded(outcome) else 0
        answered = yield from self.step_along(handle, cursor, wait)
        if answered:
            self.note((yield Call(lambda to: CloseQueue(to, handle))))

    def step_along(self, handle: int, cursor: int, wait: Duration) -> Part[bool]:
        """Peek and receive with a cursor; return whether each request was answered; cursor 0 sends none."""
        for step in range(self.chance.between(1, 6) if cursor else 0):
            if self.chance.happens(0.4):
                outcome = yield from self._take_at(handle, cursor, wait)
            else:
                following = step > 0
                outcome = yield Call(lambda to: PeekMessage(to, handle, wait, cursor, next=following))  # noqa: B023
                self.note(outcome)
            if outcome.answer is None:
                return False
        return True

    def _take_at(self, handle: int, cursor: int, wait: Duration) -> Part[Outcome]:
        """Receive the message at the cursor, at once or on trial."""
        hold = self.a_while(1500) if self.chance.happens(0.4) else Duration(0)
        outcome = yield Call(lambda to: ReceiveMessages(to, handle, timeout=wait, hold=hold, cursor=cursor))
        self.note(outcome)
        if not hold:
            self.keep(outcome)
        elif succeeded(outcome) and self.chance.happens(0.5):
            answer = answer_of(outcome)
            lookup_ids = tuple(each.position.lookup_id for each in answer.messages)
            yield from self.acknowledge(answer.receipt, answer.messages, lookup_ids)
        return outcome
