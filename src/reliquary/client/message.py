"""Defines the messages of an application: those that it sends and gets, and their identifiers.

The fields are those of the JSON API, so both structs are also the API's records.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict, Unpack

import msgspec

Body = bytes | str
Acknowledgement = Literal[
    "pos-arrival",
    "pos-receive",
    "neg-arrival",
    "neg-receive",
    "nack-reach-queue",
    "full-reach-queue",
    "nack-receive",
    "full-receive",
]

Authentication = Literal["none", "sig10", "sig20", "sig30", "xmlsig"]


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message to be sent, for `send_many` or to be sent more than once."""

    body: bytes = b""
    label: str = ""
    priority: int = 3
    """The priority, 0 to 7; 7 comes first."""
    expires: float | None = None
    """The seconds until it may no longer be received."""
    reach: float | None = None
    """The seconds until it must have reached its queue."""
    durable: bool = True
    """Whether it is stored on disk; False keeps it only in memory."""
    journal: bool = False
    """Keep a copy in `system$;journal`."""
    deadletter: bool | None = None
    """Keep it in a dead-letter queue when it expires, is purged or cannot be delivered; None keeps only what
    another manager refuses for good, False keeps nothing."""
    correlation: str | None = None
    """The `id` of the message that this one answers."""
    tag: int = 0
    body_type: int = 0
    extension: bytes = b""
    response_queue: str = ""
    """The queue for an answer, to which `reply` sends it."""
    administration_queue: str = ""
    """The queue to which acknowledgements are sent."""
    acknowledgements: tuple[Acknowledgement, ...] = ()
    """The acknowledgements that the sender wants, such as `("full-receive",)`."""
    deadletter_queue: str = ""
    """A dead-letter queue of the application, instead of that of the manager."""
    tracing_queue: str = ""
    """The id of a queue that gets a report of each step of the message."""
    delay: float = 0
    """Seconds before the message becomes visible."""
    authentication: Authentication = "none"
    """`"xmlsig"`: sign it with the manager's key; only what leaves by HTTP can be."""
    httpr: dict[str, str] | None = None
    """Fields for its header in HTTPR, such as `content-type` and any that begin with `app-`."""
    traceparent: str = ""
    """The trace that it belongs to (W3C Trace Context); where OpenTelemetry is active, `send` fills it in."""
    tracestate: str = ""


class Sent(msgspec.Struct, frozen=True):
    """The identifiers that a sent message got."""

    id: str
    lookup_id: int


class Message(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"message_class": "class"}
):
    """A message that was received or peeked at."""

    id: str
    lookup_id: int
    """The position in the queue; a later message of this priority has a higher one."""
    body: bytes = b""
    label: str = ""
    priority: int = 3
    sent: datetime
    arrived: datetime
    expires: float | None = None
    reach: float = 345_600
    durable: bool = True
    journal: bool = False
    deadletter: bool = False
    correlation: str | None = None
    tag: int = 0
    body_type: int = 0
    extension: bytes = b""
    response_queue: str = ""
    administration_queue: str = ""
    acknowledgements: tuple[Acknowledgement, ...] = ()
    deadletter_queue: str = ""
    tracing_queue: str = ""
    message_class: str = ""
    """In a journal or dead-letter queue the reason, in an acknowledgement the outcome."""
    origin: str = ""
    """In a journal or dead-letter queue the former queue."""
    source: str = ""
    """The id of the manager that accepted it first."""
    transaction: str | None = None
    """The transaction in which it was sent."""
    delay: float = 0
    handed_out: int = 0
    """How often the message was handed out in a transaction or with a receipt, this time included."""
    aborted: int = 0
    """How often the message was returned after it was handed out."""
    moved: int = 0
    """How often the message was moved to another queue."""
    authentication: Authentication = "none"
    """The form of the signature. With a certificate, its owner was verified on arrival."""
    sender_certificate: bytes = b""
    """The certificate of the signer of body and extension, in DER."""
    httpr: dict[str, str] | None = None
    """The fields of the header with which it came by HTTPR, or which its sender set for it."""
    wsrm: dict[str, str] | None = None
    """For a message that came by WS-ReliableMessaging: `to`, `action`, `message_id`, `reply_to`."""
    traceparent: str = ""
    """The trace that its sender began or continued (W3C Trace Context); empty where there is none."""
    tracestate: str = ""

    @property
    def text(self) -> str:
        """The body as UTF-8 text."""
        return self.body.decode()


class SendOptions(TypedDict, total=False):
    """The options of `send`: the fields of OutgoingMessage, durations also as timedelta."""

    label: str
    priority: int
    expires: float | timedelta | None
    reach: float | timedelta | None
    durable: bool
    journal: bool
    deadletter: bool | None
    correlation: str | None
    tag: int
    body_type: int
    extension: bytes
    response_queue: str
    administration_queue: str
    acknowledgements: tuple[Acknowledgement, ...]
    deadletter_queue: str
    tracing_queue: str
    delay: float | timedelta
    authentication: Authentication
    httpr: dict[str, str] | None
    traceparent: str
    tracestate: str


def outgoing(body: Body | OutgoingMessage, **options: Unpack[SendOptions]) -> OutgoingMessage:
    """Return the message for a body and options that an application gives to `send`; text becomes UTF-8."""
    chosen: dict[str, Any] = {
        name: value.total_seconds() if isinstance(value, timedelta) else value
        for name, value in options.items()
    }
    if isinstance(body, OutgoingMessage):
        return msgspec.structs.replace(body, **chosen) if chosen else body
    return OutgoingMessage(body=_bytes_of(body), **chosen)


def _bytes_of(body: Body) -> bytes:
    """Return a body as bytes; TypeError for a value of which `bytes` would make something unexpected."""
    if isinstance(body, str):
        return body.encode()
    try:
        return bytes(memoryview(body))
    except TypeError:
        kind = type(body).__name__
        raise TypeError(f"a body is text or bytes, not {kind}; json.dumps() makes text of a value") from None


def lookup_ids(messages: Iterable[Message]) -> list[int]:
    """Return the positions of some messages."""
    return [message.lookup_id for message in messages]
