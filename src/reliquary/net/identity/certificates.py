"""Certificates of a server that speaks TLS: its own, and those that its clients may show, or must."""

from __future__ import annotations

import ssl
from pathlib import Path

from reliquary.base.faults import UsageError


def serving_context(
    certificate: Path, key: Path | None, client_ca: Path | None, *, client_required: bool
) -> ssl.SSLContext:
    """The TLS context of a listener; with a `client_ca`, only clients whose certificates it vouches for.

    Clients without a certificate may come in unless `client_required`.  UsageError names a file that cannot
    be used.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as why:  # an ssl.SSLError is also one
        raise UsageError(f"the certificate {certificate} cannot be used: {why}") from why
    if client_ca is not None:
        try:
            context.load_verify_locations(client_ca)
        except OSError as why:
            raise UsageError(f"tls_client_ca {client_ca} cannot be used: {why}") from why
        context.verify_mode = ssl.CERT_REQUIRED if client_required else ssl.CERT_OPTIONAL
    return context
