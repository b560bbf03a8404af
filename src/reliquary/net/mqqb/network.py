"""Implements the network of MQQB for a server: an acceptor, a dialer and the ping port.

listen --> Accepted ... --> stop_accepting --> the engine closes --> hang_up --> drain
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

from reliquary.base.time import Duration, seconds
from reliquary.base.turn import Event
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.clock import RealClock
from reliquary.net.mqqb.connection import SessionConnection
from reliquary.net.mqqb.dialing import Dialer
from reliquary.net.mqqb.pings import PingService
from reliquary.net.mqqb.shared import Count, SessionShared
from reliquary.net.tcp.acceptor import Acceptor
from reliquary.net.tcp.budget import Budget
from reliquary.protocols.mqqb.effects import Dial, HangUp, SendPackets, SendPing, SendStored
from reliquary.protocols.mqqb.settings import MqqbSettings


class Network:
    """Performs the effects of MQQB, and reports the events of connections."""

    def __init__(
        self,
        submit: Callable[[Event], None],
        settings: MqqbSettings,
        *,
        networks: Iterable[str],
        connections: int = 2048,
        clock: RealClock | None = None,
        budget: Budget | None = None,
    ) -> None:
        """`networks` are those that peers may connect from.

        `budget` is shared by all listeners of a server.
        """
        clock = clock or RealClock()
        self._shared = SessionShared(
            submit,
            settings,
            networks=networks,
            connections=connections,
            now=clock.monotonic(),
            budget=budget,
        )
        self._acceptor = Acceptor(
            lambda: SessionConnection(self._shared),
            self._shared,
            clock=clock,
            handshake_time=seconds(1),  # it has no TLS
        )
        self._dialer = Dialer(self._shared)
        self._pings = PingService(self._shared)
        self.pause = self._acceptor.pause
        """Stop reading from all peers: the engine is overloaded."""
        self.resume = self._acceptor.resume
        self.sweep = self._acceptor.sweep

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        """Accept sessions at an address and return the bound one (QB-001, QB-003); OSError if that fails."""
        return await self._acceptor.listen(host, port)

    async def listen_for_pings(self, host: str, port: int) -> int:
        """Take pings at an address and return its port (QB-088)."""
        return await self._pings.listen(host, port)

    # -- effects

    def dial(self, effect: Dial) -> None:
        """Open a connection for a session of the machine."""
        self._dialer.dial(effect)

    def send(self, effect: SendPackets) -> None:
        """Write packets (QB-293); those of a lost session are dropped."""
        connection = self._shared.sessions.get(effect.session)
        if connection is not None:
            connection.perform(effect)

    def hang_up(self, effect: HangUp) -> None:
        """Close a session, or stop opening it."""
        self._dialer.give_up(effect.session)
        connection = self._shared.sessions.get(effect.session)
        if connection is not None:
            connection.perform(effect)

    def answer_ping(self, effect: SendPing) -> None:
        """Send the response to a ping."""
        self._pings.answer(effect)

    # -- the end

    def stop_accepting(self) -> None:
        """Accept no new connections and no pings; sessions continue."""
        self._acceptor.stop_accepting()
        self._pings.stop()

    def stop_dialing(self) -> None:
        """Give up all connections that are being opened; no event follows."""
        self._dialer.stop()

    async def drain(self, within: Duration) -> int:
        """Close all connections, and return how many had to be cut."""
        return await self._acceptor.drain(within)

    # -- numbers for administrators

    @property
    def connections(self) -> int:
        """The number of connections, of both directions."""
        return self._acceptor.connections

    @property
    def buffered_bytes(self) -> int:
        """The number of buffered bytes of incomplete packets."""
        return sum(each.buffered_bytes for each in self._shared.connections.values())

    @property
    def counts(self) -> Counter[Count]:
        """The counts since the server started."""
        return self._shared.counts


def plug_in(
    engine: Engine,
    settings: MqqbSettings,
    *,
    networks: Iterable[str],
    connections: int = 2048,
    clock: RealClock | None = None,
    budget: Budget | None = None,
) -> Network:
    """Connect a network to the sessions of an engine's MQQB."""

    def submit(event: Event) -> None:
        with suppress(EngineStopped):
            engine.submit(event)

    network = Network(
        submit, settings, networks=networks, connections=connections, clock=clock, budget=budget
    )
    engine.performers |= {
        Dial: network.dial,
        SendPackets: network.send,
        SendStored: network.send,
        HangUp: network.hang_up,
        SendPing: network.answer_ping,
    }
    return network
