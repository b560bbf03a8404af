"""Carries SOAP over HTTPR, in a way of our own: the specification announces the section and lacks it (H-32).

    a request                                     its answer, sent to the reply-uri
    reply-uri:httpr://here/httpr/mq#answers       correlation-id:order-7
    message-id:order-7                            content-type:text/xml; charset=utf-8
    content-type:text/xml; charset=utf-8          app-soapaction:""
    app-soapaction:"urn:order"

The data is the envelope, which is not read.  SOAP 1.2 has its action in the content-type:
`application/soap+xml; charset=utf-8; action="urn:order"`.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.attributes import MESSAGE_ID, id_value, read_identifier
from reliquary.protocols.httpr.codec.lexical import read_word
from reliquary.protocols.httpr.fields import chosen_header, fields_of
from reliquary.queueing.model.message import NO_OBJECT, Attributes, Delivery, Message

ACTION: Final = "app-soapaction"
"""The field for SOAPAction, in quotes as in HTTP; each SOAP 1.1 message has it, empty quotes in an answer."""

_ACTION_PARAMETER: Final = re.compile(r';\s*action\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]+)', re.IGNORECASE)


class SoapVersion(Enum):
    """The version of SOAP, by the media type of its envelopes."""

    SOAP_1_1 = "text/xml"
    SOAP_1_2 = "application/soap+xml"


class Soap(NamedTuple):
    """The SOAP content of a message."""

    envelope: bytes
    """The envelope; empty for a large message that is stored in pieces."""
    action: str
    version: SoapVersion


def soap_message(
    envelope: bytes | str,
    *,
    action: str = "",
    version: SoapVersion = SoapVersion.SOAP_1_1,
    reply_to: str = "",
    message_id: str = "",
) -> Message:
    """Return a request, or a message without an answer, for the queue of its service.

    `reply_to` is the name of a queue.  Without a `message_id`, answers correlate by the manager's identifier.
    """
    fields = soap_fields(action, version)
    if message_id:
        fields["message-id"] = message_id
    return Message(
        body=envelope.encode() if isinstance(envelope, str) else envelope,
        delivery=Delivery.RECOVERABLE,
        more=Attributes(response_queue=reply_to, carrier_header=chosen_header(fields)),
    )


def soap_answer(request: Message, envelope: bytes | str) -> Message:
    """Return the answer to a request, or a fault, for the queue in its `destination_queue`."""
    asked = soap_of(request)
    if asked is None:
        raise UsageError("the message is no request of SOAP, so it has no answer")
    if not request.response_queue:
        raise UsageError("the request wants no answer: it has no reply-uri")
    fields, known = soap_fields("", asked.version), fields_of(request)
    token = known.get("message-id") or id_value(request.identifier)
    correlation = read_identifier(token)
    if correlation == NO_OBJECT:
        fields["correlation-id"] = token
        correlation = read_identifier(known.get(MESSAGE_ID, ""))
    return Message(
        body=envelope.encode() if isinstance(envelope, str) else envelope,
        delivery=Delivery.RECOVERABLE,
        more=Attributes(
            destination_queue=request.response_queue,
            correlation=correlation,
            carrier_header=chosen_header(fields),
        ),
    )


def soap_of(message: Message) -> Soap | None:
    """Return the SOAP content of a message; None for a message of another kind."""
    fields = fields_of(message)
    content = fields.get("content-type", "")
    kind = content.partition(";")[0].strip().lower()
    if kind == SoapVersion.SOAP_1_2.value:
        found = _ACTION_PARAMETER.search(content)
        return Soap(message.body, read_word(found[1]) if found else "", SoapVersion.SOAP_1_2)
    if kind == SoapVersion.SOAP_1_1.value and ACTION in fields:
        return Soap(message.body, read_word(fields[ACTION]), SoapVersion.SOAP_1_1)
    return None


def soap_fields(action: str, version: SoapVersion) -> dict[str, str]:
    """Return the header fields of a SOAP message."""
    quoted = '"{}"'.format(action.replace("\\", "\\\\").replace('"', '\\"'))
    if version is SoapVersion.SOAP_1_1:
        return {"content-type": f"{version.value}; charset=utf-8", ACTION: quoted}
    parameter = f"; action={quoted}" if action else ""
    return {"content-type": f"{version.value}; charset=utf-8{parameter}"}
