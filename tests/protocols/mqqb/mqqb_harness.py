r"""A queue manager and MQQB on one bench; a scripted peer is the other side of each session.

bench = MqqbBench()                       started and addressed as 10.0.0.2, with "orders"
peer = bench.accept()                     a peer connects
peer = bench.accepted()                   ... and has done the handshake
peer.user(b"a")                           it sends a message to .\private$\orders; see `user`
peer.got                                  all packets that came to it, decoded
peer = bench.dialled()                    the bench has dialled a peer: it answers the handshake
peer.is_closed                            whether the bench has hung up
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from msgspec.structs import replace

from reliquary.base.turn import Effect
from reliquary.protocols.mqqb import tables
from reliquary.protocols.mqqb.codec.acks import (
    AckAddresses,
    FinalAck,
    OrderAck,
    final_ack,
    is_for_order_queue,
    order_ack,
    read_ack,
)
from reliquary.protocols.mqqb.codec.packets import Packet, decode_packet
from reliquary.protocols.mqqb.effects import Dial, HangUp, SendPackets, SendPing, SendStored
from reliquary.protocols.mqqb.events import (
    Accepted,
    Addressed,
    AddressesFound,
    ConnectionLost,
    DialFailed,
    Dialled,
    PacketsArrived,
)
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Session, State
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.events import CommitTransaction
from reliquary.queueing.model.message import NO_GUID, Delivery, Message, ObjectId
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.travel.link import Link
from reliquary.queueing.packets.messages import construct
from reliquary.queueing.rules import destinations
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.packet.internal import ConnectionParameters, EstablishConnection, SessionAck
from reliquary.wire.packet.ordering import FinalBody
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.transaction import TransactionHeader
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.protocol_bench import ProtocolBench

ADDRESS = "10.0.0.2"
NAME = "bench.example"
PEER = UUID("5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10")
PEER_ADDRESS = "10.0.0.1"
ADDRESSED = Addressed(frozenset({ADDRESS}), frozenset({NAME}))
DEFAULTS = MqqbSettings()
GOES_OUT = (Dial, SendPackets, SendStored, HangUp, SendPing)
ELSEWHERE = f"DIRECT=TCP:{PEER_ADDRESS}\\private$\\q"
ORDERS = f"TCP:{ADDRESS}\\private$\\orders"
LEDGER = f"TCP:{ADDRESS}\\private$\\ledger"
"""The transactional queue of `receiving`."""
STREAM = 0x51FA4DC0 << 32 | 7
"""A stream of the peer."""


class MqqbBench(ProtocolBench):
    """A manager that uses MQQB."""

    TABLES = manager_tables.TABLES + tables.TABLES
    ADDRESSED = ADDRESSED
    GOES_OUT: ClassVar[tuple[type[Effect], ...]] = GOES_OUT

    def __init__(self, *queues: str, settings: MqqbSettings | None = DEFAULTS, **options: Any) -> None:
        self.settings = settings
        self._accepted = 0
        super().__init__(*queues, **options)

    def speaks(self) -> Protocol:
        """Return MQQB with the settings of the bench."""
        return mqqb(self.settings)

    def restart(self, *, crash: bool = False, start: bool = True) -> None:
        """Start another process over this disk; it counts sessions from 1 again."""
        self.out.clear()
        super().restart(crash=crash, start=start)

    def switch_on(self) -> None:
        """Start again with MQQB, which was off before."""
        self.settings = DEFAULTS
        carrier = self.speaks().carrier
        assert carrier is not None
        self.carriers = (carrier,)
        self.restart()

    @property
    def mqqb(self) -> State:
        """The state of the machine of MQQB."""
        return self.machine(Mqqb).state

    @property
    def own(self) -> UUID:
        """The GUID of the manager."""
        return self.mqqb.identity.lineage

    @property
    def dials(self) -> list[Dial]:
        """The connections that were asked for, the oldest first."""
        return [effect for effect in self.out if isinstance(effect, Dial)]

    # -- peers

    def accept(self, address: str = PEER_ADDRESS) -> Peer:
        """Let a peer open a connection, and return it before its handshake."""
        self._accepted -= 1
        peer = Peer(self, self._accepted, address)
        self.handle(Accepted(peer.session, address))
        return peer

    def accepted(self, address: str = PEER_ADDRESS, guid: UUID = PEER, **parameters: int) -> Peer:
        """Let a peer connect and open a session."""
        peer = self.accept(address)
        peer.guid = guid
        peer.send(EstablishConnection(client=guid, server=NO_GUID, timestamp=1))
        peer.send(parameters_with(**parameters))
        assert peer.state.is_open
        return peer

    def answer_dial(self, address: str = PEER_ADDRESS) -> Peer:
        """Let the last dial succeed; the peer has the EC request and answers nothing yet."""
        dial = self.dials[-1]
        peer = Peer(self, dial.session, address)
        if not dial.addresses:
            self.handle(AddressesFound(dial.session, (address,)))
        self.handle(Dialled(dial.session, address))
        return peer

    def dialled(self, address: str = PEER_ADDRESS, guid: UUID = PEER, **parameters: int) -> Peer:
        """Let the last dial succeed, and answer the handshake."""
        peer = self.answer_dial(address)
        peer.guid = guid
        request = peer.got[-1]
        assert isinstance(request, EstablishConnection)
        peer.send(EstablishConnection(client=request.client, server=guid, timestamp=request.timestamp))
        peer.send(parameters_with(**parameters))
        assert peer.state.is_open
        return peer

    def fail_dial(self, failure: Failure = Failure.NO_CONNECTION) -> None:
        """Let the last dial fail."""
        self.handle(DialFailed(self.dials[-1].session, failure))

    def transact(self, queue: str, *bodies: bytes, **attributes: Any) -> None:
        """Send messages in one transaction."""
        transaction = self.begin()
        sent = self.send(queue, *bodies, transaction=transaction, **attributes)
        assert sent.status.name == "OK", sent
        self.ask(CommitTransaction(0, transaction))


def parameters_with(
    window: int = 64, recoverable_ack_timeout: int = 500, ack_timeout: int = 20_000
) -> ConnectionParameters:
    """Return the ConnectionParameters of a peer."""
    return ConnectionParameters(
        recoverable_ack_timeout=recoverable_ack_timeout, ack_timeout=ack_timeout, window=window
    )


class Peer:
    """The other side of one session."""

    def __init__(self, bench: MqqbBench, session: int, address: str) -> None:
        self.bench = bench
        self.session = session
        self.address = address
        self.guid = PEER
        self.sent = 0
        self.recoverable_sent = 0
        self.last_id = 0

    @property
    def state(self) -> Session:
        """The machine's state of the session."""
        return self.bench.mqqb.sessions[self.session]

    @property
    def _effects(self) -> list[Effect]:
        return [each for each in self.bench.out if getattr(each, "session", None) == self.session]

    @property
    def got(self) -> list[Packet]:
        """Return all packets that came to the peer, in the order of serials."""
        sends = sorted((e for e in self._effects if isinstance(e, SendPackets)), key=lambda e: e.serial)
        return [decode_packet(data) for effect in sends for data in effect.packets]

    @property
    def messages(self) -> list[UserMessage]:
        """The user packets that came to the peer."""
        return [packet for packet in self.got if isinstance(packet, UserMessage)]

    @property
    def acks(self) -> list[SessionHeader]:
        """The SessionHeaders that came to the peer, alone or behind a message."""
        found = [each.session for each in self.got if isinstance(each, SessionAck | UserMessage)]
        return [each for each in found if each is not None]

    @property
    def order_acks(self) -> list[OrderAck]:
        """The order acknowledgements that came to the peer."""
        found = [read_ack(each) for each in self.messages if is_for_order_queue(each)]
        return [each for each in found if isinstance(each, OrderAck)]

    @property
    def final_acks(self) -> list[FinalAck]:
        """The final acknowledgements that came to the peer."""
        found = [read_ack(each) for each in self.messages if is_for_order_queue(each)]
        return [each for each in found if isinstance(each, FinalAck)]

    @property
    def bodies(self) -> list[bytes]:
        """The bodies of messages that came to the peer, without acknowledgements."""
        return [each.properties.body for each in self.messages if not is_for_order_queue(each)]

    @property
    def is_closed(self) -> bool:
        """Return whether the bench has hung up, or knows that the connection is lost."""
        return self.session not in self.bench.mqqb.sessions

    @property
    def hung_up(self) -> bool:
        """Return whether the bench asked the network to close the connection."""
        return any(isinstance(each, HangUp) for each in self._effects)

    # -- what it sends

    def send(self, *packets: Packet | bytes) -> None:
        """Send packets in one piece."""
        data = tuple(each if isinstance(each, bytes) else each.encode() for each in packets)
        self.bench.handle(PacketsArrived(self.session, data))

    def lose(self) -> None:
        """Let the connection of this peer break."""
        self.bench.handle(ConnectionLost(self.session))

    def user(self, body: bytes = b"", **options: Any) -> UserMessage:
        """Send one message; see `made` for the options."""
        packet = self.made(body, **options)
        self.send(packet)
        return packet

    def made(
        self,
        body: bytes = b"",
        *,
        to: str = ORDERS,
        number: int | None = None,
        express: bool = False,
        stream: tuple[int, int] | tuple[int, int, int] | None = None,
        source: UUID | None = None,
        header: SessionHeader | None = None,
        **attributes: Any,
    ) -> UserMessage:
        """Return a message packet; `stream` is number and previous, or stream, number and previous."""
        if number is None:
            self.last_id += 1
            number = self.last_id
        source = source or self.guid
        values: dict[str, Any] = {
            "identifier": ObjectId(source, number),
            "source_machine": source,
            "sent_time": self.bench.now // 1_000_000,
            "destination_queue": f"DIRECT={to}" if ":" in to and not to.startswith("PRIVATE") else to,
            "delivery": Delivery.EXPRESS if express else Delivery.RECOVERABLE,
        }
        packet = construct(Message.of(body=body, **values | attributes))
        if stream is not None:
            name, current, previous = stream if len(stream) == 3 else (STREAM, *stream)
            place = TransactionHeader(
                1, name & 0xFFFFFFFF, name >> 32, current, previous,
                attributes.get("final_ack_required", False), True, True,
            )  # fmt: skip
            packet = replace(packet, transaction=place, user=replace(packet.user, recoverable=True))
        self.sent += 1
        self.recoverable_sent += packet.user.recoverable
        return packet if header is None else replace(packet, session=header)

    def header(self, ack: int = 0, first: int = 0, bits: int = 0, window: int = 64) -> SessionHeader:
        """Return a SessionHeader with the right counts of what the peer has sent."""
        return SessionHeader(ack, first, bits, self.sent & 0xFFFF, self.recoverable_sent & 0xFFFF, window)

    def ack(self, ack: int = 0, first: int = 0, bits: int = 0, window: int = 64) -> None:
        self.send(SessionAck(self.header(ack, first, bits, window)))

    def ack_all(self) -> None:
        """Acknowledge all user packets that came, as received and as stored."""
        count = len(self.messages)
        stored = sum(each.user.recoverable or each.transaction is not None for each in self.messages)
        first = max(stored - 31, 1)
        bits = (1 << (stored - first + 1)) - 1 if stored else 0
        self.ack(count & 0xFFFF, first if stored else 0, bits)

    def order_ack(self, stream: int, number: int) -> None:
        """Send an order acknowledgement for a stream of the bench."""
        addresses = AckAddresses(self.guid, self.bench.own, ADDRESS)
        self.last_id += 1
        packet = order_ack(addresses, stream, number, sent_time=1, message_id=self.last_id)
        self.sent += 1
        self.send(packet)

    def final_ack(
        self, stream: int, number: int, message_class: int, *, source: UUID | None = None, message_id: int = 0
    ) -> None:
        """Send a final acknowledgement for a message of the bench."""
        addresses = AckAddresses(self.guid, self.bench.own, ADDRESS)
        body = FinalBody(stream, number, number - 1, source or self.bench.own, message_id)
        self.last_id += 1
        packet = final_ack(addresses, body, message_class, sent_time=1, message_id=self.last_id)
        self.sent += 1
        self.recoverable_sent += 1
        self.send(packet)


def link(bench: MqqbBench, name: str = ELSEWHERE) -> Link:
    """Return the link of an outgoing queue."""
    queue = destinations.find(bench.state, name)
    assert queue is not None, f"nothing was sent to {name}"
    assert queue.link is not None
    return queue.link


def waiting(bench: MqqbBench, name: str = ELSEWHERE) -> int:
    """Return how many messages an outgoing queue has, sent or not."""
    queue = destinations.find(bench.state, name)
    return 0 if queue is None else len(queue.order) + len(queue.order.locked)


def stream_of(packet: UserMessage) -> int:
    """Return the stream that a message belongs to."""
    assert packet.transaction is not None
    return packet.transaction.timestamp << 32 | packet.transaction.ordinal


def place_of(packet: UserMessage) -> tuple[int, int]:
    """Number and previous number of a message in its stream."""
    assert packet.transaction is not None
    return packet.transaction.number, packet.transaction.previous


def receiving(**options: object) -> tuple[MqqbBench, Peer]:
    """Return a bench with a transactional queue, and a peer."""
    bench = MqqbBench(**options)  # type: ignore[arg-type]
    bench.create("ledger", transactional=True)
    return bench, bench.accepted()


def sent_five(**attributes: object) -> tuple[MqqbBench, Peer, int]:
    """Return a bench that has sent five messages of a stream; the peer has acknowledged nothing."""
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", b"3", b"4", b"5", **attributes)
    peer = bench.dialled()
    return bench, peer, stream_of(peer.messages[-1])
