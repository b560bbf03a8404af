"""Tests that each algorithm signs and verifies, and agrees with another implementation."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from reliquary.wire import xmldsig_algorithms as algorithms
from reliquary.wire.xmldsig_algorithms import DIGESTS, METHODS, Obsolete, method_for
from tests.wire.signing_keys import key

DATA = b"<SignedInfo>what is signed</SignedInfo>"
METHOD_OF = {
    "rsa": algorithms.RSA_SHA256,
    "ecdsa": algorithms.ECDSA_SHA256,
    "ecdsa-521": algorithms.ECDSA_SHA256,
    "dsa": algorithms.DSA,
    "dsa-1024": algorithms.DSA,
}
SIZES = {"rsa": 256, "ecdsa": 64, "ecdsa-521": 132, "dsa": 64, "dsa-1024": 40}


@pytest.mark.spec("SR-116", "SR-288")
@pytest.mark.parametrize("kind", METHOD_OF)
def test_a_key_signs_by_its_method_and_its_public_half_verifies(kind: str) -> None:
    own, method = key(kind), METHODS[METHOD_OF[kind]]
    assert method_for(own) == METHOD_OF[kind]
    value = method.sign(own, DATA)
    assert len(value) == SIZES[kind]
    assert method.is_signed(own.public_key(), value, DATA)
    assert not method.is_signed(own.public_key(), value, DATA + b" ")
    for place in range(0, len(value), 7):
        broken = bytearray(value)
        broken[place] ^= 1
        assert not method.is_signed(own.public_key(), bytes(broken), DATA)
    for wrong in (b"", value[:-1], value + b"\0"):
        assert not method.is_signed(own.public_key(), wrong, DATA)


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_equal_texts_have_equal_signatures(kind: str) -> None:
    method = METHODS[METHOD_OF[kind]]
    assert method.sign(key(kind), DATA) == method.sign(key(kind), DATA)


def test_a_key_of_another_kind_made_no_signature() -> None:
    for kind, uri in METHOD_OF.items():
        value = METHODS[uri].sign(key(kind), DATA)
        for other, other_uri in METHOD_OF.items():
            if other_uri != uri:
                assert not METHODS[other_uri].is_signed(key(kind).public_key(), value, DATA)
                assert not METHODS[uri].is_signed(key(other).public_key(), value, DATA)


def test_what_is_obsolete_is_marked() -> None:
    marks = {uri: each.obsolete for uri, each in DIGESTS.items()}
    marks |= {uri: each.obsolete for uri, each in METHODS.items()}
    assert {uri: mark for uri, mark in marks.items() if mark} == {
        algorithms.SHA1: Obsolete.SHA1,
        algorithms.MD5: Obsolete.MD5,
        algorithms.DSA: Obsolete.DSA,
    }


@pytest.mark.spec("SR-207")
@pytest.mark.parametrize(
    ("uri", "name", "size"),
    [
        (algorithms.SHA_256, "sha256", 32),
        (algorithms.SHA_512, "sha512", 64),
        (algorithms.SHA1, "sha1", 20),
        (algorithms.MD5, "md5", 16),
    ],
)
def test_digests_equal_those_of_hashlib(uri: str, name: str, size: int) -> None:
    digest = DIGESTS[uri].of(DATA)
    assert digest == hashlib.new(name, DATA).digest()
    assert len(digest) == size


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("kind", METHOD_OF)
def test_another_implementation_finds_the_signature_good(kind: str, tmp_path: Path) -> None:
    own = key(kind)
    value = METHODS[METHOD_OF[kind]].sign(own, DATA)
    if isinstance(own, dsa.DSAPrivateKey | ec.EllipticCurvePrivateKey):
        half = len(value) // 2
        value = encode_dss_signature(int.from_bytes(value[:half]), int.from_bytes(value[half:]))
    public = own.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for name, content in (("key.pem", public), ("value", value), ("data", DATA)):
        (tmp_path / name).write_bytes(content)
    digest = "-sha1" if "dsa" in kind and "ec" not in kind else "-sha256"
    command = ["openssl", "dgst", digest, "-verify", "key.pem", "-signature", "value", "data"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Verified OK" in done.stdout, done
