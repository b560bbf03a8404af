"""Decodes a message with the codecs of the server, or returns the reason of a failure.

                       soap_envelope?  httpr_header?        of its arrival: their damage is a reason
                               |
    body: empty | --boundary | POST | request: | message-size: | text? | binary
                       |         |        |           |            |
                     MIME       APDU    HTTPR       HTTPR    { [  <  other
                       '--SRMP?--'                           |    |     |
                                                           JSON  XML   text
                                                                  '--SOAP? SRMP?

Pure functions of bytes: they run inside the tasks of Spark and never raise, so that every input row has
one output row, decoded or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from reliquary.base.faults import PeerFault
from reliquary.protocols.httpr.codec.headers import fields_of
from reliquary.protocols.httpr.codec.lexical import malformed
from reliquary.protocols.httpr.codec.reader import (
    BodyIncomplete,
    BodyPart,
    HeaderRead,
    LargeBegun,
    LargeEnded,
    LargePiece,
    RequestReader,
    ResponseReader,
)
from reliquary.protocols.httpr.codec.values import BatchLimits, Carried
from reliquary.protocols.srmp.codec.canonical import canonical_envelope
from reliquary.protocols.srmp.codec.decode import decode as decode_post
from reliquary.protocols.srmp.codec.decode import decode_apdu, decode_envelope
from reliquary.protocols.srmp.codec.elements import ROUTING
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.values import Arrived
from reliquary.spark.pipelines.content import BodyKind, Content, Damage, Part, Soap
from reliquary.spark.pipelines.shapes import SHAPES, cut
from reliquary.spark.pipelines.text import NotInItsEncoding, Text, has_controls, text_of, without_declaration
from reliquary.spark.pipelines.xml_json import NotReadable, json_of
from reliquary.wire import soap
from reliquary.wire.mime import MimeFault, media_type, split
from reliquary.wire.xml import Element, XmlFault, declared_encoding, root_of

SOAP_12: Final = "http://www.w3.org/2003/05/soap-envelope"


class _Names(NamedTuple):
    """The names of the elements of an envelope."""

    version: str
    header: str
    body: str
    fault: str


_SOAPS: Final = {
    f"{{{space}}}Envelope": _Names(version, f"{{{space}}}Header", f"{{{space}}}Body", f"{{{space}}}Fault")
    for version, space in (("1.1", soap.NAMESPACE), ("1.2", SOAP_12))
}
_PATH: Final = f"{{{ROUTING}}}path"
"""The block that makes an envelope one of a manager."""
_OF_ALL_TEXT: Final = ("", "utf-8")
"""Encodings of documents that any text can be part of."""
_LARGEST: Final = 1 << 40
"""The limits of bytes and messages: the server that stored the batch has applied its own."""
_NO_LIMITS: Final = BatchLimits(_LARGEST, _LARGEST)

_BOUNDARY: Final = re.compile(rb"--([^\r\n]{1,70})\r\n(?=content-[a-z-]+:)", re.IGNORECASE).match
_POST: Final = re.compile(rb"POST [^\r\n]* HTTP/1\.[01]\r\n").match
_COMMAND: Final = re.compile(rb"request[ \t]*:[ \t]*[A-Z-]+ HTTPR/", re.IGNORECASE).match
_ANSWER: Final = re.compile(rb"HTTPR/1\.[0-9]+\r\n").match
_BATCH: Final = re.compile(rb"message-(?:size|encoding)[ \t]*:", re.IGNORECASE).match
_BATCH_HEADER: Final = b"transactionid:0000000000000001\r\n\r\n"
"""The header that is put before a batch without its command."""
_JSON: Final = re.compile(
    r'[ \t\r\n]*(?:\{[ \t\r\n]*["}]|\[[ \t\r\n]*(?:[\[\]{"0-9-]|true|false|null))'
).match
_XML: Final = re.compile(r"[ \t\r\n]*<[?!A-Za-z_:\u0080-\U0010ffff]").match
_AT_BYTE: Final = re.compile(r" \(byte (\d+)\)$")


def decode(
    body: bytes | None,
    body_type: int | None = None,
    soap_envelope: str | None = None,
    soap_compound_message: str | None = None,
    httpr_header: str | None = None,
) -> Content | Damage:
    """Return the content of a message from its columns in the feed, or its damage."""
    content = decode_body(body or b"", body_type or 0)
    if not (soap_envelope or soap_compound_message or httpr_header) or isinstance(content, Damage):
        return content
    envelope, fields = content.envelope, content.fields
    try:
        if soap_envelope:
            envelope = decode_envelope(soap_envelope)
        elif soap_compound_message:
            envelope = _enclosed(soap_compound_message).envelope
        if httpr_header:
            fields = _fields(httpr_header)
    except SrmpFault as fault:
        return Damage(BodyKind.SRMP, fault.why, fault.element)
    except PeerFault as fault:
        return Damage(BodyKind.HTTPR, fault.why, "httpr_header")
    return msgspec.structs.replace(content, envelope=envelope, fields=fields)


def decode_body(body: bytes, body_type: int = 0) -> Content | Damage:
    """Return the content of a body, or its damage."""
    if not body:
        return _EMPTY
    first = body[0]
    if first in _FRAMED_BEGINS:
        for begins, kind, read in _FRAMED:
            if begins(body) is not None:
                return _read_framed(body, kind, read)
    try:
        found = text_of(body, body_type)
    except NotInItsEncoding as wrong:
        return Damage(BodyKind.XML, wrong.why, "the XML declaration", wrong.at)
    if found is None:
        return _neither(body)
    if _XML(found.text) is not None:
        return _read_xml(body, found)
    if _JSON(found.text) is not None:
        return _read_json(found)
    return _BINARY if has_controls(found.text) else Content(BodyKind.TEXT, found.encoding, found.text)


def _neither(body: bytes) -> Content | Damage:
    """Return a body that is no text as binary, or as damage if it is a damaged document."""
    head = body[:64].decode("latin-1")
    kind = BodyKind.XML if _XML(head) is not None else BodyKind.JSON if _JSON(head) is not None else None
    if kind is None:
        return _BINARY
    try:
        body.decode()
    except UnicodeDecodeError as why:
        return Damage(kind, f"it begins as {kind.name} and is not UTF-8: {why.reason}", "", why.start)
    return _BINARY


_EMPTY: Final = Content(BodyKind.EMPTY)
_BINARY: Final = Content(BodyKind.BINARY)


# -- JSON


def _read_json(found: Text) -> Content | Damage:
    try:
        msgspec.json.decode(found.text, type=msgspec.Raw)
    except msgspec.DecodeError as wrong:
        why = str(wrong)
        at = _AT_BYTE.search(why)
        offset = len(found.text.encode()) if at is None else int(at[1])  # it names none if the end is missing
        return Damage(BodyKind.JSON, _AT_BYTE.sub("", why), "", offset if found.encoding == "utf-8" else None)
    except RecursionError:
        return Damage(BodyKind.JSON, "it is nested too deeply")
    return Content(BodyKind.JSON, found.encoding, found.text)


# -- XML, SOAP, SRMP's envelopes


def _read_xml(body: bytes, found: Text) -> Content | Damage:
    envelope = canonical_envelope(found.text)
    if envelope is not None:
        return Content(BodyKind.SRMP, found.encoding, found.text, envelope=envelope)
    pieces = cut(found.text) if found.encoding == "utf-8" else None
    if pieces is not None and (known := SHAPES.read(pieces)) is not None:
        return known
    data = body
    if found.encoding != "utf-8" or body[0] in b" \t\r\n":
        data = without_declaration(found.text.strip()).encode()
    try:
        root = root_of(data)
    except XmlFault as fault:
        return Damage(BodyKind.XML, f"it {fault.why}", "", fault.at if data is body else None)
    names = _SOAPS.get(root.tag)
    content = (
        Content(BodyKind.XML, found.encoding, found.text) if names is None else _read_soap(root, names, found)
    )
    if isinstance(content, Damage) or content.kind is BodyKind.SRMP:
        return content
    try:
        content = msgspec.structs.replace(content, data=json_of(found.text))
    except NotReadable as why:
        return Damage(content.kind, f"it {why}")
    if pieces is not None and declared_encoding(data) in _OF_ALL_TEXT and not _is_fault(content):
        SHAPES.learn(pieces, content)
    return content


def _is_fault(content: Content) -> bool:
    """Return whether what the columns say depends on texts, and not on the shape alone."""
    return content.soap is not None and bool(content.soap.fault)


def _read_soap(root: Element, names: _Names, found: Text) -> Content | Damage:
    blocks: list[str] = []
    for child in root:
        tag = child.tag
        if tag == names.body:
            break
        if tag == names.header:
            blocks = [block.tag for block in child]
    else:
        return Damage(BodyKind.SOAP, "the Envelope has no Body", "Body")
    if _PATH in blocks:
        try:
            envelope = decode_envelope(without_declaration(found.text))
            return Content(BodyKind.SRMP, found.encoding, found.text, envelope=envelope)
        except SrmpFault as fault:
            return Damage(BodyKind.SRMP, fault.why, fault.element)
    operation, fault_text = "", ""
    for first in child:
        operation = first.tag
        if operation == names.fault:
            fault_text = " ".join("".join(first.itertext()).split())
        break
    said = Soap(names.version, tuple(blocks), operation, fault_text)
    return Content(BodyKind.SOAP, found.encoding, found.text, soap=said)


# -- bodies in a frame of their own: MIME, posts, batches


def _read_framed(body: bytes, kind: BodyKind, read: _Reading) -> Content | Damage:
    try:
        return read(body)
    except SrmpFault as fault:
        return Damage(BodyKind.SRMP, fault.why, fault.element)
    except MimeFault as fault:
        return Damage(BodyKind.MIME, fault.why, fault.part)
    except PeerFault as fault:
        return Damage(kind, fault.why, fault.spec)
    except BodyIncomplete as wrong:
        return Damage(kind, str(wrong), "", len(body))


def _read_mime(body: bytes) -> Content:
    boundary = _BOUNDARY(body)
    assert boundary is not None
    name = boundary[1].rstrip(b" \t").decode("latin-1")
    parts = split(body, name)
    root = parts[0]
    if media_type(root.content_type).kind == "text/xml" and ROUTING.encode() in root.data:
        return _read_arrived(decode_post(f'multipart/related; boundary="{name}"', body, largest=_LARGEST))
    return Content(
        BodyKind.MIME, parts=tuple(Part(each.content_type, each.content_id, {}, each.data) for each in parts)
    )


def _read_post(body: bytes) -> Content:
    return _read_arrived(decode_apdu(body, largest=_LARGEST))


def _read_arrived(arrived: Arrived) -> Content:
    parts = [Part("", "body", {}, arrived.body)] if arrived.has_body else []
    if arrived.has_extension:
        parts.append(Part("", "extension", {}, arrived.extension))
    return Content(BodyKind.SRMP, "utf-8", arrived.text, envelope=arrived.envelope, parts=tuple(parts))


def _read_command(body: bytes) -> Content:
    reader = RequestReader(lambda _: _NO_LIMITS, lenient=True)
    return _read_httpr(reader, reader.feed(body), _fields_of(body))


def _read_answer(body: bytes) -> Content:
    reader = ResponseReader(_NO_LIMITS)
    return _read_httpr(reader, reader.feed(body), _fields_of(body[body.index(b"\r\n") + 2 :]))


def _read_batch(body: bytes) -> Content:
    reader = ResponseReader(_NO_LIMITS)
    return _read_httpr(reader, reader.feed(_BATCH_HEADER + body), {})


def _read_httpr(
    reader: RequestReader | ResponseReader, events: list[BodyPart], fields: Mapping[str, str]
) -> Content:
    reader.end()
    parts: list[Part] = []
    header = ""
    pieces: list[bytes] = []
    for event in events:
        match event:
            case Carried(header=fields_text, body=body):
                parts.append(Part("", "", _fields(fields_text), body))
            case LargeBegun():
                header, pieces = event.header, []
            case LargePiece(data):
                pieces.append(data)
            case LargeEnded():
                parts.append(Part("", "", _fields(header), b"".join(pieces)))
            case HeaderRead():
                pass
            case _:
                break  # the terminator
    return Content(BodyKind.HTTPR, fields=fields, parts=tuple(parts))


@lru_cache(maxsize=1024)
def _fields(header: str) -> Mapping[str, str]:
    """Return the fields of a message's header, by name; repeated headers are cached."""
    if not header:
        return {}
    try:
        block = f"{header}\r\n".encode("latin-1")
    except UnicodeEncodeError:
        raise malformed("a header has characters of Latin-1 only", "2.3") from None
    return dict(fields_of(block))


def _fields_of(block: bytes) -> Mapping[str, str]:
    return dict(fields_of(block[: block.index(b"\r\n\r\n") + 4]))


def _enclosed(compound: str) -> Arrived:
    """Return what came by SRMP, from the text of the whole: an envelope alone, or parts."""
    body = compound.encode()
    boundary = _BOUNDARY(body)
    kind = "text/xml" if boundary is None else f'multipart/related; boundary="{boundary[1].decode()}"'
    return decode_post(kind, body, largest=_LARGEST)


_Reading = Callable[[bytes], Content]
_FRAMED: Final[tuple[tuple[Callable[[bytes], re.Match[bytes] | None], BodyKind, _Reading], ...]] = (
    (_BOUNDARY, BodyKind.MIME, _read_mime),
    (_POST, BodyKind.SRMP, _read_post),
    (_COMMAND, BodyKind.HTTPR, _read_command),
    (_ANSWER, BodyKind.HTTPR, _read_answer),
    (_BATCH, BodyKind.HTTPR, _read_batch),
)
_FRAMED_BEGINS: Final = frozenset(b"-PRrHMm")
"""The bytes that they can begin with, so that most bodies are asked nothing else."""
