"""Loads the PEM files of settings: the own certificate with its key, and trusted authorities.

OpenSSL reports "PEM lib" for most faults of a file, so a refused file is examined again, for a sentence
that names the setting, the file and the reason.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from reliquary.base.faults import UsageError


class PemFile(NamedTuple):
    """A file, and the setting that names it."""

    setting: str
    path: Path

    def __str__(self) -> str:
        return f"{self.setting} {self.path}"


def load_own(context: ssl.SSLContext, certificate: PemFile, key: PemFile) -> None:
    """Let a context use this certificate; UsageError names the file that cannot be used."""
    for each in (certificate, key):
        _content(each)
    try:
        # With no password at all, OpenSSL would ask for that of an encrypted key at the terminal.
        context.load_cert_chain(certificate.path, key.path, password="")
    except OSError as why:  # an ssl.SSLError is also one
        raise UsageError(_fault_of(certificate, key) or f"{certificate} cannot be used: {why}") from why


def load_authorities(context: ssl.SSLContext, authorities: PemFile) -> None:
    """Let a context trust the certificates of a file; UsageError if it has none."""
    _content(authorities)
    try:
        context.load_verify_locations(authorities.path)
    except OSError as why:
        raise UsageError(f"{authorities} has no certificate in PEM") from why


def _content(file: PemFile) -> bytes:
    try:
        return file.path.read_bytes()
    except OSError as why:
        raise UsageError(f"{file} cannot be read: {why.strerror}") from why


def _fault_of(certificate: PemFile, key: PemFile) -> str:
    """Return the fault of the files; an empty text if none is found."""
    try:
        own = x509.load_pem_x509_certificates(_content(certificate))[0]
    except ValueError:
        return f"{certificate} has no certificate in PEM"
    try:
        private = load_pem_private_key(_content(key), password=None)
    except TypeError:
        return f"{key} is encrypted, and a server cannot be asked for its password: save it without one"
    except (ValueError, UnsupportedAlgorithm):
        return f"{key} has no private key in PEM"
    return "" if own.public_key() == private.public_key() else f"{key} is not the key of {certificate}"
