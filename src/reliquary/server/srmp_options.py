"""The table [srmp] of the settings: messages over HTTP.

    [srmp]                                      RELIQUARY_SRMP_...
    store_and_forward = true                    RELIQUARY_SRMP_STORE_AND_FORWARD=true
    http_port = 80                              RELIQUARY_SRMP_HTTP_PORT=80
    response_time = 30                          all spans are seconds
    resend_ladder = [30, 30, 300]
    outbound_redirections = [{from = "http://far.example/*", to = "http://relay.example/"}]

The names are those of `SrmpOptions` and of the protocol's own `SrmpSettings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_origin, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.server.table import Table
from reliquary.server.values import (
    SCHEMES,
    as_path,
    check_authority,
    check_together,
    check_url,
    make_options,
    span,
)

if TYPE_CHECKING:
    from reliquary.server.config import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SrmpOptions:
    """The settings of SRMP in a server; `protocol` has those of the protocol itself."""

    enabled: bool = True
    """Messages come and go by HTTP."""
    anonymous_senders: bool = False
    """New queues take messages from everybody; where there are no users, they do so anyway."""
    names: tuple[str, ...] = ()
    """Other names, `host` or `host:port`, under which URLs mean this manager."""
    host: str = ""
    """Where the ports below listen; empty for where the data plane does."""
    http_port: int | None = None
    """One more port for SRMP alone, without TLS; 80 is the usual one."""
    https_port: int | None = None
    """One more port for SRMP alone, with TLS; 443 is the usual one."""
    ca_file: Path | None = None
    """PEM certificates that servers of other managers are trusted by, in place of the system's."""
    certificate: Path | None = None
    """A PEM file: who we are to servers that want to know by TLS."""
    key: Path | None = None
    signing_key: Path | None = None
    """A PEM file: the key that messages are signed with; only the server's user may read it."""
    signing_certificate: Path | None = None
    """A PEM file: the certificate of that key, which signed messages bring along."""
    trusted_certificates: tuple[Path, ...] = ()
    """PEM files, or folders of them: senders whose signatures are believed, and authorities."""
    allow_sha1: bool = False
    """Sign and verify with digests of SHA-1, as old peers do; it is broken."""
    allow_md5: bool = False
    """The same for MD5, which is broken worse."""
    allow_dsa: bool = False
    """Sign and verify with DSA and SHA-1, as old peers do."""
    protocol: SrmpSettings = field(default_factory=SrmpSettings)

    def __post_init__(self) -> None:
        for name in ("http_port", "https_port"):
            port = getattr(self, name)
            if port is not None and not 0 <= port <= 65535:
                raise UsageError(f"srmp.{name} is 0 to 65535, not {port}")
        if self.http_port and self.http_port == self.https_port:
            raise UsageError(f"srmp.http_port and srmp.https_port are both {self.http_port}")
        check_together("srmp", "certificate", self.certificate, "key", self.key)
        check_together(
            "srmp", "signing_certificate", self.signing_certificate, "signing_key", self.signing_key
        )
        for name in self.names:
            check_authority("srmp.names", name)
        _check_protocol(self.protocol)

    def check(self, settings: Settings) -> None:
        """Refuse a port for TLS on a server without a certificate."""
        if self.https_port is not None and settings.tls_certificate is None:
            raise UsageError("srmp.https_port means nothing without tls_certificate and tls_key")


def _check_protocol(chosen: SrmpSettings) -> None:
    if chosen.receipts_host:
        check_authority("srmp.receipts_host", chosen.receipts_host)
    if chosen.default_receipt_url:
        check_url("srmp.default_receipt_url", chosen.default_receipt_url)
    for name in ("outbound_redirections", "inbound_redirections", "receipt_urls"):
        for each in getattr(chosen, name):
            _check_pattern(name, each.origin)
            check_url(f"srmp.{name}", each.target)
    for pattern in chosen.outbound_exceptions:
        _check_pattern("outbound_exceptions", pattern)
    for status in chosen.permanent_statuses:
        if not 300 <= status <= 599:
            raise UsageError(f"srmp.permanent_statuses are from 300 to 599, not {status}")


def _check_pattern(where: str, pattern: str) -> None:
    if not pattern.casefold().startswith(SCHEMES) or "*" in pattern[:-1]:
        shape = "a URL such as http://host/* with a * only at its end"
        raise UsageError(f"srmp.{where} has {pattern[:80]!r}, which is not {shape}")


# -- from text


class _FromTo(msgspec.Struct, forbid_unknown_fields=True):
    """A redirection as it stands in the file."""

    origin: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")


_OWN: Final = {name: hint for name, hint in get_type_hints(SrmpOptions).items() if name != "protocol"}
_PROTOCOL: Final = {name: hint for name, hint in get_type_hints(SrmpSettings).items() if name != "trust"}
_WRITTEN: Final[dict[object, object]] = {
    Duration: float,
    tuple[Duration, ...]: tuple[float, ...],
    tuple[Redirection, ...]: tuple[_FromTo, ...],
}
"""How a value of the protocol's settings is written where it is not written as it is."""
NAMES: Final = (*_OWN, *_PROTOCOL)


def is_list(name: str) -> bool:
    """Whether a setting of the table has several values."""
    return get_origin(_OWN.get(name) or _PROTOCOL.get(name)) is tuple


def is_for_the_file(name: str) -> bool:
    """Whether a setting cannot be said in one line."""
    return _PROTOCOL.get(name) == tuple[Redirection, ...]


def convert(name: str, value: object, *, strict: bool) -> Any:
    """The value of one setting; ValidationError or UsageError says what is wrong with it."""
    if name in _OWN:
        return msgspec.convert(value, _OWN[name], strict=strict, dec_hook=as_path)
    hint: Any = _PROTOCOL[name]
    found = msgspec.convert(value, _WRITTEN.get(hint, hint), strict=strict)
    if hint is Duration:
        return span(found)
    if hint == tuple[Duration, ...]:
        return tuple(map(span, found))
    if hint == tuple[Redirection, ...]:
        return tuple(Redirection(each.origin, each.target) for each in found)
    return found


def options(values: Mapping[str, Any]) -> SrmpOptions:
    """Return the table of values that were converted."""
    return make_options("srmp", values, _OWN, SrmpOptions, SrmpSettings)


TABLE: Final = Table(
    name="srmp",
    names=NAMES,
    convert=convert,
    options=options,
    is_list=is_list,
    is_for_the_file=is_for_the_file,
)
