"""Loads the certificates of a TLS server: its own, and those of the CA for client certificates.

    handshake --> Serving.front --sni_callback--> the context that was read last

A listener always keeps one context, so renewed files take effect by a callback: each handshake is
passed to the newest context.  Existing connections keep their certificate.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from reliquary.net.identity.pem_files import PemFile, load_authorities, load_own


def serving_context(
    certificate: Path, key: Path, client_ca: Path | None, *, client_required: bool
) -> ssl.SSLContext:
    """Return the TLS context of a listener; with a `client_ca`, it accepts only certificates that this CA
    signed.

    Clients without a certificate may come in unless `client_required`.  UsageError names a file that cannot
    be used.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_own(context, PemFile("tls_certificate", certificate), PemFile("tls_key", key))
    if client_ca is not None:
        load_authorities(context, PemFile("tls_client_ca", client_ca))
        context.verify_mode = ssl.CERT_REQUIRED if client_required else ssl.CERT_OPTIONAL
    return context


class Serving:
    """The TLS context of a listener, whose certificates can be read again while it listens."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.front = context
        """The context of a listener."""
        self.newest = context
        context.sni_callback = self._choose

    def renew(self, context: ssl.SSLContext) -> None:
        """Let handshakes from now on use another context."""
        self.newest = context

    def _choose(self, handshake: Any, _: str | None, __: ssl.SSLContext) -> None:
        if self.newest is not self.front:
            handshake.context = self.newest
