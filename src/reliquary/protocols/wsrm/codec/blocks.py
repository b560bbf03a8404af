"""Writes header blocks in the order and with the attributes that the specifications print.

The prefix of SOAP's namespace is a parameter: it must not occur in the content of the Body, so that no
reader takes the content for a part of the envelope.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from reliquary.protocols.wsrm.codec import addressing, names
from reliquary.protocols.wsrm.codec.fragments import with_attribute
from reliquary.protocols.wsrm.codec.values import (
    NO_BUFFER,
    Acknowledgement,
    Addressing,
    Dialect,
    Reference,
    SequenceHeader,
    Version,
)
from reliquary.wire.xml_text import escaped

REMEMBERED: Final = 1024
"""The number of blocks and references that are cached."""
_IS_PARAMETER: Final = (
    f' xmlns:wsaReference="{addressing.NAMESPACES[Addressing.WSA10]}"'
    ' wsaReference:IsReferenceParameter="true"'
)
_ROOM: Final = f'<netrm:BufferRemaining xmlns:netrm="{names.FLOW}">'


@lru_cache(maxsize=64)
def beginning(dialect: Dialect, soap: str) -> str:
    """Return the start tags of Envelope and Header."""
    return (
        f'<{soap}:Envelope xmlns:{soap}="{names.SOAP[dialect.soap]}">'
        f'<{soap}:Header xmlns:wsa="{addressing.NAMESPACES[dialect.addressing]}"'
        f' xmlns:wsrm="{names.RM[dialect.version]}">'
    )


@lru_cache(maxsize=REMEMBERED)
def action_block(action: str, soap: str) -> str:
    """Write the header block wsa:Action."""
    return f'<wsa:Action {soap}:mustUnderstand="1">{escaped(action)}</wsa:Action>'


@lru_cache(maxsize=REMEMBERED)
def to_blocks(reference: Reference, version: Addressing, soap: str) -> str:
    """Return wsa:To, and the reference parameters as blocks of their own (WS-Addressing 1.0 SOAP, 2.3)."""
    text = f'<wsa:To {soap}:mustUnderstand="1">{escaped(reference.address)}</wsa:To>'
    own = reference.properties + reference.parameters
    if own and version is Addressing.WSA10:
        own = with_attribute(own, _IS_PARAMETER)
    return text + own.decode()


@lru_cache(maxsize=REMEMBERED)
def reference_text(reference: Reference, version: Addressing) -> str:
    """Return the children of an endpoint reference; 1.0 has no properties, they become parameters."""
    properties, parameters = reference.properties.decode(), reference.parameters.decode()
    if version is Addressing.WSA10:
        properties, parameters = "", properties + parameters
    text = f"<wsa:Address>{escaped(reference.address)}</wsa:Address>"
    if properties:
        text += f"<wsa:ReferenceProperties>{properties}</wsa:ReferenceProperties>"
    if parameters:
        text += f"<wsa:ReferenceParameters>{parameters}</wsa:ReferenceParameters>"
    return text


@lru_cache(maxsize=REMEMBERED)
def identifier_element(identifier: str) -> str:
    """Return the element wsrm:Identifier as text."""
    return f"<wsrm:Identifier>{escaped(identifier)}</wsrm:Identifier>"


def sequence_block(sequence: SequenceHeader, version: Version, soap: str) -> str:
    """Write the header block wsrm:Sequence."""
    last = "<wsrm:LastMessage/>" if sequence.last and version is Version.RM10 else ""
    return (
        f'<wsrm:Sequence {soap}:mustUnderstand="1">{identifier_element(sequence.identifier)}'
        f"<wsrm:MessageNumber>{sequence.number}</wsrm:MessageNumber>{last}</wsrm:Sequence>"
    )


def ack_requested_block(identifier: str) -> str:
    """Return wsrm:AckRequested: the plain block of WS-RM, also where it is a poll (FC-006)."""
    return f"<wsrm:AckRequested>{identifier_element(identifier)}</wsrm:AckRequested>"


def acknowledgement_block(acknowledgement: Acknowledgement, version: Version) -> str:
    """Return wsrm:SequenceAcknowledgement, with BufferRemaining at the end (FC-005, FC-007).

    The schema allows ranges or Nack, so Nack is written only without ranges.
    """
    if acknowledgement.ranges:
        said = "".join([
            f'<wsrm:AcknowledgementRange Lower="{lower}" Upper="{upper}"/>'
            for lower, upper in acknowledgement.ranges
        ])  # fmt: skip
    elif acknowledgement.nacks and not acknowledgement.final:
        said = "".join([f"<wsrm:Nack>{each}</wsrm:Nack>" for each in acknowledgement.nacks])
    elif version is Version.RM10:
        said = '<wsrm:AcknowledgementRange Lower="0" Upper="0"/>'  # as WCF: no other form is left in 1.0
    else:
        said = "<wsrm:None/>"
    if acknowledgement.final and version is Version.RM11:
        said += "<wsrm:Final/>"
    room = ""
    if acknowledgement.buffer != NO_BUFFER:
        room = f"{_ROOM}{acknowledgement.buffer}</netrm:BufferRemaining>"
    return (
        f"<wsrm:SequenceAcknowledgement>{identifier_element(acknowledgement.identifier)}{said}{room}"
        "</wsrm:SequenceAcknowledgement>"
    )


def pending_block(pending: bool) -> str:
    """Write the header block wsmc:MessagePending."""
    value = "true" if pending else "false"
    return f'<wsmc:MessagePending xmlns:wsmc="{names.MAKE_CONNECTION}" pending="{value}"/>'
