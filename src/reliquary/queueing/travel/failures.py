"""Why a request to another manager has no response, and what the history of connections says of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.queueing.model.travel.link import ConnectionStatus


class Failure(Enum):
    """Why a request that a carrier sent has no status."""

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    """TLS: the certificate of the server is not accepted."""
    LOST = "lost"
    """The connection broke, or what came was no HTTP."""
    TIMED_OUT = "timed-out"


FAILED_WITH: Final[Mapping[Failure | None, ConnectionStatus]] = {
    None: ConnectionStatus.CONNECTION_REFUSED,  # there was a status
    Failure.NO_ADDRESS: ConnectionStatus.DNS_FAILURE,
    Failure.NO_CONNECTION: ConnectionStatus.SOCKET_CONNECT_FAILURE,
    Failure.NOT_TRUSTED: ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE,
    Failure.LOST: ConnectionStatus.SOCKET_SEND_FAILURE,
    Failure.TIMED_OUT: ConnectionStatus.CONNECTION_NOT_READY,
}
"""The status in the history of connections, by the failure."""
