"""Sources and receivers on a network that loses, doubles and delays packets, all from a seed.

network = Network(seed=1, loss=0.3)
source = network.add_source()                 a node with an address of its own
receiver = network.add_receiver()
network.send(source, b"hello")
network.run(seconds=30)
receiver.delivered[source.tsi]                what came, in order
receiver.lost                                 what is reported as lost
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random

from reliquary.base.time import MILLISECOND, SECOND, Duration, Instant
from reliquary.protocols.pgm.actions import Deliver, Lost, Multicast, PgmResult, Sent, Unicast
from reliquary.protocols.pgm.receiver import Receiver
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.protocols.pgm.source import Source
from reliquary.wire.pgm import packets
from reliquary.wire.pgm.packets import Nak, Packet, PgmPacketType, Tsi

GROUP, PORT = "234.1.1.1", 8001
FAST = PgmSettings(rate=4_000_000)


class SeededChance:
    """Random bits from a seed, so that a run can be repeated."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)


class SourceNode:
    """A source and what it was asked to send."""

    def __init__(self, source: Source, address: str) -> None:
        self.machine = source
        self.address = address
        self.tsi = source.tsi
        self.submitted: list[bytes] = []
        self.sent: list[object] = []
        """The tickets of APDUs whose last packet was sent."""


class ReceiverNode:
    """A receiver and what came of it."""

    def __init__(self, receiver: Receiver, address: str) -> None:
        self.machine = receiver
        self.address = address
        self.delivered: dict[Tsi, list[bytes]] = defaultdict(list)
        self.lost: list[Lost] = []


Node = SourceNode | ReceiverNode


class Network:
    """Carries packets between nodes, as bytes; its clock goes from one event to the next."""

    def __init__(
        self,
        seed: int = 0,
        *,
        loss: float = 0,
        doubling: float = 0,
        delay: Duration = MILLISECOND,
        jitter: int = 0,
        settings: PgmSettings = FAST,
    ) -> None:
        self.random = Random(seed)
        self.loss, self.doubling, self.delay, self.jitter = loss, doubling, delay, jitter
        self.settings = settings
        self.now = Instant(1_000_000)
        self.nodes: list[Node] = []
        self.passes: Callable[[Node, Packet], bool] = lambda node, packet: True
        """What a test lets through to a node, besides chance."""
        self.carried: list[tuple[Instant, Packet]] = []
        """Every packet that was sent, once."""
        self._queue: list[tuple[Instant, int, Callable[[], None]]] = []
        self._order = 0
        self._wakes: dict[Node, Instant | None] = {}

    def add_source(self, first: int | None = None, tsi: Tsi | None = None) -> SourceNode:
        number = len(self.nodes) + 1
        tsi = tsi or Tsi(number.to_bytes(6, "big"), self.random.getrandbits(16))
        first = self.random.getrandbits(32) if first is None else first
        address = f"10.0.0.{number}"
        node = SourceNode(Source(tsi, GROUP, PORT, address, self.settings, first, self.now), address)
        self.nodes.append(node)
        self.perform(node, node.machine.wake(self.now))
        return node

    def add_receiver(self, settings: PgmSettings | None = None) -> ReceiverNode:
        chance = SeededChance(self.random.getrandbits(32))
        address = f"10.0.0.{len(self.nodes) + 1}"
        node = ReceiverNode(Receiver(GROUP, PORT, settings or self.settings, chance), address)
        self.nodes.append(node)
        return node

    def send(self, node: SourceNode, apdu: bytes) -> None:
        node.submitted.append(apdu)
        self.perform(node, node.machine.submit(len(node.submitted), apdu, self.now))

    def close(self, node: SourceNode) -> None:
        self.perform(node, node.machine.close(self.now))

    def perform(self, node: Node, step: PgmResult) -> None:
        """Do what a node wants."""
        for action in step.actions:
            if isinstance(action, Multicast):
                self.carried.append((self.now, action.packet))
                for other in self.nodes:
                    if other is not node:
                        self._carry(node, other, action.packet)
            elif isinstance(action, Unicast):
                self.carried.append((self.now, action.packet))
                for other in self.nodes:
                    if other.address == action.to:
                        self._carry(node, other, action.packet)
            elif isinstance(action, Sent):
                assert isinstance(node, SourceNode)
                node.sent.append(action.ticket)
            elif isinstance(action, Deliver):
                assert isinstance(node, ReceiverNode)
                node.delivered[action.tsi].append(action.apdu)
            else:
                assert isinstance(node, ReceiverNode)
                if isinstance(action, Lost):
                    node.lost.append(action)
        wake = step.wake
        if wake is not None and self._wakes.get(node) != wake:
            self._at(wake, lambda: self._wake(node, wake))
        self._wakes[node] = wake

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        end = Instant(self.now + int(seconds * SECOND))
        while self._queue and self._queue[0][0] <= end:
            moment, _, act = heappop(self._queue)
            self.now = max(moment, self.now)
            act()
        self.now = end

    def count(self, kind: type | PgmPacketType) -> int:
        """Return how many packets of a kind were sent."""
        return sum(
            isinstance(packet, Nak) and packet.kind is kind
            if isinstance(kind, PgmPacketType)
            else type(packet) is kind
            for _, packet in self.carried
        )

    def _carry(self, sender: Node, to: Node, packet: Packet) -> None:
        if not self.passes(to, packet):
            return
        raw = packets.encode(packet)
        for _ in range(2 if self.random.random() < self.doubling else 1):
            if self.random.random() >= self.loss:
                moment = self.now + self.delay + self.random.randint(0, self.jitter)
                self._at(Instant(moment), lambda: self._arrive(sender, to, raw))

    def _arrive(self, sender: Node, to: Node, raw: bytes) -> None:
        if to not in self.nodes:
            return
        packet = packets.decode(raw)
        if isinstance(to, ReceiverNode):
            self.perform(to, to.machine.hear(packet, sender.address, self.now))
        elif isinstance(packet, Nak) and packet.kind is PgmPacketType.NAK:
            self.perform(to, to.machine.hear(packet, self.now))

    def _wake(self, node: Node, moment: Instant) -> None:
        if node in self.nodes and self._wakes[node] == moment:
            self._wakes[node] = None
            self.perform(node, node.machine.wake(self.now))

    def _at(self, moment: Instant, act: Callable[[], None]) -> None:
        self._order += 1
        heappush(self._queue, (moment, self._order, act))
