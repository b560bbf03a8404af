"""Implements one connection of MQQB, opened by either side: bytes to packets, effects to bytes.

    bytes --> Framer --> PacketsArrived           not read while the machine has not answered what came before
    SendPackets by serial --> one write a tick
    HangUp --> the sending side is closed after all is written; later input is dropped

Both sides of a session may send megabytes at once.  So reading never waits for the peer to read: two
sides that wait for each other would wait without end.  What waits to be written is bounded by the
window and by `most_bytes`, which the machine keeps.
"""

from __future__ import annotations

import asyncio
from typing import Final

from reliquary.net.mqqb.serials import Serials
from reliquary.net.mqqb.shared import Count, SessionShared, plain_address
from reliquary.net.tcp.accepted import AcceptedConnection
from reliquary.net.tcp.budget import SMALL
from reliquary.net.tcp.keepalive import keep_alive
from reliquary.protocols.mqqb.effects import HangUp, SendPackets
from reliquary.protocols.mqqb.events import Accepted, ConnectionLost, PacketsArrived
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.framing import Framer

UNJUDGED: Final = 4
"""Reading stops because the machine has not answered the earlier packets."""


class SessionConnection(AcceptedConnection):
    """The protocol between one socket and its session at the machine."""

    __slots__ = (
        "_charged",
        "_framer",
        "_is_choked",
        "_is_closing",
        "_is_over",
        "_is_woken",
        "_ready",
        "_serials",
        "_since",
        "_unjudged",
        "_unjudged_bytes",
        "address",
        "is_dialled",
        "session",
    )

    shared: SessionShared

    def __init__(self, shared: SessionShared, session: int | None = None) -> None:
        """`session` is the number that the machine assigned to a connection that it requested."""
        super().__init__(shared)
        self.is_dialled = session is not None
        self.session = -self.number if session is None else session
        self.address = ""
        """The address of the peer, also after it has disconnected."""
        self._framer = Framer(shared.settings.largest_packet)
        self._serials: Serials[SendPackets | HangUp] = Serials()
        self._ready: list[bytes] = []
        self._is_woken = False
        self._is_closing = False
        self._is_over = False
        """Whether the machine has closed the session, or knows that it is lost."""
        self._is_choked = False
        """Whether the peer takes bytes more slowly than they are made."""
        self._unjudged = 0
        self._unjudged_bytes = 0
        self._charged = 0
        """The bytes of an incomplete packet that count in the budget."""
        self._since = shared.now
        """The time at which the first byte of that packet came."""

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register a connection; one that a peer opened is reported, or refused."""
        keep_alive(transport)
        super().connection_made(transport)
        self.address = plain_address(self.peer)
        if self.ended:
            return
        if not self.is_dialled and not self.shared.admits(self.address):
            self.refuse("no network of the settings has this address")
            return
        self.shared.sessions[self.session] = self
        self.opened_objects.keep("session", self._lose_session)
        if not self.is_dialled:
            self.shared.counts[Count.ACCEPTED] += 1
            self.shared.submit(Accepted(self.session, self.address))

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of a session, and release the bytes of an incomplete packet."""
        self._charge(0)
        super().connection_lost(exc)

    def refuse(self, why: str) -> None:
        """Close the connection without a packet: a refused peer gets no answer."""
        del why
        self.shared.counts[Count.REFUSED] += 1
        self.close()

    def pause_writing(self) -> None:
        """Record that the peer takes bytes more slowly than they are made; reading continues."""
        self._watch_unsent()
        self._is_choked = True

    def resume_writing(self) -> None:
        """Record that the peer has taken most of the bytes."""
        self._is_choked = False

    # Packets on their way to the machine.

    def feed(self, data: bytes | memoryview) -> None:
        """Divide the bytes into packets and hand them to the machine."""
        shared, framer = self.shared, self._framer
        was_whole = not framer.buffered
        packets = framer.feed(data if isinstance(data, bytes) else bytes(data))
        shared.counts[Count.BYTES_IN] += len(data)
        if packets:
            shared.counts[Count.PACKETS_IN] += len(packets)
            self._unjudged += len(packets)
            self._unjudged_bytes += sum(map(len, packets))
            if not self._is_over:
                shared.submit(PacketsArrived(self.session, tuple(packets)))
        if framer.fault is not None:
            self._end_stream(framer.fault)
        if was_whole or packets:
            self._since = shared.now
        if framer.buffered > SMALL or self._charged:
            self._charge(framer.buffered)
        if self._unjudged > shared.most_unjudged or self._unjudged_bytes > shared.settings.most_bytes:
            self.stop_reading(UNJUDGED)

    def _end_stream(self, fault: PacketFault) -> None:
        """Close a connection with invalid bytes, after the packets before them were reported."""
        self.shared.counts[Count.MALFORMED] += 1
        self._break(fault.why, malformed=True)

    @property
    def buffered_bytes(self) -> int:
        """The number of bytes of an incomplete packet."""
        return self._framer.buffered

    def _charge(self, size: int) -> None:
        """Count an incomplete packet; cut the connection if there is no room for it."""
        bodies = self.shared.budget.bodies
        bodies.used -= self._charged
        self._charged = 0
        if size <= SMALL:
            return
        if bodies.fits(size):
            self._charged = size
            bodies.used += size
        else:
            self.shared.counts[Count.REFUSED] += 1
            self._break("there is no memory for further packets")

    # Effects on their way to the peer.

    def perform(self, effect: SendPackets | HangUp) -> None:
        """Write packets, or close the session, when all effects with lower serials are performed."""
        if not effect.serial:
            self._hang_up()
            return
        for each in self._serials.take(effect.serial, effect):
            if isinstance(each, HangUp):
                self._hang_up()
            else:
                self._write(each.packets)

    def _write(self, packets: tuple[bytes, ...]) -> None:
        self._ready += packets
        self._unjudged = self._unjudged_bytes = 0
        self._wake()
        self.release(UNJUDGED)

    def _hang_up(self) -> None:
        self._is_over = self._is_closing = True
        self._wake()

    def _wake(self) -> None:
        if not self._is_woken:
            self._is_woken = True
            self.shared.wake(self)

    def flush(self) -> None:
        """Send all ready bytes in one write, then close a session that has ended."""
        self._is_woken = False
        if self._transport is None or self._shut:
            return
        if self._ready:
            ready, self._ready = self._ready, []
            data = ready[0] if len(ready) == 1 else b"".join(ready)
            self.shared.counts[Count.PACKETS_OUT] += len(ready)
            self.shared.counts[Count.BYTES_OUT] += len(data)
            self._transport.write(data)
        if self._is_closing:
            self.hear_out()

    # Closing.

    def _lose_session(self) -> None:
        """Report that the connection has ended, unless the machine knows it."""
        self.shared.sessions.pop(self.session, None)
        if not self._is_over:
            self._is_over = True
            self.shared.submit(ConnectionLost(self.session, "the connection was closed"))

    def _break(self, why: str, *, malformed: bool = False) -> None:
        """Close a connection whose peer violated a rule, and report it without an answer (G-67)."""
        if not self._is_over:
            self._is_over = True
            self.shared.submit(ConnectionLost(self.session, why, malformed))
        self.close()

    def is_idle(self) -> bool:
        """Return False, because the machine has the timers of sessions."""
        return False

    def finish(self) -> None:
        """Close the connection, because the machine has stopped."""
        self.close()

    def sweep(self, now: int) -> None:
        """Cut a peer that takes no bytes, and close one that sends a packet too slowly."""
        if self._shut or self._is_choked:
            self._sweep_unsent(now)
        elif (
            self._framer.buffered
            and not self._stop_reasons
            and now - self._since > self.shared.settings.partial_packet
        ):
            self._break("a packet did not come whole in time")
