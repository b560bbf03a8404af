"""Lists the algorithms of XML signatures by their URIs.

    DSA           with SHA-1; the only one of [MC-MQSRM] 2.2.7.1.1        obsolete
    RSA-SHA256    RSASSA-PKCS1-v1_5, RFC 8017                             W3C's "more" list
    ECDSA-SHA256  with a nonce made from key and text (RFC 6979)          W3C's "more" list
    SHA-1, MD5    digests of 2.2.7.1.2.1                                  obsolete
    SHA-256/512   digests                                                 W3C's XML encryption

A signature of DSA or ECDSA is r and s one behind the other, each as long as the order of its group.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from reliquary.wire.xmldsig import NAMESPACE

DSA: Final = f"{NAMESPACE}dsa"
RSA_SHA256: Final = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
ECDSA_SHA256: Final = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"

SHA1: Final = f"{NAMESPACE}sha1"
MD5: Final = f"{NAMESPACE}md5"
SHA_256: Final = "http://www.w3.org/2001/04/xmlenc#sha256"
SHA_512: Final = "http://www.w3.org/2001/04/xmlenc#sha512"

LEAST_RSA_BITS: Final = 2048

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | dsa.DSAPrivateKey


class Obsolete(Enum):
    """Algorithms that are broken or nearly broken, used only if an administrator allows them."""

    SHA1 = "SHA-1"
    MD5 = "MD5"
    DSA = "DSA"


class Digest(msgspec.Struct, frozen=True):
    """An algorithm that computes the digest of a part."""

    name: str
    """The name of the algorithm in hashlib."""
    obsolete: Obsolete | None = None

    def of(self, data: bytes) -> bytes:
        """Return the digest of these bytes."""
        return hashlib.new(self.name, data, usedforsecurity=False).digest()


class Method(msgspec.Struct, frozen=True):
    """An algorithm that signs a SignedInfo and verifies its signature."""

    private_key: type
    public_key: type
    sign: Callable[[Any, bytes], bytes]
    check: Callable[[Any, bytes, bytes], None]
    """The function raises InvalidSignature for a wrong signature."""
    obsolete: Obsolete | None = None

    def is_signed(self, key: object, value: bytes, data: bytes) -> bool:
        """Return whether the key's owner signed the data; False for a key of another algorithm."""
        if not isinstance(key, self.public_key):
            return False
        try:
            self.check(key, value, data)
        except (InvalidSignature, UnsupportedAlgorithm):
            return False
        return True


def _sign_rsa(key: rsa.RSAPrivateKey, data: bytes) -> bytes:
    return key.sign(data, PKCS1v15(), hashes.SHA256())


def _check_rsa(key: rsa.RSAPublicKey, value: bytes, data: bytes) -> None:
    key.verify(value, data, PKCS1v15(), hashes.SHA256())


def _sign_ecdsa(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    signature = key.sign(data, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    return _joined(signature, key.curve.key_size)


def _check_ecdsa(key: ec.EllipticCurvePublicKey, value: bytes, data: bytes) -> None:
    key.verify(_parted(value, key.curve.key_size), data, ec.ECDSA(hashes.SHA256()))


def _sign_dsa(key: dsa.DSAPrivateKey, data: bytes) -> bytes:
    """Return the signature; the library draws the nonce, so each signature differs, and all are valid."""
    return _joined(key.sign(data, hashes.SHA1()), _order_bits(key.parameters()))


def _check_dsa(key: dsa.DSAPublicKey, value: bytes, data: bytes) -> None:
    key.verify(_parted(value, _order_bits(key.parameters())), data, hashes.SHA1())


def _order_bits(parameters: dsa.DSAParameters) -> int:
    return parameters.parameter_numbers().q.bit_length()


def _joined(signature: bytes, bits: int) -> bytes:
    """Return r and s one after the other, from their DER."""
    size = (bits + 7) // 8
    return b"".join(number.to_bytes(size) for number in decode_dss_signature(signature))


def _parted(value: bytes, bits: int) -> bytes:
    """Return the DER of r and s."""
    size = (bits + 7) // 8
    if len(value) != 2 * size:
        raise InvalidSignature
    return encode_dss_signature(int.from_bytes(value[:size]), int.from_bytes(value[size:]))


DIGESTS: Final[Mapping[str, Digest]] = {
    SHA_256: Digest("sha256"),
    SHA_512: Digest("sha512"),
    SHA1: Digest("sha1", Obsolete.SHA1),
    MD5: Digest("md5", Obsolete.MD5),
}

METHODS: Final[Mapping[str, Method]] = {
    RSA_SHA256: Method(rsa.RSAPrivateKey, rsa.RSAPublicKey, _sign_rsa, _check_rsa),
    ECDSA_SHA256: Method(ec.EllipticCurvePrivateKey, ec.EllipticCurvePublicKey, _sign_ecdsa, _check_ecdsa),
    DSA: Method(dsa.DSAPrivateKey, dsa.DSAPublicKey, _sign_dsa, _check_dsa, Obsolete.DSA),
}


def method_for(key: PrivateKey) -> str:
    """Return the method of a private key."""
    return next(uri for uri, method in METHODS.items() if isinstance(key, method.private_key))
