"""Envelopes with one to three changes, most of them along the markup; and seeds to begin with."""

from __future__ import annotations

import random

from reliquary.base.time import SECOND, Duration
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Attachment,
    Body,
    CreateSequence,
    CreateSequenceResponse,
    Envelope,
    Fault,
    MakeConnection,
    Offer,
    Payload,
    Properties,
    Reference,
    SequenceHeader,
    TerminateSequence,
)
from tests.fuzz import markup
from tests.protocols.wsrm.codec.vector import (
    DIALECTS,
    GSOAP,
    XML_TYPE,
    published_acknowledgement,
    published_message,
)

_PIECES = [
    *(b"", b" ", b"\r\n", b"<", b">", b"&", b"&amp;", b"&#0;", b"&e;", b"]]>", b"<![CDATA[x]]>", b"<!-- -->"),
    *(b"0", b"1", b"-1", b"4294967296", b"18446744073709551616", b"9" * 400, b"\xff", "\u0663".encode()),
    *(b"<x/>", b"<x>", b"</x>", b"<soap:x/>", b'<x xmlns="urn:x"/>', b"<?pi?>", b"<!DOCTYPE x>", b"<wsa:x/>"),
    *(b"<wsrm:None/>", b"<wsrm:Final/>", b"<wsrm:Nack>1</wsrm:Nack>", b"</soap:Body>", b"<soap:Body>"),
    *(b"urn:uuid:0b162747-99cf-479c-972f-95b776e141c3", b"PT1S", b"-PT1S", b"NoDiscard", b"soap:Sender"),
    *(b"--reliquary-", b"Content-Length: 7\r\n", b"Content-ID: <x>\r\n"),
]
_REFERENCE = Reference("http://host/a?b&c", b'<p:x xmlns:p="urn:p">wsa:y</p:x>')
_BODIES: list[Body] = [
    CreateSequence(_REFERENCE, Duration(SECOND), Offer("urn:o")),
    CreateSequenceResponse("urn:a", Duration(SECOND), accept=_REFERENCE),
    TerminateSequence("urn:a", 7),
    MakeConnection("http://docs.oasis-open.org/ws-rx/wsmc/200702/anonymous?id=1"),
    Fault(FaultCode.UNKNOWN_SEQUENCE, "no", "urn:a", b"<x/>"),
    Fault(FaultCode.CREATE_SEQUENCE_REFUSED, detail=b"<x/>"),
    Payload(b'<a xmlns="urn:a"><b c="d">e</b></a>'),
    Payload(b"<a/>", (Attachment("image/png", "a@b", b"\x89PNG"),), "text/xml"),
]


def _written(body: Body, number: int) -> tuple[str, bytes]:
    dialect = DIALECTS[number % len(DIALECTS)]
    envelope = Envelope(
        dialect=dialect,
        to=_REFERENCE,
        action="urn:a" if isinstance(body, Payload) else "",
        message_id="urn:m",
        relates_to="urn:r",
        reply_to=_REFERENCE,
        sequence=SequenceHeader("urn:s", 3, last=True),
        acknowledgements=(Acknowledgement("urn:s", ((1, 2), (4, 9)), final=True, buffer=8),),
        ack_requests=("urn:s",),
        uses_ssl=True,
        pending=True,
        properties=Properties(label="a b", priority=5),
        body=body,
    )
    encoded = encode(envelope)
    return encoded.content_type, encoded.data


SEEDS: dict[str, tuple[str, bytes]] = {
    **{name: (XML_TYPE, data) for name, data in GSOAP.items()},
    "published_message": (XML_TYPE, published_message(1)),
    "published_acknowledgement": (XML_TYPE, published_acknowledgement(2, 0)),
    **{f"ours_{number}": _written(body, number) for number, body in enumerate(_BODIES * 2)},
}
"""Content types and bodies of all kinds."""


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return a body with one to three changes."""
    return markup.damaged(data, _PIECES, chance)
