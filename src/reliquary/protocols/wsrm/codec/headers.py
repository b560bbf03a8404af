"""Reads the header blocks of an envelope, by a table from the name of a block to its reader.

Blocks of both versions of WS-RM and of WS-Addressing are known.  The children of a block may have any
order, and attributes that a specification demands may be missing: gSOAP and other stacks do so.  Blocks
with the role of another node are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.protocols.wsrm.codec import addressing, names
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.lexical import boolean, buffer, number, trimmed
from reliquary.protocols.wsrm.codec.properties import PROPERTIES, read_properties
from reliquary.protocols.wsrm.codec.reading import (
    Document,
    Refusal,
    read_address,
    read_identifier,
    read_number,
    read_reference,
    split_tag,
)
from reliquary.protocols.wsrm.codec.values import (
    NO_BUFFER,
    Acknowledgement,
    Addressing,
    Properties,
    Reference,
    SequenceHeader,
    Soap,
    Version,
)
from reliquary.wire.xml import Element

BLOCKS_LIMIT: Final = 256
"""The most header blocks of an envelope."""

_MUST_UNDERSTAND: Final = {soap: f"{{{namespace}}}mustUnderstand" for soap, namespace in names.SOAP.items()}
_ROLE: Final = {
    Soap.SOAP11: f"{{{names.SOAP[Soap.SOAP11]}}}actor",
    Soap.SOAP12: f"{{{names.SOAP[Soap.SOAP12]}}}role",
}
_OUR_ROLES: Final = frozenset({
    "",
    "http://schemas.xmlsoap.org/soap/actor/next",
    "http://www.w3.org/2003/05/soap-envelope/role/next",
    "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver",
})  # fmt: skip
_BUFFER_REMAINING: Final = f"{{{names.FLOW}}}BufferRemaining"
_REPLY: Final = "http://www.w3.org/2005/08/addressing/reply"


class Header:
    """The blocks that were read so far."""

    __slots__ = (
        "ack_requests", "acknowledgements", "action", "document", "fault_detail", "fault_to", "foreign",
        "malformed_buffers", "message_id", "pending", "properties", "relates_to", "reply_to", "sequence",
        "sequence_fault", "to", "uses_ssl", "uses_str",
    )  # fmt: skip

    def __init__(self, document: Document) -> None:
        self.document = document
        self.action = ""
        self.to: Reference | None = None
        self.message_id = ""
        self.relates_to = ""
        self.reply_to: Reference | None = None
        self.fault_to: Reference | None = None
        self.sequence: SequenceHeader | None = None
        self.acknowledgements: tuple[Acknowledgement, ...] = ()
        self.ack_requests: tuple[str, ...] = ()
        self.uses_str = False
        self.uses_ssl = False
        self.pending: bool | None = None
        self.properties: Properties | None = None
        self.foreign: tuple[str, ...] = ()
        self.malformed_buffers = 0
        self.sequence_fault: Element | None = None
        self.fault_detail: Element | None = None


def read_header(document: Document, blocks: Element) -> Header:
    """Return the values of the blocks of a Header."""
    header = Header(document)
    if len(blocks) > BLOCKS_LIMIT:
        raise Refusal(
            FaultCode.SENDER, f"an envelope has at most {BLOCKS_LIMIT} header blocks, not {len(blocks)}"
        )
    must_understand, role = _MUST_UNDERSTAND[document.soap], _ROLE[document.soap]
    for block in blocks:
        required = False
        if attributes := block.attrib:
            required = _required(block, attributes.get(must_understand))
            if (actor := attributes.get(role)) and actor.strip() not in _OUR_ROLES:
                continue
        reader = READERS.get(block.tag)
        if reader is not None:
            reader(header, block)
        elif required and block.tag not in header.foreign:
            header.foreign += (block.tag,)
    return header


def _required(block: Element, value: str | None) -> bool:
    if value is None:
        return False
    try:
        return boolean(value)
    except ValueError as why:
        raise Refusal(FaultCode.SENDER, f"mustUnderstand of {split_tag(block.tag)[1]}: {why}") from None


# -- WS-Addressing


def _refuse_second(block: Element) -> Refusal:
    name = split_tag(block.tag)[1]
    return Refusal(FaultCode.INVALID_HEADER, f"there are two {name} headers")


def _read_action(header: Header, block: Element) -> None:
    if header.action:
        raise _refuse_second(block)
    header.action = read_address(block)


def _read_to(header: Header, block: Element) -> None:
    if header.to is not None:
        raise _refuse_second(block)
    header.to = Reference(read_address(block))


def _read_message_id(header: Header, block: Element) -> None:
    if header.message_id:
        raise _refuse_second(block)
    header.message_id = read_address(block)


def _read_relates_to(header: Header, block: Element) -> None:
    """Record the first RelatesTo with the relationship "reply"; ignore the others."""
    relationship = block.get("RelationshipType", _REPLY).strip()
    is_reply = relationship == _REPLY or relationship.endswith(":Reply")  # in 2004/08 it is a QName
    if is_reply and not header.relates_to:
        header.relates_to = read_address(block)


def _read_endpoint(header: Header, block: Element) -> Reference:
    reference = read_reference(header.document, block)
    if not reference.address:
        name = split_tag(block.tag)[1]
        raise Refusal(FaultCode.INVALID_HEADER, f"{name} has no Address")
    return reference


def _read_reply_to(header: Header, block: Element) -> None:
    if header.reply_to is not None:
        raise _refuse_second(block)
    header.reply_to = _read_endpoint(header, block)


def _read_fault_to(header: Header, block: Element) -> None:
    if header.fault_to is not None:
        raise _refuse_second(block)
    header.fault_to = _read_endpoint(header, block)


def _read_fault_detail(header: Header, block: Element) -> None:
    header.fault_detail = block


def _pass_over(_header: Header, _block: Element) -> None:
    """Accept a block without reading it."""


# -- WS-ReliableMessaging


def _read_sequence(header: Header, block: Element) -> None:
    if header.sequence is not None:
        raise Refusal(
            FaultCode.SENDER, "a message belongs to one sequence, and there are two Sequence headers"
        )
    identifier, value, last = "", None, False
    for child in block:
        name = child.tag.rpartition("}")[2]
        if name == "Identifier":
            identifier = trimmed(child.text)
        elif name == "MessageNumber":
            value = read_number(child)
        elif name == "LastMessage":
            last = True
    if not identifier or value is None:
        raise Refusal(
            FaultCode.SENDER, "Identifier or MessageNumber is missing in a Sequence header", identifier
        )
    header.sequence = SequenceHeader(identifier, value, last)


def _read_ack_requested(header: Header, block: Element) -> None:
    identifier = read_identifier(header.document, block)
    if identifier not in header.ack_requests:
        header.ack_requests += (identifier,)


def _read_acknowledgement(header: Header, block: Element) -> None:
    identifier = read_identifier(header.document, block)
    ranges: list[tuple[int, int]] = []
    nacks: list[int] = []
    final, room, rooms = False, NO_BUFFER, 0
    for child in block:
        tag = child.tag
        if tag == _BUFFER_REMAINING:
            rooms += 1
            if rooms == 1:  # of several the first counts
                room = NO_BUFFER if len(child) else buffer(child.text)
            if rooms > 1 or room == NO_BUFFER:
                header.malformed_buffers += 1
            continue
        name = tag.rpartition("}")[2]
        if name == "AcknowledgementRange":
            ranges.append(_read_range(child, identifier))
        elif name == "Nack":
            nacks.append(read_number(child))
        elif name == "Final":
            final = True
    acknowledgement = Acknowledgement(identifier, _disjoint(ranges), tuple(nacks), final, room)
    header.acknowledgements += (acknowledgement,)


def _read_range(element: Element, identifier: str) -> tuple[int, int]:
    try:
        lower, upper = number(element.get("Lower", "")), number(element.get("Upper", ""))
    except ValueError as why:
        raise Refusal(FaultCode.SENDER, f"AcknowledgementRange: {why}", identifier) from None
    if lower > upper or (lower == 0) != (upper == 0):
        reason = f"{lower} to {upper} is no range of message numbers"
        raise Refusal(FaultCode.INVALID_ACKNOWLEDGEMENT, reason, identifier)
    return lower, upper


def _disjoint(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the ranges in their order, those that touch as one; 0 to 0 is no message (WCF in WS-RM 1.0)."""
    if len(ranges) <= 1:
        return tuple(ranges) if ranges != [(0, 0)] else ()
    joined: list[tuple[int, int]] = []
    for lower, upper in sorted(ranges):
        if not upper:
            continue
        if joined and lower <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], upper))
        else:
            joined.append((lower, upper))
    return tuple(joined)


def _read_uses_str(header: Header, _block: Element) -> None:
    header.uses_str = True


def _read_uses_ssl(header: Header, _block: Element) -> None:
    header.uses_ssl = True


def _read_sequence_fault(header: Header, block: Element) -> None:
    header.sequence_fault = block


def _read_pending(header: Header, block: Element) -> None:
    try:
        header.pending = boolean(block.get("pending", "false"))
    except ValueError as why:
        raise Refusal(FaultCode.SENDER, f"MessagePending: {why}") from None


def _read_our_properties(header: Header, block: Element) -> None:
    try:
        header.properties = read_properties(block)
    except ValueError as why:
        raise Refusal(FaultCode.SENDER, f"Properties: {why}") from None


# -- the table

_Reader = Callable[[Header, Element], None]
_ADDRESSING_READERS: Final[dict[str, _Reader]] = {
    "Action": _read_action,
    "To": _read_to,
    "MessageID": _read_message_id,
    "RelatesTo": _read_relates_to,
    "ReplyTo": _read_reply_to,
    "FaultTo": _read_fault_to,
    "From": _pass_over,
    "FaultDetail": _read_fault_detail,
}
_RM_READERS: Final[dict[str, _Reader]] = {
    "Sequence": _read_sequence,
    "SequenceAcknowledgement": _read_acknowledgement,
    "AckRequested": _read_ack_requested,
    "SequenceFault": _read_sequence_fault,
    "UsesSequenceSTR": _read_uses_str,
    "UsesSequenceSSL": _read_uses_ssl,
}


def _in_addressing(version: Addressing, read: _Reader) -> _Reader:
    def reader(header: Header, block: Element) -> None:
        if header.document.addressing is None:
            header.document.addressing = version
        read(header, block)

    return reader


def _in_version(version: Version, read: _Reader) -> _Reader:
    def reader(header: Header, block: Element) -> None:
        if header.document.version is None or read is _read_sequence:
            # the version of the message itself, also if it acknowledges a sequence of another version
            header.document.version = version
        read(header, block)

    return reader


READERS: Final[dict[str, _Reader]] = {
    **{
        f"{{{namespace}}}{name}": _in_addressing(version, read)
        for version, namespace in addressing.NAMESPACES.items()
        for name, read in _ADDRESSING_READERS.items()
    },
    **{
        f"{{{namespace}}}{name}": _in_version(version, read)
        for version, namespace in names.RM.items()
        for name, read in _RM_READERS.items()
    },
    f"{{{names.MAKE_CONNECTION}}}MessagePending": _read_pending,
    PROPERTIES: _read_our_properties,
    f"{{{names.SOAP[Soap.SOAP12]}}}NotUnderstood": _pass_over,
    f"{{{names.SOAP[Soap.SOAP12]}}}Upgrade": _pass_over,
}
