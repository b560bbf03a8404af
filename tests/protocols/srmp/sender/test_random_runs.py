"""Random runs of the sender against a plain receiver: exactly once, in order, and all of it in the end.

The way between them loses POSTs and answers, delivers what a broken connection still held much later, and
delays and loses receipts.  Messages expire and are refused; the sender restarts and is paused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.srmp.codec.values import StreamPosition
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.message import MessageClass, ObjectId
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.travel.failures import Failure
from tests.protocols.srmp.sending import Sender

STEPS = 120
REFUSED = b"refused"
DEAD = "system$;deadxact"


class Receiver:
    """Takes messages in order, each once, and remembers what it took."""

    def __init__(self) -> None:
        self.stream = 0
        """The number of the stream that it is in."""
        self.last = 0
        self.identifier = ""
        self.taken: list[bytes] = []
        self.known: set[ObjectId] = set()
        self.finals: list[tuple[str, int, bytes]] = []
        """Messages whose sender waits for a receipt: stream, number, body."""

    def take(self, place: StreamPosition, identifier: ObjectId, body: bytes, *, final: bool) -> int:
        """Return the status of the answer."""
        if body.startswith(REFUSED):
            return 400
        begins = bool(place.receipts_to) and place.current == 1 and place.number > self.stream
        follows = place.number == self.stream and place.current > self.last >= place.previous
        if begins or follows:
            self.stream, self.last, self.identifier = place.number, place.current, place.identifier
            if identifier not in self.known:
                self.taken.append(body)
                self.known.add(identifier)
            if final:
                self.finals.append((place.identifier, place.current, body))
        return 200


class RandomRun:
    """A sender, a receiver, and the way between them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.settings = SrmpSettings(
            in_flight=self.random.choice((1, 3, 8)),
            window=self.random.choice((2, 6, 100)),
            resend_ladder=tuple(map(seconds, (3, 7, 20))),
            retransmission=seconds(2),
        )
        self.sender = Sender(settings=self.settings)
        self.receiver = Receiver()
        self.wire: deque[Post] = deque()
        """POSTs on the connection, oldest first."""
        self.lost: list[Post] = []
        """POSTs of broken connections, which may still arrive."""
        self.sent: list[bytes] = []
        self.short: set[bytes] = set()
        """The messages that may expire."""
        self.wants_final: set[bytes] = set()

    # -- what happens

    def step(self) -> None:
        """Let one of the possible events happen."""
        events: list[tuple[int, Callable[[], None]]] = [
            (6, self.send),
            (8, self.arrive),
            (2, self.lose_answer),
            (2, self.lose),
            (1, self.haunt),
            (3, self.receipt),
            (2, self.read),
            (4, self.wait),
            (1, self.restart),
            (1, self.hold),
        ]
        weights = [weight for weight, _ in events]
        [(_, happen)] = self.random.choices(events, weights)
        happen()
        self.collect()

    def send(self) -> None:
        """An application sends one to four messages."""
        for _ in range(self.random.randint(1, 4)):
            refused = REFUSED if self.random.random() < 0.08 else b""
            body = refused + b"%d" % len(self.sent)
            self.sent.append(body)
            attributes: dict[str, Any] = {}
            if self.random.random() < 0.25:
                self.short.add(body)
                attributes["time_to_reach_queue"] = self.random.randint(1, 9)
            if self.random.random() < 0.3:
                self.wants_final.add(body)
                attributes["negative_journaling"] = True
            self.sender.stream(body, **attributes)

    def collect(self) -> None:
        """Put the new POSTs on the wire; a connection that ended counts as a broken wire."""
        for effect in self.sender.out:
            if isinstance(effect, Post):
                self.wire.append(effect)
            elif isinstance(effect, EndSession):
                self.lost += [post for post in self.wire if post.epoch == effect.epoch]
                self.wire = deque(post for post in self.wire if post.epoch != effect.epoch)
        self.sender.forget()

    def deliver(self, post: Post) -> int:
        """Deliver a POST to the receiver; return the status of the answer."""
        envelope = self.sender.arrived(post).envelope
        assert envelope.stream is not None
        assert envelope.msmq is not None
        body = self.sender.arrived(post).body
        return self.receiver.take(envelope.stream, envelope.identifier, body, final=envelope.msmq.dead_letter)

    def arrive(self) -> None:
        """The next POST arrives, and its answer does too."""
        if self.wire:
            post = self.wire.popleft()
            self.sender.answer(post, self.deliver(post))

    def lose_answer(self) -> None:
        """Let the POST arrive, and lose the answer."""
        if self.wire:
            post = self.wire[0]
            self.deliver(post)
            self.sender.fail(post, Failure.TIMED_OUT)

    def lose(self) -> None:
        """The receiver is busy, or away."""
        if self.wire:
            post = self.wire[0]
            if self.random.random() < 0.5:
                self.sender.answer(post, 503)
            else:
                self.sender.fail(post, Failure.LOST)

    def haunt(self) -> None:
        """Let a response arrive that was given up long ago."""
        if self.lost:
            self.deliver(self.lost.pop(self.random.randrange(len(self.lost))))

    def receipt(self) -> None:
        """Let a stream receipt come, which may cover less than what has arrived by now."""
        if self.receiver.last:
            last = max(self.receiver.last - self.random.choice((0, 0, 0, 1, 2)), 0)
            self.sender.receipt(last, self.receiver.identifier)

    def read(self) -> None:
        """An application reads a message there, or never will; its sender gets a receipt."""
        if self.receiver.finals:
            chosen = self.random.randrange(len(self.receiver.finals))
            stream, number, _ = self.receiver.finals.pop(chosen)
            self.sender.final(number, MessageClass.ACK_RECEIVE, stream)

    def wait(self) -> None:
        """Advance the clock by a random span."""
        self.sender.advance(self.random.choice((0.1, 1, 3, 8)))

    def restart(self) -> None:
        """Restart the process of the sender, which continues with its durable state."""
        self.lost += self.wire
        self.wire.clear()
        self.sender.flush()
        before = self.sender.srmp.state
        self.sender.restart(start=False)
        after = self.sender.srmp.state
        assert (after.sent, after.ordinals, after.queue_of) == (
            before.sent,
            before.ordinals,
            before.queue_of,
        )
        self.sender.start()

    def hold(self) -> None:
        """Pause the queue as an administrator does, or resume it."""
        if self.sent and self.sender.waiting():
            paused = self.sender.link().state is OutgoingState.ON_HOLD
            (self.sender.resume if paused else self.sender.pause)()

    # -- the end

    def heal(self) -> None:
        """Let nothing fail from now on."""
        if self.sent and self.sender.waiting():
            self.sender.resume()
        for _ in range(200):
            self.collect()
            while self.wire:
                self.arrive()
                self.collect()
            if self.receiver.last:
                self.sender.receipt(self.receiver.last, self.receiver.identifier)
            while self.receiver.finals:
                self.read()
            if not self.sender.waiting():
                return
            self.sender.advance(2)
        raise AssertionError(f"{self.sender.waiting()} messages never get there")

    def judge(self) -> None:
        """Check that each message arrived once and in order, and that none is missing that had the time."""
        taken = self.receiver.taken
        assert len(taken) == len(set(taken)), "a message arrived twice"
        places = [self.sent.index(body) for body in taken]
        assert places == sorted(places), "the order was broken"
        expected = {body for body in self.sent if not body.startswith(REFUSED)} - self.short
        assert expected <= set(taken), f"lost: {expected - set(taken)}"
        assert self.sender.srmp.state.sent == {}
        assert not self.sender.srmp.state.queue_of
        refused = {body for body in self.sent if body.startswith(REFUSED)}
        dead = set(self.sender.bodies(DEAD))
        assert refused - self.short <= dead, "a refusal leaves a dead letter even if none was asked for"
        assert not dead - self.wants_final - refused
        self.sender.check()


@pytest.mark.spec("SR-069", "SR-070", "SR-128", "SR-133", "SR-264")
@pytest.mark.parametrize("seeds", [range(first, first + 15) for first in range(0, 60, 15)], ids=str)
def test_a_stream_arrives_exactly_once_in_order_and_drains(seeds: range) -> None:
    for seed in seeds:
        run = RandomRun(seed)
        for step in range(STEPS):
            run.step()
            if step % 10 == 0:
                run.sender.check()
        run.heal()
        run.judge()
