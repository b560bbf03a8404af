"""Lists the faults of WS-ReliableMessaging, WS-MakeConnection, WS-Addressing and SOAP.

`fault_forms` has their texts, their reasons and their versions.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from reliquary.base.faults import PeerFault

if TYPE_CHECKING:
    from reliquary.protocols.wsrm.codec.values import Dialect, Fault


class FaultCode(Enum):
    """The codes of faults; the values are the local names of the subcodes, or of the SOAP codes."""

    # faults of WS-ReliableMessaging
    SEQUENCE_TERMINATED = "SequenceTerminated"
    UNKNOWN_SEQUENCE = "UnknownSequence"
    INVALID_ACKNOWLEDGEMENT = "InvalidAcknowledgement"
    MESSAGE_NUMBER_ROLLOVER = "MessageNumberRollover"
    CREATE_SEQUENCE_REFUSED = "CreateSequenceRefused"
    LAST_NUMBER_EXCEEDED = "LastMessageNumberExceeded"
    """Exists in WS-RM 1.0 only."""
    SEQUENCE_CLOSED = "SequenceClosed"
    """Exists in WS-RM 1.1 only; a 1.0 peer gets LastMessageNumberExceeded."""
    WSRM_REQUIRED = "WSRMRequired"
    """Exists in WS-RM 1.1 only; a 1.0 peer gets Sender."""
    # WS-MakeConnection
    UNSUPPORTED_SELECTION = "UnsupportedSelection"
    MISSING_SELECTION = "MissingSelection"
    # WS-Addressing
    INVALID_HEADER = "InvalidAddressingHeader"
    """WS-Addressing 2004/08 calls it InvalidMessageInformationHeader."""
    HEADER_REQUIRED = "MessageAddressingHeaderRequired"
    """WS-Addressing 2004/08 calls it MessageInformationHeaderRequired."""
    UNREACHABLE = "DestinationUnreachable"
    ACTION_NOT_SUPPORTED = "ActionNotSupported"
    ENDPOINT_UNAVAILABLE = "EndpointUnavailable"
    # SOAP
    VERSION_MISMATCH = "VersionMismatch"
    MUST_UNDERSTAND = "MustUnderstand"
    SENDER = "Sender"
    """SOAP 1.1 calls this code Client."""
    RECEIVER = "Receiver"
    """The code Server in SOAP 1.1: the message may be sent again."""


_WITH_500: Final = frozenset({
    FaultCode.RECEIVER, FaultCode.ENDPOINT_UNAVAILABLE, FaultCode.UNSUPPORTED_SELECTION,
    FaultCode.MISSING_SELECTION, FaultCode.VERSION_MISMATCH, FaultCode.MUST_UNDERSTAND,
})  # fmt: skip
"""Faults whose SOAP code is not Sender."""


def status_of(code: FaultCode, dialect: Dialect) -> int:
    """Return the HTTP status of a fault: 400 for Sender in SOAP 1.2 (part 2, 7.5.2), else 500."""
    return 400 if dialect.soap.value == "1.2" and code not in _WITH_500 else 500


class WsrmFault(PeerFault):
    """An envelope of a peer is refused, and answered with this fault in this dialect.

    The status is 400 or 500, as SOAP over HTTP has it for the fault.
    """

    def __init__(self, fault: Fault, dialect: Dialect, *, spec: str = "") -> None:
        super().__init__(status_of(fault.code, dialect), fault.reason or fault.code.value, spec=spec)
        self.fault = fault
        self.dialect = dialect
