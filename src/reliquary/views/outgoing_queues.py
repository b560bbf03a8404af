"""Makes the noun "outgoing" of administration: queues of messages for other managers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, as_datetime
from reliquary.queueing.model.administration import Act, Listing, Noun, RecordFormat, View
from reliquary.queueing.model.events import Access, PauseQueue, ResumeQueue

if TYPE_CHECKING:
    from reliquary.queueing.model.queue_state import QueueState
    from reliquary.queueing.model.state import State
    from reliquary.queueing.model.travel.link import ConnectionRecord


class ConnectionAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an attempt to connect to the next manager."""

    status: str
    time: datetime
    error: int = 0
    """The HRESULT of the failure; 0 if there was no error."""
    addresses: list[str] = []


class OutgoingInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An outgoing queue at the moment of the request: messages for another manager."""

    destination: str
    state: str
    messages: int
    """The number of all messages of the queue, with those that are being sent or were accepted."""
    bytes: int
    sending: int
    """Messages that are being sent."""
    accepted: int
    """The number of messages that the peer has taken, and whose outcome it has not reported."""
    next_hops: list[str]
    delivered: int
    """The number of messages since the manager started; all numbers below count since then, too."""
    refused: int
    failures: int
    """The number of failed attempts since the last success."""
    resting: bool
    """Whether the last attempt failed, and the queue waits before the next one."""
    next_attempt: datetime | None
    """The time of the next attempt, if the queue waits for it."""
    unacknowledged: int
    history: list[ConnectionAttempt]
    """The last attempts to connect."""


def outgoing_queues(state: State) -> Iterator[OutgoingInfo]:
    """Yield all outgoing queues, sorted by destination."""
    for _, queue in sorted(state.names.outgoing.items()):
        yield _info(queue)


def outgoing_queue(state: State, destination: str) -> OutgoingInfo | None:
    """Return the outgoing queue for a destination, or None."""
    from reliquary.queueing.rules import destinations

    found = destinations.find_named(state, destinations.read_name(state, destination, Access.SEND))
    return None if found is None or found.link is None else _info(found)


def refusals(state: State) -> dict[str, int]:
    """Return how many messages each destination refused since the start, without those that refused none."""
    found = {}
    for queue in state.names.outgoing.values():
        if queue.link is not None and queue.link.refused and queue.record.outgoing is not None:
            found[queue.record.outgoing.destination] = queue.link.refused
    return found


def _info(queue: QueueState) -> OutgoingInfo:
    outgoing, link = queue.record.outgoing, queue.link
    assert outgoing is not None
    assert link is not None
    return OutgoingInfo(
        destination=outgoing.destination,
        state=link.state.value,
        messages=len(queue.order) + len(queue.order.locked),
        bytes=queue.total_bytes,
        sending=len(link.sending),
        accepted=len(link.accepted) + len(link.reached),
        next_hops=list(link.next_hops),
        delivered=link.delivered,
        refused=link.refused,
        failures=link.failures,
        resting=link.resting,
        next_attempt=None if link.next_attempt is None else as_datetime(link.next_attempt),
        unacknowledged=link.transfer.unacknowledged,
        history=list(map(_attempt, link.history)),
    )


def _attempt(record: ConnectionRecord) -> ConnectionAttempt:
    return ConnectionAttempt(
        status=record.status.value,
        time=as_datetime(record.time * SECOND),
        error=record.error,
        addresses=list(record.addresses),
    )


def _listed(view: View) -> Iterator[OutgoingInfo]:
    return outgoing_queues(view.state)


def _shown(view: View, destination: str) -> OutgoingInfo | None:
    return outgoing_queue(view.state, destination)


OUTGOING: Final = Noun(
    name="outgoing",
    plural="outgoing",
    record=OutgoingInfo,
    summary="List, show, pause and resume the queues of messages that go to other managers.",
    listing=Listing(
        records=_listed,
        columns=(
            "destination", "state", "messages", "failures", "next_attempt", "refused", "delivered", "bytes",
            "sending", "accepted",
        ),
        help="List the outgoing queues with what waits in them.\n\n"
        "`failures` are the attempts that failed since the last success.",
    ),
    showing=RecordFormat(
        key="destination",
        kind=str,
        record=_shown,
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
