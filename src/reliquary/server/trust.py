"""Whom a server trusts when it calls others, and who it says it is."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from reliquary.base.faults import UsageError

Trust = Callable[[], ssl.SSLContext]


class Certificates(Protocol):
    """The settings of a protocol that are about it."""

    @property
    def ca_file(self) -> Path | None:
        """PEM certificates that servers are trusted by, in place of the system's."""

    @property
    def certificate(self) -> Path | None:
        """A PEM file: who we are to servers that want to know by TLS."""

    @property
    def key(self) -> Path | None:
        """Its key."""


def trust_of(table: str, options: Certificates) -> Trust:
    """Whom we believe to be who they say, and who we say we are; what the system believes is read late."""
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
