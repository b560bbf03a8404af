"""Decodes an envelope from the body of a request or a response, plain or in MIME parts.

    MIME parts --> document (hardened) --> header blocks --> body of WS-RM, fault, or content as it is
               '-> a head that is known (`recurring`), and content

Bytes that are no envelope raise `WsrmFault`.  The modules `headers` and `bodies` accept deviations of
peers; the version of SOAP follows from the Envelope, not from the Content-Type.
"""

from __future__ import annotations

from typing import Final

from reliquary.protocols.wsrm.codec import names, recurring, rm10, rm11
from reliquary.protocols.wsrm.codec.bodies import read_body
from reliquary.protocols.wsrm.codec.fault_reader import read_fault
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.fragments import body_content
from reliquary.protocols.wsrm.codec.headers import Header, read_header
from reliquary.protocols.wsrm.codec.multipart import Parts, parts_of
from reliquary.protocols.wsrm.codec.reading import Document, Refusal, split_tag
from reliquary.protocols.wsrm.codec.values import Body, Dialect, Envelope, Payload, Soap, Version
from reliquary.wire.mime import MimeFault
from reliquary.wire.xml import Element, XmlFault, root_of

SPEC: Final = "WS-ReliableMessaging 3"
_ENVELOPES: Final = {f"{{{namespace}}}Envelope": soap for soap, namespace in names.SOAP.items()}
_HEADERS: Final = {soap: f"{{{namespace}}}Header" for soap, namespace in names.SOAP.items()}
_BODIES: Final = {soap: f"{{{namespace}}}Body" for soap, namespace in names.SOAP.items()}
_HEADS: Final = recurring.Heads()
_FAULTS: Final = {soap: f"{{{namespace}}}Fault" for soap, namespace in names.SOAP.items()}


def decode(content_type: str, body: bytes) -> Envelope:
    """Return the envelope; WsrmFault for anything else."""
    try:
        parts = parts_of(content_type, body)
        cut = recurring.cut(parts.envelope)
        if cut is not None and (head := _HEADS.get(cut.frame)) is not None:
            envelope = head.envelope(cut, parts.attachments, parts.start_type)
            if envelope is not None:
                return envelope
        document = _document(parts.envelope)
    except MimeFault as fault:
        raise WsrmFault(
            Refusal(FaultCode.SENDER, fault.why).fault, _claimed(content_type), spec=SPEC
        ) from None
    except Refusal as refusal:
        raise WsrmFault(refusal.fault, _claimed(content_type), spec=SPEC) from None
    try:
        envelope = _envelope(document, parts)
    except Refusal as refusal:
        raise WsrmFault(refusal.fault, document.dialect(), spec=SPEC) from None
    if cut is not None and _HEADS.is_wanted(cut.frame):
        _HEADS.keep(cut.frame, _head(cut.frame))
    return envelope


def _head(frame: bytes) -> recurring.Head | None:
    """Return the head of a frame; None if it does not represent all messages with this frame."""
    try:
        document = _document(frame)
        envelope = _envelope(document, Parts(frame))
    except Refusal:
        return None
    if not recurring.stands_for(envelope, frame):
        return None
    return recurring.Head(envelope, _halves(document)[1].nsmap)


def _claimed(content_type: str) -> Dialect:
    """Return the dialect of an answer to an unreadable request.

    Only the Content-Type shows the SOAP version.
    """
    is_soap12 = "application/soap+xml" in content_type.lower()
    return Dialect(soap=Soap.SOAP12 if is_soap12 else Soap.SOAP11)


def _document(data: bytes) -> Document:
    try:
        root = root_of(data)
    except XmlFault as fault:
        raise Refusal(FaultCode.SENDER, f"the envelope {fault.why}") from None
    soap = _ENVELOPES.get(root.tag)
    if soap is None:
        name = split_tag(root.tag)[1]
        code = FaultCode.VERSION_MISMATCH if name == "Envelope" else FaultCode.SENDER
        raise Refusal(code, f"the root is <{root.tag[:80]}>, no Envelope of SOAP 1.1 or 1.2")
    return Document(data, root, soap)


def _envelope(document: Document, parts: Parts) -> Envelope:
    blocks, body = _halves(document)
    header = Header(document) if blocks is None else read_header(document, blocks)
    content = _read_content(document, header, body, parts)
    if document.version is None:
        document.version = _declared_version(body if blocks is None else blocks)
    return Envelope(
        dialect=document.dialect(),
        action=header.action,
        to=header.to,
        message_id=header.message_id,
        relates_to=header.relates_to,
        reply_to=header.reply_to,
        fault_to=header.fault_to,
        sequence=header.sequence,
        acknowledgements=header.acknowledgements,
        ack_requests=header.ack_requests,
        uses_str=header.uses_str,
        uses_ssl=header.uses_ssl,
        pending=header.pending,
        properties=header.properties,
        foreign=header.foreign,
        malformed_buffers=header.malformed_buffers,
        body=content,
    )


def _declared_version(element: Element) -> Version:
    """Return the version of a message without any element of WS-RM: the one whose namespace is declared."""
    declared = element.nsmap.values()
    return Version.RM10 if rm10.NAMESPACE in declared and rm11.NAMESPACE not in declared else Version.RM11


def _halves(document: Document) -> tuple[Element | None, Element]:
    """Return the Header, if there is one, and the Body."""
    children = iter(document.root)
    header = next(children, None)
    if header is not None and header.tag == _HEADERS[document.soap]:
        body = next(children, None)
    else:
        header, body = None, header
    if body is None or body.tag != _BODIES[document.soap]:
        raise Refusal(FaultCode.SENDER, "an Envelope must have a Body, and before it at most one Header")
    return header, body


def _read_content(document: Document, header: Header, body: Element, parts: Parts) -> Body:
    if len(body) and header.sequence is None:  # a message with a number in a sequence is for an application
        first = body[0]
        if first.tag == _FAULTS[document.soap]:
            return read_fault(document, first, header.sequence_fault, header.fault_detail)
        read = read_body(document, first)
        if read is not None:
            return read
    content = body_content(document.data, document.root, body)
    return Payload(content, parts.attachments, parts.start_type)
