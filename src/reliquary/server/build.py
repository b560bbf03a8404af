"""Everything a server is made of, put together in one place.

settings --> engine on a folder --> data plane on its listener
                                '-> control plane on its own
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.console.app import build_app
from reliquary.console.context import Context
from reliquary.console.listener import ControlListener
from reliquary.engine.open import OpenedEngine, open_engine
from reliquary.net.api import DataPlane
from reliquary.net.api.users import Users
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.feed.endpoint import FeedEndpoint
from reliquary.net.http import Limits, Listener
from reliquary.net.srv import find_servers
from reliquary.protocols.standard import standard
from reliquary.queueing.directory.integration import Integration
from reliquary.queueing.events import Answer, CreateQueue
from reliquary.queueing.message import BODY_LIMIT
from reliquary.queueing.security.rights import MANAGER_LIST
from reliquary.server import httpr
from reliquary.server.config import Settings
from reliquary.server.httpr import HttprEndpoint
from reliquary.server.keys import own_keys
from reliquary.server.names import Listening
from reliquary.server.signatures import signature_trust
from reliquary.server.srmp import Endpoint, endpoint, plug_in_multicast
from reliquary.server.trust import trust_of
from reliquary.wire.public_keys import Purpose

DRAIN: Final = seconds(5)
"""How long clients may take to fetch their last answers."""
DIRECTORY_SERVICE: Final = "_ldap._tcp.dc._msdcs"
"""Under this name a domain tells where its directory servers are."""
LIMITS: Final = Limits(body_bytes=BODY_LIMIT // 3 * 4 + 4 * 1024 * 1024)
"""Room for the largest message: base64 makes four bytes of three, and there are its other attributes."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running queue manager with its two planes."""

    opened: OpenedEngine
    plane: DataPlane
    data: Listener
    control: ControlListener
    srmp: Endpoint | None
    """None where it is switched off."""
    httpr: HttprEndpoint | None
    """The same."""
    feeds: FeedEndpoint

    async def listen(self, settings: Settings) -> tuple[str, str]:
        """Open both planes; the answer is their addresses."""
        scheme = "http" if settings.tls_certificate is None else "https"
        data = await self.data.listen(settings.data_host, settings.data_port)
        if self.srmp is not None:
            await self.srmp.listen(settings, Listening(scheme, *data))
        if self.httpr is not None:
            self.httpr.listen(settings, Listening(scheme, *data))
        control = self.control.listen(settings.control_host, settings.control_port)
        return _url(scheme, *data), _url(scheme, *control)

    async def stop(self) -> None:
        """Take nothing new, finish what was begun, tell those who wait, let go of the folder."""
        self.data.stop_accepting()
        self.plane.stop()
        if self.srmp is not None:
            self.srmp.stop_accepting()
        if self.httpr is not None:
            self.httpr.stop_accepting()
        await self.feeds.stop()
        await self.opened.close()
        if self.httpr is not None:
            self.httpr.stop()
        if self.srmp is not None:
            await self.srmp.stop(DRAIN)
        await asyncio.gather(self.data.drain(DRAIN), self.control.stop())


async def build(settings: Settings) -> Server:
    """Open the folder and put the rooms together; nobody is listened to yet."""
    tls, trust = _tls(settings), trust_of("srmp", settings.srmp)
    trust_in_agents = trust_of("httpr", settings.httpr)
    protocol = replace(settings.srmp.protocol, trust=signature_trust(settings.srmp))
    clock, chance = RealClock(), SystemChance()
    # DEPARTS from 3.1.7.1.3.1 (DM-151): where users are known, new queues let anonymous senders in only if
    # an administrator wants it, because what a user makes would be open to the whole network else.
    anonymous = not settings.users or settings.srmp.anonymous_senders
    opened = await open_engine(
        settings.folder,
        clock=clock,
        chance=chance,
        computer_name=settings.computer_name,
        quota=settings.quota,
        hardened_security=settings.hardened_security,
        first_list=MANAGER_LIST if settings.users else b"",
        in_doubt_wait=seconds(settings.in_doubt_wait),
        domain=settings.domain,
        integrate=(lambda: integration(settings)) if settings.directory_integrated else None,
        find_servers=lambda: directory_servers(settings),
        protocols=standard(protocol, settings.httpr.protocol),
        http_support=settings.srmp.enabled and anonymous,
        history=settings.history.export(settings.folder),
    )
    srmp = None
    if settings.srmp.enabled:
        srmp = endpoint(opened, settings.srmp, LIMITS, tls=tls, trust=trust, clock=clock)
        if settings.multicast.enabled:
            plug_in_multicast(srmp, settings.multicast, chance=chance, clock=clock)
    receiving, courier, carrier = (
        (None, None, None) if srmp is None else (srmp.receiving, srmp.courier, srmp.carrier)
    )
    users = Users(opened.state.identity().identifier, settings.users)
    feeds = FeedEndpoint(opened.engine, opened.state, opened.disk)
    beside = receiving.take if receiving else None
    plane = DataPlane(opened.engine, opened.state, chance, release(), users, beside, feeds.routes())
    limits = replace(LIMITS, special=receiving.limits()) if receiving else LIMITS
    agents = (
        httpr.endpoint(opened, settings.httpr, users, trust_in_agents) if settings.httpr.enabled else None
    )
    paths = (feeds.streamed(plane), *([agents.receiving.path()] if agents is not None else []))
    limits = replace(limits, streamed=paths)
    data = Listener(plane.handle, limits=limits, tls=tls, clock=clock)
    if agents is not None:
        agents.serve(data)
    opened.engine.on_pressure = partial(_pause, data, srmp)
    counted = None if agents is None else (agents.receiving, agents.courier)
    context = Context(
        opened, release(), lambda: data.connections, users, receiving, courier, carrier, counted
    )
    control = ControlListener(build_app(context), certificate=settings.tls_certificate, key=settings.tls_key)
    return Server(opened, plane, data, control, srmp, agents, feeds)


def _pause(data: Listener, srmp: Endpoint | None, pressed: bool) -> None:
    """Read nothing from anyone while the engine has enough to do."""
    (data.pause if pressed else data.resume)()
    if srmp is not None:
        srmp.pause(pressed)


def integration(settings: Settings) -> Integration:
    """How the manager takes part in the directory: its keys, its site, where directory servers are."""
    keys = own_keys(settings.folder)
    return Integration(
        settings.site,
        directory_servers(settings),
        keys.public(Purpose.ENCRYPTION),
        keys.public(Purpose.SIGNATURE),
        settings.machine_sid,
    )


def directory_servers(settings: Settings) -> tuple[str, ...]:
    """Those of the settings, or those that the domain names (DM-086)."""
    if settings.directory_servers or not settings.domain:
        return settings.directory_servers
    return find_servers(f"{DIRECTORY_SERVICE}.{settings.domain}")


async def make_queues(opened: OpenedEngine, names: tuple[str, ...]) -> None:
    """Create the queues that are missing."""
    for name in names:
        answer = await opened.engine.ask(lambda to, name=name: CreateQueue(to, name))  # type: ignore[misc]
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        if answer.status not in (HResult.OK, HResult.QUEUE_EXISTS):
            raise UsageError(f"the queue {name!r} cannot be made: {answer.why}")


def release() -> str:
    """The version that was installed."""
    try:
        return version("reliquary")
    except PackageNotFoundError:
        return "0"


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key)
    except OSError as why:  # an ssl.SSLError is also one
        raise UsageError(f"the certificate {settings.tls_certificate} cannot be used: {why}") from why
    if settings.tls_client_ca is not None:
        try:
            context.load_verify_locations(settings.tls_client_ca)
        except OSError as why:
            raise UsageError(f"tls_client_ca {settings.tls_client_ca} cannot be used: {why}") from why
        context.verify_mode = ssl.CERT_REQUIRED if settings.tls_client_required else ssl.CERT_OPTIONAL
    return context


def _url(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
