"""A second SRMP implementation, written by hand from the element tables: it posts messages and reads ours.

post = user_message(ORDERS, b"hello", number=7, delivery_to=ADMIN)     content type and body of a POST
bench.post(*post)
read(post)                                                             its elements, by local name

Nothing of the codec is used here, so that both cannot share a mistake.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID
from xml.etree import ElementTree as Tree
from xml.sax.saxutils import escape

ALPHA = UUID("5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10")
"""The GUID of the manager that sends."""
ORDERS = "http://bench.example/msmq/private$/orders"
TORDERS = "http://bench.example/msmq/private$/torders"
"""The URL of a transactional queue."""
ADMIN = "http://alpha.example/msmq/private$/admin"
RECEIPTS = "http://alpha.example/MSMQ/PRIVATE$/order_queue$"
SENT = "20231114T221320"
"""The time at which the tests' clock begins."""
LATER = "20231118T221320"
STREAM = (1_700_000_000 << 32) + 7

Post = tuple[str, bytes]

_ENVELOPE = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>{header}</se:Header><se:Body></se:Body></se:Envelope>'
)
_PATH = (
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1"><action>{action}</action>'
    "<to>{to}</to><id>{id}</id></path>"
)
_PROPERTIES = (
    f'<properties se:mustUnderstand="1"><expiresAt>{LATER}</expiresAt><sentAt>{SENT}</sentAt></properties>'
)


def stream_id(number: int = STREAM, sender: UUID = ALPHA) -> str:
    """Return the text of a streamId."""
    return f"uid:{sender}\\{number}"


def envelope(
    to: str,
    *,
    number: int = 1,
    action: str = "MSMQ:",
    durable: bool = True,
    delivery_to: str = "",
    commitment: tuple[str, ...] = (),
    stream: str = "",
    block: str = "",
    msmq: bool = True,
    message_class: int = 0,
    priority: int = 3,
    flags: str = "",
    sender: UUID = ALPHA,
    ttrq: str = LATER,
) -> str:
    """Return an envelope.  `commitment` is its sendTo and then positiveOnly, negativeOnly or both."""
    services = "<durable/>" if durable else ""
    if delivery_to:
        request = f"<sendTo>{delivery_to}</sendTo>"
        services += f"<deliveryReceiptRequest>{request}</deliveryReceiptRequest>"
    if commitment:
        request = f"<sendTo>{commitment[0]}</sendTo>" + "".join(f"<{flag}/>" for flag in commitment[1:])
        services += f"<commitmentReceiptRequest>{request}</commitmentReceiptRequest>"
    header = _PATH.format(action=escape(action), to=escape(to), id=f"uuid:{number}@{sender}") + _PROPERTIES
    if services:
        header += f'<services se:mustUnderstand="1">{services}</services>'
    header += stream + block
    if msmq:
        header += (
            f'<Msmq xmlns="msmq.namespace.xml"><Class>{message_class}</Class><Priority>{priority}</Priority>'
            f"{flags}<BodyType>0</BodyType><SourceQmGuid>{sender}</SourceQmGuid><TTrq>{ttrq}</TTrq></Msmq>"
        )
    return _ENVELOPE.format(header=header)


def multipart(text: str, body: bytes) -> Post:
    """Return an envelope with a body beside it."""
    boundary = b"MSMQ - SOAP boundary, 101"
    parts = [
        (b"text/xml; charset=UTF-8", b"", text.encode()),
        (b"application/octet-stream", b"Content-Id: body@%s\r\n" % str(ALPHA).encode(), body),
    ]
    data = b"".join(
        b"--%s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s\r\n"
        % (boundary, kind, len(content), header, content)
        for kind, header, content in parts
    )
    return (
        f'multipart/related; boundary="{boundary.decode()}"; type=text/xml',
        data + b"--%s--\r\n" % boundary,
    )


def user_message(to: str = ORDERS, body: bytes = b"hello", **elements: Any) -> Post:
    """Return a message that is not of a stream."""
    return multipart(envelope(to, **elements), body)


def stream_message(
    current: int,
    *,
    to: str = TORDERS,
    previous: int | None = None,
    stream: int = STREAM,
    body: bytes | None = None,
    receipts_to: str = RECEIPTS,
    **elements: Any,
) -> Post:
    """Return a message of a stream; its identifier is the number, its body says it."""
    place = (
        f"<streamId>{stream_id(stream, elements.get('sender', ALPHA))}</streamId><current>{current}</current>"
    )
    if previous is not None:
        place += f"<previous>{previous}</previous>"
    if current == 1:
        place += f"<start><sendReceiptsTo>{receipts_to}</sendReceiptsTo></start>"
    elements = {"number": 1000 + current, "priority": 0} | elements
    text = envelope(to, stream=f'<stream se:mustUnderstand="1">{place}</stream>', **elements)
    return multipart(text, b"%d" % current if body is None else body)


def receipt(to: str, block: str, message_class: int, **elements: Any) -> Post:
    """Return a receipt of any kind."""
    text = envelope(to, block=block, message_class=message_class, durable=False, **elements)
    return "text/xml", text.encode()


def delivery_receipt(to: str, about: str = "uuid:1@x", **elements: Any) -> Post:
    """Return the POST of a delivery receipt."""
    block = f"<deliveryReceipt><receivedAt>{SENT}</receivedAt><id>{about}</id></deliveryReceipt>"
    return receipt(to, block, 2, **elements)


def commitment_block(decision: str, about: str = "uuid:1@x") -> str:
    """Return the content of a commitment receipt."""
    return (
        f"<commitmentReceipt><decidedAt>{SENT}</decidedAt><decision>{decision}</decision>"
        f"<id>{about}</id></commitmentReceipt>"
    )


def stream_receipt_block(last: int, stream: str = "") -> str:
    """Return the content of a stream receipt."""
    stream = stream or stream_id()
    return f"<streamReceipt><streamId>{stream}</streamId><lastOrdinal>{last}</lastOrdinal></streamReceipt>"


def read(text: str | bytes) -> dict[str, str]:
    """Return the text of each element of an envelope by its local name; of equal names the last one."""
    return {element.tag.rpartition("}")[2]: element.text or "" for element in Tree.fromstring(text).iter()}


def apdu(post: Post, group: str = "234.1.1.1:8001") -> bytes:
    """Return the bytes that go by multicast: the POST with its head."""
    content_type, body = post
    head = [
        f"POST {group} HTTP/1.1",
        f"Host: {group}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        'SOAPAction: "MSMQMessage"',
    ]
    return "".join(f"{line}\r\n" for line in head).encode() + b"\r\n" + body
