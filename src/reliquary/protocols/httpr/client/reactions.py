"""What follows for our client agent from an error of its server (5.6), and from a request without a response.

RENEW       the session is gone, the server is well: a new one, at once
SHALLOW     the same, and fewer requests at a time
REST        the server is not well: again after a while, longer each time
SMALLER     the same, with smaller batches
SUSPECT     a message of the batch is refused: smaller batches find it, and it goes to the dead letters
WAIT        only a person can help: rarely, and somebody is told

In none of them is a message lost or given up but the one that SUSPECT has found.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.events import Failure
from reliquary.queueing.message import MessageClass
from reliquary.queueing.travel.link import ConnectionStatus


class Reaction(Enum):
    """What our client agent does."""

    RENEW = "renew"
    SHALLOW = "shallow"
    REST = "rest"
    SMALLER = "smaller"
    SUSPECT = "suspect"
    WAIT = "wait"


REACTIONS: Final[Mapping[ErrorNumber, Reaction]] = {
    ErrorNumber.INCOMPATIBLE: Reaction.WAIT,
    ErrorNumber.RESPONDER_INVALID: Reaction.WAIT,
    ErrorNumber.CHANNEL_INVALID: Reaction.WAIT,
    ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE: Reaction.REST,
    ErrorNumber.RESOURCE_MANAGER_TERMINATING: Reaction.REST,
    ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE: Reaction.REST,
    ErrorNumber.ADMINISTRATOR_CLOSED: Reaction.REST,
    ErrorNumber.DISCONNECT_TIMEOUT_EXPIRED: Reaction.REST,
    ErrorNumber.SINK_NOT_KNOWN: Reaction.SUSPECT,
    ErrorNumber.NOT_HTTP_R: Reaction.WAIT,
    ErrorNumber.HTTP_R_PROTOCOL_ERROR: Reaction.WAIT,
    ErrorNumber.MAXIMUM_MESSAGE_SIZE_EXCEEDED: Reaction.SUSPECT,
    ErrorNumber.MAXIMUM_BATCH_SIZE_EXCEEDED: Reaction.SMALLER,
    ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED: Reaction.SHALLOW,
    ErrorNumber.INVALID_FLOW: Reaction.WAIT,
    ErrorNumber.AGENT_SECURITY: Reaction.WAIT,
    ErrorNumber.USERID_SECURITY: Reaction.SUSPECT,
    ErrorNumber.USER_MODULE_CLOSED: Reaction.REST,
    ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED: Reaction.RENEW,
    ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED: Reaction.RENEW,
    ErrorNumber.HTTP_R_VERSION_NOT_SUPPORTED: Reaction.WAIT,
}

NACKS: Final[Mapping[ErrorNumber, MessageClass]] = {
    ErrorNumber.SINK_NOT_KNOWN: MessageClass.NACK_BAD_DEST_QUEUE,
    ErrorNumber.MAXIMUM_MESSAGE_SIZE_EXCEEDED: MessageClass.NACK_QUEUE_EXCEED_QUOTA,
    ErrorNumber.USERID_SECURITY: MessageClass.NACK_ACCESS_DENIED,
}
"""Why a message that was found is refused."""

FAILED_WITH: Final[Mapping[Failure, ConnectionStatus]] = {
    Failure.NO_ADDRESS: ConnectionStatus.DNS_FAILURE,
    Failure.NO_CONNECTION: ConnectionStatus.SOCKET_CONNECT_FAILURE,
    Failure.NOT_TRUSTED: ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE,
    Failure.LOST: ConnectionStatus.SOCKET_SEND_FAILURE,
    Failure.TIMED_OUT: ConnectionStatus.CONNECTION_NOT_READY,
    Failure.NOT_HTTPR: ConnectionStatus.CONNECTION_REFUSED,
}
"""What the history of connections says."""
UNSENT: Final = frozenset({Failure.NO_ADDRESS, Failure.NO_CONNECTION, Failure.NOT_TRUSTED})
"""Nothing left us: what was asked is not in doubt."""


def reaction_to(number: int) -> Reaction:
    """What to do about an error; one that the specification does not know may pass.

    >>> reaction_to(528)
    <Reaction.RENEW: 'renew'>
    """
    try:
        return REACTIONS[ErrorNumber(number)]
    except ValueError:
        return Reaction.REST
