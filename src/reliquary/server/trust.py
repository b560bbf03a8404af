"""Loads the authorities that a server trusts when it calls others, and its own certificate."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from reliquary.net.identity.pem_files import PemFile, load_authorities, load_own

Trust = Callable[[], ssl.SSLContext]


class Certificates(Protocol):
    """The settings of a protocol that name certificates."""

    @property
    def ca_file(self) -> Path | None:
        """A PEM file with the authorities for certificates of servers, in place of those of the system."""

    @property
    def certificate(self) -> Path | None:
        """A PEM file with the client certificate for servers that request one."""

    @property
    def key(self) -> Path | None:
        """The key (PEM) of that certificate."""


def trust_of(where: str, options: Certificates) -> Trust:
    """Return the trusted authorities and the own certificate; those of the system are read late.

    `where` stands before the names of the settings in errors, such as `srmp.`.
    """
    if options.ca_file is None and options.certificate is None:
        return ssl.create_default_context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if options.ca_file is None:
        context.load_default_certs()
    else:
        load_authorities(context, PemFile(f"{where}ca_file", options.ca_file))
    if options.certificate is not None and options.key is not None:
        own, key = PemFile(f"{where}certificate", options.certificate), PemFile(f"{where}key", options.key)
        load_own(context, own, key)
    return lambda: context
