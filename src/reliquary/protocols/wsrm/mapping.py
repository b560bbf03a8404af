"""Converts between messages of the queue manager and envelopes of WS-RM.

    Body              body, see `content`          ReplyTo       response_queue, by the caller
    Action            label                        attachments   extension, see `attachments`
    MessageID         identifier, `message_ids`    all else      the block Properties of our own; what
    RelatesTo         correlation                                came and has no place is `kept`

A message that arrives is recoverable, unless Properties say that it is express.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.protocols.wsrm.attachments import attachments_of, extension_of
from reliquary.protocols.wsrm.codec import addressing, rm10, rm11
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.names import OURS
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Dialect,
    Envelope,
    Fault,
    Payload,
    Properties,
    Reference,
    SequenceHeader,
)
from reliquary.protocols.wsrm.content import body_of_content, content_of_body
from reliquary.protocols.wsrm.kept import Kept, carrier_header_of, kept_of
from reliquary.protocols.wsrm.message_ids import (
    identifier_of,
    is_reversible,
    message_id_of,
    object_text,
    read_message_id,
    read_object,
)
from reliquary.queueing.model.message import (
    FOREVER,
    LABEL_LIMIT,
    NO_GUID,
    NO_OBJECT,
    USUAL,
    AdministrationKind,
    Attributes,
    Delivery,
    Message,
    ObjectId,
    ResponseKind,
    check,
    rare_part,
)
from reliquary.queueing.model.message import Acknowledgement as Wanted
from reliquary.queueing.model.names.formats import is_format_name
from reliquary.wire import trace_context
from reliquary.wire.xml_text import escaped

__all__ = [
    "ACTION",
    "NOT_CARRIED",
    "check_sendable",
    "envelope_of",
    "identifier_of",
    "is_reversible",
    "kept_of",
    "message_id_of",
    "message_of",
]

ACTION: Final = f"{OURS}/Message"
"""The action of a message whose label is not a URI."""
_DIRECT: Final = "DIRECT="
_DEFAULTS: Final = Properties()
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[!#-;=?-\[\]_a-z~]+")
_RESERVED: Final = (
    f"{rm10.NAMESPACE}/",
    f"{rm11.NAMESPACE}/",
    f"{rm11.MAKE_CONNECTION_NAMESPACE}/",
    *(f"{namespace}/" for namespace in addressing.VERSIONS),
)
"""Actions with another meaning than an application's message."""

NOT_CARRIED: Final = {
    "discard_refused": "a request to the manager of the sender",
    "delay": "the sender has seen to it: the message leaves when it is over",
    "positive_journaling": "the journal of the sender",
    "time_to_reach_queue": "the sender has seen to it; a message that arrived has reached its queue",
    "application_deadletter_queue": "a queue of the sender",
    "allow_peek_when_locked": "of the application that sent it, in its own manager",
    "tracing_requested": "reports on the way are not made of messages that leave by WS-RM",
    "tracing_queue": "as tracing_requested",
    "response_queues": "an envelope has one ReplyTo",
    "destination_queue": "the endpoint that it is sent to",
    "destination_queues": "each of them gets its own copy",
    "administration_queues": "as response_queues",
    "multiple_destination_signature": "of the packet",
    "privacy": "TLS keeps it private",
    "authentication": "TLS and tokens say who sends",
    "hash_algorithm": "of the signature",
    "encryption_algorithm": "of the packet",
    "source_machine": "MessageID has it, where it is one of ours",
    "destination_manager": "of the packet",
    "destination_kind": "what the destination's name is",
    "administration_kind": "what the administration queue's name is",
    "response_kind": "what the response queue's name is",
    "sender": "the endpoint knows who sends",
    "sender_kind": "as sender",
    "sender_certificate": "of the signature",
    "connector_type": "of the packet",
    "connector_manager": "of the packet",
    "transaction_status_queue": "of SRMP",
    "symmetric_key": "of the packet",
    "signature": "of the packet",
    "authentication_provider_type": "of the signature",
    "authentication_provider_name": "of the signature",
    "sequence": "a stream of another protocol",
    "sequence_number": "as sequence",
    "previous_sequence_number": "as sequence",
    "transaction": "each message is its own transaction at the other end",
    "final_ack_required": "as sequence",
    "first_in_transaction": "as transaction",
    "last_in_transaction": "as transaction",
    "soap_envelope": "of SRMP",
    "soap_compound_message": "of SRMP",
    "soap_header": "of SRMP",
    "soap_body": "of SRMP",
    "carrier_header": "it is said in the words of another protocol, or is what `kept` has",
    "stored_body": "larger than an envelope may be",
}
"""Attributes that an envelope does not contain, each with the reason."""


# -- arriving


def message_of(envelope: Envelope, *, fallback: ObjectId, response_queue: str, now: Instant) -> Message:
    """Return the message of an envelope whose body is a Payload; WsrmFault if it cannot be one.

    `fallback` is its identifier if the envelope has no MessageID, `response_queue` the meaning of
    ReplyTo.  It is within the ranges of a message.
    """
    payload = envelope.body
    assert isinstance(payload, Payload)
    properties = envelope.properties or _DEFAULTS
    identifier, is_known = read_message_id(envelope.message_id)
    is_ours = identifier.uniquifier > 1
    try:
        body, body_type = body_of_content(payload.content)
        optional: dict[str, Any] = {}
        if envelope.relates_to:
            optional["correlation"] = identifier_of(envelope.relates_to)
        if response_queue:
            optional["response_queue"] = response_queue
        if properties is not _DEFAULTS:
            _read_properties(properties, optional)
        if optional.get("response_queue", "").startswith(_DIRECT):
            optional["response_kind"] = ResponseKind.DIRECT
        attributes = Attributes(
            time_to_reach_queue=FOREVER,
            extension=extension_of(payload.attachments, payload.start_type),
            source_machine=identifier.lineage if is_ours else NO_GUID,
            carrier_header=_kept_header(envelope, "" if is_known else envelope.message_id),
            **optional,
        )
        own = identifier if envelope.message_id else fallback
        life = properties.time_to_be_received
        message = Message(
            own,
            body,
            _label(envelope.action) if properties.label is None else properties.label,
            properties.priority,
            Delivery.EXPRESS if properties.express else Delivery.RECOVERABLE,
            properties.sent_time or in_whole_seconds(now),
            FOREVER if life is None else life,
            properties.body_type if body_type is None else body_type,
            rare_part(attributes, own),
        )
        check(message)
    except (ValueError, UsageError) as why:
        raise WsrmFault(Fault(FaultCode.SENDER, str(why)), envelope.dialect) from None
    return message


def _label(action: str) -> str:
    """Return the label for an action; the rest of a long action is cut off and kept."""
    return "" if action == ACTION else action[:LABEL_LIMIT]


def _read_properties(properties: Properties, into: dict[str, Any]) -> None:
    into["application_tag"] = properties.application_tag
    into["message_class"] = properties.message_class
    into["negative_journaling"] = properties.dead_letter
    into["hops"] = properties.hops
    if properties.trace_context:
        into["trace_context"] = trace_context.read(properties.trace_context)
    if properties.correlation:
        into["correlation"] = read_object(properties.correlation)
    if properties.response_queue:
        into.setdefault("response_queue", properties.response_queue)
    if properties.administration_queue:
        into["administration_queue"] = properties.administration_queue
        into["acknowledgements"] = tuple(Wanted(word) for word in properties.acknowledgements)
        if properties.administration_queue.startswith(_DIRECT):
            into["administration_kind"] = AdministrationKind.DIRECT


def _kept_header(envelope: Envelope, message_id: str) -> str:
    """Return `Message.carrier_header` with the values that no attribute has; `message_id` is one of them."""
    action, reply_to = envelope.action, envelope.reply_to
    to = "" if envelope.to is None else envelope.to.address
    action = action if len(action) > LABEL_LIMIT else ""
    if reply_to is not None and addressing.is_anonymous(reply_to.address):
        reply_to = None
    if message_id or action or reply_to is not None:
        return carrier_header_of(Kept(to, message_id, action, reply_to))
    return _kept_address(to)


@lru_cache(maxsize=1024)
def _kept_address(to: str) -> str:
    """Return the address of a message of which only To is kept, as for most messages."""
    return carrier_header_of(Kept(to))


# -- leaving


def envelope_of(
    message: Message,
    dialect: Dialect,
    *,
    to: Reference,
    sequence: SequenceHeader | None,
    relates_to: str = "",
    reply_to: Reference | None = None,
    ack_requests: tuple[str, ...] = (),
    acknowledgements: tuple[Acknowledgement, ...] = (),
) -> Envelope:
    """Return the envelope of a message; UsageError if no envelope can carry it.

    `relates_to` is the MessageID of its request, as that was written.
    """
    check_sendable(message)
    kept = kept_of(message)
    content, is_xml = content_of_body(message.body, message.body_type)
    attached = attachments_of(message.extension)
    action = _action(message.label, kept)
    if not relates_to and message.correlation != NO_OBJECT:
        relates_to = message_id_of(message.correlation)
    message_id = kept.message_id
    if not message_id or identifier_of(message_id) != message.identifier:
        message_id = message_id_of(message.identifier)
    return Envelope(
        dialect=dialect,
        action=action,
        to=to,
        message_id=message_id,
        relates_to=relates_to,
        reply_to=reply_to,
        sequence=sequence,
        ack_requests=ack_requests,
        acknowledgements=acknowledgements,
        properties=_properties(
            message, action, relates_to, says_type=is_xml, has_reply_to=reply_to is not None
        ),
        body=Payload(content, attached.attachments, attached.start_type),
    )


def check_sendable(message: Message) -> None:
    """Refuse a message that no envelope can carry, with a UsageError that has the reason."""
    if message.stored_body is not None:
        raise UsageError(f"a body of {message.stored_body.size} bytes is too large for an envelope of WS-RM")
    for text in (message.label, message.response_queue, message.administration_queue):
        escaped(text)


def _action(label: str, kept: Kept) -> str:
    """Return the action for a label: the label itself if it is a URI."""
    if kept.action[:LABEL_LIMIT] == label != "" and not kept.action.startswith(_RESERVED):
        return kept.action
    if _URI.fullmatch(label) and not label.startswith(_RESERVED):
        return label
    return ACTION


def _properties(
    message: Message, action: str, relates_to: str, *, says_type: bool, has_reply_to: bool
) -> Properties | None:
    """Return the properties that differ from their defaults.

    None if all have the values that a reader assumes.
    """
    more = message.more or USUAL
    correlation, label = more.correlation, message.label
    forever = message.time_to_be_received == FOREVER
    administration = _elsewhere(more.administration_queue)
    properties = Properties(
        label=None if _label(action) == label else label,
        priority=message.priority,
        body_type=message.body_type if says_type else 0,
        application_tag=more.application_tag,
        express=message.is_express,
        time_to_be_received=None if forever else message.time_to_be_received,
        correlation="" if identifier_of(relates_to) == correlation else object_text(correlation),
        response_queue="" if has_reply_to else _elsewhere(more.response_queue),
        administration_queue=administration,
        acknowledgements=tuple(each.value for each in more.acknowledgements) if administration else (),
        message_class=more.message_class,
        dead_letter=more.negative_journaling,
        hops=more.hops,
        trace_context=more.trace_context,
    )
    if properties == _DEFAULTS:
        return None  # the time of sending alone is no reason to write them
    return msgspec.structs.replace(properties, sent_time=message.sent_time)


def _elsewhere(name: str) -> str:
    """Return the name of a queue if it means something in another manager; a path name does not."""
    return name if is_format_name(name) else ""
