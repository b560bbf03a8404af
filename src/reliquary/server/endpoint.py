"""Defines the endpoints of a server, one for each protocol.

    prepare   settings --> Setup: files are read before the folder is opened
    build     Setup, Parts --> Endpoint, plugged into the engine; it does not listen yet
    listen    the data plane has its address; the endpoint opens its own ports
    pause     the engine is overloaded, or not any more
    stop      stop_accepting --> finish --> the engine closes --> hang_up --> drain

Requests over HTTP come through the mounts of the data plane's listener; an endpoint may own TCP and UDP
sockets of its own.  The control plane is no endpoint: it is made of all endpoints' counters, it is not
paused, and it accepts until the engine has closed.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reliquary.base.chance import Chance
from reliquary.base.time import Duration
from reliquary.engine.open import OpenedEngine
from reliquary.net.api.context import OnAct
from reliquary.net.clock import RealClock
from reliquary.net.counters import Family
from reliquary.net.http import Limits, Listener, Mount
from reliquary.net.identity.admission import Admission
from reliquary.net.identity.failures import Failures
from reliquary.net.identity.rates import Rates
from reliquary.net.identity.users import Users
from reliquary.net.tcp.budget import Budget
from reliquary.queueing.model.protocol import Protocol as MachineProtocol
from reliquary.server.config import Settings
from reliquary.server.names import Listening
from reliquary.server.table import Table


class Endpoint:
    """A protocol of a running server; an endpoint overrides the methods that it needs."""

    def mounts(self) -> Sequence[Mount]:
        """Return the mounts of the paths of the data plane that belong to it."""
        return ()

    async def listen(self, listener: Listener, at: Sequence[Listening]) -> None:
        """Open its own sockets, or raise OSError; `listener` has its mounts at these addresses.

        The names by which others know us are made of the first address.
        """

    def pause(self, pressed: bool) -> None:
        """Read nothing from its own sockets as long as the engine is overloaded."""

    def stop_accepting(self) -> None:
        """Accept no new connections or requests."""

    async def finish(self) -> None:
        """End tasks that read the store without the engine, because it closes next."""

    def hang_up(self) -> None:
        """Answer waiting clients, and close connections to others, because the engine has stopped."""

    async def drain(self, within: Duration) -> None:
        """Close its own sockets once the last answers have left."""

    def own_addresses(self) -> Iterable[str]:
        """Return the addresses at which it listens itself, for an error about an address."""
        return ()

    def names_of(self, queue: str) -> Iterable[str]:
        """Return the names by which other managers send to a queue of this server, once it listens."""
        del queue
        return ()

    def reading_names_of(self, queue: str) -> Iterable[str]:
        """Return the names by which remote readers read a queue of this server, once it listens."""
        del queue
        return ()

    def counters(self) -> Iterable[Family]:
        """Return the current values of its counters."""
        return ()


@dataclass(frozen=True, slots=True)
class SwitchedOff(Endpoint):
    """A protocol that is switched off: it sends and receives nothing, and its machine keeps its state."""

    families: Callable[[], Iterable[Family]]
    """Returns the counters of the machine, which work without a network."""

    def counters(self) -> Iterable[Family]:
        """Return the counters of the machine."""
        return self.families()


@dataclass(frozen=True, slots=True)
class Parts:
    """The objects from which endpoints are built."""

    settings: Settings
    opened: OpenedEngine
    users: Users
    admission: Admission
    """The check of the bearer tokens and passwords of requests."""
    failures: Failures
    """The addresses and users of wrong proofs, in any protocol."""
    warn: Callable[[str, str], None]
    """Logs that the client at an address was refused, with the reason."""
    rates: Rates
    on_act: OnAct
    """Logs acts of administrators on the data plane."""
    limits: Limits
    tls: ssl.SSLContext | None
    clock: RealClock
    chance: Chance
    version: str
    budget: Budget
    """The limits of the bytes that the connections of all listeners hold together."""


class Setup(Protocol):
    """A protocol with valid settings, before the folder is opened."""

    @property
    def protocol(self) -> MachineProtocol | None:
        """The part of the protocol in the queue manager; None for a protocol without a machine."""

    @property
    def anonymous_senders(self) -> bool:
        """Whether new queues accept messages from every sender."""

    def build(self, parts: Parts) -> Endpoint:
        """Connect the protocol to the engine; its effects are performed from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProtocol:
    """A protocol before its settings are read."""

    prepare: Callable[[Settings], Setup]
    """Reads the files that settings name; UsageError has the error in them."""
    table: Table | None = None
    """Its table of the settings; None without one."""
