"""Defines the settings of MQQP."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration, seconds
from reliquary.wire.rpc.protection import Protection


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The settings for reading queues of another manager."""

    name: str
    """The host as names of queues have it: `far` of `DIRECT=OS:far\\private$\\orders`; `*` for all others."""
    host: str = ""
    """The host of the manager; empty if `name` is the host."""
    port: int = 0
    """The port of qmcomm; 0 to ask the endpoint mapper, or to use the well-known port 2103."""
    user: str = ""
    r"""The user for NTLM: `name` or `DOMAIN\name`; empty for an anonymous reader."""
    password: str = ""
    """The password of the user for NTLM."""
    protection: Protection = Protection.INTEGRITY
    """The protection of calls with a user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MqqpSettings:
    """The settings of MQQP; the defaults are those of the specification where it has any."""

    protection: Protection = Protection.NONE
    """Calls with less protection are refused, except those that ask for ports and versions (QP-159)."""
    queues: int = 256
    """The most queues that one association may have open."""
    pending: int = 256
    """The reads of one association that wait, or whose message is locked."""
    open_time: Duration = field(default=seconds(300))
    """How long another manager may take to open a queue (QP-147)."""
    call_time: Duration = field(default=seconds(60))
    """How long another manager may take for any other call, in addition to the time that a read waits."""
    memory: Duration = field(default=seconds(3600))
    """How long a message is remembered whose removal was not confirmed, so that it is not delivered twice."""
    servers: tuple[ServerSettings, ...] = ()
    """Servers with settings of their own."""
    seed: bytes = b""
    """The seed that handles are made from, so that they cannot be guessed."""

    def __post_init__(self) -> None:
        for name in ("queues", "pending", "open_time", "call_time", "memory"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")

    def server(self, name: str) -> ServerSettings:
        """Return the settings for the host in a queue's name."""
        for each in self.servers:
            if each.name == "*" or each.name.casefold() == name.casefold():
                return each
        return ServerSettings(name=name)
