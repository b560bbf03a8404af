"""Adds HTTPR to a server: it receives and sends requests, and names the own agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from reliquary.base.turn import Warn
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family
from reliquary.net.http import Listener, Mount
from reliquary.net.httpr.courier import Courier, plug_in
from reliquary.net.httpr.receiving import Receiving
from reliquary.protocols.httpr.addresses import PREFIX, own_agent, target_uri
from reliquary.protocols.httpr.attributes import name_for
from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.events import Addressed
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.model.protocol import Protocol
from reliquary.server import httpr_counters
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol, SwitchedOff
from reliquary.server.httpr_options import TABLE, HttprOptions
from reliquary.server.names import Listening, authorities, own_name
from reliquary.server.trust import Trust, trust_of

SCHEMES: Final = {"http": "httpr://", "https": "httprs://"}
"""Maps the scheme of the listener to the scheme of agent names."""


@dataclass(frozen=True, slots=True)
class HttprEndpoint(Endpoint):
    """The HTTPR endpoint of a server."""

    settings: Settings
    opened: OpenedEngine
    receiving: Receiving
    courier: Courier

    def mounts(self) -> Sequence[Mount]:
        """Return the mount of POSTs to /httpr/."""
        return (self.receiving.mount(),)

    async def listen(self, listener: Listener, at: Sequence[Listening]) -> None:
        """Set the names of the own agents after the port is known, and let the machine cut connections."""

        def cut(effect: CutConnection) -> None:
            listener.cut(effect.connection)

        self.opened.engine.performers[CutConnection] = cut
        known = addressed(self.settings, at)
        home = own_agent(known.origin, self.settings.table(HttprOptions).protocol.manager_service)
        self.receiving.home = self.courier.home = home
        for other in renamed(self.opened.machine(Httpr).state, known.origin):
            self.opened.engine.warn(other)
        with suppress(EngineStopped):
            self.opened.engine.submit(known)

    def stop_accepting(self) -> None:
        """Refuse new requests from now on."""
        self.receiving.stop()

    def hang_up(self) -> None:
        """Answer waiting clients, and close connections to other agents."""
        self.receiving.finish()
        self.courier.stop()

    def names_of(self, queue: str) -> Iterable[str]:
        """Return the URI that other agents push to."""
        return (target_uri(name_for(queue, self.receiving.home)),)

    def counters(self) -> Iterable[Family]:
        """Return the counters of requests, channels and batches in doubt."""
        yield from httpr_counters.traffic(self.receiving, self.courier)
        yield from httpr_counters.machine(self.opened)


@dataclass(frozen=True, slots=True)
class HttprSetup:
    """HTTPR with its certificates, before the folder is opened."""

    settings: Settings
    machine_settings: HttprSettings
    trust: Trust
    anonymous_senders: bool = False
    """New queues are not opened to every sender for HTTPR."""

    @property
    def protocol(self) -> Protocol:
        """Return the machine of both agents, and their carrier."""
        return httpr(self.machine_settings)

    def build(self, parts: Parts) -> Endpoint:
        """Connect HTTPR to the server: its courier sends requests, its receiver accepts them."""
        opened, options = parts.opened, self.settings.table(HttprOptions)
        if not options.enabled:
            return SwitchedOff(partial(httpr_counters.machine, opened))
        courier = plug_in(
            opened,
            response_time=options.protocol.response_time,
            tls=self.trust,
            credentials=options.credentials,
        )
        state = opened.machine(Httpr).state
        receiving = Receiving(opened.engine, opened.state, state, courier.bodies, parts.admission)
        return HttprEndpoint(self.settings, opened, receiving, courier)


def prepare(settings: Settings) -> HttprSetup:
    """Read the certificates of HTTPR."""
    options = settings.table(HttprOptions)
    return HttprSetup(settings, options.protocol, trust_of("httpr.", options))


HTTPR: Final = ServerProtocol(prepare=prepare, table=TABLE)


def renamed(httpr: State, origin: str) -> list[Warn]:
    """Return warnings for channels with an older name of this server, which are not reached (HR-089)."""
    known = [each for each in httpr.channels.values() if each.has_source_state or each.has_sink_state]
    before = Counter([each.responder.partition(PREFIX)[0] for each in known if each.role is Role.SERVER])
    del before[origin]
    return [
        Warn(
            "HTTPR",
            f"is known as {other}",
            f"by channels of other agents: their batches in doubt wait while this server is {origin}; "
            f'set origin = "{other}" in [httpr] to keep the name, or forget unused channels',
            count,
        )
        for other, count in before.items()
    ]


def addressed(settings: Settings, listening: Sequence[Listening]) -> Addressed:
    """Return the names of our agents, and the other names that mean them."""
    options = settings.table(HttprOptions)
    data = listening[0]
    origin = options.origin or SCHEMES[data.scheme] + data.authority(own_name(settings, [data]))
    given = {*options.names, origin.partition("://")[2]}
    return Addressed(origin, authorities(settings, listening, given))
