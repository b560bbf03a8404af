"""Reads the table [srmp] of the settings: messages over HTTP.

    [srmp]                                      RELIQUARY_SRMP_...
    store_and_forward = true                    RELIQUARY_SRMP_STORE_AND_FORWARD=true
    http_port = 80                              RELIQUARY_SRMP_HTTP_PORT=80
    response_time = 30                          all spans are seconds
    resend_ladder = [30, 30, 300]
    outbound_redirections = [{from = "http://far.example/*", to = "http://relay.example/"}]

The names are those of `SrmpOptions` and of the protocol's own `SrmpSettings`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.names.schemes import HTTP, HTTPS
from reliquary.queueing.travel.crossing import leads_elsewhere, onward_name
from reliquary.server.protocol_table import protocol_table
from reliquary.server.values import SCHEMES, check_authority, check_reach, check_together, check_url

if TYPE_CHECKING:
    from reliquary.server.config import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SrmpOptions:
    """The settings of SRMP in a server; `protocol` has those of the protocol itself."""

    enabled: bool = True
    """Whether messages are sent and received by SRMP."""
    anonymous_senders: bool = False
    """New queues take messages from every sender; where there are no users, they do so anyway."""
    names: tuple[str, ...] = ()
    """Other names, `host` or `host:port`, under which URLs mean this manager."""
    host: str = ""
    """The address of the ports below; empty for the address of the data plane."""
    http_port: int | None = None
    """A further port for SRMP only, without TLS; usually 80."""
    https_port: int | None = None
    """A further port for SRMP only, with TLS; usually 443."""
    ca_file: Path | None = None
    """The authorities (PEM) for certificates of other managers' servers, in place of the system's."""
    certificate: Path | None = None
    """The client certificate (PEM) that this server shows to peers that request one."""
    key: Path | None = None
    """The key (PEM) of that certificate."""
    signing_key: Path | None = None
    """The key (PEM) that signs messages; only the server's user may read the file."""
    signing_certificate: Path | None = None
    """The certificate (PEM) of that key; signed messages contain it."""
    trusted_certificates: tuple[Path, ...] = ()
    """PEM files, or folders of them: certificates of trusted senders and of authorities."""
    allow_sha1: bool = False
    """Sign and verify with SHA-1, for old peers; SHA-1 is not secure."""
    allow_md5: bool = False
    """Sign and verify with MD5, for very old peers; MD5 is less secure than SHA-1."""
    allow_dsa: bool = False
    """Sign and verify with DSA and SHA-1, for old peers; SHA-1 is not secure."""
    protocol: SrmpSettings = field(default_factory=SrmpSettings)

    def __post_init__(self) -> None:
        for name in ("http_port", "https_port"):
            port = getattr(self, name)
            if port is not None and not 0 <= port <= 65535:
                raise UsageError(f"srmp.{name} is 0 to 65535, not {port}")
        if self.http_port and self.http_port == self.https_port:
            raise UsageError(f"srmp.http_port and srmp.https_port are both {self.http_port}")
        check_together("srmp.", "certificate", self.certificate, "key", self.key)
        check_together(
            "srmp.", "signing_certificate", self.signing_certificate, "signing_key", self.signing_key
        )
        for name in self.names:
            check_authority("srmp.names", name)
        _check_protocol(self.protocol)

    def check(self, settings: Settings) -> None:
        """Refuse a port for TLS on a server without a certificate, and a port that is open to a network."""
        if self.host:
            check_reach("srmp.host", self.host, settings)
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
            _check_target(name, each.target)
    for pattern in chosen.outbound_exceptions:
        _check_pattern("outbound_exceptions", pattern)
    for status in chosen.permanent_statuses:
        if not 300 <= status <= 599:
            raise UsageError(f"srmp.permanent_statuses are from 300 to 599, not {status}")


def _check_target(where: str, target: str) -> None:
    """Refuse a text that is no URL; incoming messages may also be forwarded to a format name."""
    if where == "inbound_redirections" and leads_elsewhere(target):
        try:
            if onward_name(target).scheme not in (HTTP, HTTPS):
                return
        except UsageError as why:
            raise UsageError(f"srmp.{where} has {target[:80]!r}: {why}") from why
    check_url(f"srmp.{where}", target)


def _check_pattern(where: str, pattern: str) -> None:
    if not pattern.casefold().startswith(SCHEMES) or "*" in pattern[:-1]:
        shape = "a URL such as http://host/* with a * only at its end"
        raise UsageError(f"srmp.{where} has {pattern[:80]!r}, which is not {shape}")


# -- from text


class _FromTo(msgspec.Struct, forbid_unknown_fields=True):
    """A redirection in the form of the file."""

    origin: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")


def _redirections(value: object) -> tuple[Redirection, ...]:
    return tuple(
        Redirection(each.origin, each.target) for each in msgspec.convert(value, tuple[_FromTo, ...])
    )


TABLE: Final = protocol_table(
    "srmp",
    SrmpOptions,
    SrmpSettings,
    {
        name: _redirections
        for name, hint in get_type_hints(SrmpSettings).items()
        if hint == tuple[Redirection, ...]
    },
    hidden=("trust",),
)
NAMES: Final = TABLE.names
