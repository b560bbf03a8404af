"""Adds WS-ReliableMessaging to a server: it receives and sends envelopes, and names the own endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final
from urllib.parse import quote

from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.chance import SystemChance
from reliquary.net.counters import Family
from reliquary.net.http import Listener, Mount
from reliquary.net.wsrm.courier import Courier, plug_in
from reliquary.net.wsrm.receiving import Receiving
from reliquary.protocols.wsrm.events import Addressed
from reliquary.protocols.wsrm.protocol import wsrm
from reliquary.protocols.wsrm.schemes import ENDPOINT_PATH
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.queueing.model.protocol import Protocol
from reliquary.server import wsrm_counters
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol, SwitchedOff
from reliquary.server.names import Listening, authorities, own_name
from reliquary.server.trust import Trust, trust_of
from reliquary.server.wsrm_options import TABLE, WsrmOptions

SCHEMES: Final = {"http": "wsrm", "https": "wsrms"}
"""Maps http and https to the scheme of endpoint names."""
SEED_BITS: Final = 256
"""The number of random bits that make identifiers unpredictable."""


@dataclass(frozen=True, slots=True)
class WsrmEndpoint(Endpoint):
    """The WS-RM endpoint of a server."""

    settings: Settings
    opened: OpenedEngine
    receiving: Receiving
    courier: Courier

    def mounts(self) -> Sequence[Mount]:
        """Return the mount of requests to /wsrm/."""
        return (self.receiving.mount(),)

    async def listen(self, listener: Listener, at: Sequence[Listening]) -> None:
        """Give the machine the names of the own endpoints after the port is known."""
        del listener
        known = addressed(self.settings, at)
        self.receiving.origin, self.receiving.authorities = known.origin, known.authorities
        with suppress(EngineStopped):
            self.opened.engine.submit(known)

    def stop_accepting(self) -> None:
        """Refuse new requests from now on."""
        self.receiving.stop()

    def hang_up(self) -> None:
        """Answer waiting clients, and close connections to peers."""
        self.receiving.finish()
        self.courier.stop()

    def names_of(self, queue: str) -> Iterable[str]:
        """Return the address that sources on other computers send to."""
        scheme, _, authority = self.receiving.origin.partition("://")
        path = quote(queue.replace("\\", "/"), safe="/$")
        return (f"{SCHEMES[scheme]}://{authority}{ENDPOINT_PATH}{path}",)

    def counters(self) -> Iterable[Family]:
        """Return the counters of requests, of POSTs and of the machine."""
        yield from wsrm_counters.traffic(self.receiving, self.courier)
        yield from wsrm_counters.machine(self.opened)


@dataclass(frozen=True, slots=True)
class WsrmSetup:
    """WS-RM with its certificates, before the folder is opened."""

    settings: Settings
    machine_settings: WsrmSettings
    trust: Trust
    anonymous_senders: bool = False
    """New queues are not opened to every sender for WS-RM."""

    @property
    def protocol(self) -> Protocol:
        """WS-RM's machine and carrier with these settings."""
        return wsrm(self.machine_settings)

    def build(self, parts: Parts) -> Endpoint:
        """Connect the courier and the receiver of WS-RM to the server."""
        opened, options, chosen = parts.opened, self.settings.table(WsrmOptions), self.machine_settings
        if not options.enabled:
            return SwitchedOff(partial(wsrm_counters.machine, opened))
        courier = plug_in(
            opened,
            response_time=chosen.response_time,
            largest=chosen.largest_message,
            tls=self.trust,
            credentials=options.credentials,
        )
        receiving = Receiving(opened.engine, opened.state, chosen, parts.admission)
        return WsrmEndpoint(self.settings, opened, receiving, courier)


def prepare(settings: Settings) -> WsrmSetup:
    """Read the certificates of WS-RM, and draw the random number for its identifiers."""
    options = settings.table(WsrmOptions)
    seed = SystemChance().bits(SEED_BITS).to_bytes(SEED_BITS // 8)
    return WsrmSetup(settings, replace(options.protocol, seed=seed), trust_of("wsrm.", options))


WSRM: Final = ServerProtocol(prepare=prepare, table=TABLE)


def addressed(settings: Settings, listening: Sequence[Listening]) -> Addressed:
    """Return the names of our endpoints, and the other names that mean them."""
    options = settings.table(WsrmOptions)
    data = listening[0]
    origin = options.origin or f"{data.scheme}://{data.authority(own_name(settings, [data]))}"
    given = {*options.names, origin.partition("://")[2]}
    return Addressed(origin, authorities(settings, listening, given))
