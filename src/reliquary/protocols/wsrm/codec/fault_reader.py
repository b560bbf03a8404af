"""Reads a SOAP fault of a peer, of any specification, in SOAP 1.1 and 1.2."""

from __future__ import annotations

from typing import Final

from lxml import etree

from reliquary.protocols.wsrm.codec import names
from reliquary.protocols.wsrm.codec.fault_forms import FORMS, known_code
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.fragments import content_of
from reliquary.protocols.wsrm.codec.lexical import resolved, trimmed
from reliquary.protocols.wsrm.codec.reading import Document
from reliquary.protocols.wsrm.codec.values import Fault, Soap, Version
from reliquary.wire.xml import Element

REASON_LIMIT: Final = 1000
"""The most characters of a reason; the remainder is cut off."""
_SOAP12: Final = f"{{{names.SOAP[Soap.SOAP12]}}}"
_IDENTIFIERS: Final = tuple(f"{{{namespace}}}Identifier" for namespace in names.RM.values())
_WRITTEN_FROM_THE_CODE: Final = (*_IDENTIFIERS, f"{{{names.RM[Version.RM11]}}}MaxMessageNumber")
"""Children of a detail that `fault_writer` adds by itself."""


def read_fault(
    document: Document, element: Element, header_block: Element | None, header_detail: Element | None
) -> Fault:
    """Return the value of a Fault element.

    In SOAP 1.1 a part of it may be in a header block: SequenceFault, or FaultDetail of WS-Addressing.
    """
    if document.soap is Soap.SOAP11:
        codes = [element.find("faultcode")]
        reason, detail = element.findtext("faultstring"), element.find("detail")
        if detail is None:
            detail = header_detail
    else:
        codes = [*element.iterfind(f"{_SOAP12}Code/{_SOAP12}Value")]
        codes += element.iterfind(f"{_SOAP12}Code//{_SOAP12}Subcode/{_SOAP12}Value")
        reason = element.findtext(f"{_SOAP12}Reason/{_SOAP12}Text")
        detail = element.find(f"{_SOAP12}Detail")
    if header_block is not None:
        codes += header_block.iterfind(f"{{{_namespace(header_block)}}}FaultCode")
        detail = _detail_of_block(header_block, detail)
    code = _code(codes)
    text = trimmed(reason)[:REASON_LIMIT]
    return Fault(
        code=code,
        reason="" if text == FORMS[code].reason else text,
        identifier=_identifier(document, detail),
        detail=_more(document, detail),
    )


def _namespace(element: Element) -> str:
    namespace: str = etree.QName(element).namespace or ""
    return namespace


def _code(codes: list[Element | None]) -> FaultCode:
    """Return the last known code of these, because a subcode is more precise than the code before it."""
    code = FaultCode.RECEIVER
    for element in codes:
        if element is not None:
            namespace, name = resolved(element.text or "", element.nsmap)
            code = known_code(namespace, name) or code
    return code


def _detail_of_block(block: Element, detail: Element | None) -> Element | None:
    """Return the element with the detail of a SequenceFault: Detail in WS-RM 1.1, the block itself in 1.0."""
    inner = block.find(f"{{{_namespace(block)}}}Detail")
    if inner is not None:
        return inner
    return block if len(block) > 1 else detail


def _identifier(document: Document, detail: Element | None) -> str:
    """Return the first identifier of a sequence at any depth; a SequenceAcknowledgement has one too."""
    if detail is not None:
        for element in detail.iter(*_IDENTIFIERS):
            if document.version is None:
                document.version = names.RM_VERSIONS[_namespace(element)]
            return trimmed(element.text)
    return ""


def _more(document: Document, detail: Element | None) -> bytes:
    """Return the detail as XML elements, without those that follow from code and identifier."""
    if detail is None:
        return b""
    rest = [
        child
        for child in detail
        if child.tag not in _WRITTEN_FROM_THE_CODE and not child.tag.endswith("}FaultCode")
    ]
    if not rest:
        return b""
    if len(rest) == len(detail):
        return content_of(document.data, document.root, detail).strip()
    return b"".join(etree.tostring(child, with_tail=False) for child in rest)
