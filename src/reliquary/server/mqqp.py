"""Adds MQQP to a server: the ports at which queues are read, and the part that reads remote queues."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from urllib.parse import quote

from reliquary.base.time import Duration
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.chance import SystemChance
from reliquary.net.counters import Family
from reliquary.net.http import Listener
from reliquary.net.mqqp.courier import Courier, plug_in
from reliquary.net.mqqp.serving import INTERFACES, Serving
from reliquary.net.rpc.guesses import Guesses
from reliquary.net.rpc.listener import RpcListener
from reliquary.protocols.mqqp.effects import EndAssociation, RaiseFault, Respond
from reliquary.protocols.mqqp.events import PortsKnown
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.server.state import ServerState
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.protocol import Protocol
from reliquary.server import mqqp_counters
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol, SwitchedOff
from reliquary.server.mqqp_options import LAST_PORT, TABLE, MqqpOptions
from reliquary.server.names import Listening, own_name
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId

NEXT_PORT: Final = 11
"""The distance to the next port, which is tried if one is in use (QP-118)."""
SEED_BITS: Final = 256
"""The number of random bits that make handles unpredictable."""


@dataclass(slots=True)
class MqqpEndpoint(Endpoint):
    """The MQQP endpoint of a server."""

    settings: Settings
    opened: OpenedEngine
    serving: Serving
    listener: RpcListener
    courier: Courier
    ports: PortsKnown = field(default_factory=PortsKnown)

    async def listen(self, listener: Listener, at: Sequence[Listening]) -> None:
        """Open both ports, and that of the endpoint mapper if there is one; report them to the machine."""
        del listener, at
        options, host = self._options(), self._host()
        handshake = await self._listen_from(host, options.handshake_port, QMCOMM)
        self.ports = PortsKnown(handshake, await self._listen_from(host, options.read_port, QM2QM))
        if options.mapper_port is not None:
            await self.listener.listen_as_mapper(host, options.mapper_port)
        with suppress(EngineStopped):
            self.opened.engine.submit(self.ports)

    async def _listen_from(self, host: str, port: int, interface: SyntaxId) -> int:
        """Listen at this port or, if it is in use, at the next one that MSMQ would take (QP-118).

        Both interfaces are served there, because old clients rebind and new ones do not; the endpoint
        mapper sends clients for `interface` there.
        """
        while True:
            try:
                return await self.listener.listen(host, port, [interface])
            except OSError as why:
                if why.errno != errno.EADDRINUSE or port + NEXT_PORT > LAST_PORT:
                    raise
                port += NEXT_PORT

    def pause(self, pressed: bool) -> None:
        """Read nothing from clients as long as the engine is overloaded."""
        (self.listener.pause if pressed else self.listener.resume)()

    def stop_accepting(self) -> None:
        """Accept no new connections from now on."""
        self.listener.stop_accepting()

    def hang_up(self) -> None:
        """Close connections to other servers."""
        self.courier.stop()

    async def drain(self, within: Duration) -> None:
        """Close the ports after the last answers were sent."""
        await self.listener.drain(within)

    def own_addresses(self) -> Iterable[str]:
        """Return the ports of MQQP."""
        options, host = self._options(), self._host()
        ports = (options.handshake_port, options.read_port, options.mapper_port)
        return [f"{host}:{port} (MQQP)" for port in ports if port is not None]

    def reading_names_of(self, queue: str) -> Iterable[str]:
        """Return the address to which remote readers connect."""
        name = own_name(self.settings, [Listening("mqqp", self._host(), self.ports.handshake)])
        path = quote(queue.replace("\\", "/"), safe="/$")
        return (f"mqqp://{name}:{self.ports.handshake}/{path}",)

    def counters(self) -> Iterable[Family]:
        """Return the counters of calls in both directions and of open handles."""
        yield from mqqp_counters.traffic(self.serving, self.listener, self.courier)
        yield from mqqp_counters.machine(self.opened)

    def _options(self) -> MqqpOptions:
        return self.settings.table(MqqpOptions)

    def _host(self) -> str:
        return self._options().host or self.settings.data_host


@dataclass(frozen=True, slots=True)
class MqqpSetup:
    """MQQP before the folder is opened."""

    settings: Settings
    machine_settings: MqqpSettings
    anonymous_senders: bool = False
    """False always, because MQQP brings no messages."""

    @property
    def protocol(self) -> Protocol:
        """The machine of MQQP; if it is switched off, no queue of another manager is read."""
        return mqqp(self.machine_settings if self.settings.table(MqqpOptions).enabled else None)

    def build(self, parts: Parts) -> Endpoint:
        """Connect MQQP to the server: it accepts calls, and sends its own."""
        opened, engine = parts.opened, parts.opened.engine
        options = self.settings.table(MqqpOptions)
        if not options.enabled:
            return SwitchedOff(partial(mqqp_counters.machine, opened))

        serving = Serving(engine, parts.users)
        listener = serving.listener = RpcListener(
            dict.fromkeys(INTERFACES, serving),
            connections=options.connections,
            contexts=options.contexts,
            calls=options.calls,
            idle_time=options.idle_time,
            users=parts.users,
            keeps=partial(has_something_open, opened.machine(Mqqp).state.server),
            clock=parts.clock,
            budget=parts.budget,
            guesses=Guesses(parts.failures, parts.warn),
        )
        engine.performers |= {
            Respond: serving.respond,
            RaiseFault: serving.raise_fault,
            EndAssociation: serving.end_association,
        }
        courier = plug_in(opened, self.machine_settings)
        return MqqpEndpoint(self.settings, opened, serving, listener, courier)


def prepare(settings: Settings) -> MqqpSetup:
    """Draw the random number from which handles are made."""
    seed = SystemChance().bits(SEED_BITS).to_bytes(SEED_BITS // 8)
    return MqqpSetup(settings, replace(settings.table(MqqpOptions).protocol, seed=seed))


def has_something_open(server: ServerState, association: int) -> bool:
    """Return whether a client has an open queue, message or read, so that its connections may be idle."""
    found = server.associations.get(association)
    return found is not None and bool(found.contexts or found.sessions or found.held or found.reads)


MQQP: Final = ServerProtocol(prepare=prepare, table=TABLE)
