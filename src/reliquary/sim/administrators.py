"""Simulates administrators: they create, change, purge and delete queues and move messages."""

from __future__ import annotations

from collections.abc import Sequence

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import (
    BringOnline,
    BrowseMessages,
    ChangeQueue,
    CreateQueue,
    DeleteQueue,
    MoveMessage,
    PauseQueue,
    PurgeQueue,
    ResumeQueue,
    TakeOffline,
)
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.queue import QueueSettings
from reliquary.sim.applications import Application, Call, Pause, Script, answer_of, succeeded
from reliquary.sim.network import Make
from reliquary.sim.readers import Reader, poison_of
from reliquary.sim.senders import ACKNOWLEDGEMENTS, DESTINATIONS

SPARE = "spare"
"""The one queue that is deleted and created again."""


class Administrator(Application):
    """Creates all queues of the run, and then ends."""

    def script(self) -> Script:
        """Create each queue, and repeat a request until it is answered."""
        for path in (*self.context.queues, ACKNOWLEDGEMENTS):
            settings = self.some_settings(transactional=path == "ledger")
            if path == ACKNOWLEDGEMENTS:
                settings = QueueSettings()
            outcome = yield from self.ask_until_answered(lambda to: CreateQueue(to, path, settings))  # noqa: B023
            assert outcome.answer.status in (HResult.OK, HResult.QUEUE_EXISTS), outcome.answer

    def some_settings(self, *, transactional: bool = False) -> QueueSettings:
        """Draw the settings of a queue; quotas are small, so that queues become full."""
        return QueueSettings(
            transactional=transactional,
            journaling=self.chance.happens(0.4),
            quota=self.chance.pick((FOREVER, 4, 16)),
            journal_quota=self.chance.pick((FOREVER, 2)),
            poison_limit=self.chance.pick((0, 0, 2)),
            retry_delay=self.chance.pick((0, 0, 1)),
            longest_retry_delay=2,
        )


class QueueChanger(Administrator):
    """Purges, changes, deletes and creates queues at long intervals."""

    def script(self) -> Script:
        """Purge, change or replace a queue from time to time, until the run finishes."""
        while not self.context.finishing:
            for _ in range(8):
                yield from self.rest()
            yield Pause(self.chance.between(1, 500_000))
            yield from self.chance.pick((self._purge, self._change, self._replace))()

    def _purge(self) -> Script:
        path = self.a_queue()
        self.note((yield Call(lambda to: PurgeQueue(to, path))))

    def _change(self) -> Script:
        path = self.a_queue()
        changes: dict[str, object] = {
            "quota": self.chance.pick((FOREVER, 4, 16)),
            "journaling": self.chance.happens(0.5),
            "poison_limit": self.chance.pick((0, 1, 2)),
        }
        self.note((yield Call(lambda to: ChangeQueue(to, path, changes))))

    def _replace(self) -> Script:
        """Delete the queue, and create it again with its subqueue."""
        self.note((yield Call(lambda to: DeleteQueue(to, SPARE))))
        yield from self.rest()
        settings = self.some_settings()
        for path in (SPARE, f"{SPARE};part"):
            self.note((yield Call(lambda to: CreateQueue(to, path, settings))))  # noqa: B023


class Operator(Application):
    """Pauses and resumes outgoing queues, takes the manager offline and brings it online again."""

    destinations: Sequence[str] = DESTINATIONS

    def script(self) -> Script:
        """Repeat until the run finishes; at the end all queues are resumed and the manager is online."""
        while not self.context.finishing:
            yield Pause(self.chance.between(1, 400_000))
            for make in self.chance.pick((self._hold, self._cut))():
                self.note((yield Call(make)))
                yield from self.rest()
        yield from self.ask_until_answered(BringOnline)
        for destination in self.destinations:
            yield from self.ask_until_answered(lambda to: ResumeQueue(to, destination))  # noqa: B023

    def _hold(self) -> tuple[Make, ...]:
        destination = self.chance.pick(self.destinations)
        return (lambda to: PauseQueue(to, destination), lambda to: ResumeQueue(to, destination))

    def _cut(self) -> tuple[Make, ...]:
        return (TakeOffline, BringOnline)


class MessageMover(Reader):
    """Moves messages between queues, and from journals and poison subqueues back to queues."""

    def act(self) -> Script:
        """Move one random message between queues."""
        source, target = self.a_source(), self.a_queue()
        if self.chance.happens(0.3):
            source = poison_of(target)
        outcome = yield Call(lambda to: BrowseMessages(to, source, limit=5))
        self.note(outcome)
        if succeeded(outcome) and answer_of(outcome).messages:
            chosen = self.chance.pick(answer_of(outcome).messages).position.lookup_id
            self.note((yield Call(lambda to: MoveMessage(to, source, chosen, target))))
        yield Pause(self.chance.between(1, 300_000))
