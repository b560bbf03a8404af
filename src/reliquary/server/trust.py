"""The files behind signatures: our key and certificate, and the certificates of those we believe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from cryptography import x509

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.trust import Signer, Trust, read_certificates, read_signer
from reliquary.wire.xmldsig_algorithms import Obsolete

ENDINGS: Final = (".pem", ".crt", ".cer")
"""Of the files of a folder that are read."""
FOR_OTHERS: Final = 0o077


def read_trust(
    key: Path | None, certificate: Path | None, trusted: Iterable[Path], allowed: frozenset[Obsolete]
) -> Trust:
    """Read all of them; a UsageError names the file that is wrong."""
    signer = None if key is None or certificate is None else _signer(key, certificate)
    believed = dict.fromkeys(each for place in trusted for file in _files(place) for each in _believed(file))
    return Trust(signer=signer, trusted=tuple(believed), allowed=allowed)


def _signer(key: Path, certificate: Path) -> Signer:
    private, public = _content(key), _content(certificate)
    if key.stat().st_mode & FOR_OTHERS:
        raise UsageError(f"{key} can be read by others; chmod 600 puts it right")
    try:
        return read_signer(private, public)
    except UsageError as why:
        raise UsageError(f"{key} and {certificate}: {why}") from why


def _believed(file: Path) -> tuple[x509.Certificate, ...]:
    pem = _content(file)
    try:
        return read_certificates(pem)
    except UsageError as why:
        raise UsageError(f"{file}: {why}") from why


def _files(place: Path) -> Iterator[Path]:
    """A file itself; of a folder, those that hold certificates."""
    if not place.is_dir():
        yield place
        return
    found = sorted(each for each in place.iterdir() if each.suffix.lower() in ENDINGS)
    if not found:
        raise UsageError(f"{place} has no certificate: no file that ends with {', '.join(ENDINGS)}")
    yield from found


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as why:
        raise UsageError(f"{file} cannot be read: {why.strerror}") from why
