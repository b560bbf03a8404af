"""Tests managers that talk: all that one posts goes to the other, byte for byte, in every dialect."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from reliquary.base.turn import Turn
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Soap, Version
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.events import Addressed, PostAnswer, PostArrived, PostEnded
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings
from tests.protocols.wsrm.wsrm_harness import WsrmBench
from tests.queueing.answers import body

ORDERS = "DIRECT=WSRM://beta.example/wsrm/orders"
DIALECTS = [Dialect(*each) for each in product(Version, Soap, Addressing)]


class Talker(WsrmBench):
    """A manager under a name of its own."""

    def __init__(self, name: str, seed: int, **options: Any) -> None:
        self.address = Addressed(f"http://{name}", frozenset({name}))
        super().__init__("orders", "replies", addressed=False, seed=seed, **options)

    def start(self) -> Turn:
        """Start the manager and let it listen at its address."""
        turn = super().start()
        self.handle(self.address)
        return turn

    @property
    def waiting(self) -> int:
        """Return the number of messages that wait to be sent."""
        queues = self.state.names.outgoing.values()
        return sum(len(queue.order) + len(queue.order.locked) for queue in queues)


class Network:
    """Two managers, and the network between them."""

    def __init__(self, alpha: WsrmSettings, beta: WsrmSettings) -> None:
        self.alpha = Talker("alpha.example", 1, settings=alpha)
        self.beta = Talker("beta.example", 2, settings=beta)
        self.hosts = {"alpha.example": self.alpha, "beta.example": self.beta}
        self.carried: list[Post] = []

    def carry(self, rounds: int = 200) -> None:
        """Bring every request to its host, and every response back, until nothing moves."""
        for _ in range(rounds):
            moved = [self._carry(talker) for talker in (self.alpha, self.beta)]
            if not any(moved):
                return
        raise AssertionError(f"the managers do not come to rest: {self.carried[-4:]}")

    def _carry(self, talker: Talker) -> bool:
        out, talker.out = talker.out, []
        posts = [each for each in out if isinstance(each, Post)]
        for post in posts:
            self.carried.append(post)
            host, _, path = post.url.removeprefix("http://").partition("/")
            other = self.hosts[host]
            caller = other.new_caller()
            endpoint = path.removeprefix("wsrm/")
            other.handle(PostArrived(caller, endpoint, post.content_type, post.body, peer="peer"))
            answer = other.response_to(caller)
            if answer is None:
                continue  # it is held for a reply
            talker.handle(_ended(post, answer))
        return bool(posts)


def _ended(post: Post, answer: PostAnswer) -> PostEnded:
    return PostEnded(
        post.connection, post.epoch, post.ticket, answer.status, answer.content_type, answer.body
    )


def network(dialect: Dialect = Dialect(), *, addressable: bool = False, **endpoint: Any) -> Network:  # noqa: B008
    """Alpha sends to beta in a dialect."""
    peer = PeerSettings(address="wsrm://beta.example/*", dialect=dialect, addressable=addressable, window=4)
    listed = EndpointSettings(name="orders", **endpoint)
    return Network(
        WsrmSettings(peers=(peer,), seed=b"alpha"), WsrmSettings(endpoints=(listed,), seed=b"beta")
    )


@pytest.mark.parametrize("addressable", [False, True], ids=["anonymous", "addressable"])
@pytest.mark.parametrize(
    "dialect", DIALECTS, ids=lambda each: f"{each.version.value}-{each.soap.value}-{each.addressing.value}"
)
def test_messages_arrive_once_and_in_order_in_every_dialect(dialect: Dialect, addressable: bool) -> None:
    net = network(dialect, addressable=addressable)
    bodies = [b"<order>%d</order>" % number for number in range(30)]
    for each in bodies:
        net.alpha.send(ORDERS, each)
    net.carry()
    for _ in range(40):
        if not net.alpha.waiting:
            break
        for talker in (net.alpha, net.beta):
            talker.advance(0.5)
        net.carry()
    assert net.beta.bodies() == bodies
    assert net.alpha.waiting == 0


def test_a_full_bounded_endpoint_holds_the_source_and_lets_it_go_on() -> None:
    net = network(bounded=True, window=2)
    for number in range(6):
        net.alpha.send(ORDERS, b"<a>%d</a>" % number)
    net.carry()
    assert len(net.beta.bodies()) == 2
    got = []
    for _ in range(30):
        got += [taken] if isinstance(taken := body(net.beta.receive("orders")), bytes) else []
        net.alpha.advance(31)
        net.carry()
    assert got == [b"<a>%d</a>" % number for number in range(6)]


def test_restarts_of_both_sides_lose_and_double_nothing() -> None:
    net = network()
    for number in range(10):
        net.alpha.send(ORDERS, b"<a>%d</a>" % number)
        if number == 4:
            net.carry()
    net.alpha.restart()
    net.beta.restart()
    for _ in range(30):
        net.carry()
        net.alpha.advance(3)
    assert net.beta.bodies() == [b"<a>%d</a>" % number for number in range(10)]
    assert net.alpha.waiting == 0
