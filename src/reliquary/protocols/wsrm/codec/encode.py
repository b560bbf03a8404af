"""Encodes an envelope strictly by the schemas, with `blocks`, `body_texts` and `fault_writer`.

<soap:Envelope> <soap:Header> WS-Addressing, WS-RM, properties </soap:Header>
                <soap:Body> an element of WS-RM, a fault, or content as it is </soap:Body> </soap:Envelope>
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote

from reliquary.protocols.wsrm.codec import addressing, rm10, rm11
from reliquary.protocols.wsrm.codec.blocks import (
    REMEMBERED,
    ack_requested_block,
    acknowledgement_block,
    action_block,
    beginning,
    pending_block,
    reference_text,
    sequence_block,
    to_blocks,
)
from reliquary.protocols.wsrm.codec.body_texts import body_action, body_text
from reliquary.protocols.wsrm.codec.fault_forms import fault_action
from reliquary.protocols.wsrm.codec.fault_writer import write_fault
from reliquary.protocols.wsrm.codec.multipart import joined
from reliquary.protocols.wsrm.codec.properties import properties_block
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Addressing,
    Dialect,
    Encoded,
    Envelope,
    Fault,
    Payload,
    Reference,
    Soap,
    Version,
)
from reliquary.wire.xml_text import escaped

_ACKNOWLEDGES: Final = {
    Version.RM10: rm10.SEQUENCE_ACKNOWLEDGEMENT,
    Version.RM11: rm11.SEQUENCE_ACKNOWLEDGEMENT,
}
_ASKS: Final = {Version.RM10: rm10.ACK_REQUESTED, Version.RM11: rm11.ACK_REQUESTED}
_LONGEST_ACTION: Final = 4096
"""The longest action in a header field of HTTP.

A longer one is only in the envelope, because servers limit fields.
"""
_SAFE_IN_ACTIONS: Final = "%/:=&?~#+!$,;'@()*[]"


def encode(envelope: Envelope) -> Encoded:
    """Return the bytes of an envelope; UsageError if it has text that XML cannot contain."""
    dialect, body = envelope.dialect, envelope.body
    if isinstance(body, Payload):
        soap = _prefix(body.content)
        action = envelope.action or _action_of_blocks(envelope)
        data = f"{_header(envelope, action, '', soap)}<{soap}:Body>".encode()
        data = b"".join((data, body.content, f"</{soap}:Body></{soap}:Envelope>".encode()))
        return _encoded(data, action, dialect, body)
    if isinstance(body, Fault):
        code, blocks, text = write_fault(body, dialect, envelope.foreign, "soap")
        action = envelope.action or fault_action(code, dialect)
    else:
        blocks, text = "", body_text(body, dialect)
        action = envelope.action or body_action(body, dialect.version)
    text = f"{_header(envelope, action, blocks, 'soap')}<soap:Body>{text}</soap:Body></soap:Envelope>"
    return _encoded(text.encode(), action, dialect, None)


def encode_acknowledgement(acknowledgement: Acknowledgement, dialect: Dialect) -> Encoded:
    """Return the bytes of an envelope that has only an acknowledgement, and no address."""
    frame = _frame(dialect)
    block = acknowledgement_block(acknowledgement, dialect.version)
    return Encoded(frame.content_type, frame.action, f"{frame.before}{block}{frame.behind}".encode())


class _Frame(NamedTuple):
    """The text around an acknowledgement."""

    before: str
    behind: str
    content_type: str
    action: str


@lru_cache(maxsize=64)
def _frame(dialect: Dialect) -> _Frame:
    action = _ACKNOWLEDGES[dialect.version]
    end = "</soap:Header>"
    before = _header(Envelope(dialect=dialect), action, "", "soap").removesuffix(end)
    content_type, _, in_header = _http_fields(action, dialect.soap)
    return _Frame(before, f"{end}<soap:Body></soap:Body></soap:Envelope>", content_type, in_header)


def _prefix(content: bytes) -> str:
    """Return a prefix for SOAP's namespace that does not occur in the content."""
    prefix, count = "soap", 0
    while f"{prefix}:".encode() in content:
        count += 1
        prefix = f"soap{count}"
    return prefix


def _action_of_blocks(envelope: Envelope) -> str:
    """Return the action of a message with an empty body, by its header blocks."""
    version = envelope.dialect.version
    if envelope.acknowledgements:
        return _ACKNOWLEDGES[version]
    return _ASKS[version] if envelope.ack_requests else ""


def _header(envelope: Envelope, action: str, blocks: str, soap: str) -> str:
    """Return the text up to the end of Header; `blocks` are those of a fault."""
    dialect = envelope.dialect
    version, wsa = dialect.version, dialect.addressing
    text = beginning(dialect, soap)
    if action:
        text += action_block(action, soap)
    to = envelope.to
    if to is None and wsa is Addressing.WSA2004:  # it has no default for To
        to = Reference(addressing.ANONYMOUS[wsa])
    if to is not None:
        text += to_blocks(to, wsa, soap)
    if envelope.message_id:
        text += f"<wsa:MessageID>{escaped(envelope.message_id)}</wsa:MessageID>"
    if envelope.relates_to:
        text += f"<wsa:RelatesTo>{escaped(envelope.relates_to)}</wsa:RelatesTo>"
    if envelope.reply_to is not None:
        text += f"<wsa:ReplyTo>{reference_text(envelope.reply_to, wsa)}</wsa:ReplyTo>"
    if envelope.fault_to is not None:
        text += f"<wsa:FaultTo>{reference_text(envelope.fault_to, wsa)}</wsa:FaultTo>"
    if envelope.uses_str or envelope.uses_ssl:
        text += _security_blocks(envelope, soap)
    if envelope.sequence is not None:
        text += sequence_block(envelope.sequence, version, soap)
    for identifier in envelope.ack_requests:
        text += ack_requested_block(identifier)
    for acknowledgement in envelope.acknowledgements:
        text += acknowledgement_block(acknowledgement, version)
    if envelope.pending is not None:
        text += pending_block(envelope.pending)
    if envelope.properties is not None:
        text += properties_block(envelope.properties)
    return f"{text}{blocks}</{soap}:Header>"


def _security_blocks(envelope: Envelope, soap: str) -> str:
    """Return UsesSequenceSTR and UsesSequenceSSL; only WS-RM 1.1 has them."""
    if envelope.dialect.version is Version.RM10:
        return ""
    wanted = (("UsesSequenceSTR", envelope.uses_str), ("UsesSequenceSSL", envelope.uses_ssl))
    return "".join(f'<wsrm:{name} {soap}:mustUnderstand="1"/>' for name, is_wanted in wanted if is_wanted)


def _encoded(data: bytes, action: str, dialect: Dialect, payload: Payload | None) -> Encoded:
    content_type, in_type, in_header = _http_fields(action, dialect.soap)
    if payload is not None and (payload.attachments or payload.start_type):
        content_type, data = joined(data, content_type, in_type, payload)
    return Encoded(content_type, in_header, data)


@lru_cache(maxsize=REMEMBERED)
def _http_fields(action: str, soap: Soap) -> tuple[str, str, str]:
    """Return Content-Type, the action that is in it (SOAP 1.2), and SOAPAction (SOAP 1.1)."""
    action = quote(action, safe=_SAFE_IN_ACTIONS)
    if len(action) > _LONGEST_ACTION:
        action = ""
    if soap is Soap.SOAP11:
        return "text/xml; charset=utf-8", "", action
    content_type = "application/soap+xml; charset=utf-8"
    return (f'{content_type}; action="{action}"' if action else content_type), action, ""
