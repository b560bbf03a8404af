r"""Converts messages to envelopes and back, attribute by attribute: [MC-MQSRM] 3.1.5.1.1 and 3.1.7.2.4.

    Message --envelope_of--> Envelope --write--> text        (encode)
    Message <--message_of--- Arrived <--decode-- bytes

Names of queues differ on the two sides:

    http://host/msmq/private$/orders         DIRECT=http://host/msmq/private$/orders
    MSMQ:MULTICAST=234.1.1.1:8001            MULTICAST=234.1.1.1:8001
    MSMQ:DIRECT=OS:host\private$\orders      DIRECT=OS:host\private$\orders
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.header import LABEL
from reliquary.protocols.srmp.codec.lexical import SPACE, message_id, message_id_text
from reliquary.protocols.srmp.codec.values import (
    Arrived,
    CommitmentReceipt,
    CommitmentRequest,
    DeliveryReceipt,
    Envelope,
    Msmq,
    StreamPosition,
)
from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    NO_OBJECT,
    PRIORITY_LIMIT,
    USUAL,
    Acknowledgement,
    AdministrationKind,
    Attributes,
    Delivery,
    DestinationKind,
    HashAlgorithm,
    Message,
    MessageClass,
    ObjectId,
    ResponseKind,
    SequenceId,
)
from reliquary.queueing.model.names.formats import is_format_name
from reliquary.queueing.model.names.pathnames import parse
from reliquary.queueing.packets import codes
from reliquary.wire.packet import properties

NO_END: Final = 0x7FFFFFFF
"""The time without a limit, 20380119T031407, as Windows writes it."""
STANDARD_PROVIDER: Final = 1
"""AuthenticationProviderType of a message that names no provider."""
_NORMAL: Final = MessageClass.NORMAL
_RECOVERABLE: Final = Delivery.RECOVERABLE
_DIRECT: Final = "DIRECT="
_WEB: Final = ("http://", "https://")


NOT_CARRIED: Final[Mapping[str, str]] = {
    "delay": "it is over before a message goes",
    "application_deadletter_queue": "the sender's own affair",
    "discard_refused": "a request to its own manager",
    "allow_peek_when_locked": "it concerns the queue that the message is in",
    "tracing_queue": "only that tracing is wanted has an element",
    "multiple_destination_signature": "XML signatures cover body and extension alone",
    "privacy": "SRMP encrypts nothing; that is HTTPS' work (SR-313)",
    "encryption_algorithm": "as privacy",
    "symmetric_key": "as privacy",
    "authentication": "a `Signature` says it; who sends makes one",
    "signature": "as authentication",
    "sender_certificate": "as authentication",
    "sender": "over HTTP every sender is anonymous (SR-236)",
    "sender_kind": "as sender",
    "destination_manager": "the URL says where",
    "destination_kind": "what the destination's name is",
    "administration_kind": "what the administration queue's name is",
    "response_kind": "what the response queue's name is",
    "transaction_status_queue": "the URL for stream receipts, which is in the place in the stream",
    "transaction": "the stream has it, one message after the other",
    "sequence": "in the position in the stream, which the sender sets",
    "sequence_number": "as sequence",
    "previous_sequence_number": "as sequence",
    "final_ack_required": "it follows from the acknowledgements",
    "soap_envelope": "a forwarder sends a message unchanged",
    "soap_compound_message": "as soap_envelope",
    "soap_body": "the Body is empty (SR-020)",
    "carrier_header": "it is said in the words of another protocol",
    "stored_body": "larger than a message of SRMP may be",
    "hops": "a header of HTTP says it, because an envelope goes on as it came",
    "trace_context": "as hops",
}
"""Attributes of a message that an envelope does not contain."""

# -- names of queues


@lru_cache(maxsize=4096)
def format_name(url: str) -> str:
    """Return the format name of a queue that an envelope names; empty for a text that is no name (F-26)."""
    # DEPARTS from 3.1.5.1.1 (SR-168): response and administration queues get their DIRECT= too, because
    # an application could not send to a bare URL.
    if url[:8].lower().startswith(_WEB):
        return _DIRECT + url
    return url.removeprefix(LABEL) if url.startswith(LABEL) else ""


@lru_cache(maxsize=4096)
def url_of(format_name: str, here: str = "") -> str:
    """Return the name of a queue in an envelope; empty for none.

    A path name of this manager is a URL below `here`, which is `http://host`; without `here` the name
    would have no meaning for other managers.
    """
    # DEPARTS from 3.1.7.2.4 (SR-273): names are written as 2.2.4 requires, not as the attribute has them,
    # because `DIRECT=http://...` is no URI and no peer would accept the message.
    if not format_name:
        return ""
    name = format_name[7:] if format_name[:7].upper() == _DIRECT else format_name
    if name[:8].lower().startswith(_WEB):
        scheme, _, rest = name.partition("://")
        return f"{scheme.lower()}://{rest}"
    if is_format_name(format_name):
        return LABEL + format_name
    if not here:
        raise UsageError(f"{format_name!r} is no format name, and elsewhere only those mean something")
    # the send checked that the names are local: the computer's own name may precede them
    computer = re.split(r"[\\/]", format_name, maxsplit=1)[0]
    path = str(parse(format_name, computer)).replace("\\", "/")
    return f"{here}/msmq/{quote(path, safe='/$;')}"


# -- out of an envelope


def message_of(arrived: Arrived, *, now: int = 0) -> Message:
    """Return the message that came; `now`, in seconds, replaces a missing time of sending."""
    envelope, place = arrived.envelope, arrived.envelope.stream
    repeated = arrived.repeated or attributes_of(envelope, now=now)
    assert repeated.more is not None, "an envelope names the destination of its message"
    source, lineage = repeated.more.source_machine, envelope.identifier.lineage
    rare: dict[str, Any] = {
        "source_machine": None if source is lineage or source == lineage else source,
        "extension": arrived.extension,
        "soap_envelope": arrived.text,
    }
    if arrived.hops:
        rare["hops"] = arrived.hops
    if arrived.trace_context:
        rare["trace_context"] = arrived.trace_context
    delivery = repeated.delivery
    if place is not None:
        delivery = _RECOVERABLE
        rare["sequence"] = SequenceId(place.number & FOREVER, place.number >> 32)  # SR-072
        rare["sequence_number"] = place.current
        rare["previous_sequence_number"] = place.previous
        # DEPARTS from 3.1.5.1.1 (SR-174): the URL for stream receipts is kept as TransactionStatusQueue,
        # because it would overwrite the administration queue of the message.
        rare["transaction_status_queue"] = place.receipts_to
    return replace(
        repeated,
        identifier=envelope.identifier,
        body=arrived.body,
        delivery=delivery,
        more=replace(repeated.more, **rare),
    )


def attributes_of(envelope: Envelope, *, now: int) -> Message:
    """Return the attributes that an envelope gives a message, without identifier and stream position."""
    response_queue = format_name(envelope.via)
    own: dict[str, Any] = {}
    rare: dict[str, Any] = {}
    source = NO_GUID
    if (msmq := envelope.msmq) is not None:
        source = msmq.source
        own["priority"] = msmq.priority
        own["body_type"] = msmq.body_type
        _read_msmq(msmq, rare)
        # DEPARTS from 3.1.5.1.1 (SR-181): an expiresAt of its own ends TimeToBeReceived, as `_expires_at`
        # writes it, because an expired message would stay in its queue permanently.
        if envelope.expires_at not in (msmq.reach_by, NO_END):
            own["time_to_be_received"] = _span(envelope, envelope.expires_at, now)
    if envelope.delivery_to or envelope.commitment is not None:
        _read_requests(envelope, rare)
    if envelope.delivery_receipt is not None or envelope.commitment_receipt is not None:
        _read_receipt(envelope, rare)
    if response_queue:
        rare["response_queue"] = response_queue
        if response_queue.startswith(_DIRECT):
            rare["response_kind"] = ResponseKind.DIRECT
    destination = format_name(envelope.to)
    if destination.startswith(_DIRECT):
        rare["destination_kind"] = DestinationKind.DIRECT
    return Message(
        label=label_of(envelope),
        delivery=Delivery.RECOVERABLE if envelope.durable else Delivery.EXPRESS,
        sent_time=envelope.sent_at or 0,
        more=Attributes(
            source_machine=source,
            # From the sending to TTrq, or without `Msmq` to expiresAt (SR-169, SR-181).
            time_to_reach_queue=_span(envelope, envelope.expires_at if msmq is None else msmq.reach_by, now),
            destination_queue=destination,
            **rare,
        ),
        **own,
    )


def label_of(envelope: Envelope) -> str:
    """Return the label in `action`; an action of another kind has none (SR-165)."""
    action = envelope.action.lstrip(SPACE)
    return action.removeprefix(LABEL) if action.startswith(LABEL) else ""


def _span(envelope: Envelope, end: int, now: int) -> int:
    """Return the seconds from the sending to a time."""
    if end == NO_END:
        return FOREVER
    start = now if envelope.sent_at is None else envelope.sent_at
    return min(max(end - start, 0), FOREVER)


def _read_msmq(msmq: Msmq, into: dict[str, Any]) -> None:
    into["message_class"] = msmq.message_class
    if msmq.journal:
        into["positive_journaling"] = True
    if msmq.dead_letter:
        into["negative_journaling"] = True
    if msmq.trace:
        into["tracing_requested"] = True
    if msmq.correlation is not None:
        into["correlation"] = msmq.correlation
    if msmq.connector_type is not None:
        into["connector_type"] = msmq.connector_type
    if msmq.application_tag is not None:
        into["application_tag"] = msmq.application_tag
    if msmq.hash_algorithm:
        into["hash_algorithm"] = codes.HASH_OF.get(msmq.hash_algorithm, HashAlgorithm.SHA1)
    if msmq.first:
        into["first_in_transaction"] = True
    if msmq.last:
        into["last_in_transaction"] = True
    if msmq.connector_manager is not None:
        into["connector_manager"] = msmq.connector_manager
    if msmq.provider_type is not None:
        into["authentication_provider_type"] = msmq.provider_type
        into["authentication_provider_name"] = msmq.provider_name
    if msmq.destinations:
        into["destination_queues"] = _format_names(msmq.destinations)
    if msmq.administration_queues:
        into["administration_queues"] = _format_names(msmq.administration_queues)
    if msmq.response_queues:
        into["response_queues"] = _format_names(msmq.response_queues)


def _format_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([format_name(name) or name for name in names])


def _read_requests(envelope: Envelope, into: dict[str, Any]) -> None:
    # DEPARTS from 3.1.5.1.1 (SR-173): one administration queue cannot be two, so it is that of the
    # delivery receipt if both are requested; each receipt goes to the address in the stored envelope.
    wanted = [Acknowledgement.POS_ARRIVAL] if envelope.delivery_to else []
    administration = envelope.delivery_to
    if (commitment := envelope.commitment) is not None:
        into["final_ack_required"] = True
        if commitment.positive:
            wanted.append(Acknowledgement.POS_RECEIVE)
        if commitment.negative:
            wanted.append(Acknowledgement.NEG_RECEIVE)
        administration = administration or commitment.send_to
    into["acknowledgements"] = tuple(wanted)
    into["administration_queue"] = format_name(administration)
    into["administration_kind"] = AdministrationKind.DIRECT


def _read_receipt(envelope: Envelope, into: dict[str, Any]) -> None:
    """Add the correlation of a receipt with its message, as in an acknowledgement of the queue manager."""
    receipt = envelope.delivery_receipt or envelope.commitment_receipt
    if receipt is not None and into.get("correlation", NO_OBJECT) == NO_OBJECT:
        try:
            into["correlation"] = message_id(receipt.id)
        except SrmpFault:
            return  # the original had no identifier of this form


# -- to an envelope


def envelope_of(message: Message, place: StreamPosition | None = None, *, here: str = "") -> Envelope:
    """Return the envelope of a message; UsageError for values that SRMP cannot carry (F-73)."""
    more = message.more or USUAL
    to = url_of(more.destination_queue)
    multicast = to.startswith(LABEL)
    if place is not None and multicast:
        raise UsageError(
            "a transactional message cannot go by multicast: its receivers cannot acknowledge the stream"
        )
    if not 0 <= message.priority <= PRIORITY_LIMIT:
        raise UsageError(f"a priority is 0 to {PRIORITY_LIMIT}, not {message.priority}")
    delivery_to, commitment = "", None
    if more.administration_queue and not multicast:
        delivery_to, commitment = _requests(message, here)
    reach_by = message.sent_time + more.time_to_reach_queue
    # otherwise its end is 136 years away
    if more.time_to_reach_queue == FOREVER and message.sent_time < NO_END:
        reach_by = NO_END
    delivery_receipt = commitment_receipt = None
    if more.message_class != _NORMAL and not more.soap_header:
        delivery_receipt, commitment_receipt = _receipts(message)
    return Envelope(
        # DEPARTS from 3.1.7.2.4 (SR-274): a label is never NULL here, so an empty one is written as one.
        action=LABEL + message.label,
        to=to,
        id=message_id_text(message.identifier),
        identifier=message.identifier,
        via=url_of(more.response_queue, here),
        expires_at=_expires_at(message, reach_by),
        sent_at=message.sent_time,
        durable=place is not None or message.delivery is _RECOVERABLE,
        delivery_to=delivery_to,
        commitment=commitment,
        stream=place,
        delivery_receipt=delivery_receipt,
        commitment_receipt=commitment_receipt,
        msmq=_msmq(message, reach_by, here, streamed=place is not None),
    )


def _expires_at(message: Message, reach_by: int) -> int:
    """Return TTrq again (SR-276), except for a message that must be read in time."""
    if message.time_to_be_received == FOREVER:
        return reach_by
    # DEPARTS from 3.1.7.2.4 (SR-276): then it is the end of TimeToBeReceived, as Windows writes it and as
    # `message_of` reads it, because that time has no other element and the message would never expire.
    end = message.sent_time + message.time_to_be_received
    return end + 1 if end == reach_by else end  # equal to TTrq it would mean nothing else


def _requests(message: Message, here: str) -> tuple[str, CommitmentRequest | None]:
    """Return the addresses for requested receipts: deliveryReceiptRequest, commitmentReceiptRequest
    (SR-277, SR-278).
    """
    bits = codes.acknowledgement_bits(message.acknowledgements)
    if not bits & (properties.ACK_POS_ARRIVAL | properties.ACK_POS_RECEIVE | properties.ACK_NEG_RECEIVE):
        return "", None
    url = url_of(message.administration_queue, here)
    if not url.startswith(_WEB):
        raise UsageError(f"receipts go to a queue with a URL, not to {message.administration_queue!r}")
    positive, negative = bool(bits & properties.ACK_POS_RECEIVE), bool(bits & properties.ACK_NEG_RECEIVE)
    # DEPARTS from 3.1.7.2.4 (SR-277): a commitment receipt is requested if its outcome is, because no rule
    # sets FinalAckRequired from the acknowledgements that an application requests.
    commitment = (
        CommitmentRequest(send_to=url, positive=positive, negative=negative) if positive or negative else None
    )
    return url if bits & properties.ACK_POS_ARRIVAL else "", commitment


def _receipts(message: Message) -> tuple[DeliveryReceipt | None, CommitmentReceipt | None]:
    """Return an acknowledgement of this queue manager as a receipt, if no block was made for it."""
    if message.message_class == MessageClass.ACK_REACH_QUEUE:
        text = message_id_text(message.correlation)
        return DeliveryReceipt(received_at=message.sent_time, id=text), None
    positive = message.message_class == MessageClass.ACK_RECEIVE
    if positive or message.message_class >= MessageClass.NACK_BAD_DEST_QUEUE:
        text = message_id_text(message.correlation)
        return None, CommitmentReceipt(decided_at=message.sent_time, positive=positive, id=text)
    return None, None


def _msmq(message: Message, reach_by: int, here: str, *, streamed: bool) -> Msmq:
    more = message.more or USUAL
    named = more.authentication_provider_name or more.authentication_provider_type != STANDARD_PROVIDER
    return Msmq(
        message_class=more.message_class,
        priority=0 if streamed else message.priority,
        journal=more.positive_journaling,
        dead_letter=more.negative_journaling,
        correlation=None if more.correlation == NO_OBJECT else _fitting(more.correlation),
        trace=more.tracing_requested,
        connector_type=None if more.connector_type == NO_GUID else more.connector_type,
        application_tag=more.application_tag or None,
        body_type=message.body_type,
        hash_algorithm=codes.HASH[more.hash_algorithm],
        first=more.first_in_transaction,
        last=more.last_in_transaction,
        connector_manager=None if more.connector_manager == NO_GUID else more.connector_manager,
        provider_type=more.authentication_provider_type if named else None,
        provider_name=more.authentication_provider_name,
        source=message.identifier.lineage if message.source_machine == NO_GUID else message.source_machine,
        destinations=more.destination_queues and _urls(more.destination_queues, here),
        administration_queues=more.administration_queues and _urls(more.administration_queues, here),
        response_queues=more.response_queues and _urls(more.response_queues, here),
        reach_by=reach_by,
    )


def _fitting(correlation: ObjectId) -> ObjectId:
    if not 0 <= correlation.uniquifier <= FOREVER:
        raise UsageError(f"a correlation's number is 0 to {FOREVER}, not {correlation.uniquifier}")
    return correlation


def _urls(names: tuple[str, ...], here: str) -> tuple[str, ...]:
    urls = tuple([url_of(name, here) for name in names])
    for url in urls:
        if not url or url.split() != [url]:
            raise UsageError(f"{url!r} has white space, which separates names in a list")
    return urls
