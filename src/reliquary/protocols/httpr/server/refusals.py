"""Defines for each error of 5.6 the outcome that goes with it, and whether the session ends.

    ROLLED_BACK   the request's own batch, if it has one; else the outcome of the client's last batch
    STANDING      the outcome of the client's last batch
    NOTHING_SAID  no outcome: the request was not understood, or its client must not get data of the channel

A response never says ROLLBACK of a batch that was committed before (H-22).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

import msgspec

from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.transfer import ReservationRefusal


class StatedOutcome(Enum):
    """The outcome that goes with an error."""

    ROLLED_BACK = "rolled-back"
    LAST_OUTCOME = "standing"
    NO_OUTCOME = "nothing-said"


class Refusal(msgspec.Struct, frozen=True):
    """One row of the table of errors in 5.6: what the server answers and whether the session ends."""

    said: StatedOutcome = StatedOutcome.ROLLED_BACK
    ends_session: bool = True
    """In the text every error ends it, because requests behind a refused batch must not be taken (HR-084)."""


REFUSALS: Final[Mapping[ErrorNumber, Refusal]] = {
    ErrorNumber.INCOMPATIBLE: Refusal(),
    ErrorNumber.RESPONDER_INVALID: Refusal(),
    ErrorNumber.CHANNEL_INVALID: Refusal(),
    ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE: Refusal(),
    ErrorNumber.RESOURCE_MANAGER_TERMINATING: Refusal(),
    ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE: Refusal(),
    ErrorNumber.ADMINISTRATOR_CLOSED: Refusal(StatedOutcome.LAST_OUTCOME),
    ErrorNumber.DISCONNECT_TIMEOUT_EXPIRED: Refusal(StatedOutcome.NO_OUTCOME),  # is never sent: H-16, F-10
    ErrorNumber.SINK_NOT_KNOWN: Refusal(),
    ErrorNumber.NOT_HTTP_R: Refusal(StatedOutcome.NO_OUTCOME),
    ErrorNumber.HTTP_R_PROTOCOL_ERROR: Refusal(),
    ErrorNumber.MAXIMUM_MESSAGE_SIZE_EXCEEDED: Refusal(),
    ErrorNumber.MAXIMUM_BATCH_SIZE_EXCEEDED: Refusal(),
    ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED: Refusal(),
    ErrorNumber.INVALID_FLOW: Refusal(),
    ErrorNumber.AGENT_SECURITY: Refusal(),
    ErrorNumber.USERID_SECURITY: Refusal(),
    ErrorNumber.USER_MODULE_CLOSED: Refusal(
        StatedOutcome.NO_OUTCOME
    ),  # is never sent: there are no user modules
    ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED: Refusal(StatedOutcome.NO_OUTCOME),
    ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED: Refusal(),
    ErrorNumber.HTTP_R_VERSION_NOT_SUPPORTED: Refusal(StatedOutcome.NO_OUTCOME),
}

_NOT_TAKEN: Final[Mapping[MessageClass, ErrorNumber]] = {
    MessageClass.NORMAL: ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE,  # the manager accepts no messages now
    MessageClass.NACK_BAD_DEST_QUEUE: ErrorNumber.SINK_NOT_KNOWN,
    MessageClass.NACK_QUEUE_DELETED: ErrorNumber.SINK_NOT_KNOWN,
    # the message went in a circle and cannot arrive
    MessageClass.NACK_HOP_COUNT_EXCEEDED: ErrorNumber.SINK_NOT_KNOWN,
    MessageClass.NACK_ACCESS_DENIED: ErrorNumber.AGENT_SECURITY,
    MessageClass.NACK_QUEUE_EXCEED_QUOTA: ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE,
}

NOT_HELD: Final[Mapping[ReservationRefusal, ErrorNumber]] = {
    ReservationRefusal.NO_QUEUE: ErrorNumber.SINK_NOT_KNOWN,
    ReservationRefusal.NOT_ALLOWED: ErrorNumber.AGENT_SECURITY,
    ReservationRefusal.TOO_LARGE: ErrorNumber.MAXIMUM_MESSAGE_SIZE_EXCEEDED,
    ReservationRefusal.NOT_NOW: ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE,
}
"""The reason why a PULL gets no messages at all."""


def not_taken(reason: MessageClass) -> ErrorNumber:
    """Return the error for a batch that the queue manager refused."""
    return _NOT_TAKEN.get(reason, ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE)


def fault(number: ErrorNumber, why: str) -> HttprFault:
    """Return the fault with which a rule refuses a request."""
    return HttprFault(number, why, spec="5.6")
