"""SRMP in a server: who takes POSTs, who sends them, and under which names others reach us."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass, field, replace

from reliquary.base.chance import Chance
from reliquary.base.time import Duration
from reliquary.base.turn import Event
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.clock import RealClock
from reliquary.net.http import Limits, Listener
from reliquary.net.multicast.carrier import Carrier
from reliquary.net.multicast.options import MulticastOptions
from reliquary.net.srmp.courier import Courier
from reliquary.net.srmp.receiving import Receiving
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import Addressed, PostEnded
from reliquary.protocols.srmp.sender.addresses import own_origin
from reliquary.server.config import Settings
from reliquary.server.names import Listening, authorities, own_name
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.trust import Trust


@dataclass(slots=True)
class Endpoint:
    """What of a server is there for SRMP."""

    opened: OpenedEngine
    receiving: Receiving
    courier: Courier
    own: dict[str, Listener] = field(default_factory=dict)
    """Listeners for SRMP alone, by scheme."""
    carrier: Carrier | None = None
    """None where multicast is switched off."""
    origin: str = ""
    """How URLs of our queues begin, once we listen: `http://host:port`."""

    async def listen(self, settings: Settings, data: Listening) -> None:
        """Open the ports of SRMP's own, then tell the machine where it is."""
        options = settings.srmp
        listening = [data]
        for scheme, listener in self.own.items():
            port = options.http_port if scheme == "http" else options.https_port
            assert port is not None, "a listener has a port"
            bound = await listener.listen(options.host or settings.data_host, port)
            listening.insert(0, Listening(scheme, *bound))
        known = addressed(settings, listening)
        self.origin = own_origin("", host=known.receipts_host, scheme=known.receipts_scheme)
        with suppress(EngineStopped):
            self.opened.engine.submit(known)

    def pause(self, pressed: bool) -> None:
        """The engine has enough to do, or has not any more."""
        for listener in self.own.values():
            (listener.pause if pressed else listener.resume)()
        if self.carrier is not None:
            self.carrier.pause(pressed)

    def stop_accepting(self) -> None:
        """Take nothing new."""
        self.receiving.stop()
        for listener in self.own.values():
            listener.stop_accepting()

    async def stop(self, within: Duration) -> None:
        """Hang up on both sides; the engine has stopped."""
        self.courier.stop()
        if self.carrier is not None:
            self.carrier.stop()
        await asyncio.gather(*(listener.drain(within) for listener in self.own.values()))


def endpoint(
    opened: OpenedEngine,
    options: SrmpOptions,
    limits: Limits,
    *,
    tls: ssl.SSLContext | None,
    trust: Trust,
    clock: RealClock,
) -> Endpoint:
    """Plug SRMP in: its effects are performed, its POSTs are taken."""
    engine, chosen = opened.engine, options.protocol

    def ended(event: PostEnded) -> None:
        with suppress(EngineStopped):
            engine.submit(event)

    courier = Courier(ended, in_flight=chosen.in_flight, response_time=chosen.response_time, tls=trust)
    engine.performers |= {Post: courier.post, EndSession: courier.end}
    receiving = Receiving(engine, opened.state, chosen.largest_message)
    made = Endpoint(opened, receiving, courier)
    limits = replace(limits, special=receiving.limits())
    if options.http_port is not None:
        made.own["http"] = Listener(receiving.handle, limits=limits, clock=clock)
    if options.https_port is not None:
        made.own["https"] = Listener(receiving.handle, limits=limits, tls=tls, clock=clock)
    return made


def plug_in_multicast(
    endpoint: Endpoint, options: MulticastOptions, *, chance: Chance, clock: RealClock
) -> None:
    """Let SRMP's effects that are about groups be performed, from those that queues listen to now on."""
    engine, courier = endpoint.opened.engine, endpoint.courier

    def submit(event: Event) -> None:
        with suppress(EngineStopped):
            engine.submit(event)

    carrier = endpoint.carrier = Carrier(
        options,
        chance=chance,
        clock=clock,
        ended=submit,
        arrived=submit,
        warn=lambda warning: engine.warnings.tell(warning, clock.monotonic()),
    )

    def end(effect: EndSession) -> None:
        courier.end(effect)
        carrier.end(effect)

    engine.performers |= {SendApdu: carrier.send, ListenTo: carrier.listen, EndSession: end}
    carrier.listen(ListenTo(frozenset(endpoint.opened.state.listeners)))


def addressed(settings: Settings, listening: list[Listening]) -> Addressed:
    """Under which names others reach us; the first address of a scheme is where receipts go."""
    chosen = settings.srmp.protocol.receipts_host
    at = {each.scheme: each for each in reversed(listening)}
    here = chosen or own_name(settings, listening)
    receipts = {scheme: chosen or each.authority(here) for scheme, each in at.items()}
    default = receipts.get("http") or receipts["https"]
    secure = receipts.get("https", "")
    return Addressed(
        default,
        authorities(settings, listening, {*settings.srmp.names, chosen} - {""}),
        secure if secure != default else "",
        "" if len(receipts) > 1 else next(iter(receipts)),
    )
