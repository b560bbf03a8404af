"""A certificate for `localhost` that is good for a hundred years and for tests only.

Made by: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500
-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1
"""

from __future__ import annotations

import ssl
from pathlib import Path

PEM = Path(__file__).with_name("localhost.pem")


def server_context() -> ssl.SSLContext:
    """Return the TLS context of a listener with the test certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return context


def client_context() -> ssl.SSLContext:
    """Return the context of a client that trusts this certificate and no other."""
    return ssl.create_default_context(cafile=str(PEM))
