"""Two managers that use MQQB to each other; the test is the network between them.

pair = Pair()                   left is 10.0.0.2, right is 10.0.0.3
pair.run()                      carry packets until nothing moves
pair.cut(after=100)             every connection breaks after this many bytes more
pair.advance(1)                 time passes at both
"""

from __future__ import annotations

from typing import Any

from reliquary.protocols.mqqb.effects import Dial, HangUp, SendPackets
from reliquary.protocols.mqqb.events import (
    Accepted,
    Addressed,
    AddressesFound,
    ConnectionLost,
    DialFailed,
    Dialled,
    PacketsArrived,
)
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.packet.framing import Framer
from tests.protocols.mqqb.mqqb_harness import MqqbBench

LEFT, RIGHT = "10.0.0.2", "10.0.0.3"


class _Site(MqqbBench):
    """One of the two managers."""

    def __init__(self, address: str, seed: int, *queues: str, **options: Any) -> None:
        self.ADDRESSED = Addressed(frozenset({address}), frozenset())  # type: ignore[misc]
        self.address = address
        super().__init__(*queues, seed=seed, **options)


class _Wire:
    """One connection: its two ends, and what has arrived at each."""

    def __init__(self, ends: dict[str, tuple[_Site, int]], budget: int | None) -> None:
        self.ends = ends
        self.framers = {address: Framer() for address in ends}
        self.budget = budget
        """How many bytes it still carries; None for no limit."""

    def other(self, address: str) -> str:
        """Return the address of the other end."""
        return next(each for each in self.ends if each != address)


class Pair:
    """Two managers and the connections between them."""

    def __init__(self, *queues: str, **options: Any) -> None:
        self.left = _Site(LEFT, 1, *queues, **options)
        self.right = _Site(RIGHT, 2, *queues, **options)
        self.sites = {LEFT: self.left, RIGHT: self.right}
        self._wires: dict[tuple[str, int], _Wire] = {}
        self._done = {LEFT: 0, RIGHT: 0}
        self._accepted = 0
        self.reachable = True
        self.budget: int | None = None
        """How many bytes each new connection carries before it breaks."""

    def run(self) -> None:
        """Carry effects to the other side until nothing moves."""
        moved = True
        while moved:
            moved = False
            for address, site in self.sites.items():
                if self._done[address] < len(site.out):
                    site.flush()  # what leaves is on disk before
                while self._done[address] < len(site.out):
                    effect = site.out[self._done[address]]
                    self._done[address] += 1
                    self._perform(address, effect)
                    moved = True

    def advance(self, span: float) -> None:
        """Let time pass at both, in small steps."""
        while span > 0:
            step = min(span, 0.1)
            for site in self.sites.values():
                site.advance(step)
            self.run()
            span -= step

    def restart(self, address: str, *, crash: bool = False) -> None:
        """Restart one side; its connections break."""
        self._break_all()
        self._done[address] = 0
        self.sites[address].restart(crash=crash)
        self.run()

    def cut(self) -> None:
        """Break all connections between the two managers."""
        self._break_all()
        self.run()

    def _break_all(self) -> None:
        for wire in list({id(each): each for each in self._wires.values()}.values()):
            self._break(wire)

    def _break(self, wire: _Wire) -> None:
        for address, (site, session) in wire.ends.items():
            if self._wires.pop((address, session), None) is not None:
                site.handle(ConnectionLost(session))

    def _perform(self, address: str, effect: Any) -> None:
        site = self.sites[address]
        if isinstance(effect, Dial):
            self._dial(address, site, effect)
            return
        wire = self._wires.get((address, getattr(effect, "session", 0)))
        if wire is None:
            return
        other = wire.other(address)
        peer, session = wire.ends[other]
        if isinstance(effect, SendPackets):
            data = b"".join(effect.packets)
            if wire.budget is not None:
                data, wire.budget = data[: wire.budget], wire.budget - len(data)
            packets = wire.framers[other].feed(data)
            if packets:
                peer.handle(PacketsArrived(session, tuple(packets)))
            if wire.budget is not None and wire.budget <= 0:
                self._break(wire)
        elif isinstance(effect, HangUp):
            del self._wires[address, effect.session]
            self._wires.pop((other, session), None)
            peer.handle(ConnectionLost(session))

    def _dial(self, address: str, site: _Site, dial: Dial) -> None:
        other = self.sites.get(dial.host)
        if other is None or not self.reachable:
            site.handle(DialFailed(dial.session, Failure.NO_CONNECTION))
            return
        self._accepted -= 1
        wire = _Wire({address: (site, dial.session), dial.host: (other, self._accepted)}, self.budget)
        self._wires[address, dial.session] = self._wires[dial.host, self._accepted] = wire
        other.handle(Accepted(self._accepted, address))
        site.handle(AddressesFound(dial.session, (dial.host,)))
        site.handle(Dialled(dial.session, dial.host))
