"""Simulates applications of MQQP: senders at the queues' own sites, readers at other sites,
administrators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from reliquary.base.time import Duration
from reliquary.protocols.mqqp.events import CloseAssociation
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.views import IN, OUT
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.events import (
    Access,
    CancelRead,
    CloseCursor,
    CloseQueue,
    Delivered,
    OpenCursor,
    OpenQueue,
    PeekMessage,
    PurgeQueue,
    ReceiveMessages,
    Share,
)
from reliquary.queueing.model.message import FOREVER, Message, MessageClass
from reliquary.sim.applications import (
    Application,
    ApplicationContext,
    Call,
    CallWithoutWaiting,
    Pause,
    Script,
    answer_of,
    succeeded,
)
from reliquary.sim.history import SenderKnowledge
from reliquary.sim.mqqp.readings import Readings
from reliquary.sim.network import Outcome
from reliquary.sim.readers import Browser, PlainReceiver, Reader, TrialReceiver
from reliquary.sim.senders import Sender
from reliquary.sim.transactors import Transactor, Work
from reliquary.sim.world.applications import INBOX, LEDGER

LIVES: Final = (FOREVER, FOREVER, FOREVER, FOREVER, FOREVER, 1, 3600)
"""Choices for the time to be received, in seconds."""


class _LocalSender(Sender):
    """Sends to queues of its own site."""

    def __init__(self, name: str, context: ApplicationContext, *, receipts: bool) -> None:
        """`receipts`: whether messages request acknowledgements."""
        super().__init__(name, context)
        self.asking = 0.3 if receipts else 0.0

    def draw_message(self, *, express: bool) -> Message:
        """Return a message with random attributes."""
        del express
        chance = self.chance
        return Message.of(
            time_to_be_received=chance.pick(LIVES),
            negative_journaling=chance.happens(0.2),
            positive_journaling=chance.happens(0.1),
            allow_peek_when_locked=chance.happens(0.2),
        )


class LocalSender(_LocalSender):
    """Sends single messages, recoverable and express."""

    def act(self) -> Script:
        """Send one, two or four messages."""
        yield from self.send(INBOX, self.chance.pick((1, 1, 2, 4)))


class LocalTransactor(_LocalSender, Transactor):
    """Sends several messages in a transaction."""

    def _work(self, work: Work) -> Script:
        sent = yield from self.send(LEDGER, self.chance.between(1, 4), work.transaction)
        work.sent += [each for each in sent if each.standing is not SenderKnowledge.REFUSED]


class RemoteReader(Reader):
    """Reads queues of other sites, and sometimes one that does not exist."""

    def __init__(
        self,
        name: str,
        context: ApplicationContext,
        sources: Sequence[str],
        wrong: Sequence[str],
        readings: Readings,
    ) -> None:
        """`wrong` are names of queues and of sites that do not exist."""
        super().__init__(name, context)
        self._sources = sources
        self._wrong = wrong
        self.readings = readings

    def a_source(self) -> str:
        """Return the name of a queue of another site."""
        return self.chance.pick(self._wrong if self.chance.happens(0.03) else self._sources)

    def a_queue(self) -> str:
        """Return the name of a queue of another site."""
        return self.a_source()

    def a_wait(self) -> Duration:
        """Return the time to wait for a message: long enough that connections are lost meanwhile."""
        return Duration(0) if self.chance.happens(0.3) else self.a_while(800)

    def own(self, messages: Sequence[Delivered]) -> list[bytes]:
        """Return the messages of applications; the readers of MQQP read no queue with copies of them."""
        return [each.message.body for each in messages if each.message.message_class == MessageClass.NORMAL]

    def open(self) -> Script:
        """Open a queue, use it and close it; sometimes leave it open."""
        source, access = self.a_source(), self.chance.pick((Access.RECEIVE, Access.RECEIVE, Access.PEEK))
        lease, share = self.a_while(2000), self.chance.pick((*[Share.DENY_NONE] * 4, Share.DENY_RECEIVE))
        opened = yield Call(lambda to: OpenQueue(to, source, access, share, lease))
        self.note(opened)
        if succeeded(opened):
            handle = answer_of(opened).handle
            yield from self.use(handle)
            if self.chance.happens(0.8):
                self.note((yield Call(lambda to: CloseQueue(to, handle))))

    def use(self, handle: int) -> Script:
        """Use a queue that is open; subclasses override this."""
        del handle
        yield from self.rest()


class RemoteReceiver(RemoteReader, PlainReceiver):
    """Receives messages of another site, and records their order."""

    def keep(self, outcome: Outcome) -> None:
        """Record the order of the messages that arrived."""
        super().keep(outcome)
        if succeeded(outcome):
            self.readings.orders[self.name] += self.own(answer_of(outcome).messages)


class RemoteTrialReceiver(RemoteReader, TrialReceiver):
    """Receives on trial at another site, then acknowledges the messages, returns them, or does neither."""


class RemoteBrowser(RemoteReader, Browser):
    """Reads messages of another site without removing them, walks with cursors, and receives some."""

    def _walk(self) -> Script:
        yield from self.open()

    def use(self, handle: int) -> Script:
        """Walk along the queue with one cursor or two; cursors that are not closed end with the queue."""
        for _ in range(self.chance.between(1, 2)):
            outcome = yield Call(lambda to: OpenCursor(to, handle))
            self.note(outcome)
            cursor = answer_of(outcome).handle if succeeded(outcome) else 0
            answered = yield from self.step_along(handle, cursor, self.a_wait())
            if answered and cursor and self.chance.happens(0.5):
                self.note((yield Call(lambda to: CloseCursor(to, cursor))))  # noqa: B023


class Canceller(RemoteReader):
    """Cancels its reads, or closes its queue while they wait."""

    def act(self) -> Script:
        """Read by the name of a queue or with a handle, and do not wait for the answer."""
        if self.chance.happens(0.5):
            yield from self.open()
        else:
            yield from self._cancel(self.a_source())

    def use(self, handle: int) -> Script:
        """Begin a read that waits, and cancel it or let the close of the queue end it."""
        wait = self.a_while(1000)
        if self.chance.happens(0.3):
            yield CallWithoutWaiting(lambda to: PeekMessage(to, handle, wait), self.note)
            yield from self.rest()
        else:
            yield from self._cancel(handle)

    def _cancel(self, source: int | str) -> Script:
        tag, wait = self.chance.between(1, 1 << 40), self.a_while(1500)
        hold = self.a_while(500) if self.chance.happens(0.3) else Duration(0)
        kept = self.note if hold else self.keep
        yield CallWithoutWaiting(
            lambda to: ReceiveMessages(to, source, timeout=wait, hold=hold, tag=tag), kept
        )
        yield from self.rest()
        if self.chance.happens(0.8):
            self.note((yield Call(lambda to: CancelRead(to, source, tag))))


class RemotePurger(RemoteReader):
    """Purges a queue of another site, but rarely."""

    def act(self) -> Script:
        """Purge a queue that is chosen at random."""
        yield Pause(self.chance.between(1, 6_000_000))
        source = self.a_source()
        self.note((yield Call(lambda to: PurgeQueue(to, source))))


class AssociationAdministrator(Application):
    """Closes associations of clients at other sites, and links of its own site, at any time."""

    def script(self) -> Script:
        """Close associations and links, until it is time to finish."""
        while not self.context.finishing:
            yield Pause(self.chance.between(1, 3_000_000))
            names = self._names()
            if names:
                name = self.chance.pick(names)
                self.note((yield Call(lambda to: CloseAssociation(to, name))))  # noqa: B023

    def _names(self) -> Sequence[str]:
        process = self.context.host.process
        if process is None:
            return ()
        state = process.machine(Mqqp).state
        clients = [f"{IN}-{number}" for number in state.server.associations]
        return [*clients, *(f"{OUT}-{number}" for number in state.client.links)]

    def note(self, outcome: Outcome) -> None:
        """Record the answer, which has no HRESULT."""
        said = outcome.answer
        received = f"{said.done} {said.why}" if isinstance(said, Done) else "nothing"
        self.history.note(self.context.around.scheduler.now, f"{self.name} receives {received}")


APPLICATIONS: Final[tuple[tuple[type[RemoteReader], int], ...]] = (
    (RemoteReceiver, 2),
    (RemoteTrialReceiver, 2),
    (RemoteBrowser, 1),
    (Canceller, 1),
    (RemotePurger, 1),
)


def applications_of(
    site: str,
    context: ApplicationContext,
    sources: Sequence[str],
    wrong: Sequence[str],
    readings: Readings,
    *,
    receipts: bool,
) -> Iterator[Application]:
    """Yield the applications of a site: senders to its own queues, readers of the queues of others."""
    yield LocalSender(f"{site}/mqqp.sender", context, receipts=receipts)
    yield LocalTransactor(f"{site}/mqqp.transactor", context, receipts=receipts)
    yield AssociationAdministrator(f"{site}/mqqp.administrator", context)
    for kind, count in APPLICATIONS:
        for number in range(count):
            name = f"{site}/mqqp.{kind.__name__.casefold()}{number}"
            yield kind(name, context, sources, wrong, readings)
