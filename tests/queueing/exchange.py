"""A bench with a manager and a carrier of messages, which exchange signals inside the turn.

exchange = Exchange()                     the carrier is a ManualCarrier, which sends the signals of the test
exchange.send(ELSEWHERE, b"a")            the carrier connects, and has `a` to send
exchange.manual_carrier.sending           the messages that it has to send, oldest first
exchange.end(Outcome.DELIVERED)           the carrier reports the outcome of a message
exchange.happen(OutgoingEvent.FAILED, ConnectionStatus.DNS_FAILURE)
Exchange(Loopback())                      a carrier that needs no signals of the test

URLs and agents are claimed by the carriers of SRMP and HTTPR, all other names by
a carrier for tests.  `ManualCarrier` acts for all three.
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


MANUAL: Final = Carrier(
    name="manual_carrier", claims=lambda _: True, brought=lambda message: message.sequence is not None
)


def carriers(*, signs: bool = False) -> tuple[Carrier, ...]:
    """Return one carrier for each kind of destination: SRMP, HTTPR and the manual carrier."""
    return srmp_carrier(signs=signs), HTTPR_CARRIER, MANUAL


class Say(Event, frozen=True):
    """A signal that the manual carrier is to send."""

    signal: Signal


class ManualCarrier:
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
        """Do nothing: this carrier keeps no state between turns."""

    @property
    def sending(self) -> list[SendUserMessage]:
        """Return the messages that were handed to this carrier, oldest first."""
        return [signal for signal in self.received if isinstance(signal, SendUserMessage)]


class Exchange(Bench):
    """A manager and one carrier."""

    def __init__(self, carrier: ManualCarrier | Loopback | None = None, *queues: str, **options: Any) -> None:
        self.carrier = carrier or ManualCarrier()
        if isinstance(self.carrier, Loopback):
            assert LOOPBACK.carrier is not None
            known = {"subscribed": LOOPBACK.signals, "carriers": (LOOPBACK.carrier,)}
        else:
            known = {
                "subscribed": ManualCarrier.SIGNALS,
                "carriers": carriers(signs=options.get("signs", False)),
            }
        super().__init__(*queues, **{**known, **options})

    def _build(self) -> None:
        super()._build()
        self.core = Core(self.disk, self.rows)
        self.core.add(self.manager, signals=SIGNALS)
        if isinstance(self.carrier, Loopback):
            self.core.add(self.carrier, name=LOOPBACK.name, signals=LOOPBACK.signals, takes=(Say,))
            return
        self.core.add(self.carrier, name=MANUAL.name, signals=ManualCarrier.SIGNALS, takes=(Say,))
        for each in self.carriers:
            if each is not MANUAL:
                self.core.add(self.carrier, name=each.name, signals=ManualCarrier.DIRECTED)

    def run(self, event: Event) -> Turn:
        """Run one turn of both machines."""
        return self.core.turn(event, self.now)

    @property
    def manual_carrier(self) -> ManualCarrier:
        """The carrier, if a test sends its signals."""
        assert isinstance(self.carrier, ManualCarrier)
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
        """Let the manual carrier send a signal."""
        return self.handle(Say(signal))

    def end(self, outcome: Outcome, reason: MessageClass = MessageClass.ACK_REACH_QUEUE) -> Turn:
        """Report the outcome of the message that the carrier got last."""
        last = self.manual_carrier.sending[-1]
        return self.say(TransferEnded(last.queue, (last.lookup_id,), outcome, reason))

    def latest(self, *bodies: bytes) -> tuple[int, ...]:
        """Return the LookupIdentifiers under which these were handed out last."""
        by_body = {signal.message.body: signal.lookup_id for signal in self.manual_carrier.sending}
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
        """Return the notifications to the carrier about messages that left for another reason."""
        return [signal for signal in self.manual_carrier.received if isinstance(signal, MessageWithdrawn)]

    def happen(self, event: OutgoingEvent, status: ConnectionStatus, name: str = ELSEWHERE) -> Turn:
        """Report a change of a connection to the manager."""
        return self.say(ConnectionChanged(self.outgoing(name).number, event, status))

    def sent(self) -> list[bytes]:
        """Return the bodies of what the carrier was handed, oldest first."""
        return [signal.message.body for signal in self.manual_carrier.sending]

    def waiting(self, name: str = ELSEWHERE) -> list[bytes]:
        """Return the bodies of what is in an outgoing queue and not being sent."""
        queue = self.outgoing(name)
        return [self.state.messages.get(position).body for position in queue.order.some(-1, 1000)]
