"""Makes the manager's own RSA keys at the first start, and stores them beside the store.

A machine draws no random number, so the keys are made here, and the directory gets their public halves
(DM-088, DM-089).  The private halves are in one file that only the server's user can read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from reliquary.base.faults import UsageError
from reliquary.store.backup import KEYS
from reliquary.store.files import make_folder
from reliquary.wire.public_keys import PROVIDERS, Provider, PublicKey, Purpose, encode_key

# DEPARTS from 3.1.3 (DM-088, DM-089): 2048 bits where 512 and 1024 are printed, because short keys can
# be broken with little effort, and no library of today makes them.
KEY_BITS: Final = 2048
EXPONENT: Final = 65537
OWNER_ONLY: Final = 0o600

_ENDING: Final = b"-----END PRIVATE KEY-----\n"


class Keys:
    """An encryption key and a signature key for each provider."""

    def __init__(self, private: dict[Purpose, tuple[rsa.RSAPrivateKey, ...]]) -> None:
        self.private = private

    def public(self, purpose: Purpose) -> tuple[bytes, ...]:
        """Return an MQDSPUBLICKEY for each provider."""
        pairs = zip(PROVIDERS, self.private[purpose], strict=True)
        return tuple(encode_key(_public(provider, purpose, key)) for provider, key in pairs)


def _public(provider: Provider, purpose: Purpose, key: rsa.RSAPrivateKey) -> PublicKey:
    numbers = key.public_key().public_numbers()
    return PublicKey(provider, purpose, numbers.n, numbers.e)


def own_keys(folder: Path) -> Keys:
    """Return the keys of the manager in this folder; make them if there are none."""
    file = folder / KEYS
    try:
        if not file.exists():
            _make(file)
        return _read(file)
    except OSError as why:
        raise UsageError(f"the keys in {file} cannot be used: {why.strerror or why}") from why


def _make(file: Path) -> None:
    """Make all six keys and sync the file before they are used; a crash leaves the file whole or missing."""
    make_folder(file.parent)
    pem = b"".join(
        rsa.generate_private_key(EXPONENT, KEY_BITS).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        for _ in Purpose
        for _ in PROVIDERS
    )
    unfinished = file.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(handle, "wb") as written:
        written.write(pem)
        written.flush()
        os.fsync(handle)
    unfinished.rename(file)
    place = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def _read(file: Path) -> Keys:
    if file.stat().st_mode & 0o077:
        raise UsageError(f"the keys in {file} can be read by others; chmod 600 puts it right")
    parts = [part + _ENDING for part in file.read_bytes().split(_ENDING) if part.strip()]
    keys = []
    try:
        for part in parts:
            key = serialization.load_pem_private_key(part, password=None)
            if isinstance(key, rsa.RSAPrivateKey):
                keys.append(key)
    except ValueError as why:
        raise UsageError(f"the keys in {file} are damaged: {why}") from why
    each = len(PROVIDERS)
    if len(keys) != each * len(Purpose) or len(keys) != len(parts):
        raise UsageError(f"the keys in {file} are damaged: {each * len(Purpose)} RSA keys are expected")
    return Keys(
        {purpose: tuple(keys[place * each : (place + 1) * each]) for place, purpose in enumerate(Purpose)}
    )
