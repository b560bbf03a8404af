"""Applies settings that are read again while a server runs: SIGHUP, or `reliquary config reload`.

    read all places --> an error: nothing changes, the error names line and key
          |
          '--> compare --> may change now: applied, and named
                       '-> needs a restart: named, and left as it is

RELOADABLE has the settings that may change.  Users change first and in one step: a client whose user
was removed or changed must authenticate again with its next request, on open connections and in the
console, and its waiting reads end.  Files of certificates are read again even with unchanged names.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from reliquary.base.faults import UsageError
from reliquary.client.records import ReloadInfo
from reliquary.console.acts import ActsLog
from reliquary.console.peers import Peers
from reliquary.console.web.sessions import Sessions
from reliquary.engine.open import OpenedEngine
from reliquary.net.http import Listener
from reliquary.net.identity.certificates import Serving, serving_context
from reliquary.net.identity.passwords import Passwords
from reliquary.net.identity.rates import Rates
from reliquary.net.identity.users import Users
from reliquary.queueing.model.events import RenewAccess
from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct, acts_named
from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.queueing.rules import destinations
from reliquary.server import logs
from reliquary.server.config import Settings
from reliquary.server.effective import values_of
from reliquary.server.first_queues import make_queues
from reliquary.server.peer_entries import peers_of
from reliquary.server.queue_entries import make_entries

ACCESS: Final = frozenset({"users", "anonymous_may"})
QUEUES: Final = frozenset({"queues", "queue"})
TLS: Final = frozenset({"tls_certificate", "tls_key", "tls_client_ca"})
RELOADABLE: Final = (
    ACCESS
    | QUEUES
    | TLS
    | {"log_level", "peers", "limits.rate", "limits.burst"}
    | {"history.every", "history.keep_days", "history.keep_bytes", "acts.keep_days", "acts.keep_bytes"}
)
"""The settings that take effect without a restart; those of tables as TABLE.NAME."""


def first_list_of(settings: Settings) -> bytes:
    """Return the access list that the manager has before an administrator sets one."""
    return MANAGER_LIST if settings.users else b""


def anonymous_acts(settings: Settings) -> AnonymousAct:
    """Return the acts of anonymous clients that no access list decides."""
    return acts_named(settings.anonymous_may) if settings.users else EVERY_ACT


def differing(before: Settings, after: Settings) -> list[str]:
    """Return the names of all settings whose values differ."""
    old, new = values_of(before), values_of(after)
    return [
        f"{table}.{name}" if table else name for (table, name) in new if old[table, name] != new[table, name]
    ]


def with_settings(before: Settings, after: Settings, names: Iterable[str]) -> Settings:
    """Return `before` with the settings of these names from `after`."""
    tables: dict[str, dict[str, Any]] = {}
    changed: dict[str, Any] = {}
    for each in names:
        first, _, second = each.partition(".")
        if second:
            tables.setdefault(first, {})[second] = getattr(getattr(after, first), second)
        else:
            changed[first] = getattr(after, first)
    for table, values in tables.items():
        changed[table] = replace(getattr(before, table), **values)
    return replace(before, **changed)


class Planes:
    """The TLS contexts of both planes; None without TLS."""

    def __init__(self, settings: Settings) -> None:
        made = contexts_of(settings)
        self.data = None if made is None else Serving(made[0])
        self.control = None if made is None else Serving(made[1])
        self._seen = _digest(settings)

    def read_again(self, settings: Settings) -> tuple[ssl.SSLContext, ssl.SSLContext] | None:
        """Return new contexts if the files differ from those in use; UsageError if they cannot be used."""
        if self.data is None or settings.tls_certificate is None or _digest(settings) == self._seen:
            return None
        return contexts_of(settings)

    def renew(self, settings: Settings, made: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
        """Use other contexts for new handshakes."""
        assert self.data is not None, "there is TLS"
        assert self.control is not None, "there is TLS"
        self.data.renew(made[0])
        self.control.renew(made[1])
        self._seen = _digest(settings)


def contexts_of(settings: Settings) -> tuple[ssl.SSLContext, ssl.SSLContext] | None:
    """Return one TLS context for each plane, because a listener always keeps its own."""
    certificate, key, client_ca = settings.tls_certificate, settings.tls_key, settings.tls_client_ca
    if certificate is None or key is None:
        return None
    required = settings.tls_client_required
    return (
        serving_context(certificate, key, client_ca, client_required=required),
        serving_context(certificate, key, client_ca, client_required=required),
    )


def _digest(settings: Settings) -> bytes:
    """Return a digest of the files of certificates and of their names."""
    made = sha256()
    for file in (settings.tls_certificate, settings.tls_key, settings.tls_client_ca):
        made.update(f"{file}\0".encode(errors="surrogateescape") + _content(file))
    return made.digest()


def _content(file: Path | None) -> bytes:
    try:
        return b"" if file is None else file.read_bytes()
    except OSError:
        return b""


@dataclass(slots=True)
class Reloader:
    """Applies settings that were read again to one server."""

    settings: Settings
    """The settings that are in force."""
    opened: OpenedEngine
    users: Users
    passwords: Passwords
    sessions: Sessions
    rates: Rates
    acts: ActsLog
    planes: Planes
    peers: Peers
    listeners: Sequence[Listener]
    """The listeners whose connections cache their users."""
    read: Callable[[], Settings] | None = None
    """Reads the settings again from their sources; None if the server was given values."""
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def reload(self) -> ReloadInfo:
        """Read the settings and apply those that may change.

        UsageError, without a change, if they are wrong.
        """
        if self.read is None:
            raise UsageError("this server was started without a place to read its settings from")
        async with self._one:
            return await self._apply(await asyncio.to_thread(self.read))

    async def _apply(self, after: Settings) -> ReloadInfo:
        names = differing(self.settings, after)
        applied = [each for each in names if self._may_change(each, after)]
        wanted = with_settings(self.settings, after, applied)
        peers = await asyncio.to_thread(peers_of, wanted.peers)
        made = await asyncio.to_thread(self.planes.read_again, wanted)
        self.peers.all = peers
        if made is not None:
            self.planes.renew(wanted, made)
            applied += [] if TLS & set(applied) else ["tls_certificate"]
        before, self.settings = self.settings, wanted
        if ACCESS & set(applied):
            await self._renew_access(wanted)
        self._change_numbers(wanted)
        notes = await self._make_queues(before, wanted) if QUEUES & set(applied) else []
        restart = [each for each in names if each not in applied]
        return ReloadInfo(applied=applied, restart=restart, notes=notes)

    def _may_change(self, name: str, after: Settings) -> bool:
        if name in TLS and (self.settings.tls_certificate is None or after.tls_certificate is None):
            return False
        if name == "tls_client_ca" and (self.settings.tls_client_ca is None or after.tls_client_ca is None):
            return False
        return name in RELOADABLE

    async def _renew_access(self, wanted: Settings) -> None:
        """Replace the users, without an await before all caches have forgotten the old ones."""
        gone = self.users.renew(wanted.users)
        self.passwords.forget()
        self.sessions.end_of(gone)
        for listener in self.listeners:
            listener.forget_heads()
        first_list, acts = first_list_of(wanted), anonymous_acts(wanted)
        await self.opened.engine.ask(lambda to: RenewAccess(to, first_list, acts, gone))

    def _change_numbers(self, wanted: Settings) -> None:
        logs.set_level(wanted.log_level)
        limits = wanted.limits
        if (self.rates.rate, self.rates.burst) != (limits.rate, limits.burst):
            self.rates.change(limits.rate, limits.burst)
        self.acts.keep(wanted.acts.kept())
        history, options = self.opened.history, wanted.history.export(wanted.folder)
        if history is not None and options is not None:
            history.options = options

    async def _make_queues(self, before: Settings, wanted: Settings) -> list[str]:
        """Create the missing queues; return sentences about changes that were not made."""
        old: Mapping[str, object] = {each.name: each for each in before.queue}
        notes = [
            f"the queue {each.name} is there already: its options and its access list were left as they are"
            for each in wanted.queue
            if old.get(each.name) != each and destinations.find(self.opened.state, each.name) is not None
        ]
        try:
            await make_queues(self.opened, wanted.queues)
            await make_entries(self.opened, self.users, wanted.queue)
        except UsageError as why:
            notes.append(str(why))
        return notes
