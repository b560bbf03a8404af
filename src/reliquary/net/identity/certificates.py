"""Loads the certificates of a TLS server: its own, and those of the CA for client certificates.

    handshake --> Serving.front --> the context that was read last

A listener keeps one context for all its life, so that context hands each handshake to the newest one.
Connections that are there keep their certificate.  A client may resume a session of TLS only in the context
in which it began: after the files were read again, its certificate is checked by the new authorities.
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
        self.newest = context
        """The context of handshakes from now on."""
        self.front = _Front(ssl.PROTOCOL_TLS_SERVER)
        """The context that a listener is given."""
        self.front.serving = self

    def renew(self, context: ssl.SSLContext) -> None:
        """Let handshakes from now on use another context."""
        self.newest = context


class _Front(ssl.SSLContext):
    """Hands each handshake to the newest context; asyncio and uvloop begin one with `wrap_bio`."""

    serving: Serving

    def wrap_bio(self, *where: Any, **how: Any) -> ssl.SSLObject:
        """Begin a handshake over buffers."""
        return self.serving.newest.wrap_bio(*where, **how)

    def wrap_socket(self, *where: Any, **how: Any) -> ssl.SSLSocket:
        """Begin a handshake over a socket."""
        return self.serving.newest.wrap_socket(*where, **how)
