"""Applications that write to other sites, and those that read what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reliquary.queueing.events import PurgeQueue
from reliquary.queueing.message import FOREVER, Acknowledgement, Message
from reliquary.queueing.queue import QueueSettings
from reliquary.sim.applications import Call, Pause, Script, Stage
from reliquary.sim.history import Standing
from reliquary.sim.keepers import Administrator, Steward
from reliquary.sim.senders import ACKNOWLEDGEMENTS, Sender
from reliquary.sim.transactors import Transactor, Work

INBOX = "inbox"
LEDGER = "ledger"
"""The transactional one."""
NOWHERE = "nowhere"
"""No site has a queue of this name."""
TIMES = (0x54600,) * 6 + (0, 1, 3, FOREVER)
"""How many seconds a message may take to reach its queue."""
ASKS = (
    Acknowledgement.POS_ARRIVAL,
    Acknowledgement.FULL_REACH_QUEUE,
    Acknowledgement.FULL_RECEIVE,
    Acknowledgement.POS_RECEIVE,
    Acknowledgement.NEG_RECEIVE,
)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Whom somebody writes to."""

    others: Sequence[str]
    """Their authorities."""
    url: Callable[[str, str], str]
    """The name of a queue for those who are elsewhere, from authority and name."""
    mistakes: bool = True
    """Whether messages may go where nobody takes them."""
    receipts: bool = True
    """Whether somebody tells what became of them."""
    times: Sequence[int] = TIMES
    """How many seconds a message may take to reach its queue, as chance will have it."""


class Founder(Administrator):
    """Creates the queues of a site: roomy ones and small ones, with and without journals."""

    def some_settings(self, *, transactional: bool = False) -> QueueSettings:
        """As chance will have it."""
        return QueueSettings(
            transactional=transactional,
            journaling=self.chance.happens(0.3),
            quota=self.chance.pick((FOREVER, FOREVER, FOREVER, 8)),
        )


class Writer(Sender):
    """Anybody who writes to other sites."""

    asks = ASKS
    asking = 0.4

    def __init__(self, name: str, stage: Stage, neighbours: Neighbours) -> None:
        super().__init__(name, stage)
        self.neighbours = neighbours
        self.home = name.partition("/")[0]
        if not neighbours.receipts:
            self.asking = 0.0

    def somewhere(self, queue: str) -> str:
        """This queue of another site."""
        return self.neighbours.url(self.chance.pick(self.neighbours.others), queue)

    def right_or_wrong(self, right: str, *wrong: str) -> str:
        """The right queue of another site; now and then one that takes no such message."""
        wrongly = self.chance.happens(0.04) and self.neighbours.mistakes
        return self.somewhere(self.chance.pick(wrong) if wrongly else right)

    @property
    def news(self) -> str:
        """A queue of its own site, by its URL."""
        return self.neighbours.url(self.home, ACKNOWLEDGEMENTS)

    def wishes(self, *, express: bool) -> Message:
        """As chance will have it; between sites time is short for both kinds."""
        del express
        chance = self.chance
        return Message(
            time_to_reach_queue=chance.pick(self.neighbours.times),
            negative_journaling=chance.happens(0.4),
            positive_journaling=chance.happens(0.3),
            extension=b"ext" if chance.happens(0.1) else b"",
        )


class Correspondent(Writer):
    """Sends single messages, recoverable and express; now and then to a place that takes none."""

    def act(self) -> Script:
        """One request."""
        yield from self.send(self.right_or_wrong(INBOX, NOWHERE, LEDGER), self.chance.pick((1, 1, 2, 4)))


class Streamer(Writer, Transactor):
    """Sends in transactions: several messages at once, to one site or to some."""

    def _work(self, work: Work) -> Script:
        for _ in range(self.chance.between(1, 3)):
            target, count = self.right_or_wrong(LEDGER, NOWHERE, INBOX), self.chance.between(1, 3)
            sent = yield from self.send(target, count, work.transaction)
            work.sent += [each for each in sent if each.standing is not Standing.REFUSED]


class Clerk(Transactor):
    """Reads in transactions, and does not always commit them."""

    def _work(self, work: Work) -> Script:
        for _ in range(self.chance.between(1, 2)):
            yield from self._receive(work)
        yield from self.rest()


class Purger(Writer):
    """Empties a queue, but rarely: one that is read here, or one from which messages leave."""

    def act(self) -> Script:
        """One purge."""
        yield Pause(self.chance.between(1, 1_500_000))
        away = self.somewhere(self.chance.pick((INBOX, LEDGER)))
        path = away if self.chance.happens(0.4) else self.a_queue()
        self.tell((yield Call(lambda to: PurgeQueue(to, path))))


class Dispatcher(Steward):
    """Pauses and resumes what leaves for other sites, takes its own offline and brings it online."""

    def __init__(self, name: str, stage: Stage, neighbours: Neighbours) -> None:
        super().__init__(name, stage)
        self.destinations = tuple(
            neighbours.url(each, queue) for each in neighbours.others for queue in (INBOX, LEDGER)
        )
