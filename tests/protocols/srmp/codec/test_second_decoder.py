"""An independent second decoder reads envelopes of the encoder with the intended content."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.srmp.codec.blocks import commitment_block, delivery_block, stream_receipt_block
from reliquary.protocols.srmp.codec.compound import compound
from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import (
    CommitmentReceipt,
    DeliveryReceipt,
    StreamPosition,
    StreamReceipt,
)
from reliquary.queueing.model.message import FOREVER, NO_GUID, NO_OBJECT, Acknowledgement, Delivery, Message
from tests.protocols.srmp.codec.strategies import places, sendable, urls, web_names
from tests.protocols.srmp.codec.vector import LARGEST, VECTORS
from tests.protocols.srmp.second_decoder import Said, Violation, second_decode

HASHES = {"md2": 0x8001, "md4": 0x8002, "md5": 0x8003, "sha1": 0x8004, "sha256": 0x800C, "sha512": 0x800E}
ARRIVAL = {Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_REACH_QUEUE}
POSITIVE = {Acknowledgement.POS_RECEIVE, Acknowledgement.FULL_RECEIVE}
NEGATIVE = {Acknowledgement.NEG_RECEIVE, Acknowledgement.NACK_RECEIVE, Acknowledgement.FULL_RECEIVE}
NO_END = 0x7FFFFFFF


def on_the_wire(name: str) -> str:
    """Return the URL of a format name, for the names of the strategies."""
    return name.removeprefix("DIRECT=") if name.startswith("DIRECT=http") else f"MSMQ:{name}"


def meant(message: Message, place: StreamPosition | None) -> Said:
    """Return what the envelope of a message must contain, by [MC-MQSRM] 2.2."""
    end = message.sent_time + message.time_to_reach_queue
    if message.time_to_reach_queue == FOREVER and message.sent_time < NO_END:
        end = NO_END
    expires = end
    if message.time_to_be_received != FOREVER:
        expires = message.sent_time + message.time_to_be_received
        expires += expires == end
    multicast = message.destination_queue.startswith("MULTICAST")
    wanted = set() if multicast or not message.administration_queue else set(message.acknowledgements)
    admin = on_the_wire(message.administration_queue)
    original = f"uuid:{message.correlation.uniquifier}@{message.correlation.lineage}"
    provided = message.authentication_provider_type != 1 or message.authentication_provider_name
    said: Said = {
        "action": f"MSMQ:{message.label}",
        "to": on_the_wire(message.destination_queue),
        "id": (message.identifier.uniquifier, message.identifier.lineage),
        "via": message.response_queue and on_the_wire(message.response_queue),
        "durable": place is not None or message.delivery is Delivery.RECOVERABLE,
        "delivery to": admin if wanted & ARRIVAL else None,
        "commitment to": admin if wanted & (POSITIVE | NEGATIVE) else None,
        "positiveOnly": bool(wanted & POSITIVE),
        "negativeOnly": bool(wanted & NEGATIVE),
        "Journal": message.positive_journaling,
        "DeadLetter": message.negative_journaling,
        "Correlation": None
        if message.correlation == NO_OBJECT
        else (message.correlation.lineage, message.correlation.uniquifier),
        "Trace": message.tracing_requested,
        "ConnectorType": None if message.connector_type == NO_GUID else message.connector_type,
        "App": message.application_tag,
        "First": message.first_in_transaction,
        "Last": message.last_in_transaction,
        "ConnectorId": None if message.connector_manager == NO_GUID else message.connector_manager,
        "Provider": (message.authentication_provider_type, message.authentication_provider_name)
        if provided
        else None,
        "DestinationMqf": [on_the_wire(name) for name in message.destination_queues],
        "AdminMqf": [on_the_wire(name) for name in message.administration_queues],
        "ResponseMqf": [on_the_wire(name) for name in message.response_queues],
        "Body": message.body,
        "Extension": message.extension,
        "body of": message.source_machine if message.body else None,
        "extension of": message.source_machine if message.extension else None,
    }
    if message.message_class == 2:
        said |= {"receivedAt": message.sent_time, "delivered": original}
    elif message.message_class >= 0x4000:
        decision = "positive" if message.message_class == 0x4000 else "negative"
        said |= {"decidedAt": message.sent_time, "decision": decision, "decided": original}
    if place is not None:
        said |= {
            "streamId": (place.sender, place.number),
            "current": place.current,
            "previous": place.previous,
            "sendReceiptsTo": place.receipts_to,
        }
    always = {
        "Class": message.message_class,
        "Priority": 0 if place is not None else message.priority,
        "BodyType": message.body_type,
        "HashAlgorithm": HASHES[message.hash_algorithm.value],
        "SourceQmGuid": message.source_machine,
        "TTrq": end,
        "expiresAt": expires,
        "sentAt": message.sent_time,
    }
    kept = {"receivedAt", "decidedAt"} & set(said)
    if place is not None and place.current > 1:
        kept.add("previous")
    return {key: value for key, value in said.items() if value or key in kept} | always


def sent(message: Message, place: StreamPosition | None, windows: bool) -> tuple[str, bytes]:
    envelope = encode(message, place)
    parts = compound(envelope, message.body, message.extension, message.source_machine, 7, windows=windows)
    return parts.content_type, parts.body


@pytest.mark.spec("SR-021", "SR-025", "SR-026", "SR-030", "SR-031", "SR-032", "SR-035", "SR-036", "SR-040")
@pytest.mark.spec("SR-047", "SR-048", "SR-272", "SR-273", "SR-275", "SR-276", "SR-277", "SR-278", "SR-282")
@pytest.mark.spec("SR-283", "SR-284", "SR-285", "SR-289", "SR-020")
@settings(max_examples=100)
@given(sendable(), st.booleans())
def test_a_message_says_what_was_meant(message: Message, windows: bool) -> None:
    assert second_decode(*sent(message, None, windows)) == meant(message, None)


@pytest.mark.spec("SR-053", "SR-067", "SR-068", "SR-073", "SR-074", "SR-075", "SR-076", "SR-077", "SR-279")
@pytest.mark.spec("SR-280")
@settings(max_examples=60)
@given(web_names.flatmap(lambda name: sendable(destination=name)), places(), st.booleans())
def test_a_message_of_a_stream_says_what_was_meant(
    message: Message, place: StreamPosition, windows: bool
) -> None:
    assert second_decode(*sent(message, place, windows)) == meant(message, place)


_receipts = st.tuples(
    st.none()
    | st.builds(DeliveryReceipt, received_at=st.integers(0, FOREVER), id=st.text("abc<&", max_size=9)),
    st.none()
    | st.builds(
        CommitmentReceipt,
        decided_at=st.integers(0, FOREVER),
        positive=st.booleans(),
        id=st.text("abc<&", max_size=9),
    ),
    st.none()
    | places().map(lambda place: (place, StreamReceipt(identifier=place.identifier, last=place.current))),
)


@pytest.mark.spec("SR-022", "SR-079", "SR-080", "SR-083", "SR-084", "SR-085", "SR-087", "SR-088")
@given(_receipts, urls)
def test_receipt_blocks_say_what_was_meant(
    receipts: tuple[
        DeliveryReceipt | None, CommitmentReceipt | None, tuple[StreamPosition, StreamReceipt] | None
    ],
    url: str,
) -> None:
    delivery, commitment, stream = receipts
    blocks = ""
    expected: Said = {}
    if stream is not None:
        blocks += stream_receipt_block(stream[1])
        expected |= {"receipt of": (stream[0].sender, stream[0].number), "lastOrdinal": stream[1].last}
    if delivery is not None:
        blocks += delivery_block(delivery)
        expected |= {"receivedAt": delivery.received_at, "delivered": delivery.id}
    if commitment is not None:
        blocks += commitment_block(commitment)
        word = "positive" if commitment.positive else "negative"
        expected |= {"decidedAt": commitment.decided_at, "decision": word, "decided": commitment.id}
    message = Message.of(destination_queue=f"DIRECT={url}", message_class=255, soap_header=blocks)
    said = second_decode(*sent(message, None, windows=False))
    assert expected.items() <= said.items()
    assert "Body" not in said


@settings(max_examples=60)
@given(sendable(), st.none() | places(), st.booleans())
def test_the_decoders_read_equal_messages(
    message: Message, place: StreamPosition | None, windows: bool
) -> None:
    """Our decoder's result, written again, is read to an equal message by the second one: nothing
    was lost.
    """
    if message.destination_queue.startswith("MULTICAST"):
        place = None
    if place is None or message.message_class in (2, *range(0x4000, 0x10000)):
        message = message.changed(body=b"", extension=b"")
    first = sent(message, place, windows)
    arrived = decode(*first, largest=LARGEST)
    again = message_of(arrived).changed(soap_envelope="")
    assert second_decode(*sent(again, arrived.envelope.stream, windows)) == second_decode(*first)


@pytest.mark.parametrize("name", [name for name in VECTORS if name not in {"published_4_5"}])
def test_the_composed_messages_pass_both(name: str) -> None:
    vector = VECTORS[name]
    said = second_decode(vector.content_type, vector.body)
    envelope = decode(vector.content_type, vector.body, largest=LARGEST).envelope
    assert (said["to"], said["sentAt"]) == (envelope.to, envelope.sent_at)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"<durable/>", b"<durabel/>"),
        (b"<Priority>0", b"<Priority>9"),
        (b"<current>1", b"<current>2"),
        (b"<TTrq>20130805T120000</TTrq>", b"<App>001234567890123</App >"),
        (b"Content-Length: 12", b"Content-Length: 99"),
        (b'Understand="1"><streamId', b'Understand="0"><streamId'),
    ],
)
def test_the_second_decoder_refuses_what_the_grammar_forbids(old: bytes, new: bytes) -> None:
    vector = VECTORS["c3_min"]
    assert second_decode(vector.content_type, vector.body)["current"] == 1
    assert vector.body.count(old) == 1
    with pytest.raises(Violation):
        second_decode(vector.content_type, vector.body.replace(old, new.ljust(len(old)), 1))
