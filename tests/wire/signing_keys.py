"""Keys of each kind and certificates for them, for tests of signatures; a key is made once a run.

key("rsa"), key("rsa", 1)       two keys of RSA
certificate(key("rsa"))         signed by the key itself, good from 2020 to 2030
NOW                             a moment in between
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from reliquary.base.time import SECOND, Instant
from reliquary.wire.xmldsig_algorithms import PrivateKey

NOW = Instant(int(datetime(2025, 6, 1, tzinfo=UTC).timestamp()) * SECOND)
START, END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)


@cache
def key(kind: str, which: int = 0) -> PrivateKey:
    """Return a key; another one for each `which`."""
    del which
    match kind:
        case "rsa":
            return rsa.generate_private_key(65537, 2048)
        case "rsa-1024":
            return rsa.generate_private_key(65537, 1024)
        case "ecdsa":
            return ec.generate_private_key(ec.SECP256R1())
        case "ecdsa-521":
            return ec.generate_private_key(ec.SECP521R1())
        case "dsa":
            return dsa.generate_private_key(2048)
        case _:
            return dsa.generate_private_key(1024)


def certificate(
    of: PrivateKey,
    *,
    start: datetime = START,
    end: datetime = END,
    issuer: tuple[PrivateKey, str] | None = None,
    name: str = "sender",
    authority: bool | None = None,
    usage: str = "",
) -> x509.Certificate:
    """Return a certificate of a key's public half; without an issuer the key signs it itself."""
    signing, issuer_name = issuer or (of, name)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer_name))
        .public_key(of.public_key())
        .serial_number(4711)
        .not_valid_before(start)
        .not_valid_after(end)
    )
    if authority is not None:
        builder = builder.add_extension(x509.BasicConstraints(authority, None), critical=True)
    if usage:
        builder = builder.add_extension(key_usage(usage), critical=True)
    return builder.sign(signing, hashes.SHA256())


def named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def key_usage(what: str) -> x509.KeyUsage:
    uses = ["digital_signature", "content_commitment", "key_encipherment", "data_encipherment"]
    uses += ["key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"]
    return x509.KeyUsage(**{use: use == what for use in uses})


def key_pem(of: PrivateKey) -> bytes:
    return of.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def certificate_pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(each.public_bytes(Encoding.PEM) for each in certificates)
