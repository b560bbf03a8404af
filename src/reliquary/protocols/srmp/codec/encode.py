"""Writes envelopes as text, [MC-MQSRM] 3.1.7.2.4: one line without white space, in the printed order.

`encode` writes a message, `write` an envelope: an envelope that `decode_envelope` read from this form
is written to equal bytes.
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.protocols.srmp.codec.blocks import commitment_block, delivery_block, stream_receipt_block
from reliquary.protocols.srmp.codec.canonical import BEGIN, END, MSMQ, PROPERTIES, SERVICES
from reliquary.protocols.srmp.codec.elements import OURS
from reliquary.protocols.srmp.codec.lexical import correlation_text, guid_text, moment_text
from reliquary.protocols.srmp.codec.messages import envelope_of
from reliquary.protocols.srmp.codec.values import Envelope, Msmq, StreamPosition
from reliquary.queueing.model.message import USUAL, Message
from reliquary.wire.xml_text import escaped

_PATH: Final = f"{BEGIN}<action>"
_PROPERTIES: Final = f"{PROPERTIES}<expiresAt>"
_MSMQ: Final = f"{MSMQ}<Class>"


def encode(
    message: Message,
    place: StreamPosition | None = None,
    *,
    signature: str = "",
    capital_stream: bool = False,
    here: str = "",
) -> str:
    """Return the envelope of a message; `here`, as `http://host`, makes URLs of local path names."""
    envelope = envelope_of(message, place, here=here)
    if signature:
        envelope = msgspec.structs.replace(envelope, signature=signature)
    return write(envelope, blocks=(message.more or USUAL).soap_header, capital_stream=capital_stream)


def write(envelope: Envelope, *, blocks: str = "", capital_stream: bool = False) -> str:
    """Return the text of an envelope; `blocks` are additional ones, in front of `Msmq`."""
    parts = [_PATH, escaped(envelope.action), "</action><to>", escaped(envelope.to)]
    parts += ("</to><id>", escaped(envelope.id), "</id>")
    if envelope.via:
        parts += ("<rev><via>", escaped(envelope.via), "</via></rev>")
    parts += (_PROPERTIES, moment_text(envelope.expires_at), "</expiresAt>")
    if envelope.sent_at is not None:
        parts += ("<sentAt>", moment_text(envelope.sent_at), "</sentAt>")
    parts.append("</properties>")
    if envelope.durable or envelope.delivery_to or envelope.commitment is not None:
        parts.append(_services(envelope))
    if envelope.stream is not None:
        parts.append(_stream(envelope.stream, "Stream" if capital_stream else "stream"))
    if envelope.stream_receipt is not None:
        parts.append(stream_receipt_block(envelope.stream_receipt))
    if envelope.delivery_receipt is not None:
        parts.append(delivery_block(envelope.delivery_receipt))
    if envelope.commitment_receipt is not None:
        parts.append(commitment_block(envelope.commitment_receipt))
    parts.append(blocks)
    if envelope.msmq is not None:
        _msmq(envelope.msmq, parts)
    parts += (envelope.signature, END)
    return "".join(parts)


def _services(envelope: Envelope) -> str:
    text = SERVICES
    if envelope.durable:
        text += "<durable/>"
    if envelope.delivery_to:
        url = escaped(envelope.delivery_to)
        text += f"<deliveryReceiptRequest><sendTo>{url}</sendTo></deliveryReceiptRequest>"
    if (commitment := envelope.commitment) is not None:
        text += f"<commitmentReceiptRequest><sendTo>{escaped(commitment.send_to)}</sendTo>"
        text += "<positiveOnly/>" if commitment.positive else ""
        text += "<negativeOnly/>" if commitment.negative else ""
        text += "</commitmentReceiptRequest>"
    return text + "</services>"


def _stream(place: StreamPosition, name: str) -> str:
    # DEPARTS from 3.1.7.2.4 (SR-280): only the first message goes without <previous>, because a later one
    # that follows none of its stream would be read as following the one before it.
    previous = f"<previous>{place.previous}</previous>" if place.current > 1 else ""
    start = ""
    if place.receipts_to:
        start = f"<start><sendReceiptsTo>{escaped(place.receipts_to)}</sendReceiptsTo></start>"
    block = (
        f'<{name} se:mustUnderstand="1"><streamId>{escaped(place.identifier)}</streamId>'
        f"<current>{place.current}</current>{previous}{start}</{name}>"
    )
    return block + _unconfirmed(place.unconfirmed_to) if place.unconfirmed_to else block


def _unconfirmed(url: str) -> str:
    """Return a block of Reliquary, which other managers ignore (SOAP 1.1, 4.2.3)."""
    return f'<unconfirmed xmlns="{OURS}"><sendReceiptsTo>{escaped(url)}</sendReceiptsTo></unconfirmed>'


def _msmq(msmq: Msmq, parts: list[str]) -> None:
    parts.append(f"{_MSMQ}{int(msmq.message_class)}</Class><Priority>{msmq.priority}</Priority>")
    if msmq.journal:
        parts.append("<Journal/>")
    if msmq.dead_letter:
        parts.append("<DeadLetter/>")
    if msmq.correlation is not None:
        parts.append(f"<Correlation>{correlation_text(msmq.correlation)}</Correlation>")
    if msmq.trace:
        parts.append("<Trace/>")
    if msmq.connector_type is not None:
        parts.append(f"<ConnectorType>{guid_text(msmq.connector_type)}</ConnectorType>")
    if msmq.application_tag is not None:
        parts.append(f"<App>{msmq.application_tag}</App>")
    parts.append(f"<BodyType>{msmq.body_type}</BodyType>")
    if msmq.hash_algorithm is not None:
        parts.append(f"<HashAlgorithm>{msmq.hash_algorithm}</HashAlgorithm>")
    if msmq.first or msmq.last or msmq.connector_manager is not None:
        _eod(msmq, parts)
    if msmq.provider_type is not None:
        name = escaped(msmq.provider_name)
        # DEPARTS from 3.1.7.2.4 (SR-284): type and name stand there together, as 2.2.6.12 demands.
        parts.append(f"<Provider><Type>{msmq.provider_type}</Type><Name>{name}</Name></Provider>")
    parts.append(f"<SourceQmGuid>{guid_text(msmq.source)}</SourceQmGuid>")
    if msmq.destinations:
        parts.append(f"<DestinationMqf>{_listed(msmq.destinations)}</DestinationMqf>")
    if msmq.administration_queues:
        parts.append(f"<AdminMqf>{_listed(msmq.administration_queues)}</AdminMqf>")
    if msmq.response_queues:
        parts.append(f"<ResponseMqf>{_listed(msmq.response_queues)}</ResponseMqf>")
    parts.append(f"<TTrq>{moment_text(msmq.reach_by)}</TTrq></Msmq>")


def _eod(msmq: Msmq, parts: list[str]) -> None:
    first = "<First/>" if msmq.first else ""
    last = "<Last/>" if msmq.last else ""
    connector = ""
    if msmq.connector_manager is not None:
        connector = f"<ConnectorId>{guid_text(msmq.connector_manager)}</ConnectorId>"
    parts.append(f"<Eod>{first}{last}{connector}</Eod>")


def _listed(names: tuple[str, ...]) -> str:
    """Return every name followed by a space (SR-285)."""
    return escaped(" ".join(names)) + " "
