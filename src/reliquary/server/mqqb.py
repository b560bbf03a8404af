"""Adds MQQB to a server: the port at which other managers open sessions, and the sessions to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Final

from reliquary.base.time import Duration
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family
from reliquary.net.host import own_addresses
from reliquary.net.http import Listener
from reliquary.net.mqqb.network import Network, plug_in
from reliquary.protocols.mqqb.events import Addressed, EndSessions
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.queueing.model.names.pathnames import parse
from reliquary.queueing.model.protocol import Protocol
from reliquary.server import mqqb_counters
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol, SwitchedOff
from reliquary.server.mqqb_options import TABLE, MqqbOptions
from reliquary.server.names import EVERYWHERE, Listening, host_names


@dataclass(slots=True)
class MqqbEndpoint(Endpoint):
    """The MQQB endpoint of a server."""

    settings: Settings
    opened: OpenedEngine
    network: Network
    bound: tuple[str, int] = ("", 0)
    """The address at which it listens."""

    async def listen(self, listener: Listener, at: Sequence[Listening]) -> None:
        """Open the port, and that for pings if they are answered, and give the machine the own addresses."""
        del listener, at
        options = self._options()
        self.bound = await self.network.listen(self._host(), options.own_port)
        if options.protocol.answer_pings:
            await self.network.listen_for_pings(self._host(), options.protocol.ping_port)
        with suppress(EngineStopped):
            self.opened.engine.submit(addressed(self.settings, self.bound[0]))

    def pause(self, pressed: bool) -> None:
        """Read nothing from peers as long as the engine is overloaded."""
        (self.network.pause if pressed else self.network.resume)()

    def stop_accepting(self) -> None:
        """Accept no new connections, and let the machine close its sessions after their last packets."""
        self.network.stop_accepting()
        with suppress(EngineStopped):
            self.opened.engine.submit(EndSessions())

    def hang_up(self) -> None:
        """Cancel connections that are being opened, because the machine has stopped."""
        self.network.stop_dialing()

    async def drain(self, within: Duration) -> None:
        """Close all connections after the last acknowledgements were sent."""
        await self.network.drain(within)

    def own_addresses(self) -> Iterable[str]:
        """Return the address that it listens at."""
        return (f"{self._host()}:{self._options().own_port} (MQQB)",)

    def names_of(self, queue: str) -> Iterable[str]:
        """Return the name under which a Windows application sends to a queue of this server."""
        host = self.bound[0]
        where = f"OS:{self.settings.computer_name}" if host in EVERYWHERE else f"TCP:{host}"
        path = parse(queue, self.settings.computer_name)
        return (f"DIRECT={where}\\{path}",)

    def counters(self) -> Iterable[Family]:
        """Return the counters of the traffic and of the machine."""
        yield from mqqb_counters.traffic(self.network)
        yield from mqqb_counters.machine(self.opened)

    def _options(self) -> MqqbOptions:
        return self.settings.table(MqqbOptions)

    def _host(self) -> str:
        return self._options().host or self.settings.data_host


@dataclass(frozen=True, slots=True)
class MqqbSetup:
    """MQQB before the folder is opened."""

    settings: Settings

    @property
    def protocol(self) -> Protocol:
        """The machine of MQQB; if it is switched off, it claims no destination."""
        options = self.settings.table(MqqbOptions)
        return mqqb(options.protocol if options.enabled else None)

    @property
    def anonymous_senders(self) -> bool:
        """Whether new queues accept messages from every sender; no sender of MQQB is authenticated."""
        # DEPARTS from 3.1.7.1.3.1 (DM-151): where users are known, new queues let anonymous senders in
        # only if an administrator wants it, because otherwise the queues of a user would be open to the
        # whole network.
        options = self.settings.table(MqqbOptions)
        return options.enabled and (not self.settings.users or options.anonymous_senders)

    def build(self, parts: Parts) -> Endpoint:
        """Connect MQQB to the server: sessions can be opened and accepted."""
        options = self.settings.table(MqqbOptions)
        if not options.enabled:
            return SwitchedOff(partial(mqqb_counters.machine, parts.opened))
        network = plug_in(
            parts.opened.engine,
            options.protocol,
            networks=options.networks,
            connections=options.connections,
            clock=parts.clock,
            budget=parts.budget,
        )
        return MqqbEndpoint(self.settings, parts.opened, network)


def addressed(settings: Settings, host: str) -> Addressed:
    """Return the addresses and names that mean this server, which listens at `host`."""
    options = settings.table(MqqbOptions)
    addresses = {*options.addresses, *(own_addresses() if host in EVERYWHERE else (host,))}
    names = {*host_names(settings, host), *options.names}
    return Addressed(
        frozenset(str(ip_address(each.partition("%")[0])) for each in addresses),
        frozenset(name.casefold() for name in names),
    )


MQQB: Final = ServerProtocol(prepare=MqqbSetup, table=TABLE)
