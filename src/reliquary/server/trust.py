"""The authorities that a server trusts when it calls others, and its own certificate."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from reliquary.base.faults import UsageError

Trust = Callable[[], ssl.SSLContext]


class Certificates(Protocol):
    """The settings of a protocol that name certificates."""

    @property
    def ca_file(self) -> Path | None:
        """A PEM file with the authorities that servers are trusted by, in place of the system's."""

    @property
    def certificate(self) -> Path | None:
        """A PEM file with the certificate that identifies us to servers that ask for one."""

    @property
    def key(self) -> Path | None:
        """A PEM file with the key of that certificate."""


def trust_of(table: str, options: Certificates) -> Trust:
    """Return the trusted authorities and our certificate; those of the system are read late."""
    if options.ca_file is None and options.certificate is None:
        return ssl.create_default_context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if options.ca_file is None:
        context.load_default_certs()
    try:
        if options.ca_file is not None:
            context.load_verify_locations(options.ca_file)
    except OSError as why:  # an ssl.SSLError is also one
        raise UsageError(f"{table}.ca_file {options.ca_file} cannot be used: {why}") from why
    try:
        if options.certificate is not None:
            context.load_cert_chain(options.certificate, options.key)
    except OSError as why:
        raise UsageError(f"{table}.certificate {options.certificate} cannot be used: {why}") from why
    return lambda: context
