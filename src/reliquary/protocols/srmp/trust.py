"""Decides which signatures are trusted, and holds the key for signing.

    trusted: a certificate itself                    its owner is trusted
    trusted: the certificate of an authority         owners of certificates that it issued itself are trusted
    nothing trusted                                  every signature is refused

A certificate is valid only between its two dates, and if it limits the use of its key, signatures must
be allowed.  Obsolete algorithms are neither used nor accepted unless an administrator allows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from warnings import catch_warnings

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.utils import CryptographyDeprecationWarning

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.wire.xmldsig_algorithms import LEAST_RSA_BITS, METHODS, Obsolete, PrivateKey, method_for

_BAD_CERTIFICATE: Final = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    InvalidSignature,
    x509.InvalidVersion,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
)
"""Exceptions of the library for a certificate that cannot be read, or that its issuer did not sign."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key and the certificate of its public half."""

    key: PrivateKey
    certificate: x509.Certificate

    @property
    def method(self) -> str:
        """The URI of the method that it signs with."""
        return method_for(self.key)

    @property
    def encoded(self) -> bytes:
        """The certificate, encoded in DER."""
        return self.certificate.public_bytes(Encoding.DER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The key that signs, and the certificates and algorithms that are accepted."""

    signer: Signer | None = None
    """The signer of messages; without one nothing is signed."""
    trusted: tuple[x509.Certificate, ...] = ()
    """Certificates of senders, or of authorities that issue theirs."""
    allowed: frozenset[Obsolete] = frozenset()

    def __post_init__(self) -> None:
        obsolete = METHODS[self.signer.method].obsolete if self.signer else None
        if obsolete and not self.allows(obsolete):
            raise UsageError(f"the signing key is one of {obsolete.value}, which is not allowed")

    def allows(self, obsolete: Obsolete | None) -> bool:
        """Return whether an algorithm may be used; None stands for one that is not obsolete."""
        return obsolete is None or obsolete in self.allowed

    def doubt(self, certificate: x509.Certificate, now: Instant) -> str:
        """Return the reason why signatures with this certificate are refused; empty when they are
        accepted.
        """
        if certificate not in self.trusted and not any(
            _is_signed_by(authority, certificate, now) for authority in self.trusted
        ):
            return "the certificate is not trusted, and not from an authority that is"
        return doubt_of(certificate, now)

    def doubt_of_signer(self, now: Instant) -> str:
        """Return the reason why messages cannot be signed now; empty if they can."""
        if self.signer is None:
            return "there is no signing key"
        return doubt_of(self.signer.certificate, now)


NO_TRUST: Final = Trust()
"""A setting without keys, which refuses every signature."""


def doubt_of(certificate: x509.Certificate, now: Instant) -> str:
    """Return the fault of a certificate at this time; empty if it has none."""
    try:
        key, use = certificate.public_key(), _key_usage(certificate)
        start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    except _BAD_CERTIFICATE:
        return "the certificate cannot be read"
    if in_whole_seconds(now) < start.timestamp():
        return f"the certificate is not good before {start:%Y-%m-%d %H:%M}"
    if in_whole_seconds(now) > end.timestamp():
        return f"the certificate was good until {end:%Y-%m-%d %H:%M}"
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < LEAST_RSA_BITS:
        return f"the certificate's key has {key.key_size} bits, and less than {LEAST_RSA_BITS} are too few"
    if use is not None and not (use.digital_signature or use.content_commitment):
        return "the certificate is not for signatures"
    return ""


def _is_signed_by(authority: x509.Certificate, certificate: x509.Certificate, now: Instant) -> bool:
    """Return whether an authority issued a certificate directly, and may do so."""
    try:
        constraints = authority.extensions.get_extension_for_class(x509.BasicConstraints).value
        use = _key_usage(authority)
        certificate.verify_directly_issued_by(authority)
    except (x509.ExtensionNotFound, *_BAD_CERTIFICATE):
        return False
    is_authority = constraints.ca and (use is None or use.key_cert_sign)
    start, end = authority.not_valid_before_utc, authority.not_valid_after_utc
    return is_authority and start.timestamp() <= in_whole_seconds(now) <= end.timestamp()


def _key_usage(certificate: x509.Certificate) -> x509.KeyUsage | None:
    try:
        return certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return None


def read_certificate(encoded: bytes) -> x509.Certificate | None:
    """Return a certificate in DER; None if it cannot be read, or only with a warning of the library."""
    try:
        with catch_warnings(action="error", category=CryptographyDeprecationWarning):
            return x509.load_der_x509_certificate(encoded)
    except (CryptographyDeprecationWarning, *_BAD_CERTIFICATE):
        return None


def read_certificates(pem: bytes) -> tuple[x509.Certificate, ...]:
    """Return all certificates of a PEM file."""
    try:
        return tuple(x509.load_pem_x509_certificates(pem))
    except _BAD_CERTIFICATE as why:
        raise UsageError(f"this is no certificate in PEM: {why}") from why


def read_signer(key: bytes, certificate: bytes) -> Signer:
    """Return a key and its certificate from PEM; of several certificates the first is its own."""
    try:
        private = load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as why:
        raise UsageError(f"the signing key is no private key in PEM without a password: {why}") from why
    if not isinstance(private, PrivateKey):
        raise UsageError("the signing key is one of RSA, ECDSA or DSA, and this is another")
    own = read_certificates(certificate)[0]
    if _spelled(own.public_key()) != _spelled(private.public_key()):
        raise UsageError("the signing certificate is that of another key")
    return Signer(private, own)


def _spelled(key: object) -> bytes:
    spelled: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]
    return spelled
