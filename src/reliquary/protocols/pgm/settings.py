"""Defines the constants of RFC 3208 as [MC-MQSRM] 2.1.3.1 chooses them (SR-007), and limits of memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import MILLISECOND, SECOND, Duration, seconds
from reliquary.wire.pgm.packets import DATA_HEADER

OPTIONS_ROOM: Final = 32
"""The bytes of OPT_LENGTH, OPT_FRAGMENT, OPT_JOIN and OPT_SYN or OPT_FIN."""
LEAST_ROOM: Final = 64
MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PgmSettings:
    """The settings of sources and receivers."""

    rate: int = 70_000
    """TXW_MAX_RTE: bytes a second, of SPMs, data and repairs together."""
    window: Duration = field(default=seconds(300))
    """TXW_SECS: how long a source keeps what it sent."""
    bucket: Duration = field(default=Duration(40 * MILLISECOND))
    """The part of the rate that may be sent at once, as a duration."""
    peak: int = 2
    """The factor by which the rate may be exceeded for a moment."""
    shortest_heartbeat: Duration = SECOND
    """The shortest span between two heartbeats: IHB_MIN."""
    longest_heartbeat: Duration = field(default=Duration(15 * SECOND))
    """The longest span between two heartbeats: IHB_MAX."""
    ambient_packets: int = 50
    ambient_time: Duration = field(default=seconds(0.5))
    """An ambient SPM is sent after this many data packets, or this long after the last one (SR-009)."""
    repair_delay: Duration = field(default=Duration(60 * MILLISECOND))
    """How long a repair of the newest packet waits for requests of other receivers (SR-010)."""
    shortest_back_off: Duration = field(default=Duration(10 * MILLISECOND))
    longest_back_off: Duration = field(default=Duration(50 * MILLISECOND))
    """The longest back-off; NAK_RB_IVL is drawn between the two (SR-008)."""
    nak_repeat: Duration = field(default=seconds(0.75))
    """NAK_RPT_IVL: how long a NAK waits for its NCF."""
    nak_data: Duration = field(default=Duration(2 * SECOND))
    """NAK_RDATA_IVL: how long a NAK that was confirmed waits for its repair."""
    ncf_retries: int = 10
    """The number of NAKs that may stay without an NCF: NAK_NCF_RETRIES."""
    data_retries: int = 10
    """The number of NCFs that may stay without a repair: NAK_DATA_RETRIES."""
    multicast_naks: bool = True
    """NAKs are also sent to the group, with a TTL of 1, so that other receivers need not send theirs."""
    join: Duration = field(default=Duration(10 * SECOND))
    """While a session is younger than this, OPT_JOIN lets receivers have it from its first packet."""
    largest_apdu: int = 64 * 1024
    """The largest APDU in bytes (SR-013)."""
    largest_packet: int = 1468
    """The size of a packet with all headers of PGM.

    An Ethernet frame without those of IP, Router Alert and UDP.
    """
    most_kept: int = 64 * MEGABYTE
    """Bytes that a source keeps; a rate that would need more shortens the window."""
    most_buffered: int = 64 * MEGABYTE
    """Bytes that the receiver of a group buffers after gaps, of all sources together."""
    most_ahead: int = 16_384
    """How many numbers after a gap a receiver accepts."""
    most_missing: int = 16_384
    """Packets that all sessions miss together; each may miss a few more in any case (`budget`)."""
    naks: int = 100
    """NAKs a second that the receiver of a group sends, each for up to 63 packets."""
    most_sessions: int = 256
    """Sources that a receiver of a group follows."""

    def __post_init__(self) -> None:
        for name in ("rate", "window", "bucket", "peak", "shortest_heartbeat", "ambient_packets",
                     "ambient_time", "shortest_back_off", "nak_repeat", "nak_data", "largest_apdu",
                     "most_kept", "most_buffered", "most_ahead", "most_missing", "naks",
                     "most_sessions"):  # fmt: skip
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
        for name in ("repair_delay", "ncf_retries", "data_retries", "join"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} is {getattr(self, name)}, it cannot be negative")
        if self.longest_heartbeat < self.shortest_heartbeat:
            raise UsageError("longest_heartbeat is shorter than shortest_heartbeat")
        if self.longest_back_off < self.shortest_back_off:
            raise UsageError("longest_back_off is shorter than shortest_back_off")
        if not DATA_HEADER + OPTIONS_ROOM + LEAST_ROOM <= self.largest_packet <= 65_000:
            raise UsageError(f"largest_packet is {self.largest_packet}, too small for headers or too large")

    @property
    def kept(self) -> Duration:
        """How long sent packets are kept: the window, or less if the rate would fill the memory."""
        return Duration(min(self.window, self.most_kept * SECOND // self.rate))

    @property
    def advance(self) -> Duration:
        """The step by which the window moves, and its interval: TXW_ADV_SECS and TXW_ADV_IVL."""
        return Duration(max(self.kept * 15 // 100, 1))

    @property
    def room(self) -> int:
        """Bytes of an APDU that fit in one packet."""
        return self.largest_packet - DATA_HEADER - OPTIONS_ROOM
