"""Defines the settings of a server.

`loading` reads them from a file, the environment and the command line.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND
from reliquary.net.host import own_name
from reliquary.net.identity.users import User, check_users
from reliquary.net.multicast.options import MulticastOptions
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.names.pathnames import COMPUTER_NAME_LIMIT, FORBIDDEN
from reliquary.queueing.model.security.anonymous import acts_named
from reliquary.queueing.startup import LONGEST_IN_DOUBT
from reliquary.server.acts_options import ActsOptions
from reliquary.server.history_options import HistoryOptions
from reliquary.server.limit_options import LimitOptions
from reliquary.server.logs import LogFormat, LogLevel
from reliquary.server.peer_entries import PeerEntry, check_peers
from reliquary.server.queue_entries import QueueEntry, check_entries
from reliquary.server.rows import check_rows
from reliquary.server.table import Options
from reliquary.server.tracing_options import TracingOptions
from reliquary.server.values import check_authority, check_queues, check_reach, check_together, naming
from reliquary.wire.security import parse_sid

DOMAIN_LIMIT: Final = 255
MOST_SPACE: Final = 1024 * 1024
"""The largest value of the setting, in megabytes."""
_HOST: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")

OptionsT = TypeVar("OptionsT", bound=Options)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a server."""

    folder: Path = Path("reliquary-data")
    """The folder in which all messages are kept."""
    data_host: str = "127.0.0.1"
    """The address at which the data plane listens."""
    data_port: int = 8480
    """The port of the data plane; 0 takes any free port."""
    data_tls_port: int | None = None
    """A further port of the data plane, with TLS, while `data_port` uses HTTP; 0 takes any free port."""
    control_host: str = "127.0.0.1"
    """The address at which the control plane and the console listen."""
    control_port: int = 8481
    """The port of the control plane and the console; 0 takes any free port."""
    names: tuple[str, ...] = ()
    """Other hosts by which clients name this server in URLs; addresses and its own names need not be here."""
    open_to_network: bool = False
    """Listen on the network although no users are named: every client there may do everything."""
    log_format: LogFormat = LogFormat.TEXT
    """The format of the log: text or json."""
    log_level: LogLevel = LogLevel.WARNING
    """Messages of this level and above are logged: debug, info, warning, error or critical."""
    computer_name: str = field(default_factory=own_name)
    """The name of this manager in path names and format names."""
    quota: int = FOREVER
    """Kilobytes that all queues together may hold; 4294967295 is no limit."""
    low_space: int | None = None
    """No message is accepted with fewer free megabytes on the disk; None is 128, or a tenth of the disk."""
    reserve: int | None = None
    """Megabytes in a file that is deleted when the disk is full; None is 160, or a twentieth of the disk."""
    witness: Path | None = None
    """A file outside the folder that lets a start detect an older copy of it; None is FOLDER.witness."""
    queues: tuple[str, ...] = ()
    """Queues that are created at the start if they are missing."""
    queue: tuple[QueueEntry, ...] = ()
    """Queues with options and access lists, created if they are missing; rows [[queue]], only in the file."""
    in_doubt_wait: float = 0
    """Seconds that a start waits for the outcome of prepared transactions, and fails without it."""
    tls_certificate: Path | None = None
    """The certificate (PEM) with which both planes use HTTPS; empty: they use HTTP."""
    tls_key: Path | None = None
    """The key (PEM) of that certificate."""
    tls_client_ca: Path | None = None
    """The authorities (PEM) that sign certificates of clients; clients of both planes may show one."""
    tls_client_required: bool = False
    """Refuse clients without a certificate, on both planes; the console and its users too."""
    hardened_security: bool = False
    """Messages to other managers are sent by HTTP only; messages that need another protocol wait."""
    anonymous_may: tuple[str, ...] = ()
    """What anonymous clients may do where users are named: send-elsewhere, read-elsewhere,
    begin-transactions, and look: read metrics and lists of the control plane from other computers.
    Without users they may do everything."""
    directory_integrated: bool = False
    """Take part in the directory: enter it, and let public queues enter it."""
    site: UUID | None = None
    """The identifier of the site that this computer is in."""
    domain: str = ""
    """The DNS domain of this computer."""
    machine_sid: str = ""
    """The computer's own SID in the domain; it may look at every queue that is made."""
    directory_servers: tuple[str, ...] = ()
    """Hosts of directory servers; without any, DNS is asked for those of the domain."""
    tables: tuple[Options, ...] = ()
    """The tables of protocols; one that is missing has its defaults."""
    multicast: MulticastOptions = field(default_factory=MulticastOptions)
    history: HistoryOptions = field(default_factory=HistoryOptions)
    """What happened to messages, as files."""
    limits: LimitOptions = field(default_factory=LimitOptions)
    """What all clients together may cost."""
    acts: ActsOptions = field(default_factory=ActsOptions)
    """The log of administrative acts."""
    tracing: TracingOptions = field(default_factory=TracingOptions)
    """Where spans of OpenTelemetry go."""
    peers: tuple[PeerEntry, ...] = ()
    """Other managers that the console asks for the events of a message; rows [[peers]], only in the file."""
    users: tuple[User, ...] = ()
    """The users that clients can authenticate as; without any, all are anonymous.  Only in the file."""

    def __post_init__(self) -> None:
        _check_ports(self)
        for name in ("data_host", "control_host"):
            if not getattr(self, name):
                raise UsageError(
                    f"{name} is empty; 127.0.0.1 is this computer alone, 0.0.0.0 is every network"
                )
            check_reach(name, getattr(self, name), self)
        for each in self.names:
            check_authority("names", each)
        if not 0 <= self.quota <= FOREVER:
            raise UsageError(f"quota is 0 to {FOREVER} kilobytes, not {self.quota}")
        for name in ("low_space", "reserve"):
            if not 0 <= (getattr(self, name) or 0) <= MOST_SPACE:
                raise UsageError(f"{name} is 0 to {MOST_SPACE} megabytes, not {getattr(self, name)}")
        if not 0 <= self.in_doubt_wait <= LONGEST_IN_DOUBT / SECOND:
            limit = LONGEST_IN_DOUBT // SECOND
            raise UsageError(f"in_doubt_wait is 0 to {limit} seconds, not {self.in_doubt_wait}")
        _check_computer_name(self.computer_name)
        check_queues("queues", self.queues, self.computer_name)
        check_rows("users", self.users, naming("users")(check_users))
        check_rows("peers", self.peers, check_peers)
        check_rows("queue", self.queue, lambda rows: check_entries(rows, self.users, self.computer_name))
        with naming("anonymous_may"):
            acts_named(self.anonymous_may)
        check_together("", "tls_certificate", self.tls_certificate, "tls_key", self.tls_key)
        _check_tls(self)
        for table in self.tables:
            table.check(self)
        _check_directory(self)
        # Not Path.exists, which raises without permission; the store has the better error for that.
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise UsageError(f"folder is {self.folder}, which is a file")

    def table(self, kind: type[OptionsT]) -> OptionsT:
        """Return the table of one protocol."""
        return next((each for each in self.tables if isinstance(each, kind)), None) or kind()


def _check_ports(settings: Settings) -> None:
    for name in ("data_port", "data_tls_port", "control_port"):
        if not 0 <= (getattr(settings, name) or 0) <= 65535:
            raise UsageError(f"{name} is 0 to 65535, not {getattr(settings, name)}")
    taken = {(settings.data_host, settings.data_port): "data_port"}
    for name, host in (("control_port", settings.control_host), ("data_tls_port", settings.data_host)):
        port = getattr(settings, name)
        other = taken.setdefault((host, port), name)
        if port and other != name:
            raise UsageError(f"{name} is {port}, and so is {other}: each needs its own")


def _check_tls(settings: Settings) -> None:
    if settings.data_tls_port is not None and settings.tls_certificate is None:
        raise UsageError("data_tls_port means nothing without tls_certificate and tls_key")
    if settings.tls_client_ca is not None and settings.tls_certificate is None:
        raise UsageError("tls_client_ca means nothing without tls_certificate and tls_key")
    if settings.tls_client_required and settings.tls_client_ca is None:
        raise UsageError(
            "tls_client_required needs tls_client_ca: name the authorities of client certificates"
        )


def _check_directory(settings: Settings) -> None:
    for name in (settings.domain, *settings.directory_servers):
        if name and (len(name) > DOMAIN_LIMIT or not _HOST.fullmatch(name)):
            where = "domain" if name == settings.domain else "directory_servers"
            raise UsageError(f"{where} has {name[:80]!r}, which is not a name such as shop.example.com")
    if settings.machine_sid:
        with naming("machine_sid"):
            parse_sid(settings.machine_sid)
    for setting in ("site", "directory_servers", "machine_sid"):
        if getattr(settings, setting) and not settings.directory_integrated:
            raise UsageError(f"{setting} means nothing unless directory_integrated is true")


def _check_computer_name(name: str) -> None:
    if not 1 <= len(name) <= COMPUTER_NAME_LIMIT:
        raise UsageError(f"computer_name has 1 to {COMPUTER_NAME_LIMIT} characters, not {len(name)}")
    for character in name:
        if character in FORBIDDEN + "/" or not character.isprintable() or character.isspace():
            raise UsageError(f"computer_name cannot contain {character!r}")
