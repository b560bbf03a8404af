"""Every element of section 2.2 is read; what is missing, doubled or malformed is refused by its name."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.srmp.codec.decode import decode_envelope
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.values import (
    CommitmentReceipt,
    CommitmentRequest,
    DeliveryReceipt,
    StreamPosition,
    StreamReceipt,
)
from reliquary.queueing.model.message import NO_GUID, NO_OBJECT, ObjectId
from tests.protocols.srmp.codec.envelopes import (
    COMMITMENT,
    DELIVERY,
    FINAL,
    FIRST,
    FOURTH,
    FULL,
    PLAIN,
    SMALL,
    STREAM_RECEIPT,
    changed,
    doubled,
    element,
    without,
)
from tests.protocols.srmp.codec.vector import ALPHA, BETA, STREAM, VECTORS

SENT = 1_375_358_400
ADMIN = "http://alpha.example/msmq/private$/admin"
STREAM_ID = f"uid:{ALPHA}\\{STREAM}"


def refused(envelope: str) -> SrmpFault:
    with pytest.raises(SrmpFault) as caught:
        decode_envelope(envelope)
    assert caught.value.status == 400
    return caught.value


# -- every element


@pytest.mark.spec("SR-015", "SR-016", "SR-023", "SR-024", "SR-029", "SR-033", "SR-037", "SR-039", "SR-044")
def test_path_and_properties_are_read() -> None:
    envelope = decode_envelope(FULL)
    assert envelope.action == "MSMQ:order 4711"
    assert envelope.to == "http://beta.example/msmq/private$/orders"
    assert envelope.id == f"uuid:42@{ALPHA}"
    assert envelope.identifier == ObjectId(ALPHA, 42)
    assert envelope.via == "http://alpha.example/msmq/private$/resp"
    assert (envelope.sent_at, envelope.expires_at) == (SENT, SENT + 345_600)
    assert not envelope.durable
    assert not envelope.signature


@pytest.mark.srmp("F-33")
@pytest.mark.spec("SR-051", "SR-052", "SR-057", "SR-058", "SR-061", "SR-171")
def test_services_are_read() -> None:
    envelope = decode_envelope(FULL)
    assert envelope.delivery_to == ADMIN
    assert envelope.commitment == CommitmentRequest(send_to=ADMIN, positive=True, negative=True)
    assert decode_envelope(PLAIN).durable
    only = decode_envelope(without(FULL, "positiveOnly")).commitment
    assert only == CommitmentRequest(send_to=ADMIN, negative=True)
    neither = decode_envelope(without(without(FULL, "positiveOnly"), "negativeOnly")).commitment
    assert neither == CommitmentRequest(send_to=ADMIN)  # F-33


@pytest.mark.spec("SR-066", "SR-071", "SR-072", "SR-073", "SR-077")
def test_the_first_message_of_a_stream_is_read() -> None:
    assert decode_envelope(FIRST).stream == StreamPosition(
        identifier=STREAM_ID,
        sender=ALPHA,
        number=STREAM,
        current=1,
        previous=0,
        receipts_to="http://alpha.example/MSMQ/PRIVATE$/order_queue$",
    )


@pytest.mark.spec("SR-074", "SR-136")
def test_a_later_message_says_which_one_it_follows() -> None:
    stream = decode_envelope(FOURTH).stream
    assert stream
    assert (stream.current, stream.previous, stream.receipts_to) == (4, 2, "")
    unsaid = decode_envelope(without(FOURTH, "previous")).stream
    assert unsaid
    assert unsaid.previous == 3


@pytest.mark.spec("SR-079", "SR-080", "SR-083", "SR-084", "SR-085", "SR-087", "SR-088")
def test_receipts_are_read() -> None:
    original = f"uuid:43@{ALPHA}"
    assert decode_envelope(DELIVERY).delivery_receipt == DeliveryReceipt(received_at=SENT + 2, id=original)
    assert decode_envelope(COMMITMENT).commitment_receipt == CommitmentReceipt(
        decided_at=SENT + 3, positive=True, id=original
    )
    assert decode_envelope(STREAM_RECEIPT).stream_receipt == StreamReceipt(identifier=STREAM_ID, last=2)
    final = decode_envelope(FINAL)
    assert final.stream_receipt == StreamReceipt(identifier=STREAM_ID, last=4)
    assert final.commitment_receipt
    assert not final.commitment_receipt.positive


@pytest.mark.spec(
    "SR-090", "SR-091", "SR-092", "SR-093", "SR-094", "SR-095", "SR-096", "SR-097", "SR-098", "SR-099"
)
@pytest.mark.spec("SR-100", "SR-101", "SR-102", "SR-103", "SR-104", "SR-105", "SR-106", "SR-107")
def test_msmq_is_read() -> None:
    msmq = decode_envelope(FOURTH).msmq
    assert msmq
    assert (msmq.message_class, msmq.priority, msmq.body_type, msmq.source) == (0, 0, 8, ALPHA)
    assert msmq.journal
    assert msmq.dead_letter
    assert msmq.trace
    assert msmq.correlation == ObjectId(ALPHA, 41)
    assert msmq.connector_type == UUID("fd0f2c55-7a0e-4a3f-9a0b-5d1f7e6c2b90")
    assert (msmq.application_tag, msmq.hash_algorithm) == (36, 32772)
    assert msmq.first
    assert msmq.last
    assert msmq.connector_manager == UUID("0d9a5c1e-64a2-4a5b-8c33-2b7f9e0a1d44")
    assert (msmq.provider_type, msmq.provider_name) == (1, "Microsoft Base Cryptographic Provider, v1.0")
    other = "http://gamma.example/msmq/private$/"
    assert msmq.destinations == ("http://beta.example/msmq/private$/torders", f"{other}orders")
    assert msmq.administration_queues == (ADMIN, f"{other}admin")
    assert msmq.response_queues == ("http://alpha.example/msmq/private$/resp", f"{other}resp")
    assert msmq.reach_by == SENT + 345_600


@pytest.mark.spec("SR-089")
def test_what_msmq_does_not_say_is_not_there() -> None:
    msmq = decode_envelope(PLAIN).msmq
    assert msmq
    assert (msmq.message_class, msmq.priority, msmq.body_type) == (0, 3, 0)
    assert not any((msmq.journal, msmq.dead_letter, msmq.trace, msmq.first, msmq.last))
    nothing = (msmq.correlation, msmq.connector_type, msmq.application_tag, msmq.hash_algorithm)
    assert nothing == (None, None, None, None)
    assert (msmq.provider_type, msmq.connector_manager) == (None, None)
    assert (msmq.destinations, msmq.administration_queues, msmq.response_queues) == ((), (), ())
    assert decode_envelope(DELIVERY).msmq


# -- what is accepted


@pytest.mark.srmp("F-21")
@pytest.mark.spec("SR-034", "SR-167")
@pytest.mark.parametrize("text", ["uuid:1@00000000-0000-0000-0000-000000000008", "anything", ""])
def test_an_id_without_msmq_says_nothing(text: str) -> None:
    small = changed(SMALL, ("uuid:1@00000000-0000-0000-0000-000000000000", text))
    assert decode_envelope(small).identifier == ObjectId(NO_GUID, 1)


@pytest.mark.srmp("F-23")
@pytest.mark.spec("SR-036")
def test_the_source_manager_wins_over_the_guid_in_id() -> None:
    envelope = changed(PLAIN, (f"uuid:43@{ALPHA}", f"uuid:43@{BETA}"))
    assert decode_envelope(envelope).identifier == ObjectId(ALPHA, 43)


@pytest.mark.srmp("F-25")
@pytest.mark.spec("SR-041")
@pytest.mark.parametrize("empty", ["<via/>", "<via></via>", "<via> </via>"])
def test_an_empty_via_names_no_address(empty: str) -> None:
    assert decode_envelope(changed(FULL, (element(FULL, "via"), empty))).via == ""


@pytest.mark.srmp("F-27")
@pytest.mark.spec("SR-042", "SR-050")
def test_elements_that_mean_nothing_are_passed_over() -> None:
    envelope = changed(
        FULL,
        (
            "<action>",
            "<fwd><via>x</via></fwd><from>y</from><relatesTo>z</relatesTo><fault><code/></fault><action>",
        ),
        ("<sentAt>", "<inReplyTo>x</inReplyTo><sentAt>"),
        ("<Class>", "<New>1</New><Class>"),
    )
    assert decode_envelope(envelope) == decode_envelope(FULL)


@pytest.mark.srmp("F-74")
def test_the_windows_spelling_of_stream_needs_no_durable() -> None:
    capital = changed(FIRST, ("<stream ", "<Stream "), ("</stream>", "</Stream>"))
    assert decode_envelope(capital) == decode_envelope(FIRST)
    without_durable = without(capital, "services")
    assert decode_envelope(without_durable).stream == decode_envelope(FIRST).stream
    published = changed(
        without_durable,
        ("</start>", "<expiresAt>20070620T165959</expiresAt></start><streamReceiptRequest/><end/>"),
    )
    assert decode_envelope(published).stream == decode_envelope(FIRST).stream  # F-74


@pytest.mark.srmp("F-39")
def test_a_stream_of_another_manager_than_the_source_is_accepted() -> None:
    stream = decode_envelope(changed(FIRST, (STREAM_ID, f"uid:{BETA}\\{STREAM}"))).stream
    assert stream
    assert stream.sender == BETA  # F-39


@pytest.mark.srmp("F-47")
def test_a_short_correlation_ends_with_zeros() -> None:
    msmq = decode_envelope(changed(FULL, ("bgwfWwo9Hkyadw4vbI1LECkAAAA=", "bgwfWwo9Hkyadw4vbI1LEA=="))).msmq
    assert msmq
    assert msmq.correlation == ObjectId(ALPHA, 0)
    zeros = decode_envelope(changed(FULL, ("bgwfWwo9Hkyadw4vbI1LECkAAAA=", ""))).msmq
    assert zeros
    assert zeros.correlation == NO_OBJECT


@pytest.mark.spec("SR-109")
def test_the_signature_is_kept_as_it_stands_there() -> None:
    text = VECTORS["c7_max"].envelope
    assert decode_envelope(text).signature == element(text, "Signature")


# -- what is refused

MUST = ' se:mustUnderstand="1"'

REFUSED = [
    pytest.param(without(PLAIN, "path"), "path", id="F-11 no path"),
    pytest.param(without(PLAIN, "properties"), "properties", id="F-11 no properties"),
    pytest.param(changed(PLAIN, (f'/rp/"{MUST}', '/rp/"')), "path", id="F-12 path"),
    pytest.param(changed(PLAIN, (f"<properties{MUST}", "<properties")), "properties", id="F-12 properties"),
    pytest.param(changed(PLAIN, (f"<services{MUST}", "<services")), "services", id="F-12 services"),
    pytest.param(changed(FIRST, (f"<stream{MUST}", "<stream")), "stream", id="F-12 stream"),
    pytest.param(changed(FIRST, (f"<stream{MUST}", '<stream mustUnderstand="1"')), "stream", id="F-12 bare"),
    pytest.param(changed(PLAIN, ('="1"', '="0"')), "path", id="F-12 zero"),
    pytest.param(without(PLAIN, "action"), "action", id="F-15 no action"),
    pytest.param(without(PLAIN, "to"), "to", id="F-15 no to"),
    pytest.param(without(PLAIN, "id"), "id", id="F-15 no id"),
    *(
        pytest.param(
            changed(PLAIN, ("http://beta.example/msmq/private$/orders", to)), "to", id=f"F-17 {to!r}"
        )
        for to in (
            "",
            "ftp://beta/msmq/q",
            "beta",
            "http://",
            "http:///msmq/q",
            "http://beta",
            "MSMQ:DIRECT=OS:beta\\q",
            "MSMQ:MULTICAST=10.0.0.1:80",
            "MSMQ:MULTICAST=234.1.1.1",
            "MSMQ:MULTICAST=234.1.1.1:99999",
            "DIRECT=http://beta/msmq/q",
            "http://beta/msmq/q,DIRECT=http://gamma/msmq/q",
            "http://beta/msmq/a+b",
            f"http://beta/{'x' * 2048}",
        )
    ),
    *(
        pytest.param(changed(PLAIN, (f"uuid:43@{ALPHA}", text)), "id", id=f"F-20 {text}")
        for text in (
            "",
            "43",
            f"uuid:@{ALPHA}",
            f"uuid:-1@{ALPHA}",
            "uuid:1@x",
            f"1@{ALPHA}",
            f"uuid:1@{{{ALPHA}}}",
        )
    ),
    pytest.param(changed(PLAIN, ("uuid:43@", "uuid:4294967296@")), "id", id="F-22"),
    pytest.param(changed(FULL, (element(FULL, "via"), "")), "via", id="F-24 none"),
    pytest.param(doubled(FULL, "via"), "via", id="F-24 two"),
    pytest.param(without(PLAIN, "expiresAt"), "expiresAt", id="F-28 none"),
    *(
        pytest.param(
            changed(PLAIN, ("<expiresAt>20130805T120000", f"<expiresAt>{date}")),
            "expiresAt",
            id=f"F-28 {date}",
        )
        for date in (
            "",
            "20130231T120000",
            "20130805T240000",
            "20130805T126000",
            "2013-08-05T12:00:00",
            "20130805T120000Z",
            "20130805120000",
            "00000101T000000",
            "19691231T235959",
            "\u0662\u0660\u0661\u0663080\u0665T120000",
        )
    ),
    pytest.param(changed(PLAIN, ("<sentAt>20130801T120000", "<sentAt>yesterday")), "sentAt", id="F-29"),
    pytest.param(changed(PLAIN, ("<sentAt>2013", "<sentAt>9013")), "sentAt", id="F-29 far"),
    pytest.param(without(FULL, "sendTo"), "sendTo", id="F-32 delivery, none"),
    pytest.param(
        FULL.replace(f"<sendTo>{ADMIN}</sendTo><positiveOnly/>", "<positiveOnly/>"), "sendTo", id="F-32 none"
    ),
    pytest.param(
        changed(FULL, (f"<sendTo>{ADMIN}", "<sendTo>MSMQ:DIRECT=OS:a\\b")), "sendTo", id="F-32 scheme"
    ),
    pytest.param(without(FIRST, "durable"), "durable", id="F-34"),
    pytest.param(without(FIRST, "Msmq"), "Msmq", id="F-35"),
    *(
        pytest.param(changed(FIRST, (STREAM_ID, text)), "streamId", id=f"F-36 {text}")
        for text in ("", "uid:x\\1", f"uid:{ALPHA}", f"{ALPHA}\\1", f"uid:{ALPHA}\\", f"uid:{ALPHA}\\{2**64}")
    ),
    pytest.param(without(FIRST, "streamId"), "streamId", id="F-36 no streamId"),
    pytest.param(without(FIRST, "current"), "current", id="F-36 no current"),
    *(
        pytest.param(
            changed(FOURTH, ("<current>4", f"<current>{text}")), "current", id=f"F-36 current {text!r}"
        )
        for text in ("", "0", "-1", "+4", "0x4", "4.0", "4294967296", "four")
    ),
    pytest.param(changed(FOURTH, ("<previous>2", "<previous>x")), "previous", id="F-36 previous"),
    pytest.param(without(FIRST, "start"), "start", id="F-37 none"),
    pytest.param(changed(FIRST, ("<current>1", "<current>2")), "start", id="F-37 later"),
    pytest.param(without(FIRST, "sendReceiptsTo"), "sendReceiptsTo", id="F-37 no URL"),
    pytest.param(
        changed(FIRST, ("http://alpha.example/MSMQ/PRIVATE$/order_queue$", "order_queue$")),
        "sendReceiptsTo",
        id="F-37 bad URL",
    ),
    pytest.param(changed(FOURTH, ("<previous>2", "<previous>4")), "previous", id="F-38"),
    *(
        pytest.param(without(PLAIN, name), name, id=f"F-45 {name}")
        for name in ("Class", "Priority", "BodyType", "SourceQmGuid", "TTrq")
    ),
    pytest.param(changed(PLAIN, ("<Priority>3", "<Priority>8")), "Priority", id="F-46 Priority"),
    pytest.param(changed(PLAIN, ("<Class>0", "<Class>65536")), "Class", id="F-46 Class"),
    pytest.param(changed(FULL, ("<App>36", "<App>4294967296")), "App", id="F-46 App"),
    pytest.param(changed(FULL, ("<BodyType>8", "<BodyType>4294967296")), "BodyType", id="F-46 BodyType"),
    pytest.param(
        changed(FULL, ("<HashAlgorithm>32772", "<HashAlgorithm>sha1")), "HashAlgorithm", id="SR-100"
    ),
    pytest.param(changed(PLAIN, ("<TTrq>2013", "<TTrq>13")), "TTrq", id="SR-107"),
    pytest.param(changed(FULL, ("bgwfWwo9Hkyadw4vbI1LECkAAAA=", "bg*=")), "Correlation", id="F-47 no base64"),
    pytest.param(changed(FULL, ("bgwfWwo9Hkyadw4vbI1LECkAAAA=", "é")), "Correlation", id="F-47 no ASCII"),
    pytest.param(changed(FULL, ("bgwfWwo9Hkyadw4vbI1LECkAAAA=", "A" * 28)), "Correlation", id="F-47 long"),
    pytest.param(changed(FULL, ("<ConnectorType>fd", "<ConnectorType>{fd")), "ConnectorType", id="F-48 type"),
    pytest.param(changed(FULL, ("<SourceQmGuid>5b", "<SourceQmGuid>xx")), "SourceQmGuid", id="F-48 source"),
    pytest.param(changed(FOURTH, ("<ConnectorId>0d", "<ConnectorId>")), "ConnectorId", id="F-48 connector"),
    pytest.param(without(FULL, "Type"), "Type", id="F-49 Type"),
    pytest.param(without(FULL, "Name"), "Name", id="F-49 Name"),
    *(
        pytest.param(changed(FULL, (element(FULL, name), f"<{name}> </{name}>")), name, id=f"F-50 {name}")
        for name in ("DestinationMqf", "AdminMqf", "ResponseMqf")
    ),
    pytest.param(without(DELIVERY, "receivedAt"), "receivedAt", id="F-54 receivedAt"),
    pytest.param(
        DELIVERY.replace(f"<id>uuid:43@{ALPHA}</id></deliveryReceipt>", "</deliveryReceipt>"),
        "id",
        id="F-54 id",
    ),
    pytest.param(without(COMMITMENT, "decidedAt"), "decidedAt", id="F-54 decidedAt"),
    pytest.param(without(COMMITMENT, "decision"), "decision", id="F-54 decision"),
    pytest.param(changed(COMMITMENT, (">positive<", ">Positive<")), "decision", id="F-54 word"),
    pytest.param(
        COMMITMENT.replace(f"<id>uuid:43@{ALPHA}</id></commitmentReceipt>", "</commitmentReceipt>"),
        "id",
        id="F-54 commitment id",
    ),
    pytest.param(without(STREAM_RECEIPT, "streamId"), "streamId", id="F-54 streamId"),
    pytest.param(without(STREAM_RECEIPT, "lastOrdinal"), "lastOrdinal", id="F-54 lastOrdinal"),
    pytest.param(
        changed(STREAM_RECEIPT, ("<lastOrdinal>2", "<lastOrdinal>x")), "lastOrdinal", id="F-54 number"
    ),
    pytest.param(changed(PLAIN, ("<Class>0", "<Class><b/>0")), "Class", id="elements where text stands"),
    pytest.param(changed(PLAIN, ("MSMQ:</action>", f"MSMQ:{'x' * 250}</action>")), "action", id="long label"),
]


@pytest.mark.srmp("F-11", "F-12", "F-15", "F-17", "F-20", "F-22", "F-24", "F-28", "F-29", "F-32", "F-34")
@pytest.mark.srmp("F-35", "F-36", "F-37", "F-38", "F-45", "F-46", "F-47", "F-48", "F-49", "F-50", "F-54")
@pytest.mark.spec("SR-182", "SR-183", "SR-038", "SR-045", "SR-048", "SR-053", "SR-067", "SR-068", "SR-075")
@pytest.mark.spec("SR-076", "SR-035", "SR-030", "SR-031", "SR-032")
@pytest.mark.parametrize(("envelope", "name"), REFUSED)
def test_a_header_that_breaks_a_rule_is_refused_by_the_elements_name(envelope: str, name: str) -> None:
    fault = refused(envelope)
    assert fault.element == name
    assert name in fault.why
    assert fault.spec
