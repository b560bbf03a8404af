"""Writes a fault in the form of SOAP 1.1 or 1.2; `fault_forms` has the tables."""

from __future__ import annotations

from typing import NamedTuple

from reliquary.protocols.wsrm.codec import names
from reliquary.protocols.wsrm.codec.blocks import acknowledgement_block
from reliquary.protocols.wsrm.codec.fault_forms import FORMS, Family, code_in, soap_code, subcode
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.reading import split_tag
from reliquary.protocols.wsrm.codec.values import (
    LAST_NUMBER,
    Acknowledgement,
    Addressing,
    Dialect,
    Fault,
    Soap,
    Version,
)
from reliquary.wire.xml_text import escaped, quoted, without_impossible


class WrittenFault(NamedTuple):
    """A fault in an envelope."""

    code: FaultCode
    """The code of the fault in this version of WS-RM."""
    blocks: str
    """Header blocks that belong to it."""
    element: str


def invalid_acknowledgement(acknowledgement: Acknowledgement, dialect: Dialect) -> Fault:
    """Return the fault about an acknowledgement, which has the acknowledgement as its detail."""
    block = acknowledgement_block(acknowledgement, dialect.version)
    declared = block.replace(
        "<wsrm:SequenceAcknowledgement",
        f'<wsrm:SequenceAcknowledgement xmlns:wsrm="{names.RM[dialect.version]}"',
        1,
    )
    return Fault(FaultCode.INVALID_ACKNOWLEDGEMENT, detail=declared.encode())


def unsupported_selection(name: str) -> Fault:
    """Return the fault about a selection of MakeConnection, `{namespace}name`, that is not supported."""
    namespace, local = split_tag(name)
    bound, prefix = (f" xmlns:n={quoted(namespace)}", "n:") if namespace else ("", "")
    detail = (
        f'<wsmc:UnsupportedElement xmlns:wsmc="{names.MAKE_CONNECTION}"{bound}>'
        f"{prefix}{local}</wsmc:UnsupportedElement>"
    )
    return Fault(FaultCode.UNSUPPORTED_SELECTION, detail=detail.encode())


def write_fault(fault: Fault, dialect: Dialect, foreign: tuple[str, ...], soap: str) -> WrittenFault:
    """Return the element of a fault, and the blocks that go with it.

    `foreign` are the names of header blocks that were not understood.
    """
    code = code_in(fault.code, dialect.version)
    reason = escaped(without_impossible(fault.reason or FORMS[code].reason))
    detail = _detail(fault, code, dialect)
    if dialect.soap is Soap.SOAP12:
        element = _soap12(code, dialect, reason, detail, soap)
        return WrittenFault(code, _soap12_blocks(code, foreign, soap), element)
    return _soap11(code, dialect, reason, detail, soap)


def _detail(fault: Fault, code: FaultCode, dialect: Dialect) -> str:
    """Return the children of the detail, with their namespaces."""
    text, declared = "", f'xmlns:wsrm="{names.RM[dialect.version]}"'
    if fault.identifier:
        text = f"<wsrm:Identifier {declared}>{escaped(fault.identifier)}</wsrm:Identifier>"
    if code is FaultCode.MESSAGE_NUMBER_ROLLOVER and dialect.version is Version.RM11:
        text += f"<wsrm:MaxMessageNumber {declared}>{LAST_NUMBER}</wsrm:MaxMessageNumber>"
    return text + fault.detail.decode()


def _soap12(code: FaultCode, dialect: Dialect, reason: str, detail: str, soap: str) -> str:
    namespace, name = subcode(code, dialect)
    inner = ""
    if name:
        inner = f'<{soap}:Value xmlns:code="{namespace}">code:{name}</{soap}:Value>'
        inner = f"<{soap}:Subcode>{inner}</{soap}:Subcode>"
    value = f"<{soap}:Value>{soap}:{soap_code(code, dialect.soap)}</{soap}:Value>"
    text = (
        f"<{soap}:Fault><{soap}:Code>{value}{inner}</{soap}:Code>"
        f'<{soap}:Reason><{soap}:Text xml:lang="en">{reason}</{soap}:Text></{soap}:Reason>'
    )
    if detail:
        text += f"<{soap}:Detail>{detail}</{soap}:Detail>"
    return f"{text}</{soap}:Fault>"


def _soap12_blocks(code: FaultCode, foreign: tuple[str, ...], soap: str) -> str:
    """Return the blocks that SOAP 1.2 part 1, 5.4.7 and 5.4.8, requires for its own faults."""
    if code is FaultCode.VERSION_MISMATCH:
        supported = "".join(
            f'<{soap}:SupportedEnvelope qname="e:Envelope" xmlns:e="{names.SOAP[each]}"/>'
            for each in (Soap.SOAP12, Soap.SOAP11)
        )
        return f"<{soap}:Upgrade>{supported}</{soap}:Upgrade>"
    if code is FaultCode.MUST_UNDERSTAND:
        return "".join(_not_understood(name, soap) for name in foreign)
    return ""


def _not_understood(tag: str, soap: str) -> str:
    namespace, name = split_tag(tag)
    bound, prefix = (f" xmlns:n={quoted(namespace)}", "n:") if namespace else ("", "")
    return f"<{soap}:NotUnderstood qname={quoted(prefix + name)}{bound}/>"


def _soap11(code: FaultCode, dialect: Dialect, reason: str, detail: str, soap: str) -> WrittenFault:
    family = FORMS[code].family
    namespace, name = subcode(code, dialect)
    blocks = ""
    if family is Family.SEQUENCE:
        inner = (
            f"<wsrm:Detail>{detail}</wsrm:Detail>" if detail and dialect.version is Version.RM11 else detail
        )
        blocks = (
            f"<wsrm:SequenceFault><wsrm:FaultCode>wsrm:{name}</wsrm:FaultCode>{inner}</wsrm:SequenceFault>"
        )
    elif family is Family.ADDRESSING and detail and dialect.addressing is Addressing.WSA10:
        blocks = f"<wsa:FaultDetail>{detail}</wsa:FaultDetail>"
    if family in (Family.SEQUENCE, Family.SOAP):
        faultcode = f"<faultcode>{soap}:{soap_code(code, dialect.soap)}</faultcode>"
    else:
        faultcode = f'<faultcode xmlns:code="{namespace}">code:{name}</faultcode>'
    about_header = family in (Family.SEQUENCE, Family.ADDRESSING)
    inside = f"<detail>{detail}</detail>" if detail and not about_header else ""
    element = f"<{soap}:Fault>{faultcode}<faultstring>{reason}</faultstring>{inside}</{soap}:Fault>"
    return WrittenFault(code, blocks, element)
