"""Outgoing queues as a noun of administration: messages on their way to other managers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, Showing
from reliquary.queueing.model.events import PauseQueue, ResumeQueue


class ConnectionAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """How an attempt to connect to the next manager went."""

    status: str
    time: datetime
    error: int = 0
    """An HRESULT; 0 for none."""
    addresses: list[str] = []


class OutgoingInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An outgoing queue as it was a moment ago: messages on their way to another manager."""

    destination: str
    state: str
    messages: int
    """All that waits, what is being sent or was accepted included."""
    bytes: int
    sending: int
    """How many are on their way."""
    accepted: int
    """How many the peer has, and has not told the outcome of."""
    next_hops: list[str]
    delivered: int
    """Since the manager started, as all that follows."""
    refused: int
    failures: int
    """In a row, up to now."""
    resting: bool
    """It failed, and waits before it tries again."""
    unacknowledged: int
    history: list[ConnectionAttempt]
    """The last attempts to connect."""


def _outgoing_queues(machines: Machines) -> Iterator[OutgoingInfo]:
    from reliquary.queueing.travel.views import outgoing_queues

    return outgoing_queues(machines.state)


def _outgoing_queue(machines: Machines, destination: str) -> OutgoingInfo | None:
    from reliquary.queueing.travel.views import outgoing_queue

    return outgoing_queue(machines.state, destination)


OUTGOING: Final = Noun(
    name="outgoing",
    plural="outgoing",
    record=OutgoingInfo,
    summary="List, show, pause and resume the queues of messages that go to other managers.",
    listing=Listing(
        records=_outgoing_queues,
        columns=(
            "destination", "state", "messages", "bytes", "sending", "accepted", "delivered", "refused",
            "failures",
        ),
        help="List the outgoing queues with what waits in them.",
    ),
    showing=Showing(
        key="destination",
        kind=str,
        record=_outgoing_queue,
        missing=HResult.QUEUE_NOT_FOUND,
        missing_sentence="nothing was ever sent to {}",
        help="Show all that is known of the way to DESTINATION, with its last connections.",
        example=r"'DIRECT=OS:elsewhere\private$\orders'",
        parts={"history": ("time", "status", "error", "addresses")},
    ),
    acts=(
        Act(
            verb="pause",
            event=PauseQueue,
            needs=None,
            help="Let nothing leave for DESTINATION until it is resumed; what is on its way arrives.",
        ),
        Act(
            verb="resume",
            event=ResumeQueue,
            needs=None,
            help="Let messages leave for DESTINATION again; one that failed is tried at once.",
        ),
    ),
)  # fmt: skip
