"""Reads the rows [[peers]] of the settings: other managers that the console asks for the events of a message.

[[peers]]
name = "depot"
control = "https://depot.example:8481"             its control plane
token_file = "/etc/reliquary/depot.token"          or token = "..."; a user there who may look at messages
ca_file = "/etc/reliquary/depot-ca.pem"            without it, the authorities of the system
certificate = "/etc/reliquary/client.pem"          with key, where the peer asks for a certificate
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.console.peers import Peer
from reliquary.server.rows import in_row
from reliquary.server.trust import trust_of
from reliquary.server.values import WORD, check_together, check_url

MOST: Final = 32
"""The largest number of peers."""
_NAME: Final = re.compile(r"[\w.@ -]{1,64}")


class PeerEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A peer in the settings."""

    name: str
    """The name of the peer in the console."""
    control: str
    """The URL of the control plane of the peer."""
    token: str = ""
    """The token of a user at that peer."""
    token_file: Path | None = None
    """A file that holds the token, in place of `token`."""
    ca_file: Path | None = None
    """The authorities (PEM) for the certificate of the peer."""
    certificate: Path | None = None
    """The client certificate (PEM) for that peer."""
    key: Path | None = None
    """The key (PEM) of that certificate."""


def check_peers(entries: Sequence[PeerEntry]) -> None:
    """Refuse peers without a name, with the name of another peer, or with an invalid address."""
    if len(entries) > MOST:
        raise UsageError(f"peers has {len(entries)} rows; at most {MOST} are asked")
    seen: set[str] = set()
    for entry in entries:
        where = f"peers {entry.name[:80]!r}"
        if not _NAME.fullmatch(entry.name):
            raise UsageError(f"{where}: a name has 1 to 64 letters, digits or spaces")
        if entry.name.casefold() in seen:
            raise UsageError(f"{where}: the name is given twice")
        seen.add(entry.name.casefold())
        check_url(f"{where}: control", entry.control)
        if "@" in entry.control:
            raise UsageError(f"{where}: control has no user; give a token or a token_file")
        if entry.token and entry.token_file is not None:
            raise UsageError(f"{where}: a token comes from token or from token_file, not from both")
        check_together(f"{where}: ", "certificate", entry.certificate, "key", entry.key)


def peers_of(entries: Sequence[PeerEntry]) -> list[Peer]:
    """Return the peers with their tokens and certificates; UsageError names a file that cannot be used."""
    found = []
    for number, entry in enumerate(entries):
        with in_row("peers", number):
            trust = trust_of(f"peers {entry.name!r}: ", entry)
            found.append(Peer(entry.name, entry.control, _token(entry), trust))
    return found


def _token(entry: PeerEntry) -> str:
    token = entry.token
    if entry.token_file is not None:
        try:
            token = entry.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as why:
            reason = (why.strerror or str(why)) if isinstance(why, OSError) else "it is not text"
            raise UsageError(
                f"peers {entry.name!r}: token_file {entry.token_file} cannot be read: {reason}"
            ) from None
    if token and not WORD.fullmatch(token):
        raise UsageError(f"peers {entry.name!r}: the token is no printable word")
    return token
