"""Messages as requests and answers have them: what is sent, and what is shown."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, as_text
from reliquary.net.api.numbers import delay_of, object_id_of, queue_name, tracing_queue_of, whole_seconds
from reliquary.protocols.httpr.fields import chosen_header, fields_of
from reliquary.protocols.wsrm.kept import FIELD_NAME, shown_header
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    NO_OBJECT,
    Acknowledgement,
    AuthenticationLevel,
    Delivery,
    Message,
    MessageClass,
    Position,
)
from reliquary.queueing.model.names.pathnames import short_path

REACH: Final = 345_600
"""Seconds; TimeToReachQueue of a message that does not say another (DM-057)."""
CAN_BE_ASKED_FOR: Final = (AuthenticationLevel.NONE, AuthenticationLevel.XML_SIG)
"""The other signatures are of protocols that do not send yet."""

FIELDS_LIMIT: Final = 100
"""Fields of HTTPR of a message in MessagePack."""

_CLASS_WORDS: Final = {each.value: each.name.lower().replace("_", "-") for each in MessageClass}


class MessageIn(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A message to send."""

    body: bytes | None = None
    text: str | None = None
    label: str = ""
    priority: int = 3
    expires: float | None = None
    reach: float = REACH
    durable: bool = True
    journal: bool = False
    deadletter: bool | None = None
    correlation: str = ""
    tag: int = 0
    body_type: int = 0
    extension: bytes = b""
    response_queue: str = ""
    administration_queue: str = ""
    acknowledgements: tuple[Acknowledgement, ...] = ()
    deadletter_queue: str = ""
    tracing_queue: str = ""
    delay: float = 0
    authentication: AuthenticationLevel = AuthenticationLevel.NONE
    httpr: dict[str, str] | None = None


class PackedMessageIn(MessageIn, forbid_unknown_fields=True, gc=False):
    """A message to send in MessagePack: its strings are not counted before they are decoded."""

    httpr: Annotated[dict[str, str], msgspec.Meta(max_length=FIELDS_LIMIT)] | None = None


class MessageOut(msgspec.Struct, omit_defaults=True, gc=False):
    """A message as it is shown; the first seven fields always are."""

    id: str
    lookup_id: str
    body: bytes
    priority: int
    label: str
    sent: str
    arrived: str
    source: UUID = NO_GUID
    expires: int = FOREVER
    reach: int = REACH
    durable: bool = True
    journal: bool = False
    deadletter: bool = False
    correlation: str = ""
    tag: int = 0
    body_type: int = 0
    extension: bytes = b""
    response_queue: str = ""
    administration_queue: str = ""
    why: str = msgspec.field(default="", name="class")
    transaction: UUID | None = None
    acknowledgements: tuple[Acknowledgement, ...] = ()
    deadletter_queue: str = ""
    tracing_queue: UUID = NO_GUID
    origin: str = ""
    delay: float = 0
    handed_out: int = 0
    aborted: int = 0
    moved: int = 0
    authentication: AuthenticationLevel = AuthenticationLevel.NONE
    sender_certificate: bytes = b""
    httpr: dict[str, str] | None = None
    wsrm: dict[str, str] | None = None


class MessagesOut(msgspec.Struct, gc=False):
    """The answer of everything that shows messages."""

    messages: list[MessageOut]
    receipt: str | None = None


def message_of(given: MessageIn) -> Message:
    """The message to send; its ranges are checked by the machine, spans and ids here."""
    body = given.body
    if given.text is not None:
        if body is not None:
            raise UsageError("a message has a body or a text, not both")
        body = given.text.encode()
    if given.acknowledgements and not given.administration_queue:
        raise UsageError("acknowledgements are asked for, and no administration_queue is named for them")
    if given.authentication not in CAN_BE_ASKED_FOR:
        raise UsageError(f"authentication is none or xmlsig, not {given.authentication.value}")
    return Message(
        body=body or b"",
        label=given.label,
        priority=given.priority,
        delivery=Delivery.RECOVERABLE if given.durable else Delivery.EXPRESS,
        time_to_be_received=FOREVER
        if given.expires is None
        else whole_seconds("expires", given.expires, least=0),
        time_to_reach_queue=REACH if given.reach == REACH else whole_seconds("reach", given.reach, least=1),
        positive_journaling=given.journal,
        negative_journaling=bool(given.deadletter),
        discard_refused=given.deadletter is False,
        correlation=object_id_of("correlation", given.correlation) if given.correlation else NO_OBJECT,
        application_tag=given.tag,
        body_type=given.body_type,
        extension=given.extension,
        response_queue=given.response_queue and queue_name("response_queue", given.response_queue),
        administration_queue=given.administration_queue
        and queue_name("administration_queue", given.administration_queue),
        acknowledgements=given.acknowledgements,
        application_deadletter_queue=given.deadletter_queue
        and queue_name("deadletter_queue", given.deadletter_queue),
        tracing_requested=bool(given.tracing_queue),
        tracing_queue=tracing_queue_of(given.tracing_queue) if given.tracing_queue else NO_GUID,
        delay=delay_of(given.delay) if given.delay else 0,
        authentication=given.authentication,
        carrier_header=chosen_header(given.httpr) if given.httpr else "",
    )


def shown(delivered: Delivered) -> MessageOut:
    """A message to show."""
    message, position = delivered.message, delivered.position
    correlation = message.correlation
    httpr, wsrm = _carried(message) if message.carrier_header else (None, None)
    return MessageOut(
        f"{guid_text(message.identifier.lineage.int)}\\{message.identifier.uniquifier}",
        str(position.lookup_id),
        message.body,
        message.priority,
        message.label,
        moment(message.sent_time * SECOND),
        moment(position.arrived),
        message.source_machine,
        message.time_to_be_received,
        message.time_to_reach_queue,
        message.delivery is Delivery.RECOVERABLE,
        message.positive_journaling,
        message.negative_journaling,
        "" if correlation is NO_OBJECT or correlation == NO_OBJECT else str(correlation),
        message.application_tag,
        message.body_type,
        message.extension,
        message.response_queue,
        message.administration_queue,
        _class_word(message, position),
        message.transaction,
        message.acknowledgements,
        message.application_deadletter_queue,
        message.tracing_queue,
        short_path(position.origin_path) if position.origin_path else "",
        message.delay / SECOND if message.delay else 0,
        position.handed_out,
        position.aborted,
        position.moved,
        message.authentication,
        message.sender_certificate,
        httpr,
        wsrm,
    )


def _carried(message: Message) -> tuple[dict[str, str] | None, dict[str, str] | None]:
    """What came in the header of the protocol that brought it: fields of HTTPR, and what WS-RM keeps."""
    fields = dict(fields_of(message))
    return {name: fields[name] for name in fields if name != FIELD_NAME} or None, shown_header(message)


def _class_word(message: Message, position: Position) -> str:
    """Why it is in a journal or dead-letter queue; or what the message itself is."""
    value = position.reason or message.message_class
    return "" if value == MessageClass.NORMAL else _CLASS_WORDS.get(value, str(value))


@lru_cache(maxsize=64)
def guid_text(number: int) -> str:
    """A GUID as text, by its number, because a UUID hashes slowly."""
    return str(UUID(int=number))


@lru_cache(maxsize=1024)
def moment(microseconds: int) -> str:
    """A moment in RFC 3339; those of one batch are the same, so they are kept.

    >>> moment(1_000_000)
    '1970-01-01T00:00:01Z'
    """
    return as_text(microseconds)
