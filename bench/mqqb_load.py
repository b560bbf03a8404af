"""The load of the MQQB benchmark: a peer that only writes packets and counts acknowledgements.

Packets are encoded before the clock runs, and of an answer only its SessionHeader is looked at, so that the
server is what is measured.
"""

from __future__ import annotations

import socket
import time
from typing import Final
from uuid import UUID, uuid4

from reliquary.protocols.mqqb.codec.packets import Packet, decode_packet
from reliquary.queueing.model.message import Delivery, Message, ObjectId
from reliquary.queueing.packets.messages import construct
from reliquary.wire.packet.framing import Framer
from reliquary.wire.packet.internal import ConnectionParameters, EstablishConnection, SessionAck
from reliquary.wire.packet.patterns import Pattern, Varying

SID: Final = bytes.fromhex("010500000000000515000000 ad4a9ebd 36d9fa3d 63a656da e8030000")
"""The SID of a user of a domain, which Windows adds to each message by default."""
_READ: Final = 1 << 16


def encoded(there: str, bodies: list[bytes], *, sender: bytes) -> list[bytes]:
    """Return recoverable messages to a direct name as packets, with the SID of their sender or without."""
    source, sent = uuid4(), int(time.time())
    message = Message.of(
        identifier=ObjectId(source, 1),
        source_machine=source,
        sent_time=sent,
        destination_queue=there,
        delivery=Delivery.RECOVERABLE,
        sender=sender,
    )
    packet = construct(message)
    pattern = Pattern(packet, packet.encode())
    return [pattern.write(Varying(sent, number, body)) for number, body in enumerate(bodies, 1)]


class Peer:
    """A session with a server."""

    def __init__(self, host: str, port: int) -> None:
        """Connect, and open a session of MQQB."""
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._framer = Framer()
        self._window = 1
        self._ask(EstablishConnection(client=UUID(int=1), timestamp=1))
        (answer,) = self._ask(ConnectionParameters())
        assert isinstance(answer, ConnectionParameters), f"the server answered {answer}"
        self._window = min(answer.window, ConnectionParameters().window)

    def _ask(self, packet: EstablishConnection | ConnectionParameters) -> list[Packet]:
        self._socket.sendall(packet.encode())
        return self._receive()

    def _receive(self) -> list[Packet]:
        """Return the next packets of the server."""
        while True:
            data = self._socket.recv(_READ)
            assert data, "the server closed the session"
            if packets := self._framer.feed(data):
                return [decode_packet(each) for each in packets]

    def send(self, packets: list[bytes]) -> None:
        """Send all packets, as many at a time as the window allows, until all are acknowledged."""
        sent = acknowledged = 0
        while acknowledged < len(packets):
            room = acknowledged + self._window - sent
            if room and sent < len(packets):
                piece = packets[sent : sent + room]
                self._socket.sendall(b"".join(piece))
                sent += len(piece)
            for answer in self._receive():
                assert isinstance(answer, SessionAck), f"the server sent {answer}"
                acknowledged += answer.session.ack - acknowledged & 0xFFFF

    def close(self) -> None:
        """End the session and the connection."""
        self._socket.close()
