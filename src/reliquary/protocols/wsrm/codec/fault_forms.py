"""Lists the faults with code, namespace and sentence of each, and their forms in SOAP 1.1 and 1.2.

    SOAP 1.2    Code/Value s:Sender, Code/Subcode/Value wsrm:UnknownSequence, Detail
    SOAP 1.1    of a header block:    faultcode s:Client, and the header block SequenceFault has the rest
                of a body, and WS-A:  faultcode wsrm:CreateSequenceRefused, detail

A fault that a version of WS-RM does not have is written as the nearest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from reliquary.protocols.wsrm.codec import addressing, names, rm11
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Soap, Version


class Family(Enum):
    """The specification that a fault belongs to."""

    SEQUENCE = "WS-RM, about a header block"
    CREATION = "WS-RM, about a body"
    CONNECTION = "WS-MakeConnection"
    ADDRESSING = "WS-Addressing"
    SOAP = "SOAP"


class Form(NamedTuple):
    """The written form of a fault."""

    family: Family
    receiver: bool
    """Whether its SOAP code is Receiver; else it is Sender, or a code that SOAP itself defines."""
    reason: str


_S, _C, _M, _A, _P = Family.SEQUENCE, Family.CREATION, Family.CONNECTION, Family.ADDRESSING, Family.SOAP
FORMS: Final[Mapping[FaultCode, Form]] = {
    # faults of WS-ReliableMessaging
    FaultCode.SEQUENCE_TERMINATED: Form(
        _S, receiver=False, reason="The Sequence has been terminated due to an unrecoverable error."
    ),
    FaultCode.UNKNOWN_SEQUENCE: Form(
        _S, receiver=False, reason="The value of wsrm:Identifier is not a known Sequence identifier."
    ),
    FaultCode.INVALID_ACKNOWLEDGEMENT: Form(
        _S,
        receiver=False,
        reason="The SequenceAcknowledgement violates the cumulative acknowledgement invariant.",
    ),
    FaultCode.MESSAGE_NUMBER_ROLLOVER: Form(
        _S, receiver=False, reason="The maximum value for wsrm:MessageNumber has been exceeded."
    ),
    FaultCode.LAST_NUMBER_EXCEEDED: Form(
        _S,
        receiver=False,
        reason="The value for wsrm:MessageNumber exceeds the value of the MessageNumber accompanying a"
        " LastMessage element in this Sequence.",
    ),
    FaultCode.SEQUENCE_CLOSED: Form(
        _S, receiver=False, reason="The Sequence is closed and cannot accept new messages."
    ),
    FaultCode.CREATE_SEQUENCE_REFUSED: Form(
        _C, receiver=False, reason="The Create Sequence request has been refused by the RM Destination."
    ),
    FaultCode.WSRM_REQUIRED: Form(
        _C, receiver=False, reason="The RM Destination requires the use of WSRM."
    ),
    # 3.5, WS-MakeConnection
    FaultCode.UNSUPPORTED_SELECTION: Form(
        _M,
        receiver=True,
        reason="The extension element used in the message selection is not supported by the MakeConnection"
        " receiver.",
    ),
    FaultCode.MISSING_SELECTION: Form(
        _M, receiver=True, reason="The MakeConnection element did not contain any selection criteria."
    ),
    # WS-Addressing
    FaultCode.INVALID_HEADER: Form(
        _A,
        receiver=False,
        reason="A header representing a Message Addressing Property is not valid and the message cannot be"
        " processed.",
    ),
    FaultCode.HEADER_REQUIRED: Form(
        _A,
        receiver=False,
        reason="A required header representing a Message Addressing Property is not present.",
    ),
    FaultCode.UNREACHABLE: Form(
        _A,
        receiver=False,
        reason="No route can be determined to reach the destination role defined by the WS-Addressing To.",
    ),
    FaultCode.ACTION_NOT_SUPPORTED: Form(
        _A, receiver=False, reason="The action cannot be processed at the receiver."
    ),
    FaultCode.ENDPOINT_UNAVAILABLE: Form(
        _A, receiver=True, reason="The endpoint is unable to process the message at this time."
    ),
    # SOAP
    FaultCode.VERSION_MISMATCH: Form(
        _P, receiver=False, reason="The Envelope is of no known version of SOAP."
    ),
    FaultCode.MUST_UNDERSTAND: Form(
        _P, receiver=False, reason="A header block that must be understood is not known."
    ),
    FaultCode.SENDER: Form(_P, receiver=False, reason="The message is malformed."),
    FaultCode.RECEIVER: Form(_P, receiver=True, reason="The message cannot be processed at this time."),
}  # fmt: skip

_NEAREST: Final = {
    (FaultCode.SEQUENCE_CLOSED, Version.RM10): FaultCode.LAST_NUMBER_EXCEEDED,
    (FaultCode.WSRM_REQUIRED, Version.RM10): FaultCode.SENDER,
    (FaultCode.LAST_NUMBER_EXCEEDED, Version.RM11): FaultCode.SEQUENCE_CLOSED,
}
_IN_2004: Final = {
    FaultCode.INVALID_HEADER: "InvalidMessageInformationHeader",
    FaultCode.HEADER_REQUIRED: "MessageInformationHeaderRequired",
}
_IN_SOAP11: Final = {FaultCode.SENDER: "Client", FaultCode.RECEIVER: "Server"}


def code_in(code: FaultCode, version: Version) -> FaultCode:
    """Return the fault with this meaning in a version of WS-RM."""
    return _NEAREST.get((code, version), code)


def soap_code(code: FaultCode, soap: Soap) -> str:
    """Return the local name of the code that SOAP itself defines."""
    form = FORMS[code]
    if code not in (FaultCode.VERSION_MISMATCH, FaultCode.MUST_UNDERSTAND):
        code = FaultCode.RECEIVER if form.receiver else FaultCode.SENDER
    return _IN_SOAP11.get(code, code.value) if soap is Soap.SOAP11 else code.value


def subcode(code: FaultCode, dialect: Dialect) -> tuple[str, str]:
    """Return namespace and local name of the code of another specification; both are empty if SOAP has it."""
    match FORMS[code].family:
        case Family.SEQUENCE | Family.CREATION:
            return names.RM[dialect.version], code.value
        case Family.CONNECTION:
            return names.MAKE_CONNECTION, code.value
        case Family.ADDRESSING:
            name = code.value
            if dialect.addressing is Addressing.WSA2004:
                name = _IN_2004.get(code, name)
            return addressing.NAMESPACES[dialect.addressing], name
        case Family.SOAP:
            return "", ""


def fault_action(code: FaultCode, dialect: Dialect) -> str:
    """Return the action of a message with this fault."""
    match FORMS[code].family:
        case Family.SEQUENCE | Family.CREATION if dialect.version is Version.RM11:
            return rm11.FAULT
        case Family.CONNECTION:
            return rm11.MAKE_CONNECTION_FAULT
        case Family.SOAP:
            return addressing.SOAP_FAULT_ACTIONS[dialect.addressing]
        case _:
            return addressing.FAULT_ACTIONS[dialect.addressing]


def _known() -> dict[tuple[str, str], FaultCode]:
    known = {
        (namespace.lower(), name.lower()): code
        for code in FaultCode
        for dialect in (Dialect(v, Soap.SOAP12, a) for v in Version for a in Addressing)
        for namespace, name in [subcode(code, dialect)]
        if name
    }
    for soap, namespace in names.SOAP.items():
        for code, form in FORMS.items():
            if form.family is Family.SOAP:
                known[namespace.lower(), soap_code(code, soap).lower()] = code
    return known


_KNOWN: Final = _known()


def known_code(namespace: str, name: str) -> FaultCode | None:
    """Return the fault of a name that a peer wrote.

    WCF writes `WsrmRequired`, so letter case means nothing; of `Client.Text` only the first word counts.
    """
    return _KNOWN.get((namespace.lower(), name.partition(".")[0].lower()))
