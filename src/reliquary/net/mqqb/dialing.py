"""Opens sessions: it resolves the name, sends a ping if wanted, and tries all addresses in turn (QB-173).

Dial --> resolve --> AddressesFound --> ping? --> connect --> Dialled
            |                             |          |
            '-----------------------------'----------'--> the next address; after the last: DialFailed
"""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import NamedTuple

from reliquary.net.mqqb.connection import SessionConnection
from reliquary.net.mqqb.pings import ask
from reliquary.net.mqqb.shared import Count, SessionShared
from reliquary.net.tcp.dialing import NotConnected, OutgoingConnection, ServerAddress, reach, unreached
from reliquary.protocols.mqqb.effects import Dial
from reliquary.protocols.mqqb.events import AddressesFound, DialFailed, Dialled
from reliquary.queueing.travel.failures import Failure


class Opening(OutgoingConnection):
    """A connection before its session takes it over."""

    __slots__ = ("_early",)

    def __init__(self) -> None:
        super().__init__()
        self._early: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        """Keep bytes that a peer sends before the session can process them."""
        self._early.append(data)

    def hand_over(self, connection: SessionConnection) -> None:
        """Let the session use this connection from now on."""
        assert self._transport is not None, "a connection that was made has a transport"
        self._transport.set_protocol(connection)
        connection.connection_made(self._transport)

    def feed_early(self, connection: SessionConnection) -> None:
        """Hand over the bytes that the peer sent before the session was reported."""
        for data in self._early:
            connection.data_received(data)


class _Trial(NamedTuple):
    """The outcome of the last address that was tried."""

    failure: Failure
    why: str
    is_ping: bool = False


class Dialer:
    """Opens the connections that the machine requests by `Dial`."""

    def __init__(self, shared: SessionShared) -> None:
        self._shared = shared
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def dial(self, effect: Dial) -> None:
        """Begin to open a connection; an event reports the result."""
        task = asyncio.get_running_loop().create_task(self._dial(effect))
        self._tasks[effect.session] = task
        task.add_done_callback(lambda _: self._tasks.pop(effect.session, None))

    def give_up(self, session: int) -> None:
        """Stop opening a connection; no event follows."""
        task = self._tasks.get(session)
        if task is not None:
            task.cancel()

    def stop(self) -> None:
        """Give up all connections that are being opened."""
        for session in list(self._tasks):
            self.give_up(session)

    async def _dial(self, effect: Dial) -> None:
        addresses = effect.addresses
        trial = _Trial(Failure.NO_ADDRESS, f"{effect.host} has no address")
        if not addresses:
            try:
                addresses = await _resolve(effect.host)
            except (OSError, UnicodeError) as why:
                trial = _Trial(Failure(unreached(why).value), str(why))
            self._shared.submit(AddressesFound(effect.session, addresses))
        for address in addresses:
            outcome = await self._try(effect, address)
            if outcome is None:
                return
            trial = outcome
        self._shared.counts[Count.DIAL_FAILED] += 1
        self._shared.submit(DialFailed(effect.session, trial.failure, trial.why, trial.is_ping))

    async def _try(self, effect: Dial, address: str) -> _Trial | None:
        """Try one address; return the failure, or None if the session has its connection."""
        settings = self._shared.settings
        if effect.ping and not await ask(address, settings.ping_port, effect.ping):  # QB-177
            return _Trial(Failure.NO_CONNECTION, f"{address} did not answer a ping, or refused", is_ping=True)
        try:
            # a bare TCP connection (QB-003), from any port (QB-004)
            opening = await reach(ServerAddress(address, effect.port), Opening(), settings.dialing)
        except NotConnected as why:
            return _Trial(Failure(why.reason.value), str(why))
        connection = SessionConnection(self._shared, effect.session)
        opening.hand_over(connection)
        if connection.ended:
            return _Trial(Failure.NO_CONNECTION, "this server has too many connections")
        self._shared.counts[Count.DIALLED] += 1
        self._shared.submit(Dialled(effect.session, connection.address or address))
        opening.feed_early(connection)
        return None


async def _resolve(host: str) -> tuple[str, ...]:
    """Return all addresses of a host, in the order of the resolver.

    An address is returned unchanged (QB-112).
    """
    try:
        return (str(ip_address(host)),)
    except ValueError:
        pass
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))
