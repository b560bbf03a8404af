"""Tests the exchanges that [MC-MQSRM] prints in section 4, played with our managers on both sides.

What machine1 sends there comes to ours as it is printed, and what machine2 answers leaves ours with
these elements: names, and all values but those that a manager chooses (its identifiers and its clock).
"""

from __future__ import annotations

from calendar import timegm
from datetime import datetime
from xml.etree import ElementTree as Tree

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.srmp.events import ApduArrived
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.message import Acknowledgement, Delivery, MessageClass
from tests.protocols.srmp.codec.vector import PUBLISHED, VECTORS
from tests.protocols.srmp.peer import Post, read
from tests.scenes.srmp.harness import Network, Side, Went, envelope_of

CHOSEN = {"id", "SourceQmGuid", "sentAt", "expiresAt", "TTrq", "HashAlgorithm"}
"""What differs from manager to manager and from day to day; nothing is signed, so no hash is used."""
NOTHING = {"Correlation": "AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "App": "0"}
"""Elements that Windows writes and that say nothing then; 3.1.7.2.4 leaves them out."""
MACHINE1 = "DIRECT=HTTP://machine1/MSMQ/private$/"
ASKED = "uuid:1@00000000-0000-0000-0000-000000000008"
STREAM = "uid:2744e4e1-2b48-43e8-b441-42745f280d53\\4839986701558349830"


def as_posted(name: str, body: bytes, boundary: int) -> Post:
    """Return the envelope with its body as the example frames them: no line break before a delimiter."""
    envelope = PUBLISHED[name].strip()
    delimiter = b"--MSMQ - SOAP boundary, %d" % boundary
    head = b"Content-Type: text/xml; charset=UTF-8\r\nContent-Length: %d\r\n\r\n" % len(envelope)
    more = b"Content-Type: application/octet-stream\r\nContent-Length: %d\r\n" % len(body)
    more += b"Content-Id: body@ff3af301-3196-497a-a918-72147c871a13\r\n\r\n"
    parts = delimiter + b"\r\n" + head + envelope + delimiter + b"\r\n" + more + body + delimiter + b"--\r\n"
    return f'multipart/related; boundary="{delimiter[2:].decode()}"; type=text/xml', parts


def at(side: Side, moment: str) -> Side:
    """Set the clock of that manager to this moment."""
    side.now = Instant(timegm(datetime.strptime(moment, "%Y%m%dT%H%M%S").timetuple()) * SECOND)  # noqa: DTZ007
    return side


def machine2(moment: str) -> Side:
    side = at(Side("machine2"), moment)
    side.create("simpleq")
    side.create("tsimpleq", transactional=True)
    return side


def says(text: str | bytes) -> dict[str, str]:
    """Return what an envelope says, without what every manager chooses and without empty elements."""
    said = {name: value.strip() for name, value in read(text).items()}
    return {n: v for n, v in said.items() if n not in CHOSEN and NOTHING.get(n) != v}


def blocks(text: str | bytes) -> list[str]:
    """Return the blocks of the header, in their order."""
    return [block.tag for block in Tree.fromstring(text)[0]]


def posted(side: Side, number: int = 0) -> Went:
    return Went(side.posts[number], 0)


@pytest.mark.spec("SR-001", "SR-021", "SR-033", "SR-034")
def test_4_1_a_simple_message_is_taken() -> None:
    side = machine2("20070608T164420")
    post = as_posted("4_1", b"First Message", 53287)
    assert [side.post(*post).status for _ in range(2)] == [
        200,
        200,
    ]  # without Msmq there is no knowing it again
    assert side.bodies("simpleq") == [b"First Message"] * 2
    message = side.first("simpleq")
    assert (message.label, message.time_to_reach_queue) == ("mqsender label", 86_400)
    assert side.all_waiting() == 0


@pytest.mark.spec("SR-089", "SR-282")
def test_4_2_a_message_with_the_element_of_msmq_is_taken_once() -> None:
    side = machine2("20070719T031141")
    order = b'<?xml version="1.0"?>\r\n<Order><orderId>3</orderId></Order>'
    assert [side.post(*as_posted("4_2", order, 26500)).status for _ in range(2)] == [200, 200]
    assert side.bodies("simpleq") == [order]  # the second time it is known
    message = side.first("simpleq")
    assert (message.identifier.uniquifier, message.priority, message.time_to_reach_queue) == (
        20503,
        3,
        345_600,
    )
    # and as our machine1 sends it
    sender = at(Side("machine1"), "20070719T031140")
    sender.plain("DIRECT=HTTP://machine2/msmq/private$/simpleQ", order, delivery=Delivery.EXPRESS)
    ours = posted(sender)
    assert says(ours.text) == says(PUBLISHED["4_2"])
    assert blocks(ours.text) == blocks(PUBLISHED["4_2"])
    assert {name: ours.said[name] for name in ("sentAt", "TTrq")} == {
        "sentAt": "20070719T031140",
        "TTrq": "20070723T031140",
    }


@pytest.mark.srmp("T-08", "T-26", "T-28", "T-29", "T-32", "T-34")
@pytest.mark.spec("SR-078", "SR-082", "SR-027", "SR-060", "SR-086")
def test_4_3_both_receipts_of_one_message() -> None:
    side = machine2("20070719T032454")
    request = as_posted("4_3_request", b"Both delivery and commitment receipt requests", 95692)
    assert side.post(*request).status == 200
    delivered = posted(side)
    assert (delivered.post.content_type, delivered.post.server) == ("text/xml", "http://machine1")
    assert says(delivered.text) == says(PUBLISHED["4_3_delivery_receipt"])
    assert blocks(delivered.text) == blocks(PUBLISHED["4_3_delivery_receipt"])
    assert f"<id>{ASKED}</id></deliveryReceipt>" in delivered.text
    side.advance(147)
    side.receive("simpleq")
    decided = posted(side, 1)
    # the example sends both receipts to the queue of the first; each of ours goes where it was asked for
    published = PUBLISHED["4_3_commitment_receipt"].replace(b"receipts</to>", b"deliverydone</to>")
    assert says(decided.text) == says(published)
    assert blocks(decided.text) == blocks(published)
    assert decided.said["decidedAt"] == decided.said["sentAt"] == "20070719T032721"
    assert f"<id>{ASKED}</id></commitmentReceipt>" in decided.text


@pytest.mark.srmp("T-35")
@pytest.mark.spec("SR-218", "SR-232")
def test_4_3_the_receipts_come_to_our_machine1() -> None:
    side = at(Side("machine1"), "20070719T032451")
    side.create("receipts")
    asked = (Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_RECEIVE)
    url = f"{MACHINE1}receipts"
    to = "DIRECT=HTTP://machine2/msmq/private$/simpleq"
    side.plain(to, b"x", delivery=Delivery.EXPRESS, acknowledgements=asked, administration_queue=url)
    services = {
        "deliveryReceiptRequest",
        "commitmentReceiptRequest",
        "positiveOnly",
        "negativeOnly",
        "sendTo",
    }
    assert services <= set(posted(side).said)
    for name in ("4_3_delivery_receipt", "4_3_commitment_receipt"):
        assert side.post("text/xml", PUBLISHED[name]).status == 200
    came = [each.message.message_class for each in side.receive("receipts", count=9).messages]
    assert came == [MessageClass.ACK_REACH_QUEUE, MessageClass.ACK_RECEIVE]


@pytest.mark.srmp("F-39", "F-74")
@pytest.mark.spec("SR-138", "SR-251", "SR-252")
def test_4_4_a_stream_of_three_gets_a_receipt_for_each() -> None:
    side = machine2("20070619T165957")
    bodies = {"first": b"First Message", "second": b"Message 0", "third": b"Last Message"}
    for number, (name, body) in enumerate(bodies.items()):
        assert side.post(*as_posted(f"4_4_{name}", body, 1672)).status == 200
        side.advance(1)
        receipt, published = posted(side, number), PUBLISHED[f"4_4_{name}_receipt"]
        assert receipt.post.content_type == "text/xml"
        assert receipt.post.target == "/MSMQ/private$/receipts?SenderStream=XRntV"
        assert says(receipt.text) == says(published)
        assert blocks(receipt.text) == blocks(published)
        side.answer(receipt.post)
    assert side.bodies("tsimpleq") == list(bodies.values())
    assert len(side.posts) == 3


@pytest.mark.srmp("T-20")
@pytest.mark.spec("SR-233")
def test_4_4_with_one_source_for_all_three_messages() -> None:
    """All have one `id` in the example, and are distinguished by sources that were invented for each."""
    side = machine2("20070619T165957")
    source = read(PUBLISHED["4_4_first"])["SourceQmGuid"].encode()
    for name in ("first", "second", "third"):
        content_type, body = as_posted(f"4_4_{name}", name.encode(), 1672)
        theirs = read(PUBLISHED[f"4_4_{name}"])["SourceQmGuid"].encode()
        assert side.post(content_type, body.replace(theirs, source)).status == 200
    assert side.bodies("tsimpleq") == [b"first", b"second", b"third"]


@pytest.mark.srmp("T-36", "T-40", "T-41")
@pytest.mark.spec("SR-220", "SR-225")
def test_4_4_our_machine1_sends_the_stream_and_gets_the_receipts() -> None:
    """The scene follows 3.1.1.2: a new stream begins when all is acknowledged; so all three go first."""
    side = at(Side("machine1", settings=SrmpSettings(capital_stream=True)), "20070619T165959")
    side.create("receipts")
    to = "DIRECT=HTTP://machine2/msmq/private$/tsimpleq"
    side.stream(to, b"First Message", b"Message 0", b"Last Message", label="mqsender label")
    # the text asks for <durable> and says nothing of these; receipts come to a queue of our own
    left_out = {"streamReceiptRequest", "expiresAt", "end", "sendReceiptsTo", "streamId"}
    for number, name in enumerate(("first", "second", "third")):
        ours, published = says(posted(side, number).text), says(PUBLISHED[f"4_4_{name}"])
        added = {"services", "durable", "previous", "Eod", "First", "Last"}
        assert {n: v for n, v in ours.items() if n not in left_out | added} == {
            n: v for n, v in published.items() if n not in left_out
        }
    sent = posted(side).said["streamId"]
    for number, name in enumerate(("first", "second", "third"), 1):
        side.answer(side.posts[number - 1])
        receipt = PUBLISHED[f"4_4_{name}_receipt"].replace(STREAM.encode(), sent.encode())
        assert side.post("text/xml", receipt).status == 200
        assert side.waiting(to) == 3 - number
    assert side.bodies("receipts") == []


@pytest.mark.srmp("T-72")
@pytest.mark.spec("SR-005", "SR-032")
def test_4_5_a_message_arrives_by_multicast() -> None:
    example = VECTORS["published_4_5"]
    side = machine2("20070608T023720")
    side.create("group", multicast_address="234.1.1.1:8001")
    side.handle(ApduArrived("234.1.1.1:8001", example.data))
    assert side.bodies("group") == ["ardenwhite".encode("utf-16-le")]
    assert (side.first("group").label, side.first("group").body_type) == ("mqsender label", 8)
    assert side.all_waiting() == 0
    # and as our machine1 sends it
    sender = at(Side("machine1", settings=SrmpSettings(windows_framing=True)), "20070608T023719")
    sender.plain(
        "MULTICAST=234.1.1.1:8001",
        "ardenwhite".encode("utf-16-le"),
        label="mqsender label",
        body_type=8,
        delivery=Delivery.EXPRESS,
    )
    (sent,) = sender.apdus
    assert says(envelope_of(sent.data)) == says(example.envelope)
    head = sent.data.partition(b"\r\n\r\n")[0].decode()
    lines = {line.split(":")[0] for line in head.split("\r\n")}
    assert lines == {line.split(":")[0] for line in example.head.split("\r\n")}
    assert head.split("\r\n")[:2] == example.head.split("\r\n")[:2]


def test_the_two_machines_play_4_3_and_4_4_with_each_other() -> None:
    first, second = Side("machine1"), Side("machine2")
    network = Network(first, second)
    first.create("receipts")
    asked = (Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_RECEIVE)
    first.plain(second.url(), b"ask", acknowledgements=asked, administration_queue=f"{MACHINE1}receipts")
    first.stream(second.url("torders"), b"1", b"2", b"3")
    network.carry()
    second.receive("orders")
    network.advance(0.5)
    assert (first.all_waiting(), second.all_waiting()) == (0, 0)
    assert len(first.bodies("receipts")) == 2
    assert second.bodies("torders") == [b"1", b"2", b"3"]
