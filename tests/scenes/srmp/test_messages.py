"""Scenes of messages outside any stream: one goes, it arrives once, and receipts come back."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import DeleteQueue, EndRead, PurgeQueue
from reliquary.queueing.model.message import (
    NO_GUID,
    Acknowledgement,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
)
from tests.protocols.srmp.codec.vector import VECTORS
from tests.scenes.srmp.harness import DEAD, JOURNAL, Network, Side

FULL = (Acknowledgement.FULL_REACH_QUEUE, Acknowledgement.FULL_RECEIVE)


def pair() -> tuple[Side, Side, Network]:
    alpha, beta = Side("alpha.example"), Side("beta.example")
    alpha.create("admin")
    return alpha, beta, Network(alpha, beta)


@pytest.mark.srmp("T-01", "F-51")
@pytest.mark.spec("SR-089", "SR-167", "SR-169")
def test_the_smallest_message_has_defaults_for_all_it_does_not_say() -> None:
    beta = Side("beta.example")
    assert beta.post(VECTORS["c1_min"].content_type, VECTORS["c1_min"].body).status == 200
    (delivered,) = beta.receive("orders").messages
    message: Message = delivered.message
    assert (message.body, message.label, message.priority) == (b"hello", "", 3)
    assert message.identifier == ObjectId(NO_GUID, 1)
    assert message.message_class == MessageClass.NORMAL
    assert message.time_to_reach_queue == 345_600


@pytest.mark.srmp("T-11", "T-12")
@pytest.mark.spec("SR-121", "SR-308", "SR-291")
@pytest.mark.parametrize("journaled", [True, False])
def test_a_message_goes_as_soon_as_it_is_sent_and_is_there_once(journaled: bool) -> None:
    alpha, beta, network = pair()
    alpha.plain(beta.url(), b"hello", delivery=Delivery.EXPRESS, positive_journaling=journaled)
    (went,) = network.carry()
    assert (went.status, alpha.waiting(beta.url()), beta.bodies()) == (200, 0, [b"hello"])
    assert alpha.bodies(JOURNAL) == ([b"hello"] if journaled else [])
    assert beta.bodies(JOURNAL) == []
    assert network.advance(3600) == []


@pytest.mark.srmp("T-13", "T-14", "F-41")
@pytest.mark.parametrize("asks", [True, False])
def test_a_message_for_no_queue_is_refused_there_and_a_dead_letter_here(asks: bool) -> None:
    alpha, beta, network = pair()
    alpha.plain(beta.url("nowhere"), b"lost", negative_journaling=asks)
    (went,) = network.carry()
    assert (went.status, alpha.bodies(DEAD)) == (400, [b"lost"])
    assert network.advance(100_000) == []


@pytest.mark.srmp("T-15", "F-67")
@pytest.mark.spec("SR-149", "SR-150", "SR-159")
def test_a_full_receiver_gets_the_message_later_unchanged() -> None:
    alpha, beta = Side("alpha.example"), Side("beta.example", quota=4)
    network = Network(alpha, beta)
    alpha.plain(beta.url(), b"x" * 2000)
    alpha.plain(beta.url(), b"y" * 2000)
    assert [went.status for went in network.carry()] == [200, 500]
    beta.receive("orders")
    assert network.advance(19.9) == []
    (again,) = network.advance(0.1)
    assert again.status == 200
    assert again.post.body == network.went[1].post.body
    assert beta.bodies() == [b"y" * 2000]


@pytest.mark.srmp("T-16", "T-19", "T-77", "F-62")
@pytest.mark.spec("SR-122", "SR-234", "SR-260")
def test_a_message_whose_answer_was_lost_goes_again_and_is_taken_once() -> None:
    alpha, beta, network = pair()
    network.loses_answer = lambda _: len(network.went) == 0
    alpha.plain(beta.url(), b"once")
    network.carry()
    assert (alpha.waiting(beta.url()), beta.bodies()) == (1, [b"once"])
    beta.receive("orders")
    (again,) = network.advance(20)
    assert (again.status, again.said["id"]) == (200, network.went[0].said["id"])
    assert (alpha.waiting(beta.url()), beta.bodies()) == (0, [])


@pytest.mark.spec("SR-122", "SR-156", "SR-260")
def test_no_two_messages_have_one_identifier_despite_restarts() -> None:
    """The manager's own identifiers are on disk with the message: nothing else counts them."""
    alpha, beta, network = pair()
    for crash in (False, True, True):
        alpha.plain(beta.url(), b"a", b"b")
        alpha.flush()
        network.carry()
        alpha.restart(crash=crash)
    numbers = [int(went.said["id"].split(":")[1].split("@")[0]) for went in network.went]
    assert len(set(numbers)) == 6
    assert sorted(set(numbers)) == list(dict.fromkeys(numbers))
    assert {went.said["id"].split("@")[1] for went in network.went} == {str(alpha.guid)}
    assert len(beta.bodies()) == 6


@pytest.mark.srmp("T-17")
@pytest.mark.spec("SR-257")
def test_a_message_that_was_not_taken_in_time_goes_to_no_reader() -> None:
    alpha, beta, network = pair()
    network.loses = lambda _: True
    alpha.plain(
        beta.url(),
        b"late",
        time_to_reach_queue=5,
        negative_journaling=True,
        acknowledgements=FULL,
        administration_queue=alpha.url("admin"),
    )
    network.carry()
    network.loses = lambda _: False
    assert network.advance(6) == []
    assert network.advance(100) == []
    assert (beta.bodies(), alpha.bodies(DEAD)) == ([], [b"late"])
    assert alpha.first("admin").message_class == MessageClass.NACK_REACH_QUEUE_TIMEOUT


@pytest.mark.srmp("T-25")
@pytest.mark.spec("SR-054", "SR-120")
def test_a_durable_message_survives_its_sender_and_keeps_the_moment_it_was_sent() -> None:
    alpha, beta, network = pair()
    alpha.plain(beta.url(), b"durable")
    alpha.flush()
    alpha.advance(7)
    alpha.out.clear()  # it died before anything left
    alpha.restart(crash=True)
    (went,) = network.carry()
    assert went.said["sentAt"] == "20231114T221320"
    assert beta.bodies() == [b"durable"]


# -- receipts


@pytest.mark.srmp("T-26", "T-28", "T-29", "T-32", "T-35")
@pytest.mark.spec("SR-078", "SR-081", "SR-210", "SR-296")
def test_receipts_come_as_separate_posts_into_the_administration_queue() -> None:
    alpha, beta, network = pair()
    alpha.plain(
        beta.url(),
        b"asks",
        label="order 7",
        acknowledgements=FULL,
        administration_queue=alpha.url("admin"),
    )
    asked, delivered = network.carry()
    assert (delivered.post.content_type, delivered.status) == ("text/xml", 200)
    assert delivered.said["to"].casefold() == "http://alpha.example/msmq/private$/admin"
    assert (delivered.said["Class"], delivered.said["action"]) == ("2", "MSMQ:order 7")
    assert f"<id>{asked.said['id']}</id></deliveryReceipt>" in delivered.text
    assert delivered.said["receivedAt"] >= asked.said["sentAt"]
    assert alpha.waiting(beta.url()) == 0
    beta.advance(3)
    beta.receive("orders")
    (decided,) = network.carry()
    assert (decided.said["Class"], decided.said["decision"]) == ("16384", "positive")
    assert decided.said["decidedAt"] == "20231114T221323"
    assert f"<id>{asked.said['id']}</id></commitmentReceipt>" in decided.text
    classes = [each.message.message_class for each in alpha.receive("admin", count=9).messages]
    assert classes == [MessageClass.ACK_REACH_QUEUE, MessageClass.ACK_RECEIVE]
    assert network.advance(3600) == []


@pytest.mark.srmp("T-30", "T-33")
@pytest.mark.parametrize("asked", [(), (Acknowledgement.POS_RECEIVE,)])
def test_a_sender_that_requests_no_negative_receipts_gets_none(asked: tuple[Acknowledgement, ...]) -> None:
    alpha, beta, network = pair()
    alpha.plain(beta.url(), b"x", acknowledgements=asked, administration_queue=alpha.url("admin"))
    network.carry()
    beta.ask(PurgeQueue(0, "orders"))
    assert network.advance(3600) == []


@pytest.mark.srmp("T-31")
@pytest.mark.spec("SR-297")
@pytest.mark.parametrize(
    ("leaves", "number"),
    [("purged", 49153), ("deleted", 49152), ("too old", 49154), ("rejected", 49156)],
)
def test_a_sender_that_requests_negative_receipts_gets_the_reason_of_the_removal(
    leaves: str, number: int
) -> None:
    alpha, beta, network = pair()
    alpha.plain(
        beta.url(),
        b"x",
        acknowledgements=(Acknowledgement.NEG_RECEIVE,),
        administration_queue=alpha.url("admin"),
        time_to_be_received=60,
    )
    network.carry()
    if leaves == "purged":
        beta.ask(PurgeQueue(0, "orders"))
    elif leaves == "deleted":
        beta.ask(DeleteQueue(0, "orders"))
    elif leaves == "too old":
        beta.advance(60)
    else:
        held = beta.receive("orders", hold=60)
        beta.ask(EndRead(0, held.receipt, delete=True, reject=True))
    (decided,) = network.carry()
    assert (int(decided.said["Class"]), decided.said["decision"]) == (number, "negative")
    assert alpha.first("admin").message_class == number


# -- other ways


@pytest.mark.srmp("T-60", "T-62")
@pytest.mark.spec("SR-186", "SR-311")
def test_a_forwarder_passes_a_message_on_unchanged() -> None:
    away = (Redirection("http://beta.example/*", "http://gate.example/"),)
    alpha = Side("alpha.example", settings=SrmpSettings(outbound_redirections=away))
    gate = Side("gate.example", settings=SrmpSettings(store_and_forward=True))
    beta = Side("beta.example")
    network = Network(alpha, gate, beta)
    alpha.plain(beta.url(), b"far")
    to_gate, to_beta = network.carry()
    assert (to_gate.post.server, to_beta.post.server) == ("http://gate.example", "http://beta.example")
    assert (to_gate.post.authority, to_gate.status, to_beta.status) == ("beta.example", 200, 200)
    assert to_gate.text == to_beta.text
    assert (gate.all_waiting(), beta.bodies()) == (0, [b"far"])
    assert beta.first().identifier.lineage == alpha.guid


@pytest.mark.srmp("T-62")
@pytest.mark.spec("SR-312")
def test_an_exception_goes_straight_where_all_else_goes_to_the_forwarder() -> None:
    settings = SrmpSettings(
        outbound_redirections=(Redirection("http://beta.example/*", "http://gate.example/"),),
        outbound_exceptions=("http://beta.example/msmq/private$/urgent",),
    )
    alpha = Side("alpha.example", settings=settings)
    alpha.plain("DIRECT=HTTP://beta.example/msmq/private$/orders", b"a")
    alpha.plain("DIRECT=HTTP://beta.example/msmq/private$/urgent", b"b")
    assert [(post.server, post.authority) for post in alpha.posts] == [
        ("http://gate.example", "beta.example"),
        ("http://beta.example", "beta.example"),
    ]


@pytest.mark.srmp("T-61")
def test_a_public_name_leads_to_a_queue_inside() -> None:
    inside = (Redirection("http://pub.example/*", "http://beta.example/msmq/private$/orders"),)
    alpha = Side("alpha.example")
    beta = Side("beta.example", settings=SrmpSettings(inbound_redirections=inside))
    network = Network(alpha, beta)
    network.hosts["pub.example"] = beta
    alpha.plain("DIRECT=HTTP://pub.example/msmq/anything", b"in")
    assert [went.status for went in network.carry()] == [200]
    assert beta.bodies() == [b"in"]


@pytest.mark.srmp("T-72")
@pytest.mark.spec("SR-005")
def test_all_members_of_a_group_get_the_message_and_none_answers() -> None:
    alpha, beta, gamma = Side("alpha.example"), Side("beta.example"), Side("gamma.example")
    network = Network(alpha, beta, gamma)
    for side in (beta, gamma):
        side.create("ticks", multicast_address="234.1.1.1:8001")
    alpha.plain("MULTICAST=234.1.1.1:8001", b"tick")
    network.multicast()
    assert beta.bodies("ticks") == gamma.bodies("ticks") == [b"tick"]
    assert (alpha.all_waiting(), network.advance(3600)) == (0, [])


@pytest.mark.srmp("T-78")
def test_the_highest_priority_is_sent_first_and_a_stream_keeps_its_order() -> None:
    alpha, beta, network = pair()
    network.loses = lambda _: True
    alpha.plain(beta.url(), b"first")
    network.carry()  # no server is there, and the queue rests
    for priority in (0, 7):
        alpha.plain(beta.url(), b"%d" % priority, priority=priority)
        alpha.stream(beta.url("torders"), b"%d" % priority, priority=priority)
    network.loses = lambda _: False
    network.advance(20)
    assert [each for each in beta.bodies() if each != b"first"] == [b"7", b"0"]
    assert beta.bodies("torders") == [b"0", b"7"]
    assert {each.said["Priority"] for each in network.went if "torders" in each.post.target} == {"0"}
