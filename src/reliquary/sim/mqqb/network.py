"""Simulates byte streams between sites: connections that break at any byte, which only one side may notice.

    SendPackets --> bytes --> pieces --> framer of the other side --> PacketsArrived

cut          a beginning of what was written arrives, then the connection breaks; each side notices it or not
stuck        no data passes any more, and neither side notices it before a timer or a keepalive fires
half-open    a process has ended, and the other side has not noticed; it does when it writes
late         pieces of an old connection arrive after a new one is open
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from reliquary.base.time import MILLISECOND, SECOND
from reliquary.base.turn import Effect, Event
from reliquary.protocols.mqqb.effects import Dial, HangUp, SendPackets
from reliquary.protocols.mqqb.events import (
    Accepted,
    AddressesFound,
    ConnectionLost,
    DialFailed,
    Dialled,
    PacketsArrived,
)
from reliquary.queueing.travel.failures import Failure
from reliquary.sim.chance import SeededChance
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network import SiteNetwork
from reliquary.sim.world.network_faults import NetworkFaults
from reliquary.wire.packet.framing import Framer

DIALLING: Final = 500 * MILLISECOND
"""The time that a site waits for a connection to another one that it cannot reach."""
KEEPALIVE: Final = 10 * SECOND
"""The longest time until a keepalive finds a stuck connection, if it finds it at all."""
NOTICED: Final = 0.8
"""The probability that a side notices at once that its connection is broken."""


@dataclass(slots=True, eq=False)
class _End:
    """One side of a connection."""

    process: Process
    site: str
    session: int
    framer: Framer = field(default_factory=Framer)
    last_arrival: int = 0
    """The time at which the last piece for this side arrives."""
    performed: int = 0
    """The serial of the last effect that was performed."""
    early: dict[int, Effect] = field(default_factory=dict)
    """Effects that were performed before one with a lower serial."""
    is_open: bool = True
    """Whether the machine of this side has the connection; the dialling side gets it later."""
    closed: bool = False
    """Whether the machine of this side has closed the connection, or was notified that it is lost."""


@dataclass(slots=True, eq=False)
class _Connection:
    """A TCP connection with the side that opened it and the side that accepted it."""

    client: _End
    server: _End
    stuck: bool = False
    cut: bool = False
    """Whether it will break when all written data has arrived; no more data is carried."""
    broken: bool = False

    def other(self, end: _End) -> _End:
        """Return the side that reads the data of this side."""
        return self.server if end is self.client else self.client


class StreamNetwork(SiteNetwork):
    """Carries byte streams between the hosts that have joined."""

    def __init__(
        self,
        scheduler: Scheduler,
        chance: SeededChance,
        faults: NetworkFaults,
        addresses: dict[str, str],
    ) -> None:
        super().__init__(scheduler, chance, faults)
        self._addresses = addresses
        """The IP address of each site, by its name."""
        self._sites = {address: site for site, address in addresses.items()} | {s: s for s in addresses}
        self._connections: dict[tuple[Process, int], _Connection] = {}
        self._accepted = 0
        self._given_up: set[tuple[Process, int]] = set()
        """Sessions that were closed while they were dialled."""

    # -- what a machine asks for

    def perform(self, site: str, process: Process, effect: Effect) -> None:
        """Perform an effect; those on an open connection in the order of their serials (G-59)."""
        if isinstance(effect, Dial):
            self._after(self._delay(), self._dial, site, process, effect)
        elif isinstance(effect, SendPackets | HangUp):
            connection = self._connections.get((process, effect.session))
            if connection is None:
                self._given_up.add((process, effect.session))
                return
            end = connection.client if connection.client.process is process else connection.server
            if end.session != effect.session:
                end = connection.other(end)
            if not effect.serial:  # it was still dialled when the machine closed it
                self._close(connection, end)
                return
            end.early[effect.serial] = effect
            while (following := end.early.pop(end.performed + 1, None)) is not None:
                end.performed += 1
                self._perform_next(connection, end, following)

    def _perform_next(self, connection: _Connection, end: _End, effect: Any) -> None:
        if isinstance(effect, SendPackets):
            self._write(connection, end, b"".join(effect.packets))
        else:
            self._close(connection, end)

    # -- opening

    def _dial(self, site: str, process: Process, dial: Dial) -> None:
        if not process.alive or (process, dial.session) in self._given_up:
            return
        target = self._sites.get(dial.host)
        if target is None:
            process.submit(DialFailed(dial.session, Failure.NO_ADDRESS))
            return
        if not dial.addresses:
            process.submit(AddressesFound(dial.session, (self._addresses[target],)))
        if self._partitions.are_separate(site, target) or self._chance.happens(self._faults.lost):
            self._after(DIALLING, self._submit, process, DialFailed(dial.session, Failure.TIMED_OUT))
            return
        server = self._process_at(target)
        if server is None or not server.accepting:
            process.submit(DialFailed(dial.session, Failure.NO_CONNECTION))
            return
        self._accepted -= 1
        connection = _Connection(
            _End(process, site, dial.session, is_open=False), _End(server, target, self._accepted)
        )
        self._connections[process, dial.session] = connection
        self._connections[server, self._accepted] = connection
        server.submit(Accepted(self._accepted, self._addresses[site]))
        self._after(self._delay(), self._opened, connection, dial)

    def _opened(self, connection: _Connection, dial: Dial) -> None:
        client = connection.client
        if (client.process, dial.session) in self._given_up:
            self._close(connection, client)
        elif connection.broken:
            client.closed = True
            self._submit(client.process, DialFailed(dial.session, Failure.NO_CONNECTION))
        elif client.process.alive:
            client.is_open = True
            client.process.submit(Dialled(dial.session, self._addresses[connection.server.site]))

    # -- bytes

    def _write(self, connection: _Connection, end: _End, data: bytes) -> None:
        if connection.broken:
            self._after(self._delay(), self._tell_lost, end)  # the other side answers with a reset
            return
        if connection.stuck or connection.cut:
            return
        if self._chance.happens(self._faults.lost / 4):
            self._stick(connection)
            return
        is_cut = self._chance.happens(self._faults.cut)
        if is_cut:
            data = data[: self._chance.between(0, len(data))]
        receiver = connection.other(end)
        for piece in self._pieces(data):
            late = self._chance.happens(self._faults.repeated / 8)
            span = self._chance.between(1, self._faults.latest_repeat // 4 + 1) if late else self._delay()
            receiver.last_arrival = max(receiver.last_arrival + 1, self._scheduler.now + span)
            at = receiver.last_arrival
            self._after(at - self._scheduler.now, self._arrive, connection, receiver, piece)
        if is_cut:
            connection.cut = True
            span = max(receiver.last_arrival - self._scheduler.now, 0) + 1
            self._after(span, self._break, connection)

    def _pieces(self, data: bytes) -> list[bytes]:
        """Divide bytes anywhere, because TCP has no packets."""
        places = sorted(self._chance.between(0, len(data)) for _ in range(self._chance.between(0, 2)))
        bounds = [0, *places, len(data)]
        return [data[one:two] for one, two in pairwise(bounds) if two > one]

    def _arrive(self, connection: _Connection, end: _End, piece: bytes) -> None:
        if connection.stuck or end.closed:
            return
        other = connection.other(end)
        if self._partitions.are_separate(other.site, end.site):
            self._stick(connection)
            return
        if not end.process.alive:
            self._break(connection)
            return
        packets = end.framer.feed(piece)
        if packets:
            end.process.submit(PacketsArrived(end.session, tuple(packets)))
        if end.framer.fault is not None:
            end.closed = True
            end.process.submit(ConnectionLost(end.session, str(end.framer.fault), malformed=True))

    # -- endings

    def _close(self, connection: _Connection, end: _End) -> None:
        """Close a machine's connection: its data still arrives, then the other side is notified."""
        if end.closed:
            return
        end.closed = True
        self._connections.pop((end.process, end.session), None)
        other = connection.other(end)
        if not connection.stuck and not other.closed:
            span = max(other.last_arrival - self._scheduler.now, 0) + self._delay()
            self._after(span, self._tell_lost, other)

    def _stick(self, connection: _Connection) -> None:
        """Stop all data on a connection; sometimes a keepalive detects it."""
        connection.stuck = True
        for end in (connection.client, connection.server):
            if self._chance.happens(0.5):
                self._after(self._chance.between(1, KEEPALIVE), self._tell_lost, end)

    def _break(self, connection: _Connection) -> None:
        """Break a connection; a side that does not notice it gets an error when it writes."""
        connection.broken = True
        for end in (connection.client, connection.server):
            if self._chance.happens(NOTICED) and end.is_open:
                self._after(self._delay(), self._tell_lost, end)

    def _tell_lost(self, end: _End) -> None:
        if not end.closed:
            end.closed = True
            self._connections.pop((end.process, end.session), None)
            self._submit(end.process, ConnectionLost(end.session, "the connection is lost"))

    def _submit(self, process: Process, event: Event) -> None:
        if process.alive:
            process.submit(event)

    def _ended(self, process: Process) -> None:
        """Break the connections of a process that has ended; the other sides mostly notice it."""
        for key, connection in list(self._connections.items()):
            if key[0] is process:
                del self._connections[key]
                mine = connection.client if connection.client.process is process else connection.server
                mine.closed = True
                if not connection.stuck:
                    self._break(connection)
        self._given_up = {each for each in self._given_up if each[0] is not process}
