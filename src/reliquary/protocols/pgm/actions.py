"""Defines the actions that a source or a receiver returns, and the time of its next call."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from reliquary.base.time import Instant
from reliquary.wire.pgm.packets import Nak, Packet, Tsi


class Multicast(NamedTuple):
    """Send a packet to the group."""

    packet: Packet
    near: bool = False
    """Whether the packet goes no farther than the next router: a TTL of 1."""


class Unicast(NamedTuple):
    """Send a NAK up to the source."""

    packet: Nak
    to: str


class Sent(NamedTuple):
    """The last packet of an APDU was sent."""

    ticket: object


class Deliver(NamedTuple):
    """An APDU is complete, and all before it were delivered or reported as lost."""

    tsi: Tsi
    apdu: bytes


class Lost(NamedTuple):
    """Packets that will never come; an APDU that was begun with them is not delivered."""

    tsi: Tsi
    first: int
    """The number of the first lost packet, as on the wire."""
    packets: int
    """The number of lost packets; 0 if packets came and were invalid."""
    why: str


class Reason(Enum):
    """The reason why a packet with data was not used."""

    DUPLICATE = "duplicate"
    """The packet came before, or its number was skipped."""
    DEFERRED = "deferred"
    """The packet cannot be buffered now; the source is asked for it later."""
    IGNORED = "ignored"
    """The number is far from all that are expected, or the source is not followed."""


class Unused(NamedTuple):
    """A packet with data came and was not used."""

    tsi: Tsi
    reason: Reason


class Restarted(NamedTuple):
    """A source restarted with its previous identifier."""

    tsi: Tsi


Action = Multicast | Unicast | Sent | Deliver | Lost | Unused | Restarted


class PgmResult(NamedTuple):
    """The result of an event: actions, and the time of the next call."""

    actions: list[Action]
    """The actions, to be done in this order."""
    wake: Instant | None
    """The latest time of the next call."""
