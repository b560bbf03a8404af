"""Defines the reactions of the client agent to errors of a server (5.6) and to missing responses, as tables.

RENEW       the server has ended the session: a new session at once
SHALLOW     too many requests are pending: a new session, one request at a time
REST        the server cannot work now: a retry after a pause, longer each time
SMALLER     the batch is too large: a new session, with smaller batches
SUSPECT     a message of the batch is refused: smaller batches find it, and it goes to the dead letters
WAIT        only an administrator can help: a warning, and a retry after the longest pause

Only the message that SUSPECT has found becomes a dead letter; no reaction loses another message.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.events import Failure
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.link import ConnectionStatus


class Reaction(Enum):
    """The reaction of the client agent."""

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
"""The reason with which a refused message goes to the dead letters."""

FAILED_WITH: Final[Mapping[Failure, ConnectionStatus]] = {
    Failure.NO_ADDRESS: ConnectionStatus.DNS_FAILURE,
    Failure.NO_CONNECTION: ConnectionStatus.SOCKET_CONNECT_FAILURE,
    Failure.NOT_TRUSTED: ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE,
    Failure.LOST: ConnectionStatus.SOCKET_SEND_FAILURE,
    Failure.TIMED_OUT: ConnectionStatus.CONNECTION_NOT_READY,
    Failure.NOT_HTTPR: ConnectionStatus.CONNECTION_REFUSED,
}
"""The status of the outgoing queues after each failure."""
UNSENT: Final = frozenset({Failure.NO_ADDRESS, Failure.NO_CONNECTION, Failure.NOT_TRUSTED})
"""Failures before any byte was sent: the batches of these requests are not in doubt."""


def reaction_to(number: int) -> Reaction:
    """Return the reaction to an error; one that the specification does not have is treated as temporary.

    >>> reaction_to(528)
    <Reaction.RENEW: 'renew'>
    """
    try:
        return REACTIONS[ErrorNumber(number)]
    except ValueError:
        return Reaction.REST
