"""Defines the options that the tables of all protocols over HTTP share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from reliquary.base.faults import UsageError
from reliquary.server.values import AUTHORITY, check_authority, check_together, check_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """The first fields of a table."""

    enabled: bool = True
    """Whether messages are sent and received by this protocol."""
    origin: str = ""
    """Scheme, host and port in the names of this manager's services, never changed; empty for its own."""
    names: tuple[str, ...] = ()
    """Other names, `host` or `host:port`, that mean this manager."""
    ca_file: Path | None = None
    """The authorities (PEM) for certificates of other servers, in place of the system's."""
    certificate: Path | None = None
    """The client certificate (PEM) that this server shows to peers that request one."""
    key: Path | None = None
    """The key (PEM) of that certificate."""
    tokens: dict[str, str] = field(default_factory=dict)
    """The bearer token for each server that has users, by its origin, such as `https://far.example`."""

    @property
    def credentials(self) -> dict[str, str]:
        """The values of Authorization that authenticate us, by the origins of the servers."""
        return {origin: f"Bearer {token}" for origin, token in self.tokens.items()}

    def check_names(self, table: str, schemes: tuple[str, str]) -> None:
        """Refuse invalid names and tokens; an origin begins with one of the schemes."""
        plain, secure = schemes
        if self.origin and not re.fullmatch(f"({plain}|{secure})://{AUTHORITY}", self.origin):
            shape = f"{plain}://host or {secure}://host:port"
            raise UsageError(f"{table}.origin is {self.origin[:80]!r}, which is not like {shape}")
        for name in self.names:
            check_authority(f"{table}.names", name)
        check_tokens(table, self.tokens)
        check_together(f"{table}.", "certificate", self.certificate, "key", self.key)
