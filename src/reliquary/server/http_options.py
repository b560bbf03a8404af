"""Options that the tables of all protocols over HTTP have in common."""

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
    """Messages come and go by the protocol."""
    origin: str = ""
    """How the names of what others reach here begin, for all time; empty for our own name and port."""
    names: tuple[str, ...] = ()
    """Other names, `host` or `host:port`, that mean this manager."""
    ca_file: Path | None = None
    """PEM certificates that servers elsewhere are trusted by, in place of the system's."""
    certificate: Path | None = None
    """A PEM file: who we are to servers that want to know by TLS."""
    key: Path | None = None
    """A PEM file: the key of that certificate."""
    tokens: dict[str, str] = field(default_factory=dict)
    """Who we are to servers with users: a bearer token by the origin, such as `https://far.example`."""

    def check_names(self, table: str, schemes: tuple[str, str]) -> None:
        """Refuse names and tokens that cannot be; an origin begins with one of the schemes."""
        plain, secure = schemes
        if self.origin and not re.fullmatch(f"({plain}|{secure})://{AUTHORITY}", self.origin):
            shape = f"{plain}://host or {secure}://host:port"
            raise UsageError(f"{table}.origin is {self.origin[:80]!r}, which is not like {shape}")
        for name in self.names:
            check_authority(f"{table}.names", name)
        check_tokens(table, self.tokens)
        check_together(f"{table}.", "certificate", self.certificate, "key", self.key)
