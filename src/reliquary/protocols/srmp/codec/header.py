"""Reads the values in the header of an envelope, [MC-MQSRM] 2.2.4 to 2.2.7."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.elements import Fields, Header
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.lexical import (
    SPACE,
    correlation,
    guid,
    message_id,
    moment,
    number,
    spec,
    stream_id,
)
from reliquary.protocols.srmp.codec.values import (
    CommitmentReceipt,
    CommitmentRequest,
    DeliveryReceipt,
    Envelope,
    Msmq,
    StreamPosition,
    StreamReceipt,
)
from reliquary.queueing.model.message import FOREVER, LABEL_LIMIT, NO_GUID, PRIORITY_LIMIT, ObjectId
from reliquary.queueing.model.names.formats import DirectName, MulticastName, parse_single

ANONYMOUS: Final = ObjectId(NO_GUID, 1)
"""The identifier of a message without `Msmq` (SR-167)."""
LABEL: Final = "MSMQ:"
"""The prefix of a label in `action`, and of a format name in `to` and `via`."""
MULTICAST: Final = "MSMQ:MULTICAST="
CLASS_LIMIT: Final = 0xFFFF

RECEIPTS: Final = frozenset({"deliveryReceipt", "commitmentReceipt", "streamReceipt"})
NAME_LIMIT: Final = 2048
"""The most characters of a URL or a format name."""


class Path(NamedTuple):
    """The elements of the header block `path`, 2.2.4."""

    action: str
    to: str
    id: str
    via: str = ""


class Services(NamedTuple):
    """The requests in the block `services`, 2.2.5.2."""

    durable: bool = False
    delivery_to: str = ""
    commitment: CommitmentRequest | None = None


def read_header(header: Header) -> Envelope:
    """Return the content of the header blocks."""
    blocks = header.blocks
    path = read_path(_required(blocks, "path", "2.2.4"))
    times = read_properties(_required(blocks, "properties", "2.2.5.1"))
    services = _read_services(blocks.get("services"))
    msmq = read_msmq(blocks["Msmq"]) if "Msmq" in blocks else None
    stream = None
    if "stream" in blocks:
        if msmq is None:
            raise SrmpFault(
                "Msmq", "<Msmq> is missing in a message with <stream>", spec=spec("2.2.5.3")
            )  # SR-067
        stream = read_stream(blocks["stream"])
        if "unconfirmed" in blocks:
            url = _url(blocks["unconfirmed"], "sendReceiptsTo", "2.2.5.3.4")
            stream = replace(stream, unconfirmed_to=url)
    envelope = envelope_from(path, times, services, msmq)
    if msmq is not None:
        uniquifier = message_id(path.id).uniquifier
        envelope = numbered(envelope, path.id, uniquifier, stream, capital_stream=header.capital_stream)
    if not (header.signature or RECEIPTS & blocks.keys()):
        return envelope
    return replace(
        envelope,
        delivery_receipt=_read_delivery(blocks.get("deliveryReceipt")),
        commitment_receipt=_read_commitment(blocks.get("commitmentReceipt")),
        stream_receipt=_read_stream_receipt(blocks.get("streamReceipt")),
        signature=header.signature,
    )


def envelope_from(
    path: Path, times: tuple[int, int | None], services: Services, msmq: Msmq | None
) -> Envelope:
    """Return an envelope with the content of the blocks that senders repeat from message to message."""
    return Envelope(
        action=path.action,
        to=path.to,
        id=path.id,
        identifier=ANONYMOUS,
        via=path.via,
        expires_at=times[0],
        sent_at=times[1],
        durable=services.durable,
        delivery_to=services.delivery_to,
        commitment=services.commitment,
        msmq=msmq,
    )


def numbered(
    envelope: Envelope,
    identifier: str,
    uniquifier: int,
    stream: StreamPosition | None,
    *,
    capital_stream: bool = False,
) -> Envelope:
    """Return the envelope of one message, with its `id`, its number, and its position in a stream."""
    assert envelope.msmq is not None, "a message without <Msmq> has no identifier and no stream"
    # DEPARTS from 2.2.5.3 (SR-068): <Stream>, the spelling of Windows, is accepted without <durable> too,
    # because the published streams have none; the message is recoverable nevertheless.
    if stream is not None and not envelope.durable and not capital_stream:
        raise SrmpFault("durable", "a message of a stream must have <durable>", spec=spec("2.2.5.2.1"))
    # The GUID of the manager takes precedence over the one in `id` (F-23).
    known_as = ObjectId(envelope.msmq.source, uniquifier)
    return replace(envelope, id=identifier, identifier=known_as, stream=stream)


# -- fields


def _required(blocks: dict[str, Fields], name: str, section: str) -> Fields:
    block = blocks.get(name)
    if block is None:
        raise SrmpFault(name, f"the Header has no <{name}>", spec=spec(section))
    return block


def _text(found: Fields, name: str, section: str) -> str:
    """Return the text of a required element."""
    text = found.get(name)
    if not isinstance(text, str):
        raise SrmpFault(name, f"there is no <{name}>", spec=spec(section))
    return text


def _inner(found: Fields, name: str) -> Fields:
    """Return the content of an element; an empty mapping if it is absent."""
    inner = found.get(name, {})
    assert isinstance(inner, dict), f"{name} holds elements"
    return inner


def _name(found: Fields, name: str, section: str) -> str:
    """Return a URL or another name, without the white space around it."""
    text = _text(found, name, section).strip(SPACE)
    if len(text) > NAME_LIMIT:
        raise SrmpFault(name, f"<{name}> has more than {NAME_LIMIT} characters", spec=spec(section))
    return text


@lru_cache(maxsize=4096)
def _is_url(text: str) -> bool:
    if not text[:8].lower().startswith(("http://", "https://")):
        return False
    try:
        return isinstance(parse_single(f"DIRECT={text}"), DirectName)
    except UsageError:
        return False


@lru_cache(maxsize=256)
def _is_multicast(text: str) -> bool:
    try:
        return text.startswith(MULTICAST) and isinstance(parse_single(text[len(LABEL) :]), MulticastName)
    except UsageError:
        return False


def _url(found: Fields, name: str, section: str) -> str:
    text = _name(found, name, section)
    if not _is_url(text):
        raise SrmpFault(name, f"<{name}> is a URL of HTTP or HTTPS, not {text[:80]!r}", spec=spec(section))
    return text


# -- path, 2.2.4


def read_path(found: Fields) -> Path:
    """Read the header block `path`."""
    action = _text(found, "action", "2.2.4.1")
    label = action.lstrip(SPACE)
    if len(label) > LABEL_LIMIT + len(LABEL) and label.startswith(LABEL):
        raise SrmpFault(
            "action",
            f"a label in <action> has at most {LABEL_LIMIT} characters, not {len(label) - len(LABEL)}",
            spec=spec("2.2.4.1"),
        )
    to = _name(found, "to", "2.2.4.2")
    if not (_is_url(to) or _is_multicast(to)):
        raise SrmpFault(
            "to",
            f"<to> is a URL of HTTP, HTTPS or a multicast address, not {to[:80]!r}",
            spec=spec("2.2.4.2"),
        )
    identifier = _text(found, "id", "2.2.4.3").strip(SPACE)
    via = ""
    if "rev" in found:
        via = _name(_inner(found, "rev"), "via", "2.2.4.4")
    return Path(action, to, identifier, via)


# -- SRMP's own blocks, 2.2.5


def read_properties(found: Fields) -> tuple[int, int | None]:
    """Return the times of expiry and of sending."""
    expires_at = moment(_text(found, "expiresAt", "2.2.5.1.1"), "expiresAt", "2.2.5.1.1")
    if "sentAt" not in found:
        return expires_at, None
    sent_at = moment(_text(found, "sentAt", "2.2.5.1.2"), "sentAt", "2.2.5.1.2")
    if sent_at > FOREVER:
        raise SrmpFault("sentAt", "<sentAt> is later than the year 2106", spec=spec("2.2.5.1.2"))
    return expires_at, sent_at


def _read_services(found: Fields | None) -> Services:
    if found is None:
        return Services()
    delivery_to, commitment = "", None
    if "deliveryReceiptRequest" in found:
        delivery_to = _url(_inner(found, "deliveryReceiptRequest"), "sendTo", "2.2.5.2.2")
    if "commitmentReceiptRequest" in found:
        request = _inner(found, "commitmentReceiptRequest")
        commitment = CommitmentRequest(
            send_to=_url(request, "sendTo", "2.2.5.2.3"),
            positive="positiveOnly" in request,
            negative="negativeOnly" in request,
        )
    return Services("durable" in found, delivery_to, commitment)


def read_stream(found: Fields) -> StreamPosition:
    """Return the position of a message in its stream."""
    name = stream_name(_text(found, "streamId", "2.2.5.3.1"))
    current = number(_text(found, "current", "2.2.5.3.2"), "current", "2.2.5.3.2", FOREVER)
    previous = None
    if "previous" in found:
        previous = number(_text(found, "previous", "2.2.5.3.3"), "previous", "2.2.5.3.3", FOREVER)
    starts = "start" in found
    receipts_to = _url(_inner(found, "start"), "sendReceiptsTo", "2.2.5.3.4") if starts else ""
    return place_in(name, current, previous, receipts_to)


class StreamName(NamedTuple):
    """The parts of the element `streamId`, 2.2.5.3.1."""

    identifier: str
    sender: UUID
    number: int


def stream_name(text: str) -> StreamName:
    """Return the stream that a `streamId` names."""
    identifier = text.strip(SPACE)
    return StreamName(identifier, *stream_id(identifier, "2.2.5.3.1"))


def place_in(name: StreamName, current: int, previous: int | None, receipts_to: str = "") -> StreamPosition:
    """Return the position of a message in this stream; `receipts_to` is empty without `start`."""
    identifier, sender, value = name
    if not current:
        raise SrmpFault(
            "current", "<current> must be 1 in the first message of a stream", spec=spec("2.2.5.3.2")
        )
    if previous is None:
        previous = current - 1  # SR-136
    elif previous >= current:
        raise SrmpFault("previous", "<previous> must be smaller than <current>", spec=spec("2.2.5.3.3"))
    if bool(receipts_to) is not (current == 1):  # SR-075, SR-076
        raise SrmpFault(
            "start",
            "the first message of a stream must have <start>, and no other message may have it",
            spec=spec("2.2.5.3.4"),
        )
    return StreamPosition(
        identifier=identifier,
        sender=sender,
        number=value,
        current=current,
        previous=previous,
        receipts_to=receipts_to,
    )


def _read_delivery(found: Fields | None) -> DeliveryReceipt | None:
    if found is None:
        return None
    return DeliveryReceipt(
        received_at=moment(_text(found, "receivedAt", "2.2.5.4"), "receivedAt", "2.2.5.4"),
        id=_text(found, "id", "2.2.5.4").strip(SPACE),
    )


def _read_commitment(found: Fields | None) -> CommitmentReceipt | None:
    if found is None:
        return None
    decision = _text(found, "decision", "2.2.5.5").strip(SPACE)
    if decision not in ("positive", "negative"):
        raise SrmpFault("decision", f"a decision is not {decision[:40]!r}", spec=spec("2.2.5.5"))
    return CommitmentReceipt(
        decided_at=moment(_text(found, "decidedAt", "2.2.5.5"), "decidedAt", "2.2.5.5"),
        positive=decision == "positive",
        id=_text(found, "id", "2.2.5.5").strip(SPACE),
    )


def _read_stream_receipt(found: Fields | None) -> StreamReceipt | None:
    if found is None:
        return None
    identifier = _text(found, "streamId", "2.2.5.6").strip(SPACE)
    stream_id(identifier, "2.2.5.6")
    return StreamReceipt(
        identifier=identifier,
        last=number(_text(found, "lastOrdinal", "2.2.5.6"), "lastOrdinal", "2.2.5.6"),
    )


# -- Msmq, 2.2.6


def read_msmq(found: Fields) -> Msmq:
    """Read the block `Msmq` of a queue manager."""
    eod = _inner(found, "Eod")
    provider_type, provider_name = None, ""
    if "Provider" in found:
        provider = _inner(found, "Provider")
        provider_type = number(_text(provider, "Type", "2.2.6.12"), "Type", "2.2.6.12", FOREVER)
        provider_name = _text(provider, "Name", "2.2.6.12")
    return Msmq(
        message_class=number(_text(found, "Class", "2.2.6.1"), "Class", "2.2.6.1", CLASS_LIMIT),
        priority=number(_text(found, "Priority", "2.2.6.2"), "Priority", "2.2.6.2", PRIORITY_LIMIT),
        journal="Journal" in found,
        dead_letter="DeadLetter" in found,
        correlation=correlation(_text(found, "Correlation", "2.2.6.5")) if "Correlation" in found else None,
        trace="Trace" in found,
        connector_type=_guid(found, "ConnectorType", "2.2.6.7") if "ConnectorType" in found else None,
        application_tag=number(_text(found, "App", "2.2.6.8"), "App", "2.2.6.8", FOREVER)
        if "App" in found
        else None,
        body_type=number(_text(found, "BodyType", "2.2.6.9"), "BodyType", "2.2.6.9", FOREVER),
        hash_algorithm=number(_text(found, "HashAlgorithm", "2.2.6.10"), "HashAlgorithm", "2.2.6.10", FOREVER)
        if "HashAlgorithm" in found
        else None,
        first="First" in eod,
        last="Last" in eod,
        connector_manager=_guid(eod, "ConnectorId", "2.2.6.11") if "ConnectorId" in eod else None,
        provider_type=provider_type,
        provider_name=provider_name,
        source=_guid(found, "SourceQmGuid", "2.2.6.13"),
        destinations=_listed(found, "DestinationMqf", "2.2.6.14") if "DestinationMqf" in found else (),
        administration_queues=_listed(found, "AdminMqf", "2.2.6.15") if "AdminMqf" in found else (),
        response_queues=_listed(found, "ResponseMqf", "2.2.6.16") if "ResponseMqf" in found else (),
        reach_by=moment(_text(found, "TTrq", "2.2.6.17"), "TTrq", "2.2.6.17"),
    )


def _guid(found: Fields, name: str, section: str) -> UUID:
    return guid(_text(found, name, section), name, section)


def _listed(found: Fields, name: str, section: str) -> tuple[str, ...]:
    names = tuple(_text(found, name, section).split())
    if any(len(each) > NAME_LIMIT for each in names):
        raise SrmpFault(name, f"a name in <{name}> has more than {NAME_LIMIT} characters", spec=spec(section))
    if not names:
        raise SrmpFault(name, f"<{name}> must have at least one name", spec=spec(section))
    return names
