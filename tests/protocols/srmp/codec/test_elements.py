"""Blocks are known by namespace and name, in any order; what is known stands once."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.codec.decode import decode_envelope, parsed_blocks
from reliquary.protocols.srmp.codec.elements import NAMED_LIMIT
from reliquary.protocols.srmp.codec.faults import SrmpFault
from tests.protocols.srmp.codec.envelopes import (
    DELIVERY,
    FINAL,
    FIRST,
    FOURTH,
    FULL,
    PLAIN,
    SMALL,
    changed,
    doubled,
    element,
)
from tests.protocols.srmp.codec.vector import VECTORS


def refused(envelope: str) -> SrmpFault:
    with pytest.raises(SrmpFault) as caught:
        decode_envelope(envelope)
    assert caught.value.status == 400
    return caught.value


def test_blocks_hold_texts_and_elements_that_hold_texts() -> None:
    blocks = parsed_blocks(FIRST).blocks
    assert list(blocks) == ["path", "properties", "services", "stream", "Msmq"]
    assert blocks["services"] == {"durable": ""}
    assert blocks["stream"]["start"] == {"sendReceiptsTo": "http://alpha.example/MSMQ/PRIVATE$/order_queue$"}
    assert not parsed_blocks(FIRST).capital_stream
    assert parsed_blocks(VECTORS["c7_max"].envelope).signature.startswith("<Signature ")


@pytest.mark.spec("SR-043")
def test_any_order_and_any_prefix_is_accepted() -> None:
    path, properties = element(FULL, "path"), element(FULL, "properties")
    turned = FULL.replace(path, "").replace(properties, properties + path)
    services = element(FULL, "services")
    turned = turned.replace(services, "").replace("</se:Header>", f"{services}</se:Header>")
    rev = element(FULL, "rev")
    turned = turned.replace(rev, "").replace("<action>", f"{rev}<action>")
    assert turned != FULL
    assert decode_envelope(turned) == decode_envelope(FULL)
    prefixed = changed(
        SMALL,
        (
            '<path xmlns="http://schemas.xmlsoap.org/rp/"',
            '<rp:path xmlns:rp="http://schemas.xmlsoap.org/rp/"',
        ),
        ("</path>", "</rp:path>"),
        ("action>", "rp:action>"),
        ("to>", "rp:to>"),
        ("id>", "rp:id>"),
        ("</rp:to>", "</rp:to>"),
    )
    assert decode_envelope(prefixed) == decode_envelope(SMALL)


def test_white_space_between_elements_means_nothing() -> None:
    assert decode_envelope(FOURTH.replace("><", ">\r\n  <")).msmq == decode_envelope(FOURTH).msmq


# -- header blocks that others understand


UNKNOWN = '<other xmlns="urn:x" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"{}>1</other></se:Header>'


@pytest.mark.srmp("F-14")
@pytest.mark.parametrize("attribute", ["", ' s:mustUnderstand="0"', ' mustUnderstand="1"'])
def test_an_unknown_block_is_passed_over(attribute: str) -> None:
    envelope = changed(PLAIN, ("</se:Header>", UNKNOWN.format(attribute)))
    assert decode_envelope(envelope) == decode_envelope(PLAIN)  # F-14


@pytest.mark.srmp("F-13")
@pytest.mark.spec("SR-017", "SR-182", "SR-183")
@pytest.mark.parametrize("value", ["1", "true", " 1 "])
def test_an_unknown_block_that_must_be_understood_is_refused(value: str) -> None:
    envelope = changed(PLAIN, ("</se:Header>", UNKNOWN.format(f' s:mustUnderstand="{value}"')))
    assert refused(envelope).element == "{urn:x}other"  # F-13


def test_a_fault_does_not_repeat_a_long_name() -> None:
    block = UNKNOWN.format(' s:mustUnderstand="1"').replace("urn:x", "urn:" + "x" * 100_000)
    fault = refused(changed(PLAIN, ("</se:Header>", block)))
    assert len(fault.element) == NAMED_LIMIT
    assert len(fault.why) < 300


SINGLE = [
    *(
        (FOURTH, name)
        for name in [
            "path",
            "properties",
            "services",
            "stream",
            "Msmq",
            "action",
            "to",
            "id",
            "rev",
            "expiresAt",
            "sentAt",
        ]
    ),
    *((FOURTH, name) for name in ["durable", "deliveryReceiptRequest", "commitmentReceiptRequest", "sendTo"]),
    *(
        (FOURTH, name)
        for name in ["positiveOnly", "negativeOnly", "streamId", "current", "previous", "Class", "Priority"]
    ),
    *(
        (FOURTH, name)
        for name in ["Journal", "DeadLetter", "Correlation", "Trace", "ConnectorType", "App", "BodyType"]
    ),
    *(
        (FOURTH, name)
        for name in ["HashAlgorithm", "Eod", "First", "Last", "ConnectorId", "Provider", "Type", "Name"]
    ),
    *((FOURTH, name) for name in ["SourceQmGuid", "DestinationMqf", "AdminMqf", "ResponseMqf", "TTrq"]),
    *((FIRST, name) for name in ("start", "sendReceiptsTo")),
    *((DELIVERY, name) for name in ("deliveryReceipt", "receivedAt")),
    *(
        (FINAL, name)
        for name in ("commitmentReceipt", "decidedAt", "decision", "streamReceipt", "lastOrdinal")
    ),
]


@pytest.mark.srmp("F-69")
@pytest.mark.spec("SR-182")
@pytest.mark.parametrize(("envelope", "name"), [pytest.param(*case, id=f"F-69 {case[1]}") for case in SINGLE])
def test_a_repeated_element_is_refused(envelope: str, name: str) -> None:
    assert refused(doubled(envelope, name)).element == name


def test_two_spellings_of_stream_are_two_blocks() -> None:
    stream = element(FIRST, "stream")
    capital = stream.replace("<stream ", "<Stream ").replace("</stream>", "</Stream>")
    assert refused(FIRST.replace(stream, stream + capital)).element == "stream"
