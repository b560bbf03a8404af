"""Lists why a request to another manager has no response, and the status of each in ConnectionHistory."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.queueing.model.travel.link import ConnectionStatus


class Failure(Enum):
    """The reason why a request of a carrier has no HTTP status."""

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    """The certificate of the server is not accepted (TLS)."""
    LOST = "lost"
    """The connection broke, or the response was not HTTP."""
    TIMED_OUT = "timed-out"


FAILED_WITH: Final[Mapping[Failure | None, ConnectionStatus]] = {
    None: ConnectionStatus.CONNECTION_REFUSED,  # there was an HTTP status
    Failure.NO_ADDRESS: ConnectionStatus.DNS_FAILURE,
    Failure.NO_CONNECTION: ConnectionStatus.SOCKET_CONNECT_FAILURE,
    Failure.NOT_TRUSTED: ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE,
    Failure.LOST: ConnectionStatus.SOCKET_SEND_FAILURE,
    Failure.TIMED_OUT: ConnectionStatus.CONNECTION_NOT_READY,
}
"""The status in the history of connections for each failure."""
