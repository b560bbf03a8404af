"""Reads the files for signatures: the own key and certificate, and the certificates of trusted senders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cryptography import x509

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.trust import Signer, Trust, read_certificates, read_signer
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.values import naming
from reliquary.wire.xmldsig_algorithms import Obsolete

ENDINGS: Final = (".pem", ".crt", ".cer")
"""The endings of the files that are read in a folder."""
FOR_OTHERS: Final = 0o077


def signature_trust(options: SrmpOptions) -> Trust:
    """Read the files of the settings; a UsageError names the wrong setting and file."""
    key, certificate = options.signing_key, options.signing_certificate
    signer = None if key is None or certificate is None else _signer(key, certificate)
    files = (file for place in options.trusted_certificates for file in _files(place))
    with naming("srmp.trusted_certificates"):
        trusted = dict.fromkeys(each for file in files for each in _trusted(file))
    allowed = {
        Obsolete.SHA1: options.allow_sha1,
        Obsolete.MD5: options.allow_md5,
        Obsolete.DSA: options.allow_dsa,
    }
    return Trust(
        signer=signer,
        trusted=tuple(trusted),
        allowed=frozenset(each for each, is_allowed in allowed.items() if is_allowed),
    )


def _signer(key: Path, certificate: Path) -> Signer:
    with naming("srmp.signing_certificate"):
        public = _content(certificate)
    with naming("srmp.signing_key"):
        private = _content(key)
        if key.stat().st_mode & FOR_OTHERS:
            raise UsageError(f"{key} can be read by others; chmod 600 puts it right")
    try:
        return read_signer(private, public)
    except UsageError as why:
        raise UsageError(f"srmp.signing_key {key} and srmp.signing_certificate {certificate}: {why}") from why


def _trusted(file: Path) -> tuple[x509.Certificate, ...]:
    pem = _content(file)
    try:
        return read_certificates(pem)
    except UsageError as why:
        raise UsageError(f"{file}: {why}") from why


def _files(place: Path) -> Iterator[Path]:
    """Return the file itself, or the files of a folder with certificates."""
    if not place.is_dir():
        yield place
        return
    try:
        found = sorted(each for each in place.iterdir() if each.suffix.lower() in ENDINGS)
    except OSError as why:
        raise UsageError(f"{place} cannot be read: {why.strerror}") from why
    if not found:
        raise UsageError(f"{place} has no certificate: no file that ends with {', '.join(ENDINGS)}")
    yield from found


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as why:
        raise UsageError(f"{file} cannot be read: {why.strerror}") from why
