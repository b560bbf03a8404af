"""Simulates applications that send to other sites, and applications that read the arrived messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from reliquary.queueing.model.events import CreateQueue, PurgeQueue
from reliquary.queueing.model.message import FOREVER, Acknowledgement, Message
from reliquary.queueing.model.queue import QueueSettings
from reliquary.sim.administrators import Administrator, Operator
from reliquary.sim.applications import Application, ApplicationContext, Call, Pause, Script
from reliquary.sim.history import SenderKnowledge
from reliquary.sim.readers import PlainReceiver
from reliquary.sim.senders import ACKNOWLEDGEMENTS, Sender
from reliquary.sim.transactors import Transactor, Work

INBOX = "inbox"
LEDGER = "ledger"
"""The name of the transactional queue."""
NOWHERE = "nowhere"
"""The name of a queue that no site has."""
TIMES = (0x54600,) * 6 + (0, 1, 3, FOREVER)
"""Choices for the number of seconds that a message may take to reach its queue."""
ASKS = (
    Acknowledgement.POS_ARRIVAL,
    Acknowledgement.FULL_REACH_QUEUE,
    Acknowledgement.FULL_RECEIVE,
    Acknowledgement.POS_RECEIVE,
    Acknowledgement.NEG_RECEIVE,
)


@dataclass(frozen=True, slots=True)
class Destinations:
    """The destinations of the messages of a sender."""

    others: Sequence[str]
    """The authorities of the other sites."""
    queue_name: Callable[[str, str], str]
    """Returns the name of a queue for senders at other sites, from authority and name."""
    mistakes: bool = True
    """Whether messages may be sent to queues that do not accept them."""
    receipts: bool = True
    """Whether the messages request acknowledgements."""
    times: Sequence[int] = TIMES
    """Choices for the number of seconds that a message may take to reach its queue."""


class QueueCreator(Administrator):
    """Creates the queues of a site, with and without quota and journal, and those from which other sites
    fetch."""

    def __init__(self, name: str, context: ApplicationContext, fetched: Iterable[str]) -> None:
        super().__init__(name, context)
        self._fetched = fetched

    def script(self) -> Script:
        """Create queues until every one of them exists."""
        yield from super().script()
        for path in self._fetched:
            yield from self.ask_until_answered(lambda to: CreateQueue(to, path, QueueSettings()))  # noqa: B023

    def some_settings(self, *, transactional: bool = False) -> QueueSettings:
        """Return settings that are drawn at random."""
        return QueueSettings(
            transactional=transactional,
            journaling=self.chance.happens(0.3),
            quota=self.chance.pick((FOREVER, FOREVER, FOREVER, 8)),
        )


class RemoteSender(Sender):
    """An application that sends messages to queues of other sites."""

    asks = ASKS
    asking = 0.4

    def __init__(self, name: str, context: ApplicationContext, destinations: Destinations) -> None:
        super().__init__(name, context)
        self.destinations = destinations
        self.origin = name.partition("/")[0]
        if not destinations.receipts:
            self.asking = 0.0

    def somewhere(self, queue: str) -> str:
        """Return the name of this queue at one of the other sites."""
        return self.destinations.queue_name(self.chance.pick(self.destinations.others), queue)

    def right_or_wrong(self, right: str, *wrong: str) -> str:
        """Return the right queue of another site; sometimes one that does not accept the message."""
        wrongly = self.chance.happens(0.04) and self.destinations.mistakes
        return self.somewhere(self.chance.pick(wrong) if wrongly else right)

    @property
    def acknowledgement_queue(self) -> str:
        """Return the acknowledgement queue of its own site, by the name that other sites use."""
        return self.destinations.queue_name(self.origin, ACKNOWLEDGEMENTS)

    def draw_message(self, *, express: bool) -> Message:
        """Return a message with random attributes; both kinds of messages may expire soon."""
        del express
        chance = self.chance
        return Message.of(
            time_to_reach_queue=chance.pick(self.destinations.times),
            negative_journaling=chance.happens(0.4),
            positive_journaling=chance.happens(0.3),
            extension=b"ext" if chance.happens(0.1) else b"",
        )


class PlainSender(RemoteSender):
    """Sends single messages, recoverable and express; sometimes to a queue that does not accept them."""

    def act(self) -> Script:
        """Send one, two or four messages to a queue that exists or to one that does not."""
        yield from self.send(self.right_or_wrong(INBOX, NOWHERE, LEDGER), self.chance.pick((1, 1, 2, 4)))


class TransactionalSender(RemoteSender, Transactor):
    """Sends in transactions: several messages at once, to one site or to several."""

    def _work(self, work: Work) -> Script:
        for _ in range(self.chance.between(1, 3)):
            target, count = self.right_or_wrong(LEDGER, NOWHERE, INBOX), self.chance.between(1, 3)
            sent = yield from self.send(target, count, work.transaction)
            work.sent += [each for each in sent if each.standing is not SenderKnowledge.REFUSED]


class TransactionalReader(Transactor):
    """Reads in transactions, and does not always commit them."""

    def _work(self, work: Work) -> Script:
        for _ in range(self.chance.between(1, 2)):
            yield from self._receive(work)
        yield from self.rest()


class Purger(RemoteSender):
    """Purges a queue of its site, or an outgoing one, but rarely."""

    def act(self) -> Script:
        """Purge an outgoing queue, or a queue of this site."""
        yield Pause(self.chance.between(1, 1_500_000))
        away = self.somewhere(self.chance.pick((INBOX, LEDGER)))
        path = away if self.chance.happens(0.4) else self.a_queue()
        self.note((yield Call(lambda to: PurgeQueue(to, path))))


class OutgoingQueueOperator(Operator):
    """Pauses and resumes outgoing queues, takes the manager of its site offline and brings it online."""

    def __init__(self, name: str, context: ApplicationContext, destinations: Destinations) -> None:
        super().__init__(name, context)
        self.destinations = tuple(
            destinations.queue_name(each, queue) for each in destinations.others for queue in (INBOX, LEDGER)
        )


def senders_to(
    destinations: Destinations, name: str, context: ApplicationContext, *, transactional: int = 1
) -> Iterator[Application]:
    """Yield applications that use outgoing queues: senders, a purger, an operator; `name` begins
    their names."""
    yield PlainSender(f"{name}.sender", context, destinations)
    for number in range(1, transactional + 1):
        yield TransactionalSender(f"{name}.transactional_sender{number}", context, destinations)
    yield Purger(f"{name}.purger", context, destinations)
    yield OutgoingQueueOperator(f"{name}.operator", context, destinations)


def readers_of(site: str, context: ApplicationContext) -> Iterator[Application]:
    """Yield the applications of a site that read messages from other sites."""
    yield TransactionalReader(f"{site}/transactional_reader", context)
    yield PlainReceiver(f"{site}/reader", context)
