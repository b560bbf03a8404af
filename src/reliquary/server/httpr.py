"""HTTPR in a server: who takes requests, who sends them, and what our agents are called."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from reliquary.base.turn import Warn
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.api.users import Users
from reliquary.net.http import Listener
from reliquary.net.httpr.courier import Courier, plug_in
from reliquary.net.httpr.receiving import Receiving
from reliquary.protocols.httpr.addresses import PREFIX, own_agent
from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.events import Addressed
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Role
from reliquary.server.config import Settings
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.names import Listening, authorities, own_name
from reliquary.server.trust import Trust

SCHEMES: Final = {"http": "httpr://", "https": "httprs://"}
"""How the names of agents begin that are reached so."""


@dataclass(frozen=True, slots=True)
class HttprEndpoint:
    """What of a server is there for HTTPR."""

    opened: OpenedEngine
    receiving: Receiving
    courier: Courier

    def serve(self, listener: Listener) -> None:
        """Requests come over this listener: its connections may have to be cut."""

        def cut(effect: CutConnection) -> None:
            listener.cut(effect.connection)

        self.opened.engine.performers[CutConnection] = cut

    def listen(self, settings: Settings, data: Listening) -> None:
        """The listener has its port: we know what we are called."""
        known = addressed(settings, data)
        home = own_agent(known.origin, settings.httpr.protocol.manager_service)
        self.receiving.home = self.courier.home = home
        for other in renamed(self.opened.machine(Httpr).state, known.origin):
            self.opened.engine.warn(other)
        with suppress(EngineStopped):
            self.opened.engine.submit(known)

    def stop_accepting(self) -> None:
        """Take nothing new."""
        self.receiving.stop()

    def stop(self) -> None:
        """Tell those who still wait, and hang up; the engine has stopped."""
        self.receiving.finish()
        self.courier.stop()


def endpoint(opened: OpenedEngine, options: HttprOptions, users: Users, trust: Trust) -> HttprEndpoint:
    """Plug HTTPR in: its requests are sent, those of others are taken."""
    courier = plug_in(opened, response_time=options.protocol.response_time, tls=trust, tokens=options.tokens)
    receiving = Receiving(opened.engine, opened.state, opened.machine(Httpr).state, courier.bodies, users)
    return HttprEndpoint(opened, receiving, courier)


def renamed(httpr: State, origin: str) -> list[Warn]:
    """Channels know us under another name: over those their clients do not reach us any more (HR-089)."""
    known = [each for each in httpr.channels.values() if each.has_source_state or each.has_sink_state]
    before = Counter([each.responder.partition(PREFIX)[0] for each in known if each.role is Role.SERVER])
    del before[origin]
    return [
        Warn(
            "HTTPR",
            f"is known as {other}",
            f"by the channels of others, and what is in doubt there stays so while we are {origin}; "
            f'origin = "{other}" in [httpr] keeps the name, and channels that are over can be forgotten',
            count,
        )
        for other, count in before.items()
    ]


def addressed(settings: Settings, data: Listening) -> Addressed:
    """What our agents are called, and under which other names they are meant too."""
    options = settings.httpr
    origin = options.origin or SCHEMES[data.scheme] + data.authority(own_name(settings, [data]))
    given = {*options.names, origin.partition("://")[2]}
    return Addressed(origin, authorities(settings, [data], given))
