"""Keeps the transmit window, RFC 3208 3.3 and 16: sent packets that may still be repaired.

    trail                       lead
      v                          v
    | 7 | 8 | 9 | 10 | 11 | 12 | 13 |
      ^ the oldest that is kept   ^ the last that was sent

It moves with time: after each `advance` it drops packets older than the window less `advance`, except
those with a pending NAK (SR-011, SR-012). Numbers do not wrap around here.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from reliquary.base.time import Duration, Instant
from reliquary.wire.pgm.options import Fragment


class SentPacket(NamedTuple):
    """A packet that was sent."""

    payload: bytes
    fragment: Fragment | None
    syn: bool
    sent_at: Instant


class TransmitWindow:
    """The sent packets that may still be repaired, by sequence number."""

    def __init__(self, first: int) -> None:
        self.trail = first
        self.lead = first - 1
        self.size = 0
        """The number of bytes of all payloads in the window."""
        self._packets: deque[SentPacket] = deque()

    def add(self, packet: SentPacket) -> int:
        """Keep a packet that is sent; return its number."""
        self._packets.append(packet)
        self.size += len(packet.payload)
        self.lead += 1
        return self.lead

    def __contains__(self, number: int) -> bool:
        return self.trail <= number <= self.lead

    def __getitem__(self, number: int) -> SentPacket:
        return self._packets[number - self.trail]

    def advance(self, before: Instant, pending: int | None) -> None:
        """Drop packets that were sent before a time, up to the first number that a receiver requested."""
        while self._packets and self._packets[0].sent_at < before and self.trail != pending:
            self.size -= len(self._packets.popleft().payload)
            self.trail += 1

    def repair_delay(self, number: int, longest: Duration) -> Duration:
        """Return RDataDelayTime, [MC-MQSRM] 2.1.3.1 (SR-010): newer packets wait longer for further NAKs."""
        return Duration((number - self.trail) * longest // (self.lead - self.trail + 1))
