"""The header of an envelope as values, [MC-MQSRM] 2.2.4 to 2.2.7.

Elements are known by namespace and name, in any order; what is unknown is passed over, but a block
that must be understood (SOAP 1.1, 4.2.3).  What is known stands once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
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
    StreamPlace,
    StreamReceipt,
)
from reliquary.queueing.message import FOREVER, LABEL_LIMIT, NO_GUID, PRIORITY_LIMIT, ObjectId
from reliquary.queueing.naming.formats import DirectName, MulticastName, parse_single
from reliquary.wire.soap import MUST_UNDERSTAND, Element, block_text

ROUTING: Final = "http://schemas.xmlsoap.org/rp/"
SRMP: Final = "http://schemas.xmlsoap.org/srmp/"
MSMQ: Final = "msmq.namespace.xml"
SIGNATURE: Final = "http://www.w3.org/2000/02/xmldsig#"

ANONYMOUS: Final = ObjectId(NO_GUID, 1)
"""The identifier of a message without `Msmq` (SR-167)."""
LABEL: Final = "MSMQ:"
"""What a label begins with in `action`, and a format name in `to` and `via`."""
MULTICAST: Final = "MSMQ:MULTICAST="
CLASS_LIMIT: Final = 0xFFFF

NAME_LIMIT: Final = 2048
"""Characters of a URL or a format name."""

Elements = dict[str, Element]
Fields = dict[str, Element | str]
Names = Mapping[str, str]


def _names(namespace: str, names: str) -> Names:
    return {f"{{{namespace}}}{name}": name for name in names.split()}


_BLOCKS: Final[Names] = {
    **_names(ROUTING, "path"),
    **_names(SRMP, "properties services stream deliveryReceipt commitmentReceipt streamReceipt"),
    f"{{{SRMP}}}Stream": "stream",  # as Windows writes it
    **_names(MSMQ, "Msmq"),
    **_names(SIGNATURE, "Signature"),
}
_WINDOWS_STREAM: Final = f"{{{SRMP}}}Stream"
_PATH: Final = _names(ROUTING, "action to id rev")
_REV: Final = _names(ROUTING, "via")
_PROPERTIES: Final = _names(SRMP, "expiresAt sentAt")
_SERVICES: Final = _names(SRMP, "durable deliveryReceiptRequest commitmentReceiptRequest")
_REQUEST: Final = _names(SRMP, "sendTo positiveOnly negativeOnly")
_STREAM: Final = _names(SRMP, "streamId current previous start")
_START: Final = _names(SRMP, "sendReceiptsTo")
_DELIVERY: Final = _names(SRMP, "receivedAt id")
_COMMITMENT: Final = _names(SRMP, "decidedAt decision id")
_STREAM_RECEIPT: Final = _names(SRMP, "streamId lastOrdinal")
_MSMQ: Final = _names(
    MSMQ,
    "Class Priority Journal DeadLetter Correlation Trace ConnectorType App BodyType HashAlgorithm Eod"
    " Provider SourceQmGuid DestinationMqf AdminMqf ResponseMqf TTrq",
)
_EOD: Final = _names(MSMQ, "First Last ConnectorId")
_PROVIDER: Final = _names(MSMQ, "Type Name")


def read_header(header: Element, data: bytes) -> Envelope:
    """What a header says; `data` is the envelope that it stands in."""
    blocks = _blocks(header)
    path = _understood(blocks, "path", "2.2.4")
    properties = _understood(blocks, "properties", "2.2.5.1")
    if path is None or properties is None:
        missing, section = ("path", "2.2.4") if path is None else ("properties", "2.2.5.1")
        raise SrmpFault(missing, f"the Header has no <{missing}>", spec=spec(section))
    action, to, identifier_text, via = _read_path(path)
    expires_at, sent_at = _read_properties(properties)
    durable, delivery_to, commitment = _read_services(_understood(blocks, "services", "2.2.5.2"))
    msmq = _read_msmq(blocks["Msmq"]) if "Msmq" in blocks else None
    identifier = ANONYMOUS
    if msmq is not None:
        # The manager's own GUID wins over the one in `id` (F-23).
        identifier = ObjectId(msmq.source, message_id(identifier_text).uniquifier)
    stream = None
    if (block := _understood(blocks, "stream", "2.2.5.3")) is not None:
        if msmq is None:
            raise SrmpFault("Msmq", "a message of a stream has <Msmq>", spec=spec("2.2.5.3"))  # SR-067
        # DEPARTS from 2.2.5.3 (SR-068): <Stream>, the spelling of Windows, comes without <durable> too,
        # because the published streams have none; such a message is recoverable all the same.
        if not durable and block.tag != _WINDOWS_STREAM:
            raise SrmpFault("durable", "a message of a stream has <durable>", spec=spec("2.2.5.2.1"))
        stream = _read_stream(block)
    return Envelope(
        action=action,
        to=to,
        id=identifier_text,
        identifier=identifier,
        via=via,
        expires_at=expires_at,
        sent_at=sent_at,
        durable=durable,
        delivery_to=delivery_to,
        commitment=commitment,
        stream=stream,
        delivery_receipt=_read_delivery(blocks.get("deliveryReceipt")),
        commitment_receipt=_read_commitment(blocks.get("commitmentReceipt")),
        stream_receipt=_read_stream_receipt(blocks.get("streamReceipt")),
        msmq=msmq,
        signature=block_text(data, SIGNATURE, "Signature") if "Signature" in blocks else "",
    )


# -- elements


def _blocks(header: Element) -> Elements:
    """The blocks that we know; one that we do not know must not have to be understood (F-13, F-14)."""
    found: Elements = {}
    for block in header:
        tag = block.tag
        name = _BLOCKS.get(tag)
        if name is None:
            if block.get(MUST_UNDERSTAND, "0").strip(SPACE) != "0":
                raise SrmpFault(tag, f"<{tag}> must be understood, and is not", spec="SOAP 1.1 section 4.2.3")
        elif name in found:
            raise SrmpFault(name, f"there are two <{name}> in the Header", spec=spec("2.2.2"))
        else:
            found[name] = block
    return found


def _understood(blocks: Elements, name: str, section: str) -> Element | None:
    block = blocks.get(name)
    if block is not None and block.get(MUST_UNDERSTAND, "").strip(SPACE) != "1":
        raise SrmpFault(name, f'<{name}> has se:mustUnderstand="1"', spec=spec(section))
    return block


def _children(block: Element | str, known: Names, section: str) -> Fields:
    """What is known of the children of an element: the text of those that hold text, else themselves."""
    found: Fields = {}
    if isinstance(block, str):
        return found
    for child in block:
        name = known.get(child.tag)
        if name is not None:
            if name in found:
                raise SrmpFault(name, f"there are two <{name}> where one is allowed", spec=spec(section))
            found[name] = child if len(child) else child.text or ""
    return found


def _text(found: Fields, name: str, section: str) -> str:
    """The text of an element that must be there."""
    text = found.get(name)
    if isinstance(text, str):
        return text
    why = f"there is no <{name}>" if text is None else f"<{name}> holds elements where text belongs"
    raise SrmpFault(name, why, spec=spec(section))


def _name(found: Fields, name: str, section: str) -> str:
    """A URL or another name, without the white space around it."""
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


def _read_path(path: Element) -> tuple[str, str, str, str]:
    found = _children(path, _PATH, "2.2.4")
    action = _text(found, "action", "2.2.4.1")
    label = action.lstrip(SPACE)
    if len(label) > LABEL_LIMIT + len(LABEL) and label.startswith(LABEL):
        raise SrmpFault(
            "action", f"a label in <action> has at most {LABEL_LIMIT} characters", spec=spec("2.2.4.1")
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
        via = _name(_children(found["rev"], _REV, "2.2.4.4"), "via", "2.2.4.4")
    return action, to, identifier, via


# -- SRMP's own blocks, 2.2.5


def _read_properties(properties: Element) -> tuple[int, int | None]:
    found = _children(properties, _PROPERTIES, "2.2.5.1")
    expires_at = moment(_text(found, "expiresAt", "2.2.5.1.1"), "expiresAt", "2.2.5.1.1")
    if "sentAt" not in found:
        return expires_at, None
    sent_at = moment(_text(found, "sentAt", "2.2.5.1.2"), "sentAt", "2.2.5.1.2")
    if sent_at > FOREVER:
        raise SrmpFault("sentAt", "<sentAt> is later than the year 2106", spec=spec("2.2.5.1.2"))
    return expires_at, sent_at


def _read_services(services: Element | None) -> tuple[bool, str, CommitmentRequest | None]:
    if services is None:
        return False, "", None
    found = _children(services, _SERVICES, "2.2.5.2")
    delivery_to, commitment = "", None
    if "deliveryReceiptRequest" in found:
        request = _children(found["deliveryReceiptRequest"], _REQUEST, "2.2.5.2.2")
        delivery_to = _url(request, "sendTo", "2.2.5.2.2")
    if "commitmentReceiptRequest" in found:
        request = _children(found["commitmentReceiptRequest"], _REQUEST, "2.2.5.2.3")
        commitment = CommitmentRequest(
            send_to=_url(request, "sendTo", "2.2.5.2.3"),
            positive="positiveOnly" in request,
            negative="negativeOnly" in request,
        )
    return "durable" in found, delivery_to, commitment


def _read_stream(stream: Element) -> StreamPlace:
    found = _children(stream, _STREAM, "2.2.5.3")
    identifier = _text(found, "streamId", "2.2.5.3.1").strip(SPACE)
    sender, value = stream_id(identifier, "2.2.5.3.1")
    current = number(_text(found, "current", "2.2.5.3.2"), "current", "2.2.5.3.2", FOREVER)
    if not current:
        raise SrmpFault("current", "<current> is 1 in the first message of a stream", spec=spec("2.2.5.3.2"))
    previous = current - 1  # SR-136
    if "previous" in found:
        previous = number(_text(found, "previous", "2.2.5.3.3"), "previous", "2.2.5.3.3", FOREVER)
        if previous >= current:
            raise SrmpFault("previous", "<previous> is smaller than <current>", spec=spec("2.2.5.3.3"))
    receipts_to = ""
    if ("start" in found) is not (current == 1):  # SR-075, SR-076
        raise SrmpFault(
            "start", "the first message of a stream has <start>, and no other has", spec=spec("2.2.5.3.4")
        )
    if "start" in found:
        start = _children(found["start"], _START, "2.2.5.3.4")
        receipts_to = _url(start, "sendReceiptsTo", "2.2.5.3.4")
    return StreamPlace(
        identifier=identifier,
        sender=sender,
        number=value,
        current=current,
        previous=previous,
        receipts_to=receipts_to,
    )


def _read_delivery(block: Element | None) -> DeliveryReceipt | None:
    if block is None:
        return None
    found = _children(block, _DELIVERY, "2.2.5.4")
    return DeliveryReceipt(
        received_at=moment(_text(found, "receivedAt", "2.2.5.4"), "receivedAt", "2.2.5.4"),
        id=_text(found, "id", "2.2.5.4").strip(SPACE),
    )


def _read_commitment(block: Element | None) -> CommitmentReceipt | None:
    if block is None:
        return None
    found = _children(block, _COMMITMENT, "2.2.5.5")
    decision = _text(found, "decision", "2.2.5.5").strip(SPACE)
    if decision not in ("positive", "negative"):
        raise SrmpFault("decision", f"a decision is not {decision[:40]!r}", spec=spec("2.2.5.5"))
    return CommitmentReceipt(
        decided_at=moment(_text(found, "decidedAt", "2.2.5.5"), "decidedAt", "2.2.5.5"),
        positive=decision == "positive",
        id=_text(found, "id", "2.2.5.5").strip(SPACE),
    )


def _read_stream_receipt(block: Element | None) -> StreamReceipt | None:
    if block is None:
        return None
    found = _children(block, _STREAM_RECEIPT, "2.2.5.6")
    identifier = _text(found, "streamId", "2.2.5.6").strip(SPACE)
    stream_id(identifier, "2.2.5.6")
    return StreamReceipt(
        identifier=identifier,
        last=number(_text(found, "lastOrdinal", "2.2.5.6"), "lastOrdinal", "2.2.5.6"),
    )


# -- Msmq, 2.2.6


def _read_msmq(block: Element) -> Msmq:
    found = _children(block, _MSMQ, "2.2.6")
    eod = _children(found.get("Eod", ""), _EOD, "2.2.6.11")
    provider_type, provider_name = None, ""
    if "Provider" in found:
        provider = _children(found["Provider"], _PROVIDER, "2.2.6.12")
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
        raise SrmpFault(name, f"<{name}> has one name or more", spec=spec(section))
    return names
