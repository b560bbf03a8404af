"""MQUSERSIGNCERTS is written byte for byte as the specification says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import PeerFault
from reliquary.queueing.model.directory.holdings import Surroundings
from reliquary.queueing.model.directory.objects import User, check_object
from reliquary.wire.certificates import Certificate, decode_certificates, digest_of, encode_certificates

CERTIFICATE = Certificate(UUID("00112233-4455-6677-8899-aabbccddeeff"), b"abc")
BYTES = bytes.fromhex(
    "01000000"
    "900150983cd24fb0d6963f7d28e17f72"  # the MD5 of "abc", RFC 1321 A.5
    "33221100 5544 7766 8899aabbccddeeff"
    "03000000 616263"
)


def made_certificate() -> bytes:
    """Return a self-signed certificate in DER."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "alice")])
    day = datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(day).not_valid_after(day + timedelta(days=1))
    return builder.sign(key, None).public_bytes(Encoding.DER)


@pytest.mark.spec("DM-037")
def test_certificates_are_written_as_printed_and_read_back() -> None:
    assert encode_certificates([CERTIFICATE]) == BYTES
    assert decode_certificates(BYTES) == (CERTIFICATE,)
    assert encode_certificates([]) == bytes(4)
    assert decode_certificates(bytes(4)) == ()


@pytest.mark.spec("DM-037", "DM-072")
def test_a_users_certificates_go_from_the_packing_into_the_directory() -> None:
    encoded = made_certificate()
    packed = encode_certificates([Certificate(UUID(int=1), encoded), CERTIFICATE])
    read = decode_certificates(packed)
    user = User(
        identifier=UUID(int=2),
        security_identifier="S-1-5-21-1-2-3-1000",
        certificates=tuple(each.encoded for each in read),
        certificate_digests=tuple(each.digest for each in read),
    )
    check_object(user)
    assert [len(digest) for digest in user.certificate_digests] == [16, 16]
    around = Surroundings()
    around.keep_certificate(user.certificates[0], user)
    kept = around.certificates[user.identifier]
    assert x509.load_der_x509_certificate(kept.certificate).subject.rfc4514_string() == "CN=alice"
    assert kept.user == user


@given(st.lists(st.tuples(st.uuids(), st.binary(min_size=1, max_size=50)), max_size=4))
def test_every_list_is_read_back(given: list[tuple[UUID, bytes]]) -> None:
    certificates = tuple(Certificate(identifier, encoded) for identifier, encoded in given)
    assert decode_certificates(encode_certificates(certificates)) == certificates
    assert all(digest_of(each.encoded) == each.digest for each in certificates)


BAD = {
    "at byte 0: the list of certificates ends early": BYTES[:3],
    "at byte 4: a certificate ends early": BYTES[:39],
    "at byte 4: a certificate of 3 bytes does not fit": BYTES[:-1],
    "at byte 43: a certificate ends early": b"\x02" + BYTES[1:],
    "at byte 43: 1 bytes follow the last certificate": BYTES + b"\0",
    "at byte 4: a certificate is empty": BYTES[:36] + bytes(4) + BYTES[40:],
    "at byte 4: the digest 00[0-9a-f]{30} is not that of": BYTES[:4] + b"\0" + BYTES[5:],
    "at byte 4: a certificate of 4294967295 bytes does not fit": BYTES[:36] + b"\xff" * 4 + BYTES[40:],
}


@pytest.mark.parametrize(("why", "data"), BAD.items(), ids=BAD)
def test_what_is_no_list_is_refused_with_the_place(why: str, data: bytes) -> None:
    with pytest.raises(PeerFault, match=why):
        decode_certificates(data)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    try:
        decode_certificates(data)
    except PeerFault:
        return
