"""Which signatures are trusted, and which keys sign."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Instant, later
from reliquary.protocols.srmp.trust import (
    NO_TRUST,
    Signer,
    Trust,
    doubt_of,
    read_certificate,
    read_certificates,
    read_signer,
)
from reliquary.wire import xmldsig_algorithms as algorithms
from reliquary.wire.xmldsig_algorithms import Obsolete
from tests.protocols.srmp.signers import KINDS, signer
from tests.wire.signing_keys import END, NOW, START, certificate, certificate_pem, key, key_pem

AUTHORITY = certificate(key("rsa"), name="authority", authority=True)
ISSUED = certificate(key("ecdsa"), issuer=(key("rsa"), "authority"))


def at(moment: datetime) -> Instant:
    return Instant(int(moment.timestamp()) * SECOND)


def trusting(*certificates: x509.Certificate) -> Trust:
    return Trust(trusted=certificates)


def test_a_certificate_of_the_settings_is_trusted_and_another_is_not() -> None:
    trust = trusting(signer("rsa").certificate, signer("ecdsa").certificate)
    assert trust.doubt(signer("ecdsa").certificate, NOW) == ""
    assert "not trusted" in trust.doubt(signer("rsa", 1).certificate, NOW)
    assert "not trusted" in NO_TRUST.doubt(signer("rsa").certificate, NOW)


def test_a_certificate_from_a_trusted_authority_is_trusted() -> None:
    assert trusting(AUTHORITY).doubt(ISSUED, NOW) == ""


@pytest.mark.parametrize(
    "authority",
    [
        pytest.param(certificate(key("rsa"), name="authority"), id="does not say it is one"),
        pytest.param(certificate(key("rsa"), name="authority", authority=False), id="says it is none"),
        pytest.param(certificate(key("rsa"), name="another", authority=True), id="another name"),
        pytest.param(certificate(key("rsa", 1), name="authority", authority=True), id="another key"),
        pytest.param(
            certificate(key("rsa"), name="authority", authority=True, end=datetime(2021, 1, 1, tzinfo=UTC)),
            id="no longer good",
        ),
        pytest.param(
            certificate(key("rsa"), name="authority", authority=True, usage="digital_signature"),
            id="not for certificates",
        ),
    ],
)
def test_a_certificate_of_another_authority_is_not_trusted(authority: x509.Certificate) -> None:
    assert "not trusted" in trusting(authority).doubt(ISSUED, NOW)


def test_an_authority_signs_certificates_only_directly() -> None:
    middle = certificate(key("ecdsa", 1), name="middle", authority=True, issuer=(key("rsa"), "authority"))
    far = certificate(key("rsa", 1), issuer=(key("ecdsa", 1), "middle"))
    assert "not trusted" in trusting(AUTHORITY).doubt(far, NOW)
    assert trusting(AUTHORITY, middle).doubt(far, NOW) == ""


def test_a_certificate_is_good_between_its_dates() -> None:
    own = signer("rsa").certificate
    trust = trusting(own)
    assert trust.doubt(own, at(START)) == ""
    assert trust.doubt(own, at(END)) == ""
    assert "not good before 2020-01-01" in trust.doubt(own, later(at(START), -SECOND))  # type: ignore[arg-type]
    assert "good until 2030-01-01" in trust.doubt(own, later(at(END), SECOND))


def test_a_certificate_for_something_else_or_with_a_short_key_is_doubted() -> None:
    assert "not for signatures" in doubt_of(certificate(key("rsa"), usage="key_encipherment"), NOW)
    assert doubt_of(certificate(key("rsa"), usage="digital_signature"), NOW) == ""
    assert doubt_of(certificate(key("rsa"), usage="content_commitment"), NOW) == ""
    assert "1024 bits" in doubt_of(certificate(key("rsa-1024")), NOW)


def test_what_is_obsolete_is_allowed_by_name() -> None:
    trust = Trust(allowed=frozenset({Obsolete.SHA1}))
    assert trust.allows(None)
    assert trust.allows(Obsolete.SHA1)
    assert not trust.allows(Obsolete.MD5)
    assert not NO_TRUST.allows(Obsolete.DSA)


def test_a_key_of_dsa_signs_only_where_it_is_allowed() -> None:
    with pytest.raises(UsageError, match="one of DSA, which is not allowed"):
        Trust(signer=signer("dsa"))
    assert Trust(signer=signer("dsa"), allowed=frozenset({Obsolete.DSA})).signer is signer("dsa")


@pytest.mark.parametrize("kind", KINDS)
def test_a_signer_is_read_from_pem(kind: str) -> None:
    own = signer(kind)
    chain = certificate_pem(own.certificate, AUTHORITY)
    read = read_signer(key_pem(own.key), chain)
    assert read.certificate == own.certificate
    assert read.encoded == own.certificate.public_bytes(Encoding.DER)
    assert read.method == own.method
    assert read_certificates(chain) == (own.certificate, AUTHORITY)


def test_the_method_follows_from_the_key() -> None:
    assert [signer(kind).method for kind in KINDS] == [
        algorithms.RSA_SHA256,
        algorithms.ECDSA_SHA256,
        algorithms.DSA,
    ]


def test_an_impossible_signer_is_refused_with_a_sentence() -> None:
    own: Signer = signer("rsa")
    good_key, good_certificate = key_pem(own.key), certificate_pem(own.certificate)
    with pytest.raises(UsageError, match="no private key in PEM"):
        read_signer(b"nothing", good_certificate)
    with pytest.raises(UsageError, match="no certificate in PEM"):
        read_signer(good_key, b"nothing")
    with pytest.raises(UsageError, match="of another key"):
        read_signer(key_pem(key("rsa", 1)), good_certificate)
    sealed = own.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    with pytest.raises(UsageError, match="without a password"):
        read_signer(sealed, good_certificate)
    other = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))
    with pytest.raises(UsageError, match="one of RSA, ECDSA or DSA"):
        read_signer(key_pem(other), good_certificate)  # type: ignore[arg-type]


def test_malformed_bytes_are_no_certificate() -> None:
    encoded = signer("rsa").encoded
    assert read_certificate(encoded) == signer("rsa").certificate
    assert read_certificate(encoded[:-1]) is None
    assert read_certificate(b"") is None
    no_number = encoded.replace((4711).to_bytes(2), b"\xff\xff", 1)
    assert no_number != encoded
    assert read_certificate(no_number) is None


def test_a_signer_is_doubted_without_a_certificate_that_is_good_now() -> None:
    trust = Trust(signer=signer("rsa"))
    assert trust.doubt_of_signer(NOW) == ""
    assert "good until 2030" in trust.doubt_of_signer(later(at(END), SECOND))
    assert NO_TRUST.doubt_of_signer(NOW) == "there is no signing key"
