"""Simulates applications that send recoverable and express messages with all attributes that a sender can
choose."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.time import SECOND
from reliquary.queueing.model.events import SendMessages
from reliquary.queueing.model.message import FOREVER, Acknowledgement, Delivery, Message
from reliquary.sim.applications import Application, ApplicationContext, Call, Part, Script, succeeded
from reliquary.sim.history import SenderKnowledge, Sending
from reliquary.sim.network import Outcome

LIVES = (FOREVER, FOREVER, FOREVER, FOREVER, FOREVER, 0, 1, 3600)
"""Choices for the time to be received, in seconds."""
DESTINATIONS = tuple(f"DIRECT=OS:loopback\\private$\\{name}" for name in ("orders", "inbox", "spare"))
ACKNOWLEDGEMENTS = "acknowledgements"
"""The queue that gets acknowledgements; no application changes or empties it."""
ASKS = (Acknowledgement.FULL_REACH_QUEUE, Acknowledgement.FULL_RECEIVE)
SHORT_LIVES = (FOREVER, FOREVER, 0, 1, 2)


class Sender(Application):
    """Base class of applications that send messages."""

    asks: tuple[Acknowledgement, ...] = ASKS
    """The acknowledgements that a message may request ..."""
    asking = 0.3
    """... and the probability that it requests one."""

    def __init__(self, name: str, context: ApplicationContext) -> None:
        super().__init__(name, context)
        self._last_request = 0

    def send(self, queue: str, count: int, transaction: UUID | None = None) -> Part[list[Sending]]:
        """Send messages in one request, and record what the answer proves about them.

        Messages of a transaction stay undecided in the history until the transaction ends.
        """
        chance = self.chance
        priority = chance.pick((0, 3, 3, 3, 7))
        express = transaction is None and chance.happens(0.25)
        messages, sendings = [], []
        for _ in range(count):
            message, sending = self._make(queue, priority, express=express, transaction=transaction)
            messages.append(message)
            sendings.append(sending)
            self.history.sending(sending)
        self._last_request += 1
        outcome: Outcome = yield Call(lambda to: SendMessages(to, queue, tuple(messages), transaction))
        self.note(outcome)
        if outcome.answer is None:
            self.history.settle(sendings, SenderKnowledge.UNKNOWN)
        elif not succeeded(outcome):
            self.history.settle(sendings, SenderKnowledge.REFUSED)
        elif transaction is None:
            self.history.settle(sendings, SenderKnowledge.CONFIRMED)
        return sendings

    def _make(
        self, queue: str, priority: int, *, express: bool, transaction: UUID | None
    ) -> tuple[Message, Sending]:
        chance = self.chance
        asks = chance.pick(self.asks) if chance.happens(self.asking) else None
        self._sent += 1
        name = f"{self.name}.{self._sent}"
        body = name.encode() + b"|" + b"x" * chance.pick((0, 20, 300))
        message = self.draw_message(express=express).changed(
            body=body,
            label=name,
            priority=priority,
            delivery=Delivery.EXPRESS if express else Delivery.RECOVERABLE,
            acknowledgements=(asks,) if asks else (),
            administration_queue=self.acknowledgement_queue if asks else "",
        )
        sending = Sending(
            body,
            name,
            self.name,
            self._sent,
            queue,
            priority,
            express,
            self._last_request,
            transaction=transaction,
            asks=asks,
        )
        return message, sending

    @property
    def acknowledgement_queue(self) -> str:
        """Return the queue for the acknowledgements of its messages."""
        return ACKNOWLEDGEMENTS

    def draw_message(self, *, express: bool) -> Message:
        """Return a message with random options."""
        chance = self.chance
        return Message.of(
            time_to_be_received=chance.pick(SHORT_LIVES if express else LIVES),
            negative_journaling=chance.happens(0.3),
            positive_journaling=chance.happens(0.1),
            allow_peek_when_locked=chance.happens(0.2),
            application_deadletter_queue=self.a_queue() if chance.happens(0.1) else "",
            delay=self.a_while(2000) if chance.happens(0.05) else 0,
        )


class Producer(Sender):
    """Sends to random queues of its manager."""

    def act(self) -> Script:
        """Send one request with one or several messages."""
        count = 1 if self.chance.happens(0.6) else self.chance.between(2, 5)
        yield from self.send(self.a_queue(), count)


class OutgoingSender(Sender):
    """Sends through outgoing queues; the loopback carrier delivers to queues of this manager."""

    def act(self) -> Script:
        """Send one request, sometimes to a queue that is created and deleted."""
        target = self.chance.pick(DESTINATIONS)
        yield from self.send(target, 1 if self.chance.happens(0.6) else self.chance.between(2, 5))


class ExpiringSender(Sender):
    """Sends messages whose time to reach the queue may be over when they arrive."""

    def _make(
        self, queue: str, priority: int, *, express: bool, transaction: UUID | None
    ) -> tuple[Message, Sending]:
        message, sending = super()._make(queue, priority, express=express, transaction=transaction)
        now = self.context.host.calendar.read() // SECOND
        changes = {
            "sent_time": now - self.chance.between(0, 1),
            "time_to_reach_queue": self.chance.between(0, 2),
        }
        return message.changed(**changes), sending

    def act(self) -> Script:
        """Send one message to a random queue."""
        yield from self.send(self.a_queue(), 1)
