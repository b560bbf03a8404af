"""Builds a server from its settings.

settings --> engine on a folder --> endpoints --> data plane: their mounts on one listener
                                             '-> control plane: their counters, on another listener
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reliquary.base.faults import StoreFailure
from reliquary.base.time import SECOND, seconds
from reliquary.base.turn import Warn
from reliquary.console.acts import ActsLog
from reliquary.console.acts_file import ActsFile
from reliquary.console.app import build_app
from reliquary.console.context import Context
from reliquary.console.listener import ControlListener
from reliquary.console.peers import Peers
from reliquary.console.request import READS
from reliquary.console.samples import Sampler
from reliquary.console.web import assets
from reliquary.console.web.sessions import Sessions
from reliquary.console.web.state import Console
from reliquary.engine.open import OpenedEngine, open_engine
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.http import Limits, Listener
from reliquary.net.identity.admission import BearerToken, admission_of
from reliquary.net.identity.failures import Failures
from reliquary.net.identity.hosts import Hosts
from reliquary.net.identity.passwords import Passwords
from reliquary.net.identity.rates import Rates
from reliquary.net.identity.users import Users
from reliquary.net.srv import find_servers
from reliquary.net.tcp.budget import Budget
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.keep import parse_keep
from reliquary.queueing.model.message import BODY_LIMIT
from reliquary.queueing.model.state import Sizes
from reliquary.server import limit_counters, protocol_counters
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol
from reliquary.server.keys import own_keys
from reliquary.server.names import Listening, host_names
from reliquary.server.peer_entries import peers_of
from reliquary.server.protocols import PROTOCOLS
from reliquary.server.reload import Planes, Reloader, anonymous_acts, first_list_of
from reliquary.server.space import Callbacks, SpaceWatch
from reliquary.wire.public_keys import Purpose

if TYPE_CHECKING:
    from reliquary.server.tracing import Tracing

DRAIN: Final = seconds(5)
"""The seconds that clients have to read their last answers."""
DIRECTORY_SERVICE: Final = "_ldap._tcp.dc._msdcs"
"""The DNS name under which a domain lists its directory servers."""
LIMITS: Final = Limits(body_bytes=BODY_LIMIT // 3 * 4 + 4 * 1024 * 1024)
"""The limits of requests, with room for the largest message, whose base64 needs four bytes for three."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running queue manager with its two planes."""

    opened: OpenedEngine
    data: Listener
    control: ControlListener
    users: Users
    endpoints: tuple[Endpoint, ...]
    """The endpoints of all protocols, in the order of `protocols.PROTOCOLS`."""
    space: SpaceWatch
    sampler: Sampler
    reloader: Reloader
    """The object that applies settings which are read again."""
    planes: Planes
    """The TLS contexts of both planes."""
    tracing: Tracing | None = None
    """The spans of OpenTelemetry; None if the settings name no endpoint for them."""
    bound: list[Listening] = field(default_factory=list)
    """The addresses of the data plane, that of `data_port` first; empty until it listens."""

    async def listen(self, settings: Settings) -> tuple[str, str]:
        """Open both planes and return the address of `data_port` and that of the control plane."""
        tls = None if self.planes.data is None else self.planes.data.front
        scheme = "http" if tls is None else "https"
        if settings.data_tls_port is None:
            data = await self.data.listen(settings.data_host, settings.data_port, tls=tls)
            self.bound.append(Listening(scheme, *data))
        else:
            data = await self.data.listen(settings.data_host, settings.data_port)
            secured = await self.data.listen(settings.data_host, settings.data_tls_port, tls=tls)
            self.bound.extend([Listening("http", *data), Listening("https", *secured)])
        for endpoint in self.endpoints:
            await endpoint.listen(self.data, self.bound)
        control = await self.control.listen(settings.control_host, settings.control_port)
        self.sampler.start()
        return self.bound[0].url, Listening(scheme, *control).url

    def pause(self, pressed: bool) -> None:
        """Read nothing from any client as long as the engine is overloaded."""
        (self.data.pause if pressed else self.data.resume)()
        for endpoint in self.endpoints:
            endpoint.pause(pressed)

    async def stop(self) -> None:
        """Stop: accept nothing new, finish running work, answer waiting clients, and close the folder."""
        self.space.stop()
        await self.sampler.stop()
        self.data.stop_accepting()
        for endpoint in self.endpoints:
            endpoint.stop_accepting()
        for endpoint in self.endpoints:
            await endpoint.finish()
        await self.opened.close()
        for endpoint in reversed(self.endpoints):
            endpoint.hang_up()
        for endpoint in self.endpoints:
            await endpoint.drain(DRAIN)
        await asyncio.gather(self.data.drain(DRAIN), self.control.stop())
        self.reloader.passwords.close()
        await self.reloader.acts.close()
        if self.tracing is not None:
            await self.tracing.stop()


async def build(settings: Settings, *more: ServerProtocol) -> Server:
    """Open the folder and build the server; it does not listen yet.

    `more` are protocols in addition to those that every server has.
    """
    planes, setups = Planes(settings), [each.prepare(settings) for each in (*PROTOCOLS, *more)]
    settings.tracing.check_installed()
    peers = Peers(peers_of(settings.peers))
    clock, chance = RealClock(), SystemChance()
    space = SpaceWatch(settings.folder, settings.low_space, settings.reserve)
    opened = await _opened_with_room(
        space,
        settings.folder,
        clock=clock,
        chance=chance,
        computer_name=settings.computer_name,
        quota=settings.quota,
        hardened_security=settings.hardened_security,
        first_list=first_list_of(settings),
        anonymous_may=anonymous_acts(settings),
        in_doubt_wait=seconds(settings.in_doubt_wait),
        domain=settings.domain,
        integrate=(lambda: integration(settings)) if settings.directory_integrated else None,
        find_servers=lambda: directory_servers(settings),
        protocols=[each.protocol for each in setups if each.protocol is not None],
        http_support=any(each.anonymous_senders for each in setups),
        history=settings.history.export(settings.folder),
        sizes=Sizes(transactions=settings.limits.transactions, keep=parse_keep(settings.limits.keep)),
        witness=settings.witness,
    )
    users = Users(opened.state.identity().identifier, settings.users)
    acts = ActsLog(
        _acts_file(settings, clock),
        clock,
        lambda why: opened.engine.warn(
            Warn("acts", "administrative acts are not logged", f"{why}: see that the folder can be written")
        ),
    )
    warn = partial(_warn_of_client, opened, acts)
    failures = Failures(clock.monotonic)
    passwords = Passwords(users, failures, chance, warn)
    admission = admission_of(users, failures, warn, passwords)
    rates = Rates(clock.monotonic, settings.limits.rate, settings.limits.burst)
    tls = None if planes.data is None else planes.data.front
    budget = Budget(settings.limits.body_memory, settings.limits.answer_memory)
    limits = replace(LIMITS, connections=settings.limits.connections)
    parts = Parts(
        settings,
        opened,
        users,
        admission,
        failures,
        warn,
        rates,
        acts.count_asked,
        limits,
        tls,
        clock,
        chance,
        release(),
        budget,
    )
    endpoints = tuple(each.build(parts) for each in setups)
    mounts = [mount for endpoint in endpoints for mount in endpoint.mounts()]
    data = Listener(mounts, limits=limits, clock=clock, budget=budget)
    counters = [endpoint.counters for endpoint in endpoints]
    counters.append(partial(protocol_counters.families, opened))
    counters.append(partial(limit_counters.families, budget))
    sessions = Sessions(chance, clock.monotonic, opened.state.identity().identifier.hex[:8])
    tokens = BearerToken(users, Failures(clock.monotonic), warn)
    console = Console(Sampler(opened, clock), sessions, assets.load(), tokens, passwords)
    reloader = Reloader(settings, opened, users, passwords, sessions, rates, acts, planes, peers, [data])
    context = Context(
        opened, release(), lambda: data.connections, users, console, acts, reloader.reload, peers, counters
    )
    at_control = admission.at(Hosts(host_names(settings, settings.control_host)), READS, sessions)
    app = build_app(context, at_control, rates)
    control_tls = None if planes.control is None else planes.control.front
    control = ControlListener(app, tls=control_tls, clock=clock, budget=budget)
    tracing = _tracing(settings, opened, clock)
    server = Server(
        opened, data, control, users, endpoints, space, console.sampler, reloader, planes, tracing
    )
    opened.engine.on_pressure = server.pause
    space.start(Callbacks(opened.engine.submit, opened.engine.warn, opened.disk.reclaim))
    return server


def _tracing(settings: Settings, opened: OpenedEngine, clock: RealClock) -> Tracing | None:
    """Begin to make spans if the settings name an endpoint; only then OpenTelemetry is imported."""
    if not settings.tracing.endpoint:
        return None
    return import_module("reliquary.server.tracing").begin(settings, opened, clock, release())  # type: ignore[no-any-return]


async def _opened_with_room(space: SpaceWatch, folder: Path, **how: Any) -> OpenedEngine:
    """Open the store; if the disk is full, use the space of the reserve."""
    space.make_room()
    try:
        return await open_engine(folder, **how)
    except StoreFailure as why:
        if why.kind != "full" or not space.give_back():
            raise
        return await open_engine(folder, **how)


def integration(settings: Settings) -> Integration:
    """Return the part of the manager in the directory: its keys, its site and the directory servers."""
    keys = own_keys(settings.folder)
    return Integration(
        settings.site,
        directory_servers(settings),
        keys.public(Purpose.ENCRYPTION),
        keys.public(Purpose.SIGNATURE),
        settings.machine_sid,
    )


def directory_servers(settings: Settings) -> tuple[str, ...]:
    """Return the directory servers of the settings, or those that the domain names (DM-086)."""
    if settings.directory_servers or not settings.domain:
        return settings.directory_servers
    return find_servers(f"{DIRECTORY_SERVICE}.{settings.domain}")


def _warn_of_client(opened: OpenedEngine, acts: ActsLog, peer: str, why: str) -> None:
    opened.engine.warn(Warn(f"client {peer or 'without address'}", "was refused", why))
    acts.count(peer, "show-proof", why)


def _acts_file(settings: Settings, clock: RealClock) -> ActsFile | None:
    if not settings.acts.enabled:
        return None
    today = lambda: datetime.fromtimestamp(clock.now() / SECOND, UTC)  # noqa: E731
    return ActsFile(settings.acts.place(settings.folder), settings.acts.kept(), today)


def release() -> str:
    """Return the version that is installed."""
    try:
        return version("reliquary")
    except PackageNotFoundError:
        return "0"
