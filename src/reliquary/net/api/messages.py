"""Converts messages in the bodies of requests and answers."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec.structs import astuple

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, as_text
from reliquary.net.api.limits import Number32, Octets, QueueName, limited
from reliquary.net.api.numbers import delay_of, object_id_of, queue_name, tracing_queue_of, whole_seconds
from reliquary.protocols.httpr.fields import chosen_header, fields_of
from reliquary.protocols.wsrm.kept import FIELD_NAME, shown_header
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import (
    EXPRESS,
    FOREVER,
    LABEL_LIMIT,
    NO_GUID,
    NO_OBJECT,
    RECOVERABLE,
    USUAL,
    Acknowledgement,
    Attributes,
    AuthenticationLevel,
    Message,
    MessageClass,
    Position,
    rare_part,
)
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.wire import trace_context

REACH: Final = USUAL.time_to_reach_queue
"""The TimeToReachQueue, in seconds, of a message that does not set another (DM-057)."""
CAN_BE_ASKED_FOR: Final = (AuthenticationLevel.NONE, AuthenticationLevel.XML_SIG)
"""The authentication levels that a message may request.

Other signatures need protocols that do not send yet.
"""

FIELDS_LIMIT: Final = 100
"""The most HTTPR fields of a message in MessagePack."""

_GUID: Final = "^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$"
_ID: Final = r"^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\[0-9]{1,9})?$"
_PARENT: Final = f"^({trace_context.PARENT_PATTERN})?$"
_STATE: Final = f"^({trace_context.STATE_PATTERN})?$"
_ASKED: Final = limited(enum=[each.value for each in CAN_BE_ASKED_FOR])

_CLASS_WORDS: Final = {each.value: each.name.lower().replace("_", "-") for each in MessageClass}


class UsualIn(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A message to send without any rare attribute, as most messages."""

    body: Octets | None = None
    text: str | None = None
    label: Annotated[str, limited(maxLength=LABEL_LIMIT)] = ""
    priority: Annotated[int, limited(minimum=0, maximum=7)] = 3
    expires: Annotated[float, limited(minimum=0, maximum=FOREVER)] | None = None
    durable: bool = True
    body_type: Number32 = 0


class MessageIn(UsualIn, forbid_unknown_fields=True, gc=False):
    """A message to send, with all attributes that it may have."""

    reach: Annotated[float, limited(minimum=1, maximum=FOREVER)] = REACH
    journal: bool = False
    deadletter: bool | None = None
    correlation: Annotated[str, limited(pattern=_ID)] = ""
    tag: Number32 = 0
    extension: Octets = b""
    response_queue: QueueName = ""
    administration_queue: QueueName = ""
    acknowledgements: tuple[Acknowledgement, ...] = ()
    deadletter_queue: QueueName = ""
    tracing_queue: Annotated[str, limited(pattern=_GUID)] = ""
    delay: Annotated[float, limited(minimum=0, maximum=FOREVER)] = 0
    authentication: Annotated[AuthenticationLevel, _ASKED] = AuthenticationLevel.NONE
    httpr: dict[str, str] | None = None
    traceparent: Annotated[str, limited(pattern=_PARENT)] = ""
    tracestate: Annotated[str, limited(pattern=_STATE, maxLength=trace_context.STATE_LIMIT)] = ""


class PackedMessageIn(MessageIn, forbid_unknown_fields=True, gc=False):
    """A message to send in MessagePack: its strings are not counted before they are decoded."""

    httpr: Annotated[dict[str, str], msgspec.Meta(max_length=FIELDS_LIMIT)] | None = None


class UsualOut(msgspec.Struct, omit_defaults=True, gc=False):
    """A message in an answer; the first seven fields are always present."""

    id: str
    lookup_id: str
    body: bytes
    priority: int
    label: str
    sent: str
    arrived: str
    source: UUID = NO_GUID
    expires: int = FOREVER
    durable: bool = True
    body_type: int = 0
    handed_out: int = 0
    aborted: int = 0
    moved: int = 0


class MessageOut(UsualOut, omit_defaults=True, gc=False):
    """A message that has rare attributes, or is in a journal or dead-letter queue."""

    reach: int = REACH
    journal: bool = False
    deadletter: bool = False
    correlation: str = ""
    tag: int = 0
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
    authentication: AuthenticationLevel = AuthenticationLevel.NONE
    sender_certificate: bytes = b""
    httpr: dict[str, str] | None = None
    wsrm: dict[str, str] | None = None
    traceparent: str = ""
    tracestate: str = ""


class MessagesOut(msgspec.Struct, gc=False):
    """The answer of every request that returns messages."""

    messages: list[UsualOut]
    receipt: str | None = None


class Messages(msgspec.Struct):
    """Messages, and the receipt under which they are locked, if there is one."""

    messages: list[MessageOut]
    receipt: str | None = None


def message_of(given: UsualIn) -> Message:
    """Return the message to send; the machine checks its ranges, and this function its durations and ids."""
    body = given.body
    if given.text is not None:
        if body is not None:
            raise UsageError("a message has a body or a text, not both")
        body = given.text.encode()
    return Message(
        NO_OBJECT,
        body or b"",
        given.label,
        given.priority,
        RECOVERABLE if given.durable else EXPRESS,
        0,
        FOREVER if given.expires is None else whole_seconds("expires", given.expires, least=0),
        given.body_type,
        None if type(given) is UsualIn else _rare(given),
    )


def _rare(given: UsualIn) -> Attributes | None:
    """Return the rare attributes of a message to send, if there are any."""
    assert isinstance(given, MessageIn), "a message that is not usual has all attributes"
    if given.acknowledgements and not given.administration_queue:
        raise UsageError("acknowledgements are asked for, and no administration_queue is named for them")
    if given.authentication not in CAN_BE_ASKED_FOR:
        raise UsageError(f"authentication is none or xmlsig, not {given.authentication.value}")
    attributes = Attributes(
        time_to_reach_queue=REACH if given.reach == REACH else whole_seconds("reach", given.reach, least=1),
        positive_journaling=given.journal,
        negative_journaling=bool(given.deadletter),
        discard_refused=given.deadletter is False,
        correlation=object_id_of("correlation", given.correlation) if given.correlation else NO_OBJECT,
        application_tag=given.tag,
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
        trace_context=trace_context_of(given.traceparent, given.tracestate),
    )
    return rare_part(attributes, NO_OBJECT)


def trace_context_of(parent: str, state: str) -> str:
    """Return the trace context that a message names; a malformed one is refused, because its sender can
    correct it.
    """
    if not parent:
        if state:
            raise UsageError("tracestate means nothing without traceparent")
        return ""
    found = trace_context.joined(parent, state)
    if not found or trace_context.split(found)[1] != state.strip():
        raise UsageError(
            "traceparent and tracestate are those of W3C Trace Context, such as"
            f" 00-(32 digits)-(16 digits)-01, not {parent[:80]!r}"
        )
    return found


def traced(message: Message, context: str) -> Message:
    """Return a message to send with the trace context of its request, unless it names another."""
    return message if message.trace_context else message.changed(trace_context=context)


def shown(delivered: Delivered) -> UsualOut:
    """Return a message in the form of an answer."""
    message, position = delivered.message, delivered.position
    identifier, life = message.identifier, message.time_to_be_received
    is_usual = message.more is None and not position.reason and not position.origin_path
    out = (UsualOut if is_usual else MessageOut)(
        f"{guid_text(identifier.lineage.int)}\\{identifier.uniquifier}",
        str(position.lookup_id),
        message.body,
        message.priority,
        message.label,
        moment(message.sent_time * SECOND),
        moment(position.arrived),
        identifier.lineage,
        FOREVER if life == FOREVER else life,  # this object is recognized by identity and omitted
        message.delivery is RECOVERABLE,
        message.body_type,
        position.handed_out,
        position.aborted,
        position.moved,
    )
    if not is_usual:
        assert isinstance(out, MessageOut), "a message that is not usual is shown whole"
        _show_rare(out, message, position)
    return out


def shown_whole(delivered: Delivered) -> MessageOut:
    """Return a message in the form of an answer, with all attributes that a message may have."""
    out = shown(delivered)
    return out if isinstance(out, MessageOut) else MessageOut(*astuple(out))


def _show_rare(out: MessageOut, message: Message, position: Position) -> None:
    """Add the attributes that few messages have to an answer."""
    more = message.more or USUAL
    if more.source_machine is not None:
        out.source = more.source_machine
    out.reach = more.time_to_reach_queue
    out.journal = more.positive_journaling
    out.deadletter = more.negative_journaling
    if more.correlation != NO_OBJECT:
        out.correlation = str(more.correlation)
    out.tag = more.application_tag
    out.extension = more.extension
    out.response_queue = more.response_queue
    out.administration_queue = more.administration_queue
    out.why = _class_word(position.reason or more.message_class)
    out.transaction = more.transaction
    out.acknowledgements = more.acknowledgements
    out.deadletter_queue = more.application_deadletter_queue
    out.tracing_queue = more.tracing_queue
    if position.origin_path:
        out.origin = short_path(position.origin_path)
    out.delay = more.delay / SECOND if more.delay else 0
    out.authentication = more.authentication
    out.sender_certificate = more.sender_certificate
    if more.carrier_header:
        out.httpr, out.wsrm = _carried(message)
    if more.trace_context:
        out.traceparent, out.tracestate = trace_context.split(more.trace_context)


def _carried(message: Message) -> tuple[dict[str, str] | None, dict[str, str] | None]:
    """Return the stored fields of the protocol header of a message: those of HTTPR, and of WS-RM."""
    fields = dict(fields_of(message))
    return {name: fields[name] for name in fields if name != FIELD_NAME} or None, shown_header(message)


def _class_word(value: int) -> str:
    """Return the reason why a message is in a journal or dead-letter queue, or the class of the message
    itself.
    """
    return "" if value == MessageClass.NORMAL else _CLASS_WORDS.get(value, str(value))


@lru_cache(maxsize=64)
def guid_text(number: int) -> str:
    """Return a GUID as text; the cache key is its number, because a UUID hashes slowly."""
    return str(UUID(int=number))


@lru_cache(maxsize=1024)
def moment(microseconds: int) -> str:
    """Return a timestamp in RFC 3339; messages of one batch share a timestamp, so results are cached.

    >>> moment(1_000_000)
    '1970-01-01T00:00:01Z'
    """
    return as_text(microseconds)
