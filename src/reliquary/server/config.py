"""Settings: defaults, then a TOML file, then RELIQUARY_* variables, then what the command line says.

    folder = "/var/lib/reliquary"       RELIQUARY_FOLDER
    data_port = 8480                    RELIQUARY_DATA_PORT
    queues = ["orders", "invoices"]     RELIQUARY_QUEUES=orders,invoices
    [srmp]                              RELIQUARY_SRMP_..., see `srmp_options`
    [httpr]                             RELIQUARY_HTTPR_..., see `httpr_options`
    [multicast]                         RELIQUARY_MULTICAST_..., see `net.multicast.options`
    [history]                           RELIQUARY_HISTORY_..., see `history_options`
    store_and_forward = true
    [[users]]                           only here; `reliquary user token` writes the lines
    name = "alice"
    token_sha256 = "..."

A setting that is not known is refused by name: a slip of the pen must not become a default.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, Final, get_origin, get_type_hints
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND
from reliquary.net.api.users import User, check_users
from reliquary.net.host import own_name
from reliquary.net.multicast.options import MulticastOptions
from reliquary.queueing.lifecycle import LONGEST_IN_DOUBT
from reliquary.queueing.message import FOREVER
from reliquary.queueing.naming.names import COMPUTER_NAME_LIMIT, FORBIDDEN, parse
from reliquary.server import history_options, httpr_options, srmp_options
from reliquary.server.history_options import HistoryOptions
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.values import as_path
from reliquary.wire.security import parse_sid

PREFIX: Final = "RELIQUARY_"
PLAIN: Final = ("multicast_", "history_")
"""Tables whose settings are all single values, by how their variables begin."""
TABLES: Final = {"srmp_": srmp_options, "httpr_": httpr_options}
"""Tables whose settings are partly for the file alone, by how their variables begin."""
DOMAIN_LIMIT: Final = 255
_HOST: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")
NOT_OURS: Final = frozenset(
    {"RELIQUARY_SERVER", "RELIQUARY_CONTROL", "RELIQUARY_SETTINGS", "RELIQUARY_TOKEN"}
)
"""Variables that speak to the client and the command line."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a server can be told."""

    folder: Path = Path("reliquary-data")
    """Where all messages are."""
    data_host: str = "127.0.0.1"
    data_port: int = 8480
    """The data plane; 0 takes any free port."""
    control_host: str = "127.0.0.1"
    control_port: int = 8481
    computer_name: str = field(default_factory=own_name)
    quota: int = FOREVER
    """Kilobytes that all queues together may hold; 4294967295 is no limit."""
    queues: tuple[str, ...] = ()
    """Queues that are made at the start when they are missing."""
    in_doubt_wait: float = 0
    """Seconds that a start waits for the outcome of prepared transactions, and fails without it."""
    tls_certificate: Path | None = None
    """A PEM file; both planes speak HTTPS then."""
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    """A PEM file; clients of the data plane may show a certificate that it vouches for, or must."""
    tls_client_required: bool = False
    hardened_security: bool = False
    """Messages to other managers leave by HTTP alone; those that would go otherwise wait."""
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
    srmp: SrmpOptions = field(default_factory=SrmpOptions)
    """Messages over HTTP."""
    httpr: HttprOptions = field(default_factory=HttprOptions)
    """Batches of messages over HTTP."""
    multicast: MulticastOptions = field(default_factory=MulticastOptions)
    history: HistoryOptions = field(default_factory=HistoryOptions)
    """What happened to messages, as files."""
    users: tuple[User, ...] = ()
    """Who may say who he is; without any, all are anonymous.  Only in the file."""

    def __post_init__(self) -> None:
        for name in ("data_port", "control_port"):
            if not 0 <= getattr(self, name) <= 65535:
                raise UsageError(f"{name} is 0 to 65535, not {getattr(self, name)}")
        for name in ("data_host", "control_host"):
            if not getattr(self, name):
                raise UsageError(f"{name} is empty; 127.0.0.1 is this computer alone, 0.0.0.0 is everybody")
        if not 0 <= self.quota <= FOREVER:
            raise UsageError(f"quota is 0 to {FOREVER} kilobytes, not {self.quota}")
        if not 0 <= self.in_doubt_wait <= LONGEST_IN_DOUBT / SECOND:
            limit = LONGEST_IN_DOUBT // SECOND
            raise UsageError(f"in_doubt_wait is 0 to {limit} seconds, not {self.in_doubt_wait}")
        _check_computer_name(self.computer_name)
        for queue in self.queues:
            parse(queue, self.computer_name)
        _check_services(self)
        check_users(self.users)
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise UsageError("tls_certificate and tls_key belong together, and only one is given")
        _check_tls(self)
        _check_directory(self)
        # Not Path.exists: where one may not look it raises, and the store tells of that better.
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise UsageError(f"folder is {self.folder}, which is a file")


def _check_services(settings: Settings) -> None:
    chosen = settings.httpr.protocol
    queues = [("services", queue) for each in chosen.services for queue in (each.into, each.source)]
    queues += [("peers", each.into) for each in chosen.peers]
    for table, queue in queues:
        if queue:
            try:
                parse(queue, settings.computer_name)
            except UsageError as why:
                raise UsageError(f"httpr.{table} has the queue {queue[:80]!r}: {why}") from why


def _check_tls(settings: Settings) -> None:
    for name, given in (
        ("tls_client_ca", settings.tls_client_ca),
        ("srmp.https_port", settings.srmp.https_port),
    ):
        if given is not None and settings.tls_certificate is None:
            raise UsageError(f"{name} means nothing without tls_certificate and tls_key")
    if settings.tls_client_required and settings.tls_client_ca is None:
        raise UsageError("tls_client_required needs tls_client_ca: who vouches for the clients?")


def _check_directory(settings: Settings) -> None:
    for name in (settings.domain, *settings.directory_servers):
        if name and (len(name) > DOMAIN_LIMIT or not _HOST.fullmatch(name)):
            where = "domain" if name == settings.domain else "directory_servers"
            raise UsageError(f"{where} has {name[:80]!r}, which is not a name such as shop.example.com")
    if settings.machine_sid:
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


NAMES: Final = tuple(one.name for one in fields(Settings))
_TYPES: Final = get_type_hints(Settings)
_MULTICAST: Final = get_type_hints(MulticastOptions)


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
) -> Settings:
    """Settings from all places; the later one wins.  UsageError says what is wrong where."""
    values: dict[str, Any] = {}
    srmp: dict[str, Any] = {}
    httpr: dict[str, Any] = {}
    multicast: dict[str, Any] = {}
    history: dict[str, Any] = {}
    for where, found, strict in (
        (f"{file}: ", {} if file is None else _read(file), True),
        ("environment: ", _from_environment(environment or {}), False),
        ("", {name: each for name, each in (given or {}).items() if each is not None}, True),
    ):
        for_srmp = partial(srmp_options.convert, strict=strict)
        for_httpr = partial(httpr_options.convert, strict=strict)
        for_multicast = partial(_for_multicast, strict=strict)
        for_history = partial(history_options.convert, strict=strict)
        srmp |= _convert_table(where, "srmp", found, srmp_options.NAMES, for_srmp)
        httpr |= _convert_table(where, "httpr", found, httpr_options.NAMES, for_httpr)
        multicast |= _convert_table(where, "multicast", found, tuple(_MULTICAST), for_multicast)
        history |= _convert_table(where, "history", found, history_options.NAMES, for_history)
        values |= _convert(where, found, strict=strict)
    return Settings(
        **values,
        srmp=srmp_options.options(srmp),
        httpr=httpr_options.options(httpr),
        multicast=MulticastOptions(**multicast),
        history=HistoryOptions(**history),
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as why:
        raise UsageError(f"the settings in {file} cannot be read: {why.strerror}") from why
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise UsageError(f"the settings in {file} are not TOML: {why}") from why


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable in NOT_OURS:
            continue
        name = variable.removeprefix(PREFIX).lower()
        table = next((table for table in TABLES if name.startswith(table)), "")
        if table:
            name, known = name.removeprefix(table), TABLES[table]
            _refuse_in_environment(name, known.is_for_the_file(name))
            found.setdefault(table[:-1], {})[name] = _split(text, known.is_list(name))
        elif plain := next((table for table in PLAIN if name.startswith(table)), ""):
            found.setdefault(plain[:-1], {})[name.removeprefix(plain)] = text
        else:
            _refuse_in_environment(name, name == "users")
            found[name] = _split(text, get_origin(_TYPES.get(name)) is tuple)
    return found


def _refuse_in_environment(name: str, refused: bool) -> None:
    if refused:
        raise UsageError(f"environment: {name} stand in the settings file alone")


def _split(text: str, is_list: bool) -> str | list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if is_list else text


def _convert(where: str, values: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    converted = {}
    for name, value in values.items():
        if name not in NAMES:
            raise UsageError(f"{where}there is no setting {name!r}; these are {', '.join(NAMES)}")
        try:
            converted[name] = msgspec.convert(value, _TYPES[name], strict=strict, dec_hook=as_path)
        except msgspec.ValidationError as why:
            raise UsageError(f"{where}{name}: {why}") from why
    return converted


def _convert_table(
    where: str,
    table: str,
    found: dict[str, Any],
    known: tuple[str, ...],
    convert: Callable[[str, object], Any],
) -> dict[str, Any]:
    """Take a table out of what was found."""
    values = found.pop(table, {})
    if not isinstance(values, dict):
        raise UsageError(f"{where}{table} is a table, [{table}], not {values!r}")
    converted = {}
    for name, value in values.items():
        if name not in known:
            names = ", ".join(known)
            raise UsageError(f"{where}there is no setting {name!r} in [{table}]; these are {names}")
        try:
            converted[name] = convert(name, value)
        except (msgspec.ValidationError, UsageError) as why:
            raise UsageError(f"{where}{table}.{name}: {why}") from why
    return converted


def _for_multicast(name: str, value: object, *, strict: bool) -> Any:
    return msgspec.convert(value, _MULTICAST[name], strict=strict)
