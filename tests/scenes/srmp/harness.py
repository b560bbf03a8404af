"""Managers that use SRMP to each other, and a network between them that a test can make lose things.

    alpha, beta = Side("alpha.example"), Side("beta.example")
    network = Network(alpha, beta)
    alpha.stream(beta.url("torders"), b"1", b"2")
    network.carry()                          all that waits is posted and answered, also what that leads to
    network.advance(0.5)                     time passes for all of them; then it carries
    network.went                             what was posted so far, with its answer

Each side has "orders", and "torders" which is transactional.  Bytes are what goes between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from reliquary.base.turn import Turn
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import Addressed, ApduArrived
from reliquary.queueing.model.events import CommitTransaction
from reliquary.queueing.model.message import Message
from reliquary.queueing.rules.destinations import find
from reliquary.queueing.travel.failures import Failure
from tests.protocols.srmp.peer import read
from tests.protocols.srmp.srmp_harness import SrmpBench

DEAD, DEAD_STREAM, JOURNAL = "system$;deadletter", "system$;deadxact", "system$;journal"


class Side(SrmpBench):
    """A manager under an address of its own."""

    def __init__(self, host: str = "beta.example", **options: Any) -> None:
        self.host = host
        seed = sum(host.encode())  # another manager, another GUID
        super().__init__("orders", seed=seed, addressed=False, **options)
        self.create("torders", transactional=True)

    def start(self) -> Turn:
        """Start the manager and let it listen at its host name."""
        turn = super().start()
        self.handle(Addressed(self.host, frozenset({self.host})))
        return turn

    @property
    def guid(self) -> UUID:
        """The identifier of this queue manager."""
        return self.state.identity().identifier

    def url(self, queue: str = "orders") -> str:
        """Return the format name under which others send to a queue here."""
        return f"DIRECT=HTTP://{self.host}/msmq/private$/{queue}"

    def plain(self, to: str, *bodies: bytes, **attributes: Any) -> None:
        """Send messages outside any stream."""
        assert not self.send(to, *bodies, **attributes).status.value

    def stream(self, to: str, *bodies: bytes, **attributes: Any) -> None:
        """Send messages of a stream."""
        transaction = self.begin()
        assert not self.send(to, *bodies, transaction=transaction, **attributes).status.value
        self.ask(CommitTransaction(0, transaction))

    def waiting(self, to: str) -> int:
        """Return how many messages wait for this destination."""
        queue = find(self.state, to)
        return 0 if queue is None else len(queue.order) + len(queue.order.locked)

    def all_waiting(self) -> int:
        """Return how many messages wait for any destination."""
        queues = self.state.names.outgoing.values()
        return sum(len(queue.order) + len(queue.order.locked) for queue in queues)

    def first(self, path: str = "orders") -> Message:
        """Return the message at the head of a queue."""
        position = self.queue(path).order.first()
        assert position is not None, f"nothing is in {path}"
        return self.state.messages.get(position)


class Went(msgspec.Struct, frozen=True):
    """A POST, and its answer; 0 where it was lost, -1 where its answer was."""

    post: Post
    status: int

    @property
    def said(self) -> dict[str, str]:
        """The elements of its envelope, by local name; of those that occur twice, the last."""
        return read(envelope_of(self.post.body))

    @property
    def text(self) -> str:
        """The envelope of the POST as text."""
        return envelope_of(self.post.body).decode()


def envelope_of(body: bytes) -> bytes:
    """Return the envelope in the body of a POST."""
    end = b"</se:Envelope>"
    return body[body.index(b"<se:Envelope") : body.index(end) + len(end)]


class Network:
    """Carries POSTs between sides, in their order."""

    def __init__(self, *sides: Side) -> None:
        self.sides = sides
        self.hosts = {side.host: side for side in sides}
        """Who is found under which name."""
        self.went: list[Went] = []
        self.loses: Callable[[Post], bool] = lambda _: False
        """Returns whether a POST is lost on its way."""
        self.loses_answer: Callable[[Post], bool] = lambda _: False
        self.drops_silently: Callable[[Post], bool] = lambda _: False
        """Selects POSTs that an intermediary answers with 200 without delivering them."""
        self._carried = dict.fromkeys(self.hosts, 0)

    def carry(self) -> list[Went]:
        """Carry all that waits, and what that leads to; what went in this call."""
        before = len(self.went)
        while self._carry_some():
            pass
        return self.went[before:]

    def advance(self, span: float) -> list[Went]:
        """Time passes everywhere; what went after that."""
        for side in self.sides:
            side.advance(span)
        return self.carry()

    def _carry_some(self) -> bool:
        moved = False
        for side in self.sides:
            while self._carried[side.host] < len(side.posts):
                post = side.posts[self._carried[side.host]]
                self._carried[side.host] += 1
                moved = True
                self._carry(side, post)
        return moved

    def _carry(self, side: Side, post: Post) -> None:
        there = self.hosts.get(urlsplit(post.server).netloc.casefold())
        if there is None or self.loses(post):
            self.went.append(Went(post, 0))
            side.fail(post, Failure.NO_CONNECTION)
            return
        status = 200 if self.drops_silently(post) else there.post(post.content_type, post.body).status
        if self.loses_answer(post):
            self.went.append(Went(post, -1))
            side.fail(post, Failure.TIMED_OUT)
        else:
            self.went.append(Went(post, status))
            side.answer(post, status)

    def multicast(self) -> None:
        """Bring what was sent to a group to all sides, and tell the sender that it is on the wire."""
        for side in self.sides:
            for sent in side.apdus:
                for there in self.sides:
                    there.handle(ApduArrived(sent.address, sent.data))
                side.answer(sent)
            side.out = [effect for effect in side.out if effect not in side.apdus]
