"""Describes sequences as a noun of administration: messages that come and go by WS-ReliableMessaging."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.protocols.wsrm.events import CloseSequence, TerminateSequence
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, RecordFormat


class SequenceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A sequence of WS-ReliableMessaging at the time of the request."""

    number: int
    """The number that this manager gave it."""
    direction: str
    """The direction of the sequence: `in` or `out`."""
    state: str
    """`open`, `closed` or `ended`.

    For an outgoing sequence `creating`, `open`, `closing` or `terminating`.
    """
    identifier: str
    """The identifier at both ends; empty until the peer has created the sequence."""
    queue: str
    """The destination of its messages: a queue of this manager, or the destination of an outgoing queue."""
    endpoint: str = ""
    """The endpoint that it came to, the part behind /wsrm/; empty for one that this manager offered."""
    version: str
    """The version of WS-ReliableMessaging: `1.0` or `1.1`."""
    soap: str
    """The version of SOAP: `1.1` or `1.2`."""
    addressing: str
    """The version of WS-Addressing: `2004/08` or `1.0`."""
    acknowledged: str
    """The numbers of the messages that are acknowledged, for example `1-5, 7`."""
    gaps: str
    """The numbers below `last` that are not acknowledged."""
    last: int
    """The highest number that was assigned, or that came."""
    unacknowledged: int = 0
    """Messages that were sent and are not acknowledged."""
    retransmissions: int = 0
    """How often a message was sent again, since the process started."""
    held: int = 0
    """Messages that arrived and wait for messages with lower numbers."""
    duplicates: int = 0
    """Messages that came again and were dropped, since the process started."""
    dropped: int = 0
    """Messages for which there was no room, since the process started."""
    room: int | None = None
    """How many messages the destination takes, BufferRemaining.

    None if it is not known, or the sequence has ended.
    """
    polling: bool = False
    """Whether there is no room, and the source asks the destination for room from time to time."""
    to: str = ""
    """The address that its messages are sent to; empty for a client that cannot be reached."""
    acks_to: str = ""
    """The address that acknowledgements are sent to."""
    pair: int = 0
    """The number of the sequence in the other direction that was offered with this one, or this with it."""
    created: datetime | None = None
    """The time of creation of an incoming sequence."""
    expires: datetime | None = None
    """The time at which an incoming sequence ends in any case."""
    used: datetime | None = None
    """The time at which its peer last sent something; None if that was before a restart."""
    ended: datetime | None = None


def _sequences(machines: Machines) -> Iterator[SequenceInfo]:
    from reliquary.protocols.wsrm.machine import Wsrm
    from reliquary.protocols.wsrm.views import sequences

    return sequences(machines.machine(Wsrm).state)


def _sequence(machines: Machines, number: int) -> SequenceInfo | None:
    from reliquary.protocols.wsrm.machine import Wsrm
    from reliquary.protocols.wsrm.views import sequence

    return sequence(machines.machine(Wsrm).state, number)


SEQUENCE: Final = Noun(
    name="sequence",
    plural="sequences",
    record=SequenceInfo,
    summary="List, show, close and terminate the sequences of WS-ReliableMessaging.",
    listing=Listing(
        records=_sequences,
        columns=(
            "number", "direction", "state", "queue", "acknowledged", "gaps", "unacknowledged",
            "retransmissions", "held", "duplicates", "room",
        ),
        help="List the sequences that come in and go out, with how far they got.\n\n"
        "`gaps` are the numbers of missing messages; `room` is how many more messages the destination takes.",
    ),
    showing=RecordFormat(
        key="number",
        kind=int,
        record=_sequence,
        missing=HResult.OBJECT_NOT_FOUND,
        missing_sentence="there is no sequence {}",
        help="Show all that is known of sequence NUMBER.",
        example="1",
    ),
    acts=(
        Act(
            verb="close",
            event=CloseSequence,
            help="Close sequence NUMBER: it takes no new messages, and its acknowledgement is final.\n\n"
            "A sequence that goes out ends when all its messages are acknowledged, and the next message goes "
            "in a new one.",
        ),
        Act(
            verb="terminate",
            event=TerminateSequence,
            help="End sequence NUMBER now, whatever is missing.\n\n"
            "What was sent in a sequence that goes out and is not acknowledged goes in a new one; a "
            "destination that has a message already takes it twice.",
        ),
    ),
)  # fmt: skip
