"""Tests managers that talk: all that one posts goes to the other, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reliquary.base.turn import Turn
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import Addressed, PostEnded
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import CommitTransaction, PurgeQueue, SendMessages
from reliquary.queueing.model.message import Acknowledgement, Delivery, Message
from tests.protocols.srmp.srmp_harness import SrmpBench
from tests.queueing.manager_harness import message

TORDERS = "DIRECT=http://beta.example/msmq/private$/torders"
ORDERS = "DIRECT=http://beta.example/msmq/private$/orders"
ADMIN = "DIRECT=http://alpha.example/msmq/private$/admin"


class Talker(SrmpBench):
    """A manager under a name of its own."""

    def __init__(self, name: str, seed: int, **options: Any) -> None:
        self.address = Addressed(name, frozenset({name}))
        super().__init__("orders", "admin", addressed=False, seed=seed, **options)
        self.create("torders", transactional=True)

    def start(self) -> Turn:
        """Start the manager and let it listen at its address."""
        turn = super().start()
        self.handle(self.address)
        return turn

    def commit(self, *bodies: bytes, **attributes: Any) -> None:
        """Send messages in a transaction and commit it."""
        transaction = self.begin()
        assert not self.send(TORDERS, *bodies, transaction=transaction, **attributes).why
        self.ask(CommitTransaction(0, transaction))

    @property
    def waiting(self) -> int:
        """Return the number of messages that wait to be sent."""
        queues = self.state.names.outgoing.values()
        return sum(len(queue.order) + len(queue.order.locked) for queue in queues)


class Network:
    """Two managers, or three with a gateway, and the network between them."""

    def __init__(self, **gateway: Any) -> None:
        through = SrmpSettings(**gateway)
        self.alpha = Talker("alpha.example", 1, settings=through)
        self.beta = Talker("beta.example", 2)
        self.gateway = Talker("gate.example", 3, settings=SrmpSettings(store_and_forward=True))
        self.hosts = {"alpha": self.alpha, "beta": self.beta, "gate": self.gateway, "proxy": self.alpha}
        self.lose: Callable[[Post], bool] = lambda _: False
        """Whether a POST never arrives."""
        self.lose_answer: Callable[[Post], bool] = lambda _: False

    def carry(self, seconds: float = 0) -> None:
        """Carry all that is posted, for so long."""
        parts = [self.alpha, self.beta, self.gateway]
        for _ in range(round(seconds * 2) + 1):
            while any(talker.posts for talker in parts):
                for talker in parts:
                    self._carry_some(talker)
            for talker in parts:
                talker.advance(0.5)

    def _carry_some(self, talker: Talker) -> None:
        posts, talker.out = talker.posts, []
        for post in posts:
            if self.lose(post):
                talker.fail(post)
                continue
            host = post.server.removeprefix("http://").partition(".")[0]
            to: Talker = {"alpha": self.alpha, "beta": self.beta, "gate": self.gateway, "proxy": self.alpha}[
                host
            ]
            status = to.post(post.content_type, post.body).status
            if self.lose_answer(post):
                talker.fail(post)
            else:
                talker.answer(post, status)


def is_receipt(post: Post) -> bool:
    return b"<streamReceipt>" in post.body


@pytest.mark.spec("SR-054")
def test_a_durable_message_is_on_disk_before_it_leaves_in_every_turn() -> None:
    alpha = Talker("alpha.example", 1, settings=SrmpSettings(in_flight=1))
    alpha.send(ORDERS, b"express", delivery=Delivery.EXPRESS)
    (first,) = alpha.posts
    alpha.core.close()
    alpha.core.take_at_once()
    alpha.core.turn(SendMessages(1, ORDERS, (message(b"durable"),)), alpha.now)
    alpha.core.turn(PostEnded(first.session, first.epoch, first.lookup_id, 200), alpha.now)
    alpha.core.turn(SendMessages(2, "orders", (Message(body=b"express"),)), alpha.now)
    batch = alpha.core.close()
    assert not [effect for effect in alpha.core.take_at_once() if isinstance(effect, Post)]
    assert len([effect for effect in batch.after_sync if isinstance(effect, Post)]) == 1


@pytest.mark.spec("SR-138", "SR-143", "SR-220", "SR-225")
def test_a_stream_arrives_in_order_and_its_sender_forgets_it() -> None:
    net = Network()
    net.alpha.commit(b"1", b"2", b"3")
    net.alpha.commit(b"4")
    net.carry(2)
    assert net.beta.bodies("torders") == [b"1", b"2", b"3", b"4"]
    assert (net.alpha.waiting, net.beta.waiting) == (0, 0)
    net.alpha.commit(b"5")
    net.carry(2)
    assert net.beta.bodies("torders") == [b"1", b"2", b"3", b"4", b"5"]
    assert net.alpha.waiting == 0


@pytest.mark.spec("SR-069", "SR-247")
def test_a_stream_goes_again_when_its_receipts_are_lost() -> None:
    net = Network()
    net.lose = is_receipt
    net.alpha.commit(b"1", b"2")
    net.carry(5)
    assert (net.alpha.waiting, net.beta.bodies("torders")) == (2, [b"1", b"2"])
    net.lose = lambda _: False
    net.carry(60)
    assert (net.alpha.waiting, net.beta.waiting) == (0, 0)
    assert net.beta.bodies("torders") == [b"1", b"2"]


@pytest.mark.spec("SR-069", "SR-124")
def test_what_came_and_was_not_answered_comes_once() -> None:
    net = Network()
    first = iter([True, False, True, True])
    net.lose_answer = lambda post: not is_receipt(post) and next(first, False)
    net.alpha.commit(b"1", b"2")
    net.alpha.send(ORDERS, b"plain")
    net.carry(120)
    assert net.beta.bodies("torders") == [b"1", b"2"]
    assert net.beta.bodies("orders") == [b"plain"]
    assert net.alpha.waiting == 0


@pytest.mark.parametrize("crash", [True, False])
def test_a_restart_on_both_sides_neither_loses_nor_doubles(crash: bool) -> None:
    net = Network()
    net.lose = is_receipt
    net.alpha.commit(b"1", b"2")
    net.carry(1)
    for talker in (net.alpha, net.beta):
        talker.flush()
        talker.restart(crash=crash)
        talker.out.clear()
    net.lose = lambda _: False
    net.alpha.handle(net.alpha.address)
    net.alpha.commit(b"3")
    net.carry(120)
    assert net.beta.bodies("torders") == [b"1", b"2", b"3"]
    assert (net.alpha.waiting, net.beta.waiting) == (0, 0)


@pytest.mark.spec("SR-229", "SR-231", "SR-243", "SR-300")
def test_a_final_receipt_ends_the_wait_of_a_sender_that_keeps_its_messages() -> None:
    net = Network()
    net.alpha.commit(b"read", b"purged", negative_journaling=True)
    net.carry(2)
    assert net.alpha.waiting == 2
    net.beta.receive("torders")
    net.carry(1)
    assert net.alpha.waiting == 1
    net.beta.ask(PurgeQueue(0, "torders"))
    net.carry(1)
    assert net.alpha.waiting == 0
    assert net.alpha.bodies("system$;deadxact") == [b"purged"]


@pytest.mark.spec("SR-218", "SR-232")
def test_a_sender_gets_receipts_for_arrival_and_reading() -> None:
    net = Network()
    asked = (Acknowledgement.FULL_REACH_QUEUE, Acknowledgement.FULL_RECEIVE)
    sent = net.alpha.send(ORDERS, b"m", acknowledgements=asked, administration_queue=ADMIN, label="order")
    net.carry()
    net.beta.receive("orders")
    net.carry()
    reported = net.alpha.receive("admin", count=5).messages
    assert [each.message.message_class for each in reported] == [2, 0x4000]
    assert [each.message.label for each in reported] == ["order", "order"]
    assert {each.message.correlation.lineage for each in reported} == {sent.lineage}


@pytest.mark.spec("SR-168", "SR-273", "SR-277", "SR-278")
@pytest.mark.parametrize("name", ["replies", "BENCH/private$/replies", "all replies 100%", r".\heard"])
def test_a_sender_gets_the_outcome_in_its_own_queue(name: str) -> None:
    net = Network()
    net.alpha.create(name)
    sent = [
        net.alpha.send(
            ORDERS, b"m", acknowledgements=(asked,), administration_queue=name, response_queue=name
        )
        for asked in (Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_RECEIVE, Acknowledgement.NACK_RECEIVE)
    ]
    net.carry()
    there = net.beta.receive("orders", count=2).messages
    net.beta.ask(PurgeQueue(0, "orders"))
    net.carry()
    reported = [each.message for each in net.alpha.receive(name, count=5).messages]
    assert [each.message_class for each in reported] == [2, 0x4000, 0xC001]
    assert [each.correlation.uniquifier for each in reported] == [
        each.lookup_ids[0] & 0xFFFFFFFF for each in sent
    ]
    assert there[0].message.response_queue.startswith("DIRECT=http://alpha.example/msmq/")
    net.beta.send(there[0].message.response_queue, b"answer")  # which leads back
    net.carry()
    assert net.alpha.bodies(name) == [b"answer"]


@pytest.mark.spec("SR-220", "SR-281")
def test_receipts_are_accepted_under_any_name_of_the_sender() -> None:
    """The receipts come from a proxy that passes them on as they are."""
    net = Network(default_receipt_url="http://proxy.example/msmq/private$/any")
    net.alpha.commit(b"1", b"2", negative_journaling=True)
    net.carry(2)
    for _ in range(2):
        net.beta.receive("torders")
    net.carry(1)
    assert (net.alpha.waiting, net.beta.waiting) == (0, 0)


@pytest.mark.spec("SR-186", "SR-312")
def test_a_gateway_passes_messages_on_and_receipts_go_straight_back() -> None:
    redirection = Redirection("http://beta.example/*", "http://gate.example/")
    net = Network(outbound_redirections=(redirection,))
    net.alpha.commit(b"1", b"2")
    net.carry(3)
    assert net.beta.bodies("torders") == [b"1", b"2"]
    assert [talker.waiting for talker in (net.alpha, net.beta, net.gateway)] == [0, 0, 0]
    assert not net.gateway.srmp.state.incoming
