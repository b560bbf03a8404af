"""Adds SRMP to a server: it receives and sends POSTs, and names the addresses of this server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from reliquary.base.time import Duration
from reliquary.base.turn import Event
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family
from reliquary.net.http import Listener, Mount
from reliquary.net.multicast.carrier import Carrier
from reliquary.net.srmp.courier import Courier
from reliquary.net.srmp.receiving import Receiving, nothing
from reliquary.protocols.srmp.codec.messages import url_of
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import Addressed, PostEnded
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.sender.addresses import own_origin
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.protocol import Protocol
from reliquary.server import srmp_counters
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol, SwitchedOff
from reliquary.server.names import Listening, authorities, own_name
from reliquary.server.signatures import signature_trust
from reliquary.server.srmp_options import TABLE, SrmpOptions
from reliquary.server.trust import Trust, trust_of


@dataclass(slots=True)
class SrmpEndpoint(Endpoint):
    """The SRMP endpoint of a server."""

    settings: Settings
    opened: OpenedEngine
    receiving: Receiving
    courier: Courier
    own: dict[str, Listener] = field(default_factory=dict)
    """The listeners only for SRMP, by scheme."""
    carrier: Carrier | None = None
    """The multicast carrier; None if multicast is switched off."""
    origin: str = ""
    """The origin of the own queue URLs, `http://host:port`; empty before the server listens."""

    def mounts(self) -> Sequence[Mount]:
        """Return the mount of POSTs to /msmq/."""
        return (self.receiving.mount(),)

    async def listen(self, listener: Listener, at: Sequence[Listening]) -> None:
        """Open the own ports of SRMP, then give the machine its addresses."""
        del listener
        listening = list(at)
        for scheme, own in self.own.items():
            bound = await own.listen(self._host(), self._ports()[scheme])
            listening.insert(0, Listening(scheme, *bound))
        known = addressed(self.settings, listening)
        self.origin = own_origin("", host=known.receipts_host, scheme=known.receipts_scheme)
        with suppress(EngineStopped):
            self.opened.engine.submit(known)

    def pause(self, pressed: bool) -> None:
        """Read nothing from the own ports of SRMP and from groups."""
        for listener in self.own.values():
            (listener.pause if pressed else listener.resume)()
        if self.carrier is not None:
            self.carrier.pause(pressed)

    def stop_accepting(self) -> None:
        """Refuse new POSTs and connections from now on."""
        self.receiving.stop()
        for listener in self.own.values():
            listener.stop_accepting()

    def hang_up(self) -> None:
        """Close connections to other managers, and leave the groups."""
        self.courier.stop()
        if self.carrier is not None:
            self.carrier.stop()

    async def drain(self, within: Duration) -> None:
        """Close the own ports of SRMP after the last answers were sent."""
        await asyncio.gather(*(listener.drain(within) for listener in self.own.values()))

    def own_addresses(self) -> Iterable[str]:
        """Return the ports only for SRMP."""
        return [f"{self._host()}:{port} (SRMP)" for port in self._ports().values()]

    def names_of(self, queue: str) -> Iterable[str]:
        """Return the URL that other managers post to."""
        return (url_of(queue, self.origin),)

    def counters(self) -> Iterable[Family]:
        """Return the counters of POSTs, of multicast packets and of the machine."""
        yield from srmp_counters.traffic(self.receiving, self.courier)
        yield from srmp_counters.machine(self.opened, self.carrier)

    def _host(self) -> str:
        return self.settings.table(SrmpOptions).host or self.settings.data_host

    def _ports(self) -> dict[str, int]:
        return own_ports(self.settings)


@dataclass(frozen=True, slots=True)
class SrmpSetup:
    """SRMP with its certificates, before the folder is opened."""

    settings: Settings
    machine_settings: SrmpSettings
    trust: Trust

    @property
    def protocol(self) -> Protocol:
        """SRMP's machine and carrier with these settings."""
        return srmp(self.machine_settings)

    @property
    def anonymous_senders(self) -> bool:
        """Whether new queues accept messages from every sender."""
        # DEPARTS from 3.1.7.1.3.1 (DM-151): where users are known, new queues let anonymous senders in
        # only if an administrator wants it, because otherwise the queues of a user would be open to the
        # whole network.
        options = self.settings.table(SrmpOptions)
        return options.enabled and (not self.settings.users or options.anonymous_senders)

    def build(self, parts: Parts) -> Endpoint:
        """Connect SRMP to the server: its effects are performed, and it accepts POSTs."""
        opened, engine = parts.opened, parts.opened.engine
        if not self.settings.table(SrmpOptions).enabled:
            return SwitchedOff(partial(srmp_counters.machine, opened, None))
        chosen = self.machine_settings

        def ended(event: PostEnded) -> None:
            with suppress(EngineStopped):
                engine.submit(event)

        courier = Courier(
            ended, in_flight=chosen.in_flight, response_time=chosen.response_time, tls=self.trust
        )
        engine.performers |= {Post: courier.post, EndSession: courier.end}
        receiving = Receiving(engine, opened.state, chosen.largest_post)
        made = SrmpEndpoint(self.settings, opened, receiving, courier)
        mounts = (receiving.mount(), Mount(prefix="", handler=nothing))
        for scheme in own_ports(self.settings):
            tls = parts.tls if scheme == "https" else None
            made.own[scheme] = Listener(
                mounts, limits=parts.limits, tls=tls, clock=parts.clock, budget=parts.budget
            )
        if self.settings.multicast.enabled:
            plug_in_multicast(made, parts)
        return made


def prepare(settings: Settings) -> SrmpSetup:
    """Read the certificates and keys of SRMP."""
    options = settings.table(SrmpOptions)
    trust = trust_of("srmp.", options)
    return SrmpSetup(settings, replace(options.protocol, trust=signature_trust(options)), trust)


SRMP: Final = ServerProtocol(prepare=prepare, table=TABLE)


def own_ports(settings: Settings) -> dict[str, int]:
    """Return the ports only for SRMP, by scheme."""
    given = {"http": settings.table(SrmpOptions).http_port, "https": settings.table(SrmpOptions).https_port}
    return {scheme: port for scheme, port in given.items() if port is not None}


def plug_in_multicast(endpoint: SrmpEndpoint, parts: Parts) -> None:
    """Start the multicast carrier and listen to the groups of existing queues."""
    engine, courier, clock = endpoint.opened.engine, endpoint.courier, parts.clock

    def submit(event: Event) -> None:
        with suppress(EngineStopped):
            engine.submit(event)

    carrier = endpoint.carrier = Carrier(
        endpoint.settings.multicast,
        chance=parts.chance,
        clock=clock,
        ended=submit,
        arrived=submit,
        warn=lambda warning: engine.warnings.report(warning, clock.monotonic()),
    )

    def end(effect: EndSession) -> None:
        courier.end(effect)
        carrier.end(effect)

    engine.performers |= {SendApdu: carrier.send, ListenTo: carrier.listen, EndSession: end}
    carrier.listen(ListenTo(frozenset(endpoint.opened.state.travel.listeners)))


def addressed(settings: Settings, listening: list[Listening]) -> Addressed:
    """Return the names under which others reach this server; receipts go to the first address of a scheme."""
    chosen = settings.table(SrmpOptions).protocol.receipts_host
    at = {each.scheme: each for each in reversed(listening)}
    here = chosen or own_name(settings, listening)
    receipts = {scheme: chosen or each.authority(here) for scheme, each in at.items()}
    default = receipts.get("http") or receipts["https"]
    secure = receipts.get("https", "")
    return Addressed(
        default,
        authorities(settings, listening, {*settings.table(SrmpOptions).names, chosen} - {""}),
        secure if secure != default else "",
        "" if len(receipts) > 1 else next(iter(receipts)),
    )
