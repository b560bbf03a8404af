"""What a source or a receiver wants done, and when it wants to be woken."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from reliquary.base.time import Instant
from reliquary.wire.pgm.packets import Nak, Packet, Tsi


class Multicast(NamedTuple):
    """Send a packet to the group."""

    packet: Packet
    near: bool = False
    """No farther than the next router: a TTL of 1."""


class Unicast(NamedTuple):
    """Send a NAK up to the source."""

    packet: Nak
    to: str


class Sent(NamedTuple):
    """The last packet of an APDU was sent."""

    ticket: object


class Deliver(NamedTuple):
    """An APDU is complete, and all before it were delivered or are told of as lost."""

    tsi: Tsi
    apdu: bytes


class Lost(NamedTuple):
    """Packets that will not come any more; what was begun with them is not delivered."""

    tsi: Tsi
    first: int
    """As it is on the wire."""
    packets: int
    """0 where the packets came and were no good."""
    why: str


class Reason(Enum):
    """Why a packet with data was not used."""

    DUPLICATE = "duplicate"
    """It came before, or its number was passed over."""
    DEFERRED = "deferred"
    """It cannot be held now; the source is asked for it later."""
    IGNORED = "ignored"
    """Its number is far from all that are expected, or its source is not followed."""


class Unused(NamedTuple):
    """A packet with data came and was not used."""

    tsi: Tsi
    reason: Reason


class Restarted(NamedTuple):
    """A source began anew under the identifier that it had before."""

    tsi: Tsi


Action = Multicast | Unicast | Sent | Deliver | Lost | Unused | Restarted


class Step(NamedTuple):
    """What an event leads to."""

    actions: list[Action]
    """In this order."""
    wake: Instant | None
    """When to come back, whatever happens before."""
