"""A bench with a carrier of messages beside the manager: signals go to and fro inside the turn.

exchange = Exchange()                     the carrier is a Clerk: it says what the test tells it to
exchange.send(ELSEWHERE, b"a")            the clerk connects, and has `a` to send
exchange.clerk.sending                    what it has to send, oldest first
exchange.end(Outcome.DELIVERED)           it says how that went
exchange.happen(OutgoingEvent.FAILED, ConnectionStatus.DNS_FAILURE)
Exchange(Loopback())                      a carrier that does its work alone

URLs and agents are claimed by the carriers of SRMP and HTTPR, everything else by one that is called "clerk";
the Clerk acts for all three.
"""

from __future__ import annotations

from typing import Any, Final

from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal, Turn
from reliquary.engine.core import Core
from reliquary.protocols.httpr.protocol import CARRIER as HTTPR_CARRIER
from reliquary.protocols.srmp.carrier import carrier as srmp_carrier
from reliquary.queueing.manager import SIGNALS
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.names.formats import key_of, parse_single
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.model.travel.link import ConnectionStatus, Link, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    ArrivalJudged,
    BatchJudged,
    ConnectionChanged,
    ConnectionWanted,
    EraBegan,
    IdentityKnown,
    ListenersChanged,
    ManagerOnline,
    MessagesReserved,
    MessagesWaiting,
    MessageWithdrawn,
    Outcome,
    QueuePaused,
    QueueResumed,
    ReceiptDue,
    RoomKnown,
    RunJudged,
    SendUserMessage,
    TransferAccepted,
    TransferEnded,
)
from reliquary.queueing.travel.loopback import LOOPBACK, Loopback
from tests.queueing.manager_harness import Bench

ELSEWHERE: Final = r"DIRECT=OS:elsewhere\private$\orders"
LOOPED: Final = r"DIRECT=OS:loopback\private$\orders"


CLERK: Final = Carrier(
    name="clerk", claims=lambda _: True, brought=lambda message: message.sequence is not None
)


def carriers(*, signs: bool = False) -> tuple[Carrier, ...]:
    """Return one carrier for each kind of destination: SRMP, HTTPR and the clerk."""
    return srmp_carrier(signs=signs), HTTPR_CARRIER, CLERK


class Say(Event, frozen=True):
    """The clerk is to say this."""

    signal: Signal


class Clerk:
    """A carrier for every destination, whose signals a test sends."""

    DIRECTED: Final[tuple[type[Signal], ...]] = (
        ConnectionWanted, SendUserMessage, QueuePaused, QueueResumed, ArrivalJudged, MessageWithdrawn,
        ReceiptDue, MessagesWaiting, MessagesReserved, BatchJudged, RunJudged, RoomKnown,
    )  # fmt: skip
    SIGNALS: Final[tuple[type[Signal], ...]] = (
        *DIRECTED, EraBegan, IdentityKnown, ManagerOnline, ListenersChanged,
    )  # fmt: skip

    def __init__(self) -> None:
        self.received: list[Signal] = []
        self.listening: list[frozenset[str]] = []
        """The sets of multicast addresses that the manager announced, oldest first."""
        self.connects = True
        """Say at once that there is a connection, when one is wanted."""
        self.at_once = 1
        self.most_bytes = 0
        """How many sends it lets be in progress."""

    def handle(self, event: Event, now: Instant) -> Turn:
        """Send the signal that the test wants."""
        del now
        assert isinstance(event, Say)
        return Turn(signals=(event.signal,))

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        """Note what the manager says."""
        del now
        if isinstance(signal, ListenersChanged):
            self.listening.append(signal.addresses)
            return Turn()
        if isinstance(signal, IdentityKnown):
            return Turn()
        self.received.append(signal)
        if self.connects and isinstance(signal, ConnectionWanted):
            connected = ConnectionChanged(
                signal.queue,
                OutgoingEvent.CONNECTED,
                ConnectionStatus.ESTABLISHED,
                at_once=self.at_once,
                most_bytes=self.most_bytes,
            )
            return Turn(signals=(connected,))
        return Turn()

    def settle(self) -> None:
        """Do nothing: this clerk keeps no state between turns."""

    @property
    def sending(self) -> list[SendUserMessage]:
        """Return the messages that were handed to this carrier, oldest first."""
        return [signal for signal in self.received if isinstance(signal, SendUserMessage)]


class Exchange(Bench):
    """A manager and one carrier."""

    def __init__(self, carrier: Clerk | Loopback | None = None, *queues: str, **options: Any) -> None:
        self.carrier = carrier or Clerk()
        if isinstance(self.carrier, Loopback):
            assert LOOPBACK.carrier is not None
            known = {"subscribed": LOOPBACK.signals, "carriers": (LOOPBACK.carrier,)}
        else:
            known = {"subscribed": Clerk.SIGNALS, "carriers": carriers(signs=options.get("signs", False))}
        super().__init__(*queues, **{**known, **options})

    def _build(self) -> None:
        super()._build()
        self.core = Core(self.disk, self.rows)
        self.core.add(self.manager, signals=SIGNALS)
        if isinstance(self.carrier, Loopback):
            self.core.add(self.carrier, name=LOOPBACK.name, signals=LOOPBACK.signals, takes=(Say,))
            return
        self.core.add(self.carrier, name=CLERK.name, signals=Clerk.SIGNALS, takes=(Say,))
        for each in self.carriers:
            if each is not CLERK:
                self.core.add(self.carrier, name=each.name, signals=Clerk.DIRECTED)

    def run(self, event: Event) -> Turn:
        """Run one turn of both machines."""
        return self.core.turn(event, self.now)

    @property
    def clerk(self) -> Clerk:
        """The carrier, if a test sends its signals."""
        assert isinstance(self.carrier, Clerk)
        return self.carrier

    def outgoing(self, name: str = ELSEWHERE) -> QueueState:
        """Return the outgoing queue to a destination."""
        return self.state.names.outgoing[key_of(parse_single(name))]

    def link(self, name: str = ELSEWHERE) -> Link:
        """Return the link of the outgoing queue to this address."""
        link = self.outgoing(name).link
        assert link is not None
        return link

    def say(self, signal: Signal) -> Turn:
        """Let the clerk say it."""
        return self.handle(Say(signal))

    def end(self, outcome: Outcome, reason: MessageClass = MessageClass.ACK_REACH_QUEUE) -> Turn:
        """Report the outcome of the message that the clerk got last."""
        last = self.clerk.sending[-1]
        return self.say(TransferEnded(last.queue, (last.lookup_id,), outcome, reason))

    def latest(self, *bodies: bytes) -> tuple[int, ...]:
        """Return the LookupIdentifiers under which these were handed out last."""
        by_body = {signal.message.body: signal.lookup_id for signal in self.clerk.sending}
        return tuple(by_body[body] for body in bodies)

    def accept(self, *bodies: bytes) -> None:
        """The peer has these, and will tell later what became of them."""
        for body in bodies:  # the next is handed out when this one is accepted
            (lookup_id,) = self.latest(body)
            self.say(TransferAccepted(self.outgoing().number, (lookup_id,)))

    def conclude(
        self, outcome: Outcome, *bodies: bytes, reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    ) -> Turn:
        """Report the outcome of all these messages in one request."""
        return self.say(TransferEnded(self.outgoing().number, self.latest(*bodies), outcome, reason))

    @property
    def withdrawn(self) -> list[MessageWithdrawn]:
        """Return the notifications to the clerk about messages that left for another reason."""
        return [signal for signal in self.clerk.received if isinstance(signal, MessageWithdrawn)]

    def happen(self, event: OutgoingEvent, status: ConnectionStatus, name: str = ELSEWHERE) -> Turn:
        """Report a change of a connection to the manager."""
        return self.say(ConnectionChanged(self.outgoing(name).number, event, status))

    def sent(self) -> list[bytes]:
        """Return the bodies of what the clerk was handed, oldest first."""
        return [signal.message.body for signal in self.clerk.sending]

    def waiting(self, name: str = ELSEWHERE) -> list[bytes]:
        """Return the bodies of what is in an outgoing queue and not being sent."""
        queue = self.outgoing(name)
        return [self.state.messages.get(position).body for position in queue.order.some(-1, 1000)]
