"""Scenes of streams between two managers: exactly once and in order, whatever the network does."""

from __future__ import annotations

from random import Random

import pytest

from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import PauseQueue, PurgeQueue, ResumeQueue
from reliquary.queueing.model.message import FOREVER, Acknowledgement, MessageClass
from tests.protocols.srmp.peer import stream_message
from tests.protocols.srmp.receiving import Receiving
from tests.queueing.state_checks import check
from tests.scenes.srmp.harness import DEAD_STREAM, Network, Side, envelope_of

AWAY = (Redirection("http://beta.example/*", "http://gate.example/"),)


def pair(
    settings: SrmpSettings = SrmpSettings(),  # noqa: B008 - it is frozen
    there: SrmpSettings = SrmpSettings(),  # noqa: B008
) -> tuple[Side, Side, Network]:
    alpha, beta = Side("alpha.example", settings=settings), Side("beta.example", settings=there)
    alpha.create("admin")
    return alpha, beta, Network(alpha, beta)


def is_receipt(post: Post) -> bool:
    return b"<streamReceipt>" in post.body


def number(post: Post) -> int:
    """Return the number of a message in its stream, 0 of anything else."""
    text = envelope_of(post.body).decode()
    return int(text.partition("<current>")[2].partition("<")[0] or 0)


@pytest.mark.srmp("T-36", "T-37", "T-38", "T-40", "T-41")
@pytest.mark.spec("SR-133", "SR-138", "SR-143", "SR-157", "SR-306")
def test_three_messages_wait_for_one_receipt_and_the_next_one_begins_another_stream() -> None:
    alpha, beta, network = pair()
    to = beta.url("torders")
    alpha.stream(to, b"1", b"2", b"3")
    sent = network.carry()
    assert [number(went.post) for went in sent] == [1, 2, 3]
    assert ["<start>" in went.text for went in sent] == [True, False, False]
    assert (beta.bodies("torders"), alpha.waiting(to)) == ([b"1", b"2", b"3"], 3)
    (receipt,) = network.advance(0.5)
    assert (receipt.said["lastOrdinal"], receipt.said["streamId"]) == ("3", sent[0].said["streamId"])
    assert (receipt.said["action"], receipt.said["Class"]) == ("MSMQ:QM Ordering Ack", "255")
    assert alpha.waiting(to) == 0
    alpha.stream(to, b"4")
    (again,) = network.carry()
    ordinals = [int(each.said["streamId"].rpartition("\\")[2]) & 0xFFFFFFFF for each in (sent[0], again)]
    assert (number(again.post), ordinals) == (1, [1, 2])
    assert beta.bodies("torders") == [b"1", b"2", b"3", b"4"]


@pytest.mark.srmp("T-42", "F-63")
@pytest.mark.spec("SR-141", "SR-247")
def test_a_lost_receipt_is_repeated_when_the_messages_come_again() -> None:
    alpha, beta, network = pair()
    network.drops_silently = is_receipt
    alpha.stream(beta.url("torders"), b"1", b"2", b"3")
    network.carry()
    network.advance(0.5)
    assert (alpha.all_waiting(), beta.all_waiting()) == (3, 0)
    network.drops_silently = lambda _: False
    again = network.advance(29.5)
    assert [number(went.post) for went in again] == [1, 2, 3]
    network.advance(0.5)
    assert (alpha.all_waiting(), beta.bodies("torders")) == (0, [b"1", b"2", b"3"])


@pytest.mark.srmp("T-45", "T-17")
@pytest.mark.spec("SR-136", "SR-259", "SR-264")
def test_a_message_that_expired_on_its_way_leaves_a_gap_that_the_receiver_knows_of() -> None:
    alpha, beta, network = pair()
    to = beta.url("torders")
    alpha.stream(to, b"1", b"2")
    network.carry()
    network.advance(0.5)
    alpha.stream(to, b"a", b"b")  # one and two of a new stream
    network.carry()
    network.loses = lambda _: True
    alpha.stream(to, b"c", time_to_reach_queue=5, negative_journaling=True)
    network.carry()
    network.advance(10)
    alpha.stream(to, b"d")
    network.loses = lambda _: False
    network.advance(20)
    last = next(went for went in reversed(network.went) if number(went.post))
    assert (last.said["current"], last.said["previous"]) == ("4", "2")
    network.advance(1)
    assert beta.bodies("torders") == [b"1", b"2", b"a", b"b", b"d"]
    assert (alpha.all_waiting(), alpha.bodies(DEAD_STREAM)) == (0, [b"c"])
    receipts = [went.said["lastOrdinal"] for went in network.went if is_receipt(went.post)]
    assert receipts[-1] == "4"


@pytest.mark.srmp("F-71")
@pytest.mark.spec("SR-292")
def test_a_message_that_the_receiver_refuses_does_not_stop_the_others() -> None:
    alpha, beta, network = pair(there=SrmpSettings(largest_message=3000))
    to = beta.url("torders")
    for body in (b"1", b"x" * 3001, b"3"):
        alpha.stream(to, body, negative_journaling=True)
    network.carry()
    network.advance(1)
    network.advance(1)
    assert (beta.bodies("torders"), alpha.bodies(DEAD_STREAM)) == ([b"1", b"3"], [b"x" * 3001])
    beta.receive("torders", count=9)
    network.carry()
    assert alpha.all_waiting() == 0


@pytest.mark.srmp("T-50", "T-51", "T-54")
@pytest.mark.spec("SR-144", "SR-227", "SR-243")
def test_a_sender_that_requests_dead_letters_gets_the_outcome_of_each_message() -> None:
    alpha, beta, network = pair()
    to = beta.url("torders")
    alpha.stream(to, b"plain")
    alpha.stream(to, b"read", b"purged", negative_journaling=True)
    network.carry()
    network.advance(0.5)
    assert alpha.waiting(to) == 2
    for _ in range(2):
        beta.receive("torders")
    (final,) = network.carry()
    assert (final.said["decision"], final.said["lastOrdinal"], final.said["Class"]) == (
        "positive",
        "2",
        "16384",
    )
    assert (alpha.waiting(to), alpha.bodies(DEAD_STREAM)) == (1, [])
    beta.ask(PurgeQueue(0, "torders"))
    (final,) = network.carry()
    assert (final.said["decision"], final.said["lastOrdinal"], final.said["Class"]) == (
        "negative",
        "3",
        "49153",
    )
    assert (alpha.waiting(to), alpha.bodies(DEAD_STREAM)) == (0, [b"purged"])


@pytest.mark.srmp("T-51")
def test_what_was_not_read_in_time_is_a_dead_letter_at_its_sender() -> None:
    alpha, beta, network = pair()
    alpha.stream(beta.url("torders"), b"old", negative_journaling=True, time_to_be_received=60)
    network.carry()
    network.advance(0.5)
    (final,) = network.advance(60)
    assert final.said["Class"] == str(int(MessageClass.NACK_RECEIVE_TIMEOUT))
    assert (alpha.bodies(DEAD_STREAM), beta.bodies("torders"), beta.bodies(DEAD_STREAM)) == ([b"old"], [], [])


@pytest.mark.srmp("T-55")
@pytest.mark.spec("SR-295", "SR-300")
def test_a_commitment_receipt_and_a_final_one_go_to_two_places() -> None:
    alpha, beta, network = pair()
    alpha.stream(
        beta.url("torders"),
        b"x",
        negative_journaling=True,
        acknowledgements=(Acknowledgement.POS_RECEIVE,),
        administration_queue=alpha.url("admin"),
    )
    network.carry()
    network.advance(0.5)
    beta.receive("torders")
    targets = sorted(went.post.target.casefold() for went in network.carry())
    assert targets == ["/msmq/private$/admin", "/msmq/private$/order_queue$"]
    assert (alpha.waiting(beta.url("torders")), alpha.bodies("admin")) == (0, [b""])


@pytest.mark.srmp("T-56", "T-57")
@pytest.mark.spec("SR-118", "SR-128", "SR-160", "SR-161")
def test_both_sides_start_again_and_nothing_is_lost_or_doubled() -> None:
    alpha, beta, network = pair()
    alpha.stream(beta.url("torders"), b"1", b"2")
    alpha.flush()
    network.carry()
    beta.flush()
    beta.restart(crash=True)
    alpha.restart(crash=True)
    again = network.carry()
    assert [number(went.post) for went in again] == [1, 2]
    assert [went.post.body for went in again] == [went.post.body for went in network.went[:2]]
    network.advance(0.5)
    assert (alpha.all_waiting(), beta.bodies("torders")) == (0, [b"1", b"2"])
    beta.restart()
    assert beta.bodies("torders") == [b"1", b"2"]


@pytest.mark.srmp("T-65", "F-66")
@pytest.mark.spec("SR-238")
def test_a_full_queue_takes_the_stream_later_and_once() -> None:
    alpha, beta, network = pair()
    beta.create("small", quota=4, transactional=True)
    to = beta.url("small")
    bodies = [b"%d" % each * 1000 for each in range(10, 16)]
    alpha.stream(to, *bodies)
    network.carry()
    came: list[bytes] = []
    for _ in range(20):
        if beta.bodies("small"):
            came += [each.message.body for each in beta.receive("small").messages]
        network.advance(10)
    assert (came + beta.bodies("small"), alpha.waiting(to)) == (bodies, 0)


@pytest.mark.srmp("T-70")
@pytest.mark.spec("SR-304", "SR-305")
def test_a_paused_stream_stands_still_and_goes_on() -> None:
    alpha, beta, network = pair()
    to = beta.url("torders")
    alpha.stream(to, b"1")
    network.carry()
    alpha.ask(PauseQueue(0, to))
    alpha.stream(to, b"2")
    assert [went for went in network.advance(3600) if not is_receipt(went.post)] == []
    alpha.ask(ResumeQueue(0, to))
    network.carry()
    network.advance(31)
    network.advance(0.5)
    assert (alpha.waiting(to), beta.bodies("torders")) == (0, [b"1", b"2"])


@pytest.mark.srmp("T-60", "T-50")
def test_a_stream_through_a_forwarder_is_receipted_from_end_to_end() -> None:
    """A forwarder does not take part: numbers, identifiers and receipts are those of the ends."""
    alpha = Side("alpha.example", settings=SrmpSettings(outbound_redirections=AWAY))
    gate = Side("gate.example", settings=SrmpSettings(store_and_forward=True))
    beta = Side("beta.example")
    network = Network(alpha, gate, beta)
    alpha.stream(beta.url("torders"), b"1", b"2", b"3", negative_journaling=True)
    network.carry()
    assert (gate.all_waiting(), alpha.all_waiting()) == (0, 3)
    network.advance(0.5)
    beta.receive("torders", count=9)
    network.carry()
    assert (alpha.all_waiting(), gate.srmp.state.sent, gate.srmp.state.incoming) == (0, {}, {})


@pytest.mark.srmp("T-49", "T-05")
@pytest.mark.spec("SR-126", "SR-127")
def test_all_spellings_of_a_destination_are_streams_that_do_not_disturb_each_other() -> None:
    alpha, beta, network = pair()
    network.hosts["beta.example:80"] = beta
    names = [
        "http://beta.example/msmq/private$/torders",
        "http://BETA.example/MSMQ/Private$/Torders",
        "http://beta.example:80/msmq/private$/torders",
        "http://beta.example/msmq/private$/torders?lane=1",
        "http://beta.example/msmq/private$/torders?lane=2",
        "http://beta.example/msmq/private$/%74orders",
    ]
    for number in range(3):
        for name in names:
            alpha.stream(f"DIRECT={name}", b"%d" % number)
        network.carry()
    network.advance(0.5)
    assert (alpha.all_waiting(), beta.bodies("torders")) == (0, [b"0"] * 6 + [b"1"] * 6 + [b"2"] * 6)
    assert len(beta.srmp.state.incoming) == 5  # only case means nothing


@pytest.mark.srmp("T-78")
def test_a_stream_keeps_its_order_with_any_priorities() -> None:
    bench = Receiving()
    for number, priority in ((1, 0), (2, 7), (3, 3)):
        assert bench.post(*stream_message(number, priority=priority)).status == 200
    assert [bench.receive("torders").messages[0].message.body for _ in range(3)] == [b"1", b"2", b"3"]


# -- any network


@pytest.mark.srmp("T-42", "T-44", "T-47")
@pytest.mark.spec("SR-069", "SR-070")
@pytest.mark.parametrize("seed", range(12))
def test_all_messages_that_do_not_expire_arrive_once_and_in_order_despite_losses(seed: int) -> None:
    """POSTs and answers get lost, receipts are dropped, messages expire, and all crash now and then.

    Every other time there is a forwarder between them.
    """
    chance = Random(seed)
    settings = SrmpSettings(
        in_flight=chance.choice((1, 3, 32)),
        window=chance.choice((2, 4096)),
        outbound_redirections=AWAY if seed % 2 else (),
    )
    alpha, beta = Side("alpha.example", settings=settings), Side("beta.example")
    gate = Side("gate.example", settings=SrmpSettings(store_and_forward=True))
    network = Network(alpha, beta, gate)
    to = beta.url("torders")
    network.loses = lambda _: chance.random() < 0.3
    network.loses_answer = lambda _: chance.random() < 0.2
    network.drops_silently = lambda post: is_receipt(post) and chance.random() < 0.4
    sent: list[bytes] = []
    may_expire = set()
    for step in range(12):
        bodies = [b"%d.%d" % (step, each) for each in range(chance.randint(1, 3))]
        lifetime = chance.choice((30, FOREVER, FOREVER))
        if lifetime != FOREVER:
            may_expire.update(bodies)
        alpha.stream(to, *bodies, time_to_reach_queue=lifetime)
        sent += bodies
        network.carry()
        network.advance(chance.choice((0.1, 0.6, 25, 40)))
        for side in network.sides:
            side.flush()
            if chance.random() < 0.15:
                side.restart(crash=True)
    network.loses = network.loses_answer = network.drops_silently = lambda _: False
    while alpha.all_waiting() or gate.all_waiting():
        network.advance(600)
        network.advance(1)
    came = beta.bodies("torders")
    assert came == [body for body in sent if body in came]
    assert set(sent) - set(came) <= may_expire
    for side in network.sides:
        check(side.state)
