"""Scenes of error cases: each is answered as listed, and what was refused has changed nothing.

The reason of a refusal begins with the element that is wrong.
"""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.turn import Continue, Event, Reply
from reliquary.protocols.srmp import effects
from reliquary.protocols.srmp.events import PostAnswer, PostArrived
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.directory.events import SwitchDirectory
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.message import FOREVER, Message
from reliquary.wire.security import SecurityDescriptor, encode_descriptor
from tests.protocols.srmp.codec.envelopes import (
    COMMITMENT,
    DELIVERY,
    FIRST,
    FOURTH,
    FULL,
    PLAIN,
    STREAM_RECEIPT,
    changed,
    doubled,
    element,
    without,
)
from tests.protocols.srmp.codec.vector import ALPHA, BETA
from tests.protocols.srmp.peer import ADMIN, Post, multipart, stream_message, user_message
from tests.protocols.srmp.receiving import Receiving
from tests.scenes.srmp.harness import Side

HERE = "http://beta.example/msmq/private$/orders"
MUST = ' se:mustUnderstand="1"'


# -- refused

WHOLE = multipart(PLAIN, b"hello")
BOUNDARY = b"--MSMQ - SOAP boundary, 101"


def parts(old: bytes, new: bytes) -> Post:
    """Return a message with one thing wrong round its envelope."""
    assert old in WHOLE[1]
    return WHOLE[0], WHOLE[1].replace(old, new)


def other(*changes: tuple[str, str], of: str = PLAIN) -> Post:
    """Return an envelope with something changed."""
    return "text/xml", changed(of, *changes).encode()


def lacks(name: str, of: str = PLAIN) -> Post:
    """Return an envelope without an element."""
    return "text/xml", without(of, name).encode()


def twice(name: str, of: str = PLAIN) -> Post:
    """Return an envelope with an element twice."""
    return "text/xml", doubled(of, name).encode()


def open_end() -> Post:
    """Return a POST whose last part has no recognisable end."""
    content_type, body = parts(b"Content-Length: 5\r\n", b"")
    return content_type, body.partition(b"\r\n" + BOUNDARY + b"--")[0]


SOAP_1_2 = ("schemas.xmlsoap.org/soap/envelope/", "www.w3.org/2003/05/soap-envelope")
UNKNOWN = f'<x xmlns="urn:x"{MUST}/></se:Header>'
VIA, ADMINS = element(FULL, "via"), element(FULL, "AdminMqf")
TORDERS = HERE.replace("orders", "torders")
ELSEWHERE = "http://gamma.example/msmq/private$/orders"
ADMIN_THERE = "http://alpha.example/msmq/private$/admin"

REFUSED: list[tuple[str, Post, str]] = [
    ("F-02", ("application/json", b"{}"), "Content-Type"),
    ("F-03", ("multipart/related; type=text/xml", WHOLE[1]), "Content-Type"),
    ("F-03", parts(b"text/xml", b"text/plain"), "Content-Type"),
    ("F-04", parts(b"Content-Length: 5", b"Content-Length: 6"), "the MIME body"),
    ("F-05", open_end(), "part 2"),
    ("F-07", ("text/xml", PLAIN[:-1].encode()), "Envelope"),
    ("F-07", ("text/xml", PLAIN.encode("utf-16")), "Envelope"),
    ("F-07", ("text/xml", f'<!DOCTYPE a [<!ENTITY b "boom">]>{PLAIN}'.encode()), "Envelope"),
    ("F-08", other(("Envelope", "Letter")), "Envelope"),
    ("F-08", other(SOAP_1_2), "Envelope"),
    ("F-09", other(("se:Header", "se:Head")), "Header"),
    ("F-09", lacks("se:Body"), "Body"),
    ("F-11", lacks("path"), "path"),
    ("F-11", lacks("properties"), "properties"),
    ("F-12", other((f"<services{MUST}", "<services")), "services"),
    ("F-12", other((f"<stream{MUST}", "<stream"), of=FIRST), "stream"),
    ("F-13", other(("</se:Header>", UNKNOWN)), "{urn"),
    ("F-15", lacks("action"), "action"),
    ("F-15", lacks("to"), "to"),
    ("F-15", lacks("id"), "id"),
    ("F-17", other((HERE, "")), "to"),
    ("F-17", other((HERE, "ftp://beta.example/msmq/q")), "to"),
    ("F-17", other((HERE, "MSMQ:MULTICAST=10.0.0.1:80")), "to"),
    ("F-20", other((f"uuid:43@{ALPHA}", "43")), "id"),
    ("F-22", other(("uuid:43@", "uuid:4294967296@")), "id"),
    ("F-24", other((VIA, ""), of=FULL), "via"),
    ("F-24", twice("via", FULL), "via"),
    ("F-28", lacks("expiresAt"), "expiresAt"),
    ("F-28", other(("<expiresAt>20130805", "<expiresAt>20130231")), "expiresAt"),
    ("F-29", other(("<sentAt>", "<sentAt>x")), "sentAt"),
    ("F-32", lacks("sendTo", FULL), "sendTo"),
    ("F-34", lacks("durable", FIRST), "durable"),
    ("F-35", lacks("Msmq", FIRST), "Msmq"),
    ("F-36", lacks("streamId", FIRST), "streamId"),
    ("F-36", other(("<current>4", "<current>0"), of=FOURTH), "current"),
    ("F-36", other(("<previous>2", "<previous>x"), of=FOURTH), "previous"),
    ("F-37", lacks("start", FIRST), "start"),
    ("F-37", other(("<current>1", "<current>2"), of=FIRST), "start"),
    ("F-37", lacks("sendReceiptsTo", FIRST), "sendReceiptsTo"),
    ("F-38", other(("<previous>2", "<previous>4"), of=FOURTH), "previous"),
    ("F-40", stream_message(1, to=HERE), "stream"),
    ("F-40", user_message(TORDERS), "stream"),
    ("F-41", user_message(HERE + "-not"), "to"),
    ("F-42", user_message(ELSEWHERE), "to"),
    ("F-45", lacks("Class"), "Class"),
    ("F-45", lacks("Priority"), "Priority"),
    ("F-45", lacks("BodyType"), "BodyType"),
    ("F-45", lacks("SourceQmGuid"), "SourceQmGuid"),
    ("F-45", lacks("TTrq"), "TTrq"),
    ("F-46", other(("<Priority>3", "<Priority>8")), "Priority"),
    ("F-46", other(("<Class>0", "<Class>65536")), "Class"),
    ("F-46", other(("<App>36", "<App>4294967296"), of=FULL), "App"),
    ("F-47", other(("<Correlation>bg", "<Correlation>*"), of=FULL), "Correlation"),
    ("F-48", other(("<ConnectorType>fd", "<ConnectorType>"), of=FULL), "ConnectorType"),
    ("F-49", lacks("Type", FULL), "Type"),
    ("F-49", lacks("Name", FULL), "Name"),
    ("F-50", other((ADMINS, "<AdminMqf></AdminMqf>"), of=FULL), "AdminMqf"),
    ("F-54", lacks("receivedAt", DELIVERY), "receivedAt"),
    ("F-54", other((">positive<", ">maybe<"), of=COMMITMENT), "decision"),
    ("F-54", lacks("lastOrdinal", STREAM_RECEIPT), "lastOrdinal"),
    ("F-55", multipart(DELIVERY, b"x"), "the MIME body"),
    ("F-56", other((ADMIN_THERE, HERE + "-not"), of=DELIVERY), "to"),
    ("F-69", twice("Class"), "Class"),
    ("F-69", twice("path"), "path"),
]


def contents(side: Side) -> tuple[Any, ...]:
    return side.bodies("orders"), side.bodies("torders"), side.all_waiting(), len(side.facts)


@pytest.mark.srmp(
    "F-02", "F-03", "F-04", "F-05", "F-07", "F-08", "F-09", "F-11", "F-12", "F-13", "F-15", "F-17"
)
@pytest.mark.srmp(
    "F-20", "F-22", "F-24", "F-28", "F-29", "F-32", "F-34", "F-35", "F-36", "F-37", "F-38", "F-40"
)
@pytest.mark.srmp(
    "F-41", "F-42", "F-45", "F-46", "F-47", "F-48", "F-49", "F-50", "F-54", "F-55", "F-56", "F-69"
)
@pytest.mark.spec("SR-182", "SR-183", "SR-192")
@pytest.mark.parametrize(
    ("post", "name"), [pytest.param(*case[1:], id=f"{case[0]} {case[2]}") for case in REFUSED]
)
def test_a_bad_message_is_refused_permanently_and_nothing_is_changed(post: Post, name: str) -> None:
    side = Side()
    before = contents(side)
    answer = side.post(*post)
    assert (answer.status, answer.why.split(":")[0]) == (400, name)
    assert contents(side) == before
    assert side.post("text/xml", PLAIN.encode()).status == 200  # and the next one is not affected


# -- accepted

ACCEPTED = {
    "F-05": (WHOLE[0], WHOLE[1].removesuffix(BOUNDARY + b"--\r\n")),
    "F-10": other(("<se:Body></se:Body>", "<se:Body><what>ever</what></se:Body>")),
    "F-14": other(("</se:Header>", '<x xmlns="urn:x">1</x></se:Header>')),
    "F-16": other(("MSMQ:</action>", "urn:order</action>")),
    "F-18": other((HERE, HERE.replace("http", "https"))),
    "F-21": other((f"uuid:43@{ALPHA}", "43"), of=without(PLAIN, "Msmq")),
    "F-23": other((f"uuid:43@{ALPHA}", f"uuid:43@{BETA}")),
    "F-25": other((VIA, "<via/>"), of=FULL),
    "F-26": other((VIA, "<via>mailto:me</via>"), of=FULL),
    "F-27": other(("<action>", "<fwd/><from>x</from><relatesTo>y</relatesTo><fault/><action>")),
    "F-30": lacks("sentAt"),
    "F-31": other(("20130805T120000", "20120805T120000")),
    "F-33": lacks("positiveOnly", without(FULL, "negativeOnly")),
    "F-47": other(("bgwfWwo9Hkyadw4vbI1LECkAAAA=", "bgwfWwo9Hkyadw4vbI1LEA=="), of=FULL),
    "F-51": lacks("Msmq"),
}


@pytest.mark.srmp(
    "F-05", "F-10", "F-14", "F-16", "F-18", "F-21", "F-23", "F-25", "F-26", "F-27", "F-30", "F-31"
)
@pytest.mark.srmp("F-33", "F-47", "F-51")
@pytest.mark.parametrize("case", ACCEPTED)
def test_an_unusual_message_is_accepted_and_in_its_queue(case: str) -> None:
    side = Side()
    assert side.post(*ACCEPTED[case]).status == 200
    (delivered,) = side.receive("orders").messages
    message: Message = delivered.message
    said = {
        "F-05": message.body == b"hello",
        "F-14": "urn:x" in message.soap_envelope,
        "F-16": message.label == "",
        "F-21": message.identifier.uniquifier == 1,
        "F-23": message.identifier.lineage == ALPHA,
        "F-25": message.response_queue == "",
        "F-26": message.response_queue == "",
        "F-31": message.time_to_reach_queue == 0,
        "F-33": side.all_waiting() == 1,  # the delivery receipt alone
        "F-47": message.correlation.uniquifier == 0,
        "F-51": (message.priority, message.time_to_be_received) == (3, FOREVER),
    }
    assert said.get(case, True)


@pytest.mark.srmp("F-39", "F-74")
def test_a_stream_may_be_of_another_manager_and_have_unknown_children() -> None:
    side = Side()
    first = changed(
        FIRST,
        (f"<streamId>uid:{ALPHA}", f"<streamId>uid:{BETA}"),
        ("</start>", "<expiresAt>20130805T120000</expiresAt></start><streamReceiptRequest/><end/>"),
    )
    assert side.post(*multipart(first, b"1")).status == 200
    assert side.bodies("torders") == [b"1"]
    assert [key[0] for key in side.srmp.state.incoming] == [BETA]


# -- taken with 200, and gone

IGNORED = {
    "F-52": [lacks("Msmq", DELIVERY), lacks("Msmq", COMMITMENT), lacks("Msmq", STREAM_RECEIPT)],
    "F-53": [
        other(("<Class>2<", "<Class>0<"), of=DELIVERY),
        other(("QM Ordering Ack", "something"), of=STREAM_RECEIPT),
        other((">16384<", ">49153<"), of=COMMITMENT),
        other(("<Msmq ", element(COMMITMENT, "commitmentReceipt") + "<Msmq "), of=DELIVERY),
    ],
    "F-57": [("text/xml", STREAM_RECEIPT.encode())],
}


@pytest.mark.srmp("F-52", "F-53", "F-57")
@pytest.mark.spec("SR-194")
@pytest.mark.parametrize("case", IGNORED)
def test_a_message_without_a_meaning_is_confirmed_and_ignored(case: str) -> None:
    side = Side("alpha.example")
    side.create("admin")
    before = contents(side)
    assert [side.post(*post).status for post in IGNORED[case]] == [200] * len(IGNORED[case])
    assert side.bodies("admin") == []
    assert contents(side) == before


# -- where nothing is wrong with the message


@pytest.mark.srmp("F-65")
@pytest.mark.spec("SR-235", "SR-236")
def test_a_public_queue_is_judged_by_the_list_that_is_here_even_while_the_directory_is_away() -> None:
    side = Side(directory=Integration())
    no_rights = encode_descriptor(SecurityDescriptor(dacl=()))
    side.create(".\\shop")
    side.create(".\\vault", security=no_rights)
    for number, attached in enumerate((True, False)):
        side.ask(SwitchDirectory(0, attached=attached))
        for queue, status in (("shop", 200), ("vault", 400)):
            to = f"http://beta.example/msmq/{queue}"
            assert side.post(*user_message(to, number=1 + number)).status == status
    assert (side.bodies(".\\shop"), side.bodies(".\\vault")) == ([b"hello"] * 2, [])


@pytest.mark.srmp("T-27", "F-68")
@pytest.mark.spec("SR-055", "SR-056")
@pytest.mark.parametrize("post", [user_message(delivery_to=ADMIN), stream_message(1, delivery_to=ADMIN)])
def test_what_the_disk_does_not_take_is_neither_confirmed_nor_receipted(post: Post) -> None:
    bench = Receiving(settings=SrmpSettings(most_coalesced=1))
    bench.core.close()
    bench.core.take_at_once()
    events: list[Event] = [PostArrived(1, *post)]
    for event in events:  # those that follow from it are in this batch
        turn = bench.core.turn(event, bench.now)
        events += [effect.event for effect in turn.effects if isinstance(effect, Continue)]
    batch = bench.core.close()
    assert [each for each in bench.core.take_at_once() if isinstance(each, Reply | effects.Post)] == []
    waits = [each for each in batch.after_sync if isinstance(each, Reply | effects.Post)]
    assert waits[0] == Reply(1, PostAnswer(200))
    assert len(waits) > 1
    bench.restart(crash=True)  # the write failed, and this process with it
    assert (bench.bodies("orders"), bench.bodies("torders"), bench.outgoing) == ([], [], [])
    assert bench.post(*post).status == 200  # so it comes again, and is new
    assert bench.bodies("orders") + bench.bodies("torders") != []
