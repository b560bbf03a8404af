"""Messages that an application can send, as Hypothesis finds them, and one as HTTPR writes it."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st

from reliquary.protocols.httpr.addresses import own_agent
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.fields import fields_of
from reliquary.protocols.httpr.message_decode import decode_message
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.queueing.model.message import (
    FOREVER,
    LABEL_LIMIT,
    NO_GUID,
    NO_OBJECT,
    Acknowledgement,
    Delivery,
    Message,
    ObjectId,
)

HERE = UUID("557358d1-9150-9595-4997-b6e611ea26c6")
OTHER = UUID("0f0e0d0c-0b0a-0908-0706-050403020100")

HOME = own_agent("httpr://here:8480", "mq")
TARGET = "httpr://shop.example/httpr/mq#orders"
PLAIN = Message.of(
    identifier=ObjectId(HERE, 12345),
    source_machine=HERE,
    body=b"two lamps",
    sent_time=784111777,
    delivery=Delivery.RECOVERABLE,
    destination_queue=f"DIRECT={TARGET.replace('httpr', 'HTTPR', 1)}",
)
PLAIN_HEADER = (
    f"target-uri:{TARGET}\r\n"
    "class-of-service:reliable\r\n"
    "priority:3\r\n"
    f"message-id:{HERE}.12345\r\n"
    "put-time:06 Nov 1994 08:49:37\r\n"
    "content-type:application/octet-stream\r\n"
    "app-reliquary-reach:345600\r\n"
)

numbers = st.integers(0, FOREVER)
guids = st.uuids().filter(lambda guid: guid != NO_GUID)
identifiers = st.builds(ObjectId, guids, st.integers(1, FOREVER))
uris = st.sampled_from(
    [
        "DIRECT=HTTPR://shop.example/httpr/mq#orders",
        "DIRECT=HTTPRS://Shop:8443/S#Q@M",
        "DIRECT=HTTPR://a/b#c%2Cd",
    ]
)
names = st.one_of(
    uris,
    st.sampled_from(["DIRECT=OS:host\\private$\\two words", "PUBLIC=0F0E0D0C-0B0A-0908-0706-050403020100"]),
)


@st.composite
def sendable(draw: st.DrawFn) -> Message:
    """Return a message of an application, as it is in a queue."""
    identifier = draw(identifiers)
    tracing = draw(st.one_of(st.none(), guids))
    return Message.of(
        identifier=identifier,
        source_machine=draw(st.sampled_from([identifier.lineage, OTHER])),
        body=draw(st.binary(max_size=20)),
        body_type=draw(st.sampled_from([0, 8, 30, FOREVER])),
        label=draw(st.text(max_size=LABEL_LIMIT)),
        priority=draw(st.integers(0, 7)),
        delivery=draw(st.sampled_from(Delivery)),
        message_class=draw(st.sampled_from([0, 2, 0x4000, 0xFFFF])),
        sent_time=draw(numbers),
        time_to_reach_queue=draw(numbers),
        time_to_be_received=draw(numbers),
        delay=draw(st.integers(0, FOREVER * 1_000_000)),
        correlation=draw(st.one_of(st.just(NO_OBJECT), identifiers)),
        application_tag=draw(numbers),
        extension=draw(st.binary(max_size=20)),
        acknowledgements=tuple(draw(st.lists(st.sampled_from(Acknowledgement), unique=True))),
        positive_journaling=draw(st.booleans()),
        negative_journaling=draw(st.booleans()),
        allow_peek_when_locked=draw(st.booleans()),
        tracing_requested=tracing is not None,
        tracing_queue=tracing or NO_GUID,
        response_queue=draw(st.one_of(st.just(""), names)),
        response_queues=tuple(draw(st.lists(names, max_size=2))),
        administration_queue=draw(st.one_of(st.just(""), uris)),
        administration_queues=tuple(draw(st.lists(uris, max_size=2))),
        destination_queue=draw(uris),
    )


def written(message: Message, home: str = "") -> dict[str, str]:
    """Return the fields of a message that leaves."""
    header, _ = encode_message(message, home)
    return fields_of(Message.of(carrier_header=header))


def taken(header: str, body: bytes = b"") -> Message:
    """Return the message that comes with a header."""
    return decode_message(Carried(header, body))[1]


def passed(message: Message) -> Message:
    """Return the message at the other end, without the header that it came with."""
    return taken(*encode_message(message)).changed(carrier_header="")
