"""Messages that are taken or not, and what their senders are answered."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.turn import Reply
from reliquary.protocols.srmp.events import PostAnswer, PostArrived
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import Count
from reliquary.queueing.model.events import BringOnline, TakeOffline
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.travel.transfer import DuplicatesDropped, MessageArrived
from reliquary.streams.tables import Remembered, slot_key
from reliquary.wire.security import SecurityDescriptor, encode_descriptor
from tests.protocols.srmp.peer import (
    ADMIN,
    ALPHA,
    ORDERS,
    TORDERS,
    commitment_block,
    delivery_receipt,
    envelope,
    receipt,
    stream_message,
    user_message,
)
from tests.protocols.srmp.receiving import Receiving, first, refused

ELSEWHERE = "http://gamma.example/msmq/private$/orders"
PUBLIC = "http://gateway.example/shop/orders"


# -- user messages


@pytest.mark.spec("SR-195", "SR-200", "SR-237")
def test_a_message_is_in_its_queue_when_its_sender_is_answered() -> None:
    bench = Receiving()
    answer = bench.post(*user_message(body=b"hello", number=42, action="MSMQ:order", durable=True))
    assert answer == PostAnswer(200)
    message = first(bench)
    assert (message.body, message.label, message.delivery) == (b"hello", "order", Delivery.RECOVERABLE)
    assert (message.identifier.lineage, message.identifier.uniquifier) == (ALPHA, 42)
    assert message.soap_envelope == envelope(ORDERS, number=42, action="MSMQ:order")


@pytest.mark.srmp("T-05")
@pytest.mark.parametrize("queue", ["ORDERS", "Orders", "orders?senderstream=x", "order%73"])
@pytest.mark.parametrize("path", ["msmq/private$", "MSMQ/PRIVATE$"])
def test_a_queue_is_named_in_any_spelling(path: str, queue: str) -> None:
    bench = Receiving()
    assert bench.post(*user_message(f"http://Bench.Example:80/{path}/{queue}")).status == 200
    assert bench.bodies() == [b"hello"]


@pytest.mark.spec("SR-055")
def test_the_answer_for_a_durable_message_waits_for_the_disk() -> None:
    bench = Receiving()
    bench.core.close()
    bench.core.take_at_once()
    bench.core.turn(PostArrived(1, *user_message()), bench.now)
    batch = bench.core.close()
    assert [each for each in bench.core.take_at_once() if isinstance(each, Reply)] == []
    assert batch.after_sync == [Reply(1, PostAnswer(200))]
    assert batch.applied


def test_the_history_has_the_hosts_that_posted_a_message_first_and_again() -> None:
    bench = Receiving()
    for peer in ("192.0.2.1", "192.0.2.2"):
        bench.handle(PostArrived(bench.new_caller(), *user_message(number=9), peer=peer))
    (arrived,) = [signal for signal in bench.signals if isinstance(signal, MessageArrived)]
    (dropped,) = [signal for signal in bench.signals if isinstance(signal, DuplicatesDropped)]
    assert (arrived.peer, dropped.peer) == ("192.0.2.1", "192.0.2.2")


def test_the_answer_for_an_express_message_waits_for_nothing() -> None:
    bench = Receiving()
    bench.core.close()
    bench.core.take_at_once()
    bench.core.turn(PostArrived(1, *user_message(durable=False)), bench.now)
    assert bench.core.take_at_once() == [Reply(1, PostAnswer(200))]


@pytest.mark.srmp("T-23", "T-24")
@pytest.mark.spec("SR-055", "SR-209")
def test_a_durable_message_outlives_a_crash() -> None:
    bench = Receiving()
    bench.post(*user_message(body=b"durable", number=1))
    bench.post(*user_message(body=b"express", number=2, durable=False))
    bench.flush()
    bench.restart(crash=True)
    assert bench.bodies() == [b"durable"]
    for number in (1, 2):  # and its identifier with it, the other one's not
        bench.post(*user_message(body=b"again", number=number))
    assert bench.bodies() == [b"durable", b"again"]


UNSIGNED = b'<Signature xmlns="http://www.w3.org/2000/02/xmldsig#"></Signature></se:Header>'


def without_signature(post: tuple[str, bytes]) -> tuple[str, bytes]:
    """Return the message without its body, and with a signature that signs nothing."""
    _, body = post
    text = body[body.index(b"<se:Envelope") : body.index(b"</se:Envelope>") + len(b"</se:Envelope>")]
    return "text/xml", text.replace(b"</se:Header>", UNSIGNED)


@pytest.mark.spec("SR-163")
@pytest.mark.parametrize(
    ("post", "element"),
    [
        (user_message(ELSEWHERE, priority=9), "Priority"),  # it is read before it is routed
        (receipt(ELSEWHERE, "", 1), "to"),  # it is routed before it is asked what it is
        (without_signature(user_message(ELSEWHERE)), "to"),  # it is routed before its signature is verified
        (without_signature(stream_message(7)), "SignedInfo"),  # ... which is before its place is looked at
    ],
)
def test_a_message_is_judged_step_by_step(post: tuple[str, bytes], element: str) -> None:
    refused(Receiving(), post, naming=element)


@pytest.mark.spec("SR-163", "SR-200")
def test_the_place_in_a_stream_is_looked_at_before_the_queue_is() -> None:
    bench = Receiving()
    assert bench.post(*stream_message(7, to=ORDERS)).status == 200  # ignored, though no stream goes there
    assert bench.post(*stream_message(1, to=ORDERS)).status == 400


@pytest.mark.spec("SR-058", "SR-061", "SR-077")
@pytest.mark.parametrize(
    ("post", "element"),
    [
        (user_message(delivery_to="http://a b/c"), "sendTo"),
        (user_message(commitment=("http://nowhere", "positiveOnly")), "sendTo"),
        (stream_message(1, receipts_to="http://a.example:99999/x"), "sendReceiptsTo"),
    ],
)
def test_a_message_whose_receipts_could_not_be_sent_is_refused(post: tuple[str, bytes], element: str) -> None:
    refused(Receiving(), post, naming=element)


@pytest.mark.parametrize(
    "change",
    [("<path ", '<path x:a="1" '), ("<se:Envelope ", '<se:Envelope x:a="1" '), ("</path>", "<x:a/></path>")],
    ids=["of a block", "of the envelope", "of an element"],
)
def test_a_prefix_that_is_not_declared_is_refused(change: tuple[str, str]) -> None:
    content_type, body = user_message()
    wrong = body.replace(change[0].encode(), change[1].encode(), 1)
    length = len(change[1]) - len(change[0])
    text = envelope(ORDERS).encode()
    wrong = wrong.replace(b"Length: %d" % len(text), b"Length: %d" % (len(text) + length), 1)
    refused(Receiving(), (content_type, wrong), naming="Envelope")


# -- duplicates, 3.1.5.1.11


@pytest.mark.srmp("T-19", "F-62")
@pytest.mark.spec("SR-124", "SR-234")
def test_a_message_that_comes_twice_is_taken_once() -> None:
    bench = Receiving()
    assert [bench.post(*user_message(number=7)).status for _ in range(2)] == [200, 200]
    assert bench.bodies() == [b"hello"]
    bench.receive("orders")
    assert bench.post(*user_message(number=7)).status == 200
    assert bench.bodies() == []


@pytest.mark.srmp("T-20")
@pytest.mark.spec("SR-233", "SR-034")
@pytest.mark.parametrize(
    "again",
    [
        "http://bench.example:80/msmq/private$/orders",
        "http://localhost/MSMQ/PRIVATE$/Orders",
        "https://bench/msmq/private$/order%73?lane=2",
    ],
)
@pytest.mark.parametrize("crash", [False, True])
def test_a_message_is_known_under_every_url_of_its_queue(again: str, crash: bool) -> None:
    bench = Receiving()
    bench.post(*user_message(ORDERS, number=42))
    if crash:
        bench.restart()
    assert bench.post(*user_message(again, number=42)).status == 200
    assert bench.bodies() == [b"hello"]
    assert bench.srmp.state.counts[Count.DUPLICATES] == 1
    bench.post(*user_message(ORDERS.replace("orders", "others"), number=42))
    assert bench.srmp.state.counts[Count.DUPLICATES] == 1  # a copy for another queue is none


def test_an_identifier_that_an_earlier_version_noted_under_a_url_is_known() -> None:
    bench = Receiving()
    entry = Remembered(ALPHA, 42, bench.now, 0, ORDERS)
    bench.rows.put(bench.srmp.state.tables.history, slot_key(0), entry)
    bench.restart()
    bench.post(*user_message(ORDERS, number=42))
    assert bench.bodies() == []


def test_messages_without_an_identifier_are_no_duplicates() -> None:
    bench = Receiving()
    for _ in range(2):
        assert bench.post(*user_message(msmq=False)).status == 200
    assert bench.bodies() == [b"hello", b"hello"]


def test_copies_for_two_queues_are_two_messages() -> None:
    bench = Receiving()
    bench.create("spare")
    for queue in ("orders", "spare"):
        assert bench.post(*user_message(ORDERS.replace("orders", queue), number=7)).status == 200
    assert bench.bodies("orders") == bench.bodies("spare") == [b"hello"]


@pytest.mark.srmp("T-21")
def test_as_many_identifiers_are_remembered_as_the_settings_say() -> None:
    bench = Receiving(settings=SrmpSettings(history_size=3))
    for number in (1, 2, 3, 4, 2, 1):
        bench.post(*user_message(number=number, body=b"%d" % number))
    assert bench.bodies() == [b"1", b"2", b"3", b"4", b"1"]


@pytest.mark.srmp("T-22")
def test_identifiers_are_remembered_as_long_as_the_settings_say() -> None:
    bench = Receiving(settings=SrmpSettings(history_age=60_000_000))  # type: ignore[arg-type]
    bench.post(*user_message(body=b"first"))
    bench.advance(60)
    bench.post(*user_message(body=b"in time"))
    bench.advance(1)
    bench.post(*user_message(body=b"too late"))
    assert bench.bodies() == [b"first", b"too late"]


@pytest.mark.spec("SR-125")
def test_a_duplicate_is_known_after_a_restart() -> None:
    bench = Receiving()
    bench.post(*user_message(number=7))
    bench.restart()
    assert bench.post(*user_message(number=7)).status == 200
    assert bench.bodies() == [b"hello"]


# -- the queue that it is for


@pytest.mark.srmp("T-59", "F-41")
@pytest.mark.spec("SR-189", "SR-192")
@pytest.mark.parametrize(
    "to",
    [
        "http://bench.example/msmq/private$/nowhere",
        "http://bench.example/msmq/orders",  # a public queue
        "http://bench.example/msmq/private$/orders;journal",
        "http://bench.example/msmq/system$;deadletter",
        "http://bench.example/other/private$/orders",
        "http://bench.example/msmq/",
        "http://bench.example/msmq/private$/orders/more",
    ],
)
def test_a_queue_that_is_not_there_or_not_to_send_to_is_refused(to: str) -> None:
    refused(Receiving(), user_message(to), naming="to")


def test_a_subqueue_takes_messages_as_its_queue_does() -> None:
    bench = Receiving()
    bench.create("orders;retry")
    assert bench.post(*user_message(ORDERS + ";retry")).status == 200
    assert bench.bodies("orders;retry") == [b"hello"]


@pytest.mark.srmp("T-58", "F-40")
@pytest.mark.spec("SR-190", "SR-191", "SR-192")
def test_streams_go_into_transactional_queues_and_all_else_into_others() -> None:
    bench = Receiving()
    refused(bench, stream_message(1, to=ORDERS), naming="stream")
    refused(bench, user_message(TORDERS), naming="stream")


# -- what the manager says, 3.1.5.1.12


@pytest.mark.srmp("T-65", "F-66")
@pytest.mark.spec("SR-238")
def test_a_full_queue_is_a_matter_of_time() -> None:
    bench = Receiving()
    bench.create("small", quota=4)
    bench.create("tsmall", quota=4, transactional=True)
    small, tsmall = (ORDERS.replace("orders", name) for name in ("small", "tsmall"))
    assert bench.post(*user_message(small, b"x" * 2000, number=1)).status == 200
    refused(bench, user_message(small, b"y" * 2000, number=2), naming="to", status=500)
    assert bench.post(*stream_message(1, to=tsmall, body=b"x" * 2000)).status == 200
    refused(bench, stream_message(2, to=tsmall, body=b"y" * 2000), naming="to", status=500)
    for name in ("small", "tsmall"):
        bench.receive(name)
    assert bench.post(*user_message(small, b"y" * 2000, number=2)).status == 200
    assert bench.post(*stream_message(2, to=tsmall, body=b"y" * 2000)).status == 200
    assert bench.bodies("small") == bench.bodies("tsmall") == [b"y" * 2000]


@pytest.mark.srmp("T-65", "F-67")
@pytest.mark.spec("SR-239")
def test_a_full_manager_is_a_matter_of_time() -> None:
    bench = Receiving(quota=4)
    assert bench.post(*user_message(body=b"x" * 2000, number=1)).status == 200
    answer = bench.post(*user_message(body=b"y" * 2000, number=2))
    assert (answer.status, bool(answer.why)) == (500, True)
    bench.receive("orders")
    assert bench.post(*user_message(body=b"y" * 2000, number=2)).status == 200
    assert bench.bodies() == [b"y" * 2000]


@pytest.mark.srmp("T-66", "F-64")
@pytest.mark.spec("SR-236")
def test_a_queue_that_is_not_open_to_everyone_takes_nothing() -> None:
    bench = Receiving()
    bench.create("closed", security=encode_descriptor(SecurityDescriptor(dacl=())))
    refused(bench, user_message(ORDERS.replace("orders", "closed")), naming="to")
    assert bench.bodies("closed") == []


@pytest.mark.spec("SR-235")
def test_a_public_queue_is_judged_by_its_own_list() -> None:
    bench = Receiving()
    bench.create(".\\open")
    bench.create(".\\closed", security=encode_descriptor(SecurityDescriptor(dacl=())))
    assert bench.post(*user_message("http://bench.example/msmq/open")).status == 200
    assert bench.bodies(".\\open") == [b"hello"]
    refused(bench, user_message("http://bench.example/msmq/closed"), naming="to")


def test_a_manager_that_is_offline_takes_messages_later() -> None:
    bench = Receiving()
    bench.ask(TakeOffline(0))
    assert bench.post(*user_message()).status == 500
    bench.ask(BringOnline(0))
    assert bench.post(*user_message()).status == 200
    assert bench.bodies() == [b"hello"]


@pytest.mark.spec("SR-193", "SR-046", "SR-108")
def test_a_message_is_refused_for_its_age_only_when_the_administrator_wants_that() -> None:
    late: dict[str, Any] = {"ttrq": "20231114T221321"}
    bench = Receiving()
    bench.advance(60)
    assert bench.post(*user_message(**late)).status == 200
    assert bench.bodies() == [b"hello"]
    bench = Receiving(settings=SrmpSettings(check_expiry_on_receive=True))
    assert bench.post(*user_message(number=1, **late)).status == 200
    bench.advance(60)
    refused(bench, user_message(number=2, **late), naming="TTrq")


# -- receipts that come


@pytest.mark.srmp("T-35")
@pytest.mark.spec("SR-218", "SR-196")
def test_a_delivery_receipt_is_put_into_the_queue_it_is_for() -> None:
    bench = Receiving()
    for _ in range(2):
        assert bench.post(*delivery_receipt(ORDERS, f"uuid:9@{ALPHA}", number=3)).status == 200
    message = first(bench)
    assert bench.bodies() == [b""]
    assert message.message_class == 2
    assert message.correlation.uniquifier == 9


@pytest.mark.spec("SR-232", "SR-199")
@pytest.mark.parametrize(("decision", "message_class"), [("positive", 0x4000), ("negative", 0xC004)])
def test_a_commitment_receipt_is_put_into_the_queue_it_is_for(decision: str, message_class: int) -> None:
    bench = Receiving()
    post = receipt(ORDERS, commitment_block(decision), message_class)
    assert [bench.post(*post).status for _ in range(2)] == [200, 200]
    assert bench.bodies() == [b""]
    assert first(bench).message_class == message_class


@pytest.mark.srmp("F-56")
def test_a_receipt_for_a_queue_that_is_not_there_is_refused() -> None:
    refused(Receiving(), delivery_receipt(ORDERS + "-not"), naming="to")


def test_a_receipt_that_asks_for_a_receipt_gets_none() -> None:
    bench = Receiving()
    assert bench.post(*delivery_receipt(ORDERS, delivery_to=ADMIN)).status == 200
    bench.receive("orders")
    assert bench.outgoing == []
